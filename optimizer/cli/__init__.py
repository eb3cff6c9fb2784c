"""The `optimizer` command: one file a verb, arguments in and a table out; the work is done below.

Exit codes: 0 completed whatever the verdict, 1 error, 2 usage, 130 Ctrl-C.
"""

from __future__ import annotations

import errno
import os
import sys

import typer

from optimizer.cli import (
    benchmark,
    cache,
    compare,
    data,
    diagnose,
    doctor,
    evaluate,
    export,
    headroom,
    judge,
    misinform,
    models,
    optimize,
    parse,
    passages,
    policy,
    power,
    propagation,
    report,
    seal,
    serve,
    show,
    transfer,
)
from optimizer.errors import UsageError, UserError

app = typer.Typer(
    name="optimizer",
    help="Prompt optimisation for panels of LLM judges.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for module in (
    optimize, evaluate, benchmark, judge, show, compare, headroom, diagnose, policy, transfer, misinform, propagation, power,
    seal, export, report, parse, serve, doctor,
):  # fmt: skip
    app.command(module.__name__.rsplit(".", 1)[-1])(module.command)
app.add_typer(models.app, name="models")
app.add_typer(cache.app, name="cache")
app.add_typer(data.app, name="data")
app.add_typer(passages.app, name="passages")


def main() -> None:
    """Run the command; errors that a user can mend are one line on standard error."""
    try:
        app()
    except UserError as error:
        _fail(str(error), 2 if isinstance(error, UsageError) else 1)
    except BrokenPipeError:
        # Whoever read our output, head for one, has enough of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS):
            raise
        _fail(f"{error.filename or 'writing'}: {error.strerror}; mend that and give the same command again, it goes on", 1)
    except KeyboardInterrupt:
        _fail("interrupted; give the same command again to go on", 130)
    except ValueError as error:
        from optimizer.config import ConfigError  # late: it loads pydantic

        if not isinstance(error, ConfigError):
            raise
        _fail(str(error), 2)


def _fail(message: str, code: int) -> None:
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    sys.exit(code)
