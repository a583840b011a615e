"""Keeps one child process, and ends it when whoever asked for it goes away.

Run as a script: ``keeper.py GRACE COMMAND...``. Its standard input is a lifeline: the asker holds
the other end and says nothing. When that end closes (the asker is done, was interrupted, crashed
or was killed) the child's process group gets SIGTERM, and SIGKILL after GRACE seconds. Only the
standard library and no imports from this package: it has to start in a few milliseconds.
"""

import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress

CANNOT_START = 127  # as a shell says it


def main(arguments: list[str]) -> int:
    """Run the command until it ends or the lifeline does; its exit code, 128 + N for a signal."""
    grace, command = float(arguments[0]), arguments[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the asker, who then lets go
    wake, waker = os.pipe()
    signal.signal(signal.SIGTERM, lambda *_: os.write(waker, b"t"))
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)  # noqa: S603  # the user's own command
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201  # a script
        return CANNOT_START
    threading.Thread(target=_report_end, args=(child, waker), daemon=True).start()
    select.select([sys.stdin.fileno(), wake], [], [])
    _end(child, grace)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _report_end(child: "subprocess.Popen[bytes]", waker: int) -> None:
    child.wait()
    os.write(waker, b"e")


def _end(child: "subprocess.Popen[bytes]", grace: float) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        child.wait(grace)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)  # the child, or what it left in its group
    child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
