"""Phases of a run and their durations, for ``--timings``."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from siconform.output.events import Event, PhaseBegan, RunFinished, TestPhaseEnded
from siconform.output.live.output import Output

START: Final = "start: imports, options, results folder"
TARGET: Final = "target: reached or built"
WORKERS: Final = "workers: start and collection, until the end of the first test"
TESTS: Final = "tests"
WORKERS_END: Final = "workers: shutdown, including targets"
REFERENCE: Final = "failures: the same tests with the reference"
RESULTS: Final = "results: files, page and certificate"

_STARTED: Final = 19  # index of the start time in /proc/PID/stat after the name; in ticks


class Phases:
    """Measures consecutive phases, beginning with the start of this process, and prints them."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._name = START
        self._since = self._began = time.monotonic() - _age()
        self._seconds: dict[str, float] = {}

    def on_event(self, event: Event) -> None:
        """Measure the phases; print a line for each of them and the total at the end."""
        match event:
            case PhaseBegan(name):
                self._begin(name)
            case TestPhaseEnded():
                self._begin(TESTS)
            case RunFinished():
                self._output.lines(self._lines())

    def _begin(self, name: str) -> None:
        """End the current phase and begin this one, unless it is the current one."""
        if name == self._name:
            return
        now = time.monotonic()
        self._seconds[self._name] = self._seconds.get(self._name, 0.0) + now - self._since
        self._name, self._since = name, now

    def _lines(self) -> Iterator[str]:
        self._begin("")
        yield "time by phase:"
        for name, seconds in self._seconds.items():
            yield f"  {seconds:6.2f} s  {name}"
        yield f"  {time.monotonic() - self._began:6.2f} s  from command to verdict"


def _age() -> float:
    """Return the seconds since this process started; 0 if unknown."""
    try:
        words = Path("/proc/self/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    started = int(words[_STARTED]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started
