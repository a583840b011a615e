"""Supervisor of one child process: ends it when the process that started the supervisor ends.

Run as a script: ``supervisor.py GRACE COMMAND...``. Standard input is a lifeline: the starter holds
the other end and writes nothing. When that end closes (the starter finished, was interrupted,
crashed or was killed), the child's process group receives SIGTERM, and SIGKILL after GRACE seconds.
So do all other descendants, in any session: on Linux they stay descendants of this process. Only
the standard library and no imports from this package: it has to start in a few milliseconds.
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

CANNOT_START = 127  # as in a shell
_SET_CHILD_SUBREAPER = 36  # of prctl: orphaned descendants become children of this process
_POLL_INTERVAL = 0.02  # seconds
_TO_THE_STARTING_PROCESS = (signal.SIGINT, signal.SIGHUP)  # it then closes the lifeline


def main(arguments: list[str]) -> int:
    """Run the command until it or the lifeline ends; return its exit code, 128 + N for a signal."""
    grace, command = float(arguments[0]), arguments[1:]
    wake, waker = _prepare()
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)  # noqa: S603  # the user's own command
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201  # a script
        return CANNOT_START
    return _supervise(child, grace, wake, waker)


def fork_supervised(grace: float) -> None:
    """Fork; the parent supervises the child and exits with its code, the child returns."""
    wake, waker = _prepare()
    pid = os.fork()
    if pid:
        os._exit(_supervise(_Forked(pid), grace, wake, waker))
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.close(wake)
    os.close(waker)
    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


class _Forked:
    """A forked process, with the part of ``subprocess.Popen`` used here."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode = 0
        self._ended = threading.Event()
        threading.Thread(target=self._reap, daemon=True).start()

    def wait(self, timeout: "float | None" = None) -> int:
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
        return self.returncode

    def _reap(self) -> None:
        self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self._ended.set()


def _prepare() -> "tuple[int, int]":
    """Ignore terminal signals, adopt orphans and return a pipe that SIGTERM writes to."""
    for number in _TO_THE_STARTING_PROCESS:
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)  # works whichever thread receives the signal
    signal.signal(signal.SIGTERM, lambda *_: None)
    return wake, waker


def _supervise(
    child: "subprocess.Popen[bytes] | _Forked", grace: float, wake: int, waker: int
) -> int:
    threading.Thread(target=_report_end, args=(child, waker), daemon=True).start()
    select.select([sys.stdin.fileno(), wake], [], [])
    _end(child, grace)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _report_end(child: "subprocess.Popen[bytes] | _Forked", waker: int) -> None:
    child.wait()
    os.write(waker, b"e")


def kill_descendants(limit: float) -> "list[int]":
    """Send SIGKILL to all descendants; return those still alive after ``limit`` seconds."""
    until = time.monotonic() + limit
    while (left := descendants()) and time.monotonic() < until:
        _signal(left, signal.SIGKILL)
        time.sleep(_POLL_INTERVAL)
    return left


def _end(child: "subprocess.Popen[bytes] | _Forked", grace: float) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
    _signal(descendants(), signal.SIGTERM)
    until = time.monotonic() + grace
    with suppress(subprocess.TimeoutExpired):
        child.wait(grace)
    while descendants() and time.monotonic() < until:
        time.sleep(_POLL_INTERVAL)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)  # the child or the rest of its group
    child.wait()
    while left := descendants():
        _signal(left, signal.SIGKILL)
        time.sleep(_POLL_INTERVAL)


def _signal(processes: "list[int]", number: int) -> None:
    for pid in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def adopt_orphans() -> None:
    """Adopt descendants whose parent has ended (Linux only)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants() -> "list[int]":
    """Return the ids of all living descendants, parents first; [] without /proc."""
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
