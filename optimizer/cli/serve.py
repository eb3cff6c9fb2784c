"""`optimizer serve`: keep an embedded model served for other programs."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    model: Annotated[str, typer.Argument(help="An embedded model; see optimizer models list.")] = "qwen2_5-coder-1_5b",
    port: Annotated[int, typer.Option(help="0 takes a free one.")] = 8080,
    slots: Annotated[int, typer.Option(min=1, help="Calls worked on at the same time.")] = 4,
    context: Annotated[int, typer.Option(min=512, help="Tokens a call.")] = 4096,
) -> None:
    """Serve an embedded model with llama.cpp on this machine until Ctrl-C."""
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
