"""A llama.cpp server of our own: a child process on a free loopback port, gone when we are."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType

from optimizer.errors import UserError

_START_SECONDS = 180.0


class LlamaServer:
    """Serves one GGUF file while the `with` block runs.

    Args:
        path: the weights.
        alias: the model name that requests use.
        log: where the server's output goes; kept after the end.
        slots: calls that it works on at the same time.
        context: tokens that one call may take, prompt and answer together.
        port: 0 takes a free one.

    Raises:
        UserError: on entering, where the server does not come up; the message quotes its log.
    """

    def __init__(self, path: Path, alias: str, log: Path, slots: int = 4, context: int = 4096, port: int = 0) -> None:
        self.path, self.alias, self.log, self.slots, self.context = path, alias, log, slots, context
        self.port = port or _free_port()
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> LlamaServer:
        settings = {
            "path": str(self.path),
            "alias": self.alias,
            "port": self.port,
            "slots": self.slots,
            "context": self.context * self.slots,  # one pool for all slots
            "prompt_cache_mib": 2048,
        }
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", "optimizer.models.llama_child", json.dumps(settings)]
            # A session of its own keeps a terminal's Ctrl-C away from it: the run ends its calls first, then the server.
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True)
        try:
            self._wait_until_healthy()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def wait(self) -> int:
        """Wait for the server to end by itself; its exit code."""
        return self._process.wait() if self._process else 0

    def _stop(self) -> None:
        if self._process is None:
            return
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _wait_until_healthy(self) -> None:
        """Poll /health: /v1/models already answers while the weights are still being loaded."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._process is not None and self._process.poll() is not None:
                raise UserError(f"the llama.cpp server ended with code {self._process.returncode} while starting: {self._tail()}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5) as response:
                    if response.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                pass
            time.sleep(0.1)
        raise UserError(f"the llama.cpp server was not healthy after {_START_SECONDS:.0f} s; see {self.log}")

    def _tail(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return f"{lines[-1] if lines else 'no output'} (log: {self.log})"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
