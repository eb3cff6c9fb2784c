"""Runs a command's work. Ctrl-C ends it in order: calls under way are dropped, files closed; a second one ends it at once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`. Raises KeyboardInterrupt after Ctrl-C, once everything is closed."""
    interrupted = False

    async def watched() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def on_interrupt() -> None:
            nonlocal interrupted
            if interrupted or task is None:
                # Whatever was finished is on the disk already, and the server ends with us.
                sys.stderr.write("interrupted\n")
                os._exit(130)
            interrupted = True
            task.cancel()

        loop.add_signal_handler(signal.SIGINT, on_interrupt)
        return await work

    try:
        return asyncio.run(watched())
    except asyncio.CancelledError:
        if not interrupted:
            raise
        raise KeyboardInterrupt from None
