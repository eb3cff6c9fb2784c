"""`optimizer doctor`: what a server can do, and what is wrong with the set-up."""

from __future__ import annotations

from optimizer.cli import options


def command(base_url: options.BaseUrl = None, model: options.Model = None, as_json: options.Json = False) -> None:
    """Check the set-up and, with --base-url, what a running server can do."""

    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.console import print_json, print_table
    from optimizer.models.doctor import examine

    checks = run_async(examine(base_url or "", model or ""))
    if as_json:
        print_json([{"check": check.name, "ok": check.ok, "found": check.found} for check in checks])
    else:
        print_table("", ["check", "", "found"], [[c.name, "ok" if c.ok else "PROBLEM", c.found] for c in checks])
    if not all(check.ok for check in checks):
        import typer

        raise typer.Exit(1)
