"""The vLLM path without a GPU: the command, the GPUs, what is said where something is missing, and a stand-in server."""

from __future__ import annotations

import os
import stat
import sys
import textwrap
import urllib.request
from pathlib import Path

import pytest

from optimizer.errors import UsageError, UserError
from optimizer.models.vllm_server import VllmOptions, VllmServers, gpus_for, visible_gpus, vllm_command

STAND_IN = textwrap.dedent(
    """
    import json, sys
    from http.server import BaseHTTPRequestHandler, HTTPServer
    arguments = sys.argv[sys.argv.index("--model"):]
    option = lambda name: arguments[arguments.index(name) + 1]
    if option("--model") == "broken":
        sys.exit("ValueError: no weights there")
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            name = "another" if option("--model") == "other" else option("--served-model-name")
            body = json.dumps({"data": [{"id": name}]}).encode()
            self.send_response(200); self.end_headers(); self.wfile.write(body)
        def log_message(self, *rest): pass
    HTTPServer(("127.0.0.1", int(option("--port"))), Handler).serve_forever()
    """
)


@pytest.fixture
def python(tmp_path: Path) -> str:
    """An interpreter that has a vllm: a stand-in for the real one, which is gigabytes."""
    package = tmp_path / "site" / "vllm" / "entrypoints" / "openai"
    package.mkdir(parents=True)
    for folder in (package, package.parent, package.parent.parent):
        (folder / "__init__.py").write_text("")
    (package / "api_server.py").write_text(STAND_IN)
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path / "site"} exec {sys.executable} "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    return str(script)


def free_port() -> int:
    """One with the next one free too; below those that the system hands out, where other tests' servers might take it."""
    import random
    import socket

    while True:
        port = random.randrange(20_000, 30_000)
        try:
            for each in (port, port + 1):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", each))
        except OSError:
            continue
        return port


def test_the_command_has_prefix_caching_neutral_sampling_log_probabilities_and_what_is_passed_through() -> None:
    options = VllmOptions("org/model", "judge", 9000, tensor_parallel=2, extra=("--max-model-len", "8192"))
    command = vllm_command(options, replica=1, python="py")
    text = " ".join(command)
    assert text.startswith("py -m vllm.entrypoints.openai.api_server --model org/model --served-model-name judge")
    for part in (
        "--port 9001",
        "--enable-prefix-caching",
        "--enable-prompt-tokens-details",
        "--generation-config vllm",
        "--max-logprobs 20",
        "--tensor-parallel-size 2",
    ):
        assert part in text
    assert command[-2:] == ["--max-model-len", "8192"]
    assert "--data-parallel-size 4" in " ".join(vllm_command(VllmOptions("m", data_parallel=4)))
    with pytest.raises(UsageError, match="give one of them"):
        vllm_command(VllmOptions("m", replicas=2, data_parallel=2))


def test_each_replica_has_gpus_of_its_own() -> None:
    options = VllmOptions("m", replicas=2, tensor_parallel=2)
    assert [gpus_for(options, index, ["0", "1", "2", "3"]) for index in range(2)] == [["0", "1"], ["2", "3"]]
    with pytest.raises(UserError, match="need 4 GPUs, but 3 are visible"):
        gpus_for(options, 0, ["0", "1", "2"])


def test_visible_gpus_follow_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    assert visible_gpus() == ["3", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert visible_gpus() == []


def test_without_a_gpu_it_says_what_to_do(tmp_path: Path, python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with (
        pytest.raises(UserError, match=r"none is visible here; use --engine llama\.cpp"),
        VllmServers(VllmOptions("m"), tmp_path, print, python),
    ):
        pass


def test_without_vllm_it_says_what_to_install(tmp_path: Path) -> None:
    with (
        pytest.raises(UserError, match="has no vllm; pip install"),
        VllmServers(VllmOptions("m"), tmp_path, print, need_gpu=False),
    ):
        pass


def test_replicas_start_are_checked_and_stop_with_the_block(tmp_path: Path, python: str) -> None:
    told: list[str] = []
    options = VllmOptions("org/model", port=free_port(), replicas=2)
    with VllmServers(options, tmp_path / "logs", told.append, python, need_gpu=False) as servers:
        pids = [process.pid for process in servers._processes]
        for url in servers.base_urls:
            assert urllib.request.urlopen(f"{url}/models").status == 200
    assert sum("--enable-prefix-caching" in line for line in told) == 2
    assert sum("answers at" in line for line in told) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize(("model", "message"), [("broken", "no weights there"), ("other", "serves another, not other")])
def test_a_server_that_fails_or_serves_another_model_is_stopped_and_named(
    tmp_path: Path, python: str, model: str, message: str
) -> None:
    options = VllmOptions(model, port=free_port())
    with pytest.raises(UserError, match=message), VllmServers(options, tmp_path / "logs", print, python, need_gpu=False):
        pass


def test_gpus_are_assigned_in_the_environment_of_each(tmp_path: Path, python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    told: list[str] = []
    with VllmServers(VllmOptions("m", port=free_port(), replicas=2), tmp_path / "logs", told.append, python):
        pass
    assert [line.split()[0] for line in told if "--model" in line] == ["CUDA_VISIBLE_DEVICES=4", "CUDA_VISIBLE_DEVICES=7"]
