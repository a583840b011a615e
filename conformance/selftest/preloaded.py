"""A Python with the kit preloaded, for tests that often start it and do not test its start."""

import atexit
import os
import sys
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Final

from siconform import child_processes, fork_client
from siconform.running.fork_servers import WORKERS, fork_servers

_VARIABLE: Final = child_processes.variable(WORKERS)


@cache
def preloaded_python() -> tuple[str, ...]:
    """Return the command that replaces ``python``; its server ends with this process."""
    servers = ExitStack()
    servers.enter_context(fork_servers(WORKERS))
    atexit.register(servers.close)
    address = os.environ.pop(_VARIABLE, "")  # runs that tests start have their own servers
    if not address:
        return (sys.executable,)
    return (sys.executable, "-I", "-S", str(Path(fork_client.__file__)), address)
