"""The live view: progress and waits, drawn on a terminal with default verbosity."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from siconform.config.results_dir import adds
from siconform.expecting import waits
from siconform.output.events import Event, NothingTested, RunFinished, RunInterrupted, RunStarted
from siconform.output.live.board import Board, Wait, read
from siconform.output.live.output import Output
from siconform.output.live.progress import RunProgress

_BOARDS: Final = "logs"  # their folder in the results folder
_BOARD: Final = "waits-"  # prefix of their file names
_MAIN: Final = "main"


class LiveView:
    """Draws from the start of the run to its end."""

    def __init__(self, output: Output, results: Path, progress: RunProgress) -> None:
        self._output = output
        self._results = results
        self._progress = progress

    def on_event(self, event: Event) -> None:
        """Start and stop drawing; show an interruption while workers finish."""
        match event:
            case RunStarted():
                self._start()
            case RunInterrupted(reason):
                if self._output.screen is not None:
                    self._output.screen.note = f"{reason}: finishing running tests"
            case RunFinished() | NothingTested():
                self._stop()

    def _start(self) -> None:
        from siconform.output.live.screen import Screen  # noqa: PLC0415  # rich takes a moment

        waits.listen(_board(self._results, _MAIN))
        with suppress(OSError):
            screen = Screen(
                self._output.terminal, lambda: self._progress.view(time.monotonic()), self._waits
            )
            screen.start()
            self._output.screen = screen

    def _stop(self) -> None:
        if self._output.screen is not None:
            self._output.screen.stop()
            self._output.screen = None
        for board in self._boards():
            with suppress(OSError):
                board.unlink()

    def _waits(self) -> Iterator[Wait]:
        yield from read(sorted(self._boards()))

    def _boards(self) -> Iterator[Path]:
        return (self._results / _BOARDS).glob(f"{_BOARD}*")


def report_waits(results: Path, worker: str) -> None:
    """Publish the waits of this worker, if the controller draws."""
    if (results / _BOARDS / f"{_BOARD}{_MAIN}").exists():
        waits.listen(_board(results, worker))


def _board(results: Path, worker: str) -> Board:
    """Return the board of a worker, listed so that the next run removes leftovers."""
    path = results / _BOARDS / f"{_BOARD}{worker}"
    with suppress(OSError):
        adds(results, path)
    return Board(path)
