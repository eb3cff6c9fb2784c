"""`optimizer serve`: keep a model served, by llama.cpp or by vLLM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from optimizer.models.vllm_server import VllmOptions


def command(
    model: Annotated[
        str, typer.Argument(help="An embedded model (llama.cpp), or a Hugging Face name or folder (vLLM).")
    ] = "qwen2_5-coder-1_5b",
    engine: Annotated[str, typer.Option(help="llama.cpp or vllm.")] = "llama.cpp",
    port: Annotated[int, typer.Option(help="Of the first server; 0 takes a free one (llama.cpp).")] = 8080,
    slots: Annotated[int, typer.Option(min=1, help="llama.cpp: calls worked on at the same time.")] = 4,
    context: Annotated[int, typer.Option(min=512, help="llama.cpp: tokens a call.")] = 4096,
    replicas: Annotated[int, typer.Option(min=1, help="vLLM: servers, each on GPUs of its own.")] = 1,
    tensor_parallel: Annotated[int, typer.Option("--tensor-parallel-size", min=1, help="vLLM: GPUs a server.")] = 1,
    data_parallel: Annotated[int, typer.Option("--data-parallel-size", min=1, help="vLLM: copies in one server.")] = 1,
    served_name: Annotated[str, typer.Option(help="vLLM: the name that requests use, if not the model's.")] = "",
    python: Annotated[str, typer.Option(help="vLLM: an interpreter that has vllm; this one if left out.")] = "",
    cpu: Annotated[bool, typer.Option("--cpu", help="vLLM: a CPU build, without any GPU.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="vLLM: print the commands and stop.")] = False,
    extra: Annotated[list[str] | None, typer.Argument(help="vLLM: further arguments, after --.")] = None,
) -> None:
    """Serve a model on this machine until Ctrl-C.

    Ready when it prints the --base-url to use. vLLM gets prefix caching on and the model's own sampling defaults off.
    """
    from optimizer.errors import UsageError

    if engine == "vllm":
        from optimizer.models.vllm_server import VllmOptions

        options = VllmOptions(
            model, served_name, port or 8000, replicas, tensor_parallel, data_parallel, tuple(extra or ())
        )  # fmt: skip
        _serve_vllm(options, python, cpu, dry_run)
    elif engine == "llama.cpp":
        if replicas > 1 or tensor_parallel > 1 or data_parallel > 1 or extra:
            raise UsageError(
                "--replicas, --tensor-parallel-size, --data-parallel-size and further arguments are for --engine vllm"
            )
        _serve_llama(model, port, slots, context)
    else:
        raise UsageError(f"unknown engine {engine!r}; valid are llama.cpp and vllm")


def _serve_llama(model: str, port: int, slots: int, context: int) -> None:
    from optimizer.cli.console import say
    from optimizer.errors import UserError
    from optimizer.models.catalogue import cache_folder, embedded_model
    from optimizer.models.fetch import ensure_model
    from optimizer.models.llama_server import LlamaServer

    entry = embedded_model(model)
    path = ensure_model(entry, say)
    with LlamaServer(path, entry.name, cache_folder() / "server.log", slots, context, port) as server:
        say(f"serving {entry.name} at {server.base_url} (Ctrl-C ends it); use it with --base-url {server.base_url}")
        code = server.wait()
    raise UserError(f"the server ended with code {code}; see {cache_folder() / 'server.log'}")


def _serve_vllm(options: VllmOptions, python: str, cpu: bool, dry_run: bool) -> None:
    import sys

    from optimizer.cli.console import say
    from optimizer.errors import UserError
    from optimizer.models.catalogue import cache_folder
    from optimizer.models.vllm_server import VllmServers, vllm_command

    interpreter = python or sys.executable
    if dry_run:
        for index in range(options.replicas):
            say(" ".join(vllm_command(options, index, interpreter)))
        return
    with VllmServers(options, cache_folder(), say, interpreter, need_gpu=not cpu) as servers:
        say(f"Ctrl-C ends it; use it with --base-url {','.join(servers.base_urls)} --model {options.name}")
        code = servers.wait()
    raise UserError(f"a vLLM server ended with code {code}; see {cache_folder()}")
