"""vLLM servers of our own: the exact command, started on its GPUs, watched until it answers, and stopped cleanly.

A replica is one server on GPUs of its own (tensor parallel inside it where that is asked for); `--data-parallel-size` instead
leaves the spreading to vLLM. Prefix caching is on, and the model's own sampling defaults are off: what is sent decides.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from optimizer.errors import UsageError, UserError

_START_SECONDS = 1800.0  # large weights are loaded over a network, and graphs are compiled
_STOP_SECONDS = 30.0
_MODULE = "vllm.entrypoints.openai.api_server"


@dataclass(frozen=True, slots=True)
class VllmOptions:
    """How a model is served.

    Args:
        model: a Hugging Face name or a folder of weights.
        served_name: what requests call it; the model's own name if empty.
        port: of the first replica; the others follow.
        replicas: servers, each on `tensor_parallel` GPUs of its own.
        tensor_parallel: GPUs that one server spreads the weights over.
        data_parallel: copies inside one server instead of replicas; 1 for none.
        extra: passed through as they are.
    """

    model: str
    served_name: str = ""
    port: int = 8000
    replicas: int = 1
    tensor_parallel: int = 1
    data_parallel: int = 1
    extra: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.served_name or self.model


def vllm_command(options: VllmOptions, replica: int = 0, python: str = sys.executable) -> list[str]:
    """The command of one replica, ready for subprocess.

    Raises:
        UsageError: replicas and data parallel copies are both asked for.
    """
    if options.replicas > 1 and options.data_parallel > 1:
        raise UsageError("--replicas starts servers, --data-parallel-size copies inside one server; give one of them")
    parallel = [
        *(["--tensor-parallel-size", str(options.tensor_parallel)] if options.tensor_parallel > 1 else []),
        *(["--data-parallel-size", str(options.data_parallel)] if options.data_parallel > 1 else []),
    ]
    return [
        python, "-m", _MODULE,
        "--model", options.model,
        "--served-model-name", options.name,
        "--host", "127.0.0.1",
        "--port", str(options.port + replica),
        "--enable-prefix-caching",
        "--enable-prompt-tokens-details",
        "--generation-config", "vllm",
        "--max-logprobs", "20",
        *parallel,
        *options.extra,
    ]  # fmt: skip


def gpus_for(options: VllmOptions, replica: int, visible: Sequence[str]) -> list[str]:
    """The GPUs of a replica, out of those that are visible.

    Raises:
        UserError: there are too few.
    """
    needed = options.replicas * options.tensor_parallel * options.data_parallel
    if len(visible) < needed:
        raise UserError(
            f"{options.replicas} replicas with {options.tensor_parallel * options.data_parallel} GPUs each need "
            f"{needed} GPUs, but "
            f"{len(visible)} are visible ({', '.join(visible) or 'none'}); ask for fewer, or set CUDA_VISIBLE_DEVICES"
        )
    size = options.tensor_parallel * options.data_parallel
    return list(visible[replica * size : (replica + 1) * size])


def visible_gpus() -> list[str]:
    """The GPUs that this process may use: those of CUDA_VISIBLE_DEVICES, else all that nvidia-smi lists."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [part.strip() for part in named.split(",") if part.strip() and part.strip() != "-1"]
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    listed = subprocess.run([tool, "--query-gpu=index", "--format=csv,noheader"], capture_output=True, text=True, check=False)
    return listed.stdout.split() if listed.returncode == 0 else []


class VllmServers:
    """All replicas while the `with` block runs.

    Args:
        options: what is served.
        log: a folder; each replica writes vllm-<port>.log there.
        report: hears the exact commands, and that each answers.
        python: an interpreter that has vllm.
        need_gpu: False for a CPU build of vllm, which takes no GPUs.

    Raises:
        UserError: on entering, where there is no vllm, no GPU, or a replica does not come up; the message quotes its log.
    """

    def __init__(
        self,
        options: VllmOptions,
        log: Path,
        report: Callable[[str], None],
        python: str = sys.executable,
        need_gpu: bool = True,
    ) -> None:
        self.options, self.log, self._report, self._python, self._need_gpu = options, log, report, python, need_gpu
        self._processes: list[subprocess.Popen[bytes]] = []
        self._log_sizes: list[int] = []  # before this start

    @property
    def base_urls(self) -> list[str]:
        """The addresses, one a replica."""
        return [f"http://127.0.0.1:{self.options.port + index}/v1" for index in range(self.options.replicas)]

    def __enter__(self) -> VllmServers:
        commands = [vllm_command(self.options, index, self._python) for index in range(self.options.replicas)]
        gpus = [self._gpus(index) for index in range(self.options.replicas)]
        if subprocess.run([self._python, "-c", "import vllm"], capture_output=True, check=False).returncode:
            raise UserError(
                f"{self._python} has no vllm; pip install 'panel-prompt-optimizer[vllm]' there, on a machine with a GPU"
            )
        self.log.mkdir(parents=True, exist_ok=True)
        try:
            for index, (command, own) in enumerate(zip(commands, gpus, strict=True)):
                prefix = f"CUDA_VISIBLE_DEVICES={','.join(own)} " if own else ""
                self._report(prefix + " ".join(command))
                environment = {**os.environ, **({"CUDA_VISIBLE_DEVICES": ",".join(own)} if own else {})}
                with self._log_file(index).open("ab") as log:
                    self._log_sizes.append(log.tell())
                    # A session of its own: the whole group can be stopped, workers included, and Ctrl-C does not reach it first.
                    self._processes.append(
                        subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
                    )
            for index in range(self.options.replicas):
                self._wait_until_served(index)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def wait(self) -> int:
        """Wait until one of the replicas ends by itself; its exit code."""
        while True:
            for process in self._processes:
                code = process.poll()
                if code is not None:
                    return code
            time.sleep(0.5)

    def _gpus(self, replica: int) -> list[str]:
        if not self._need_gpu:
            return []
        visible = visible_gpus()
        if not visible:
            raise UserError(
                "vLLM needs a GPU and none is visible here; use --engine llama.cpp for the embedded models, serve "
                "elsewhere and give "
                "--base-url, or --cpu with a CPU build of vllm"
            )
        return gpus_for(self.options, replica, visible)

    def _log_file(self, replica: int) -> Path:
        return self.log / f"vllm-{self.options.port + replica}.log"

    def _wait_until_served(self, replica: int) -> None:
        """Wait for /health, then make sure that what answers there is the model that was asked for."""
        base = f"http://127.0.0.1:{self.options.port + replica}"
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            code = self._processes[replica].poll()
            if code is not None:
                raise UserError(f"vLLM ended with code {code} while starting: {self._tail(replica)}")
            with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(f"{base}/health", timeout=5) as response:
                if response.status == 200:
                    break
            time.sleep(0.5)
        else:
            raise UserError(f"vLLM was not healthy after {_START_SECONDS:.0f} s; see {self._log_file(replica)}")
        with urllib.request.urlopen(f"{base}/v1/models", timeout=30) as response:
            names = [entry["id"] for entry in json.load(response)["data"]]
        if self.options.name not in names:
            raise UserError(f"{base} serves {', '.join(names)}, not {self.options.name}; is another server on that port?")
        self._report(f"{self.options.name} answers at {base}/v1")

    def _tail(self, replica: int) -> str:
        """Why it ended: the first error that its log names since this start; those after it are consequences."""
        text = self._log_file(replica).read_bytes()[self._log_sizes[replica] :].decode("utf-8", errors="replace")
        lines = text.strip().splitlines()
        errors = (match[0] for line in lines if (match := re.search(r"\w*(Error|Exception): .+", line)))
        told = next(errors, lines[-1].strip() if lines else "no output")
        return f"{told[:500]} (log: {self._log_file(replica)})"

    def _stop(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        for process in self._processes:
            try:
                process.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._processes = []
