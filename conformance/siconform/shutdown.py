"""Shutdown of a process of the kit within seconds of a signal, at any moment.

The first SIGINT, SIGTERM or SIGHUP raises KeyboardInterrupt once; later ones are ignored. A thread
kills whatever is left after ``GRACEFUL`` seconds, including this process. If Python discards the
exception (in a destructor or a weak-reference callback, as during imports), it is raised again. No
descendant outlives the process, however it ends. See docs/architecture.md, "How a run ends".
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from siconform.supervisor import adopt_orphans, descendants, kill_descendants

GRACEFUL: Final = 6.0  # seconds from the first signal until everything left is killed
_KILLING: Final = 2.0  # seconds to wait for killed processes
_POLL_INTERVAL: Final = 0.02  # seconds
_INTERRUPTED: Final = 2  # exit code
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SHOW_CURSOR: Final = b"\x1b[?25h\n"


class _Process:
    """The shutdown state of this process."""

    def __init__(self) -> None:
        self.is_guarded = False
        self.signal = ""  # name of the first signal
        self.is_interrupted = False  # the exception was raised and not discarded
        self.is_discarded = False  # it was, and is to be raised again
        self.code: int | None = None  # the exit code, once it is final
        self.if_interrupted = ""  # what was done or kept until now
        self.if_killed = ""  # an additional report if the process is killed


_process = _Process()


@contextmanager
def guard(mask: Collection[int] | None = None) -> Iterator[None]:
    """Run a command: exit with 2 if it is interrupted, and leave no processes behind.

    Use it once, in the main thread. Signals that are ignored already (``nohup``) stay ignored.
    ``mask`` is the signal mask to restore if the caller has blocked the signals until now.
    """
    try:
        _install(mask)
        yield
    except KeyboardInterrupt:
        pass  # reported below, also if it became another exception
    finally:
        _process.is_interrupted = True  # a signal from now on interrupts nothing
        _end_descendants()
        if _process.signal:
            if _process.code is None:
                _report_interruption()
            _exit(_exit_code())


def settle(code: int) -> None:
    """Make the exit code final: the verdict has been reported, and signals no longer change it."""
    _process.code = code


def on_interrupt(sentence: str) -> None:
    """Report what was done or kept, if a signal interrupts the command from now on."""
    _process.if_interrupted = sentence


def report_if_killed(sentence: str) -> None:
    """Report this sentence as well if the command has to be killed after a signal."""
    _process.if_killed = sentence


def terminate_children(terminated: Collection[int] = ()) -> set[int]:
    """Send SIGTERM to the children of a guarded command, without waiting; return their ids.

    Those already ``terminated`` are left out.
    """
    children: set[int] = set()
    if not _process.is_guarded:
        return children  # running inside another program
    parent = os.getpid()
    for pid in descendants():
        with suppress(OSError):
            if pid not in terminated and _parent(pid) == parent:
                os.kill(pid, signal.SIGTERM)
                children.add(pid)
    return children


@contextmanager
def signals_blocked_in_children() -> Iterator[None]:
    """Block SIGINT and SIGHUP in processes started meanwhile: this process ends them itself.

    A terminal sends both signals to its whole process group.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def interrupted_by() -> str:
    """Return the name of the signal that interrupted this command, or ""."""
    return _process.signal if _process.code is None else ""


def has_begun() -> bool:
    """Return whether a signal has arrived, even after the verdict."""
    return bool(_process.signal)


def _install(mask: Collection[int] | None) -> None:
    _process.is_guarded = True
    adopt_orphans()
    handled = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    sys.unraisablehook = _raise_again
    for number in handled:
        signal.signal(number, _interrupt)
    if mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)  # before the thread, which inherits it
    watching = (reader, frozenset(map(int, handled)))
    threading.Thread(target=_watch, args=watching, daemon=True, name="shutdown").start()


def _interrupt(number: int, _: object) -> None:
    _process.signal = _process.signal or signal.Signals(number).name
    if _process.is_interrupted:
        return
    _process.is_interrupted = True
    if _process.code is None:
        raise KeyboardInterrupt("" if _process.signal == signal.SIGINT.name else _process.signal)


def _raise_again(discarded: "sys.UnraisableHookArgs") -> None:
    """Have the signal sent again if Python has just discarded its exception.

    Do not report other exceptions discarded after a signal: they result from the interruption.
    """
    if not _process.signal:
        sys.__unraisablehook__(discarded)
    if not _process.signal or not isinstance(discarded.exc_value, KeyboardInterrupt):
        return
    _process.is_interrupted = False
    _process.is_discarded = True  # at the very end: what is raised in this hook would be lost


def _to_main_thread(number: int) -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, number)


def _watch(reader: int, handled: frozenset[int]) -> None:
    """Wait for a signal on the wakeup pipe, which works even while the main thread is stuck.

    The system may deliver the signal to another thread while the main one waits for a lock, which
    only a signal of its own interrupts.
    """
    received: set[int] = set()
    while not received:
        received = {*handled.intersection(os.read(reader, 64))}
    until = time.monotonic() + GRACEFUL
    while (left := until - time.monotonic()) > 0:
        was_discarded = _process.is_discarded
        time.sleep(min(left, _POLL_INTERVAL))  # the callback that discarded it ends first
        if was_discarded or not _process.signal:
            _process.is_discarded = False
            _to_main_thread(min(received))
    kill_descendants(_KILLING)
    with suppress(OSError):
        if os.isatty(1):
            os.write(1, _SHOW_CURSOR)
    _report(f"interrupted ({_process.signal}), killed after {GRACEFUL:g} s")
    if _process.if_killed and _process.code is None:
        _report(_process.if_killed)
    os._exit(_exit_code())


def _end_descendants() -> None:
    """Terminate all descendants and kill those that take too long.

    Another thread may start a child meanwhile.
    """
    if not _has_children():
        return
    terminated = terminate_children()
    until = time.monotonic() + GRACEFUL
    while descendants() and time.monotonic() < until:
        time.sleep(_POLL_INTERVAL)
        terminated |= terminate_children(terminated)
    kill_descendants(_KILLING)


def _has_children() -> bool:
    """Return whether there are children, including zombies and adopted orphans."""
    with suppress(OSError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return True
    return False


def _parent(pid: int) -> int:
    with open(f"/proc/{pid}/stat", "rb") as stat:  # noqa: PTH123  # few imports
        return int(stat.read().rpartition(b")")[2].split()[1])


def _exit_code() -> int:
    return _INTERRUPTED if _process.code is None else _process.code


def _report_interruption() -> None:
    if os.isatty(2):
        os.write(2, b"\n")  # after the ^C of the terminal
    what = f": {_process.if_interrupted}" * bool(_process.if_interrupted)
    _report(f"interrupted ({_process.signal}){what}")


def _report(sentence: str) -> None:
    with suppress(OSError):
        os.write(2, f"siconform: {sentence}\n".encode())


def _exit(code: int) -> None:
    """Exit without Python's cleanup, which may wait for threads that never end."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)
