"""The child process that serves one GGUF file with llama.cpp. It ends when its standard input closes.

The parent holds the other end of that pipe, so the child goes when the parent ends in any way, kill -9 included.
"""

from __future__ import annotations

import json
import os
import sys
import threading


def main() -> None:
    """Read the settings from the first argument (JSON), serve until standard input closes."""
    settings = json.loads(sys.argv[1])
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = settings["path"]
    parameters.model_alias = {settings["alias"]}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = settings["port"]
    parameters.n_parallel = settings["slots"]
    parameters.n_ctx = settings["context"]
    parameters.kv_unified = True
    parameters.cache_ram_mib = settings["prompt_cache_mib"]
    # With it, a prompt whose beginning lies in the RAM cache is mostly computed again when several slots are in use.
    parameters.cache_idle_slots = False
    parameters.ui = False
    server = xllamacpp.Server(parameters)
    sys.stderr.write(f"serving {settings['path']} on {server.listening_address}\n")
    sys.stderr.flush()
    threading.Event().wait()


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
