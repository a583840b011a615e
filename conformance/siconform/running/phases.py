"""The phases of a run and how long each takes, for ``--timings``."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

START: Final = "start: imports, options, results folder"
TARGET: Final = "target: found, and reached or built"
WORKERS: Final = "workers: start and collection, until the first test has ended"
TESTS: Final = "tests"
WORKERS_END: Final = "workers: end, and that of their targets"
REFERENCE: Final = "failures: the reference runs the same tests"
RESULTS: Final = "results, page and certificate"

_STARTED: Final = 19  # place of the start time in /proc/PID/stat, behind the name; in ticks


class Phases:
    """Measures one phase after the other, beginning with the start of this process."""

    def __init__(self) -> None:
        self._name = START
        self._since = self._began = time.monotonic() - _age()
        self._seconds: dict[str, float] = {}

    def begin(self, name: str) -> None:
        """End the current phase and begin this one; nothing happens if it is the current one."""
        if name == self._name:
            return
        now = time.monotonic()
        self._seconds[self._name] = self._seconds.get(self._name, 0.0) + now - self._since
        self._name, self._since = name, now

    def lines(self) -> Iterator[str]:
        """Return a line for each phase so far, and one for all of them."""
        self.begin("")
        yield "time by phase:"
        for name, seconds in self._seconds.items():
            yield f"  {seconds:6.2f} s  {name}"
        yield f"  {time.monotonic() - self._began:6.2f} s  from command to verdict"


def _age() -> float:
    """Seconds since this process was started; 0 where the system does not tell."""
    try:
        words = Path("/proc/self/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    started = int(words[_STARTED]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started
