"""A Python with modules preloaded, for tests that often start it and do not test its start."""

import atexit
import os
import sys
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from siconform import child_processes, fork_client
from siconform.running.fork_servers import WORKERS, fork_servers


@cache
def preloaded_python(name: str = WORKERS) -> tuple[str, ...]:
    """Return the command that replaces ``python``; its server ends with this process.

    It has imported the kit, or what else a fork server of this name preloads.
    """
    servers = ExitStack()
    servers.enter_context(fork_servers(name))
    atexit.register(servers.close)
    # runs that tests start have their own servers
    address = os.environ.pop(child_processes.variable(name), "")
    if not address:
        return (sys.executable,)
    return (sys.executable, "-I", "-S", str(Path(fork_client.__file__)), address)
