"""Processes that a test starts, and checks of whether they ended."""

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from siconform.targets.process import Launch, ProcessTarget
from siwire import DEFAULT_REVISION

Start = Callable[..., ProcessTarget]


@contextmanager
def programs(folder: Path, starts_within: float) -> Iterator[Start]:
    """Start Python programs as targets; stop them when the block ends."""
    started: list[ProcessTarget] = []

    def start(program: str, arguments: str = "", within: float = starts_within) -> ProcessTarget:
        number = len(started) or ""
        file = folder / f"program{number}.py"
        file.write_text(program)
        line = f"{shlex.quote(sys.executable)} {shlex.quote(str(file))} {arguments}"
        launch = Launch.of("the program", line, within)
        target = ProcessTarget(launch, DEFAULT_REVISION, 1.0, folder / f"target{number}.log")
        started.append(target)
        target.start()
        return target

    try:
        yield start
    finally:
        for target in started:
            target.stop()


def exists(pid: int) -> bool:
    """Return whether the process exists and is not a zombie."""
    try:
        os.kill(pid, signal.SIG_DFL)
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text("ascii", "replace")
    except (ProcessLookupError, FileNotFoundError):
        return False


def process_table(pid: int) -> list[str]:
    """Return a line for a process and each descendant: id, status, CPU time and age, command."""
    lines = []
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess), one.oneshot():
                age, used = time.time() - one.create_time(), one.cpu_times()
                seconds = f"{used.user + used.system:.1f} of {age:.0f} s"
                lines.append(f"{one.pid} {one.status()} {seconds} {shlex.join(one.cmdline())[:90]}")
    return lines
