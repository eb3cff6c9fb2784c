"""The vLLM path for real, on whatever vllm the interpreter in VLLM_PYTHON has; opt-in: make test-vllm VLLM_PYTHON=...

A CPU build will do, slowly: it serves the embedded 0.5B model, converted from GGUF to safetensors by that interpreter (which
needs transformers and gguf for it), or what VLLM_MODEL names.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from optimizer.models.catalogue import cache_folder, embedded_model
from optimizer.models.fetch import ensure_model

PYTHON = os.environ.get("VLLM_PYTHON", "")
START_SECONDS = 900
CONVERT = (
    "import sys, torch; from pathlib import Path; from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig\n"
    "path, target = Path(sys.argv[1]), sys.argv[2]\n"
    "dense = GgufConfig(dequantize=True)\n"
    "model = AutoModelForCausalLM.from_pretrained(\n"
    "    path.parent, gguf_file=path.name, dtype=torch.bfloat16, quantization_config=dense)\n"
    "model.save_pretrained(target)\n"
    "AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name).save_pretrained(target)\n"
)

pytestmark = pytest.mark.skipif(not PYTHON, reason="set VLLM_PYTHON to an interpreter that has vllm")


@pytest.fixture(scope="module")
def model() -> str:
    """The folder of weights, or the name, that is served."""
    if named := os.environ.get("VLLM_MODEL"):
        return named
    target = cache_folder() / "vllm-check-0.5b"
    if not (target / "config.json").exists():
        weights = ensure_model(embedded_model("qwen2_5-coder-0_5b"), print)
        subprocess.run([PYTHON, "-c", CONVERT, str(weights), str(target)], check=True)
    return str(target)


@pytest.fixture(scope="module")
def served(model: str) -> Iterator[str]:
    """The base URL of `optimizer serve`, stopped with Ctrl-C at the end, which must leave nothing behind."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    on_cpu = os.environ.get("VLLM_CPU", "1") == "1"
    command = [
        sys.executable, "-m", "optimizer", "serve", model, "--engine", "vllm", "--served-name", "judge", "--port", str(port),
        "--python", PYTHON, *(["--cpu"] if on_cpu else []),
        "--", "--max-model-len", "2048", "--max-num-seqs", "8", *(["--gpu-memory-utilization", "0.4"] if on_cpu else []),
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines: list[str] = []
    started = time.monotonic()
    for line in process.stdout:
        lines.append(line)
        print(line, end="")
        if "use it with --base-url" in " ".join(lines).replace("\n", " "):
            break
        assert time.monotonic() - started < START_SECONDS
    else:
        pytest.fail("".join(lines) or "no output")
    yield f"http://127.0.0.1:{port}/v1"
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert not re.search(rf"api_server.*--port {port}\b", subprocess.run(["ps", "-ef"], capture_output=True, text=True).stdout)


def optimizer(*arguments: str, cwd: Path) -> str:
    result = subprocess.run([sys.executable, "-m", "optimizer", *arguments], capture_output=True, text=True, cwd=cwd)
    print(result.stdout)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_server_can_do_what_the_toolkit_needs(served: str, tmp_path: Path) -> None:
    told = optimizer("doctor", "--base-url", served, cwd=tmp_path)
    assert "judge on vllm" in told
    assert re.search(r"structured output.*yes", told)
    assert re.search(r"log-probabilities.*yes", told)


def test_a_panel_is_evaluated_on_it(served: str, tmp_path: Path) -> None:
    told = optimizer("evaluate", "--base-url", served, "--limit", "4", "--set", f"cache={tmp_path / 'c.sqlite'}", cwd=tmp_path)
    assert "panel minus single" in told
