"""Supervises one child process, and ends it when whoever asked for it goes away.

Run as a script: ``supervisor.py GRACE COMMAND...``. Its standard input is a lifeline: the asker
holds the other end and says nothing. When that end closes (the asker is done, was
interrupted, crashed or was killed) the child's process group gets SIGTERM, and SIGKILL after GRACE
seconds, and so does everything else it started, in sessions of their own or not: on Linux all of
that stays below this process. Only the standard library and no imports from this package: it has to
start in a few milliseconds.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

CANNOT_START = 127  # as a shell says it
_SET_CHILD_SUBREAPER = 36  # of prctl: orphans below this process become its children
_LOOKS = 0.02  # seconds between two looks whether all are gone


def main(arguments: list[str]) -> int:
    """Run the command until it ends or the lifeline does; its exit code, 128 + N for a signal."""
    grace, command = float(arguments[0]), arguments[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the asker, who then lets go
    with suppress(OSError, AttributeError):  # there is no such thing elsewhere
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
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
    _signal(_below(), signal.SIGTERM)
    until = time.monotonic() + grace
    with suppress(subprocess.TimeoutExpired):
        child.wait(grace)
    while _below() and time.monotonic() < until:
        time.sleep(_LOOKS)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)  # the child, or what it left in its group
    child.wait()
    while left := _below():
        _signal(left, signal.SIGKILL)
        time.sleep(_LOOKS)


def _signal(processes: "list[int]", number: int) -> None:
    for pid in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _below() -> "list[int]":
    """Every process below this one that is no zombie; [] where /proc does not tell."""
    parents = {}
    with suppress(OSError):
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208  # few imports
            with suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123  # few imports
                words = stat.read().rpartition(b")")[2].split()
                if words[0] != b"Z":
                    parents[int(name)] = int(words[1])
    found = [os.getpid()]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
