"""The slowest tests of a run, for ``--durations``."""

from collections.abc import Iterator

from siconform.output.events import Event, RunFinished, TestPhaseEnded
from siconform.output.live.output import Output


class Slowest:
    """Prints the tests that took longest, including all phases."""

    def __init__(self, output: Output, many: int, at_least: float) -> None:
        """Show the ``many`` slowest (0: all) that take at least ``at_least`` seconds."""
        self._output = output
        self._many = many
        self._at_least = at_least
        self._seconds: dict[str, float] = {}

    def on_event(self, event: Event) -> None:
        """Add a phase of a test; print a line per test at the end, the slowest first."""
        if isinstance(event, TestPhaseEnded):
            self._seconds[event.test] = self._seconds.get(event.test, 0.0) + event.seconds
        elif isinstance(event, RunFinished):
            self._output.lines(self._lines())

    def _lines(self) -> Iterator[str]:
        slow = [(seconds, test) for test, seconds in self._seconds.items()]
        shown = sorted((one for one in slow if one[0] >= self._at_least), reverse=True)
        shown = shown[: self._many or None]
        if shown:
            yield f"slowest {len(shown)} of {len(self._seconds)} tests:"
            yield from (f"  {seconds:6.2f} s  {test}" for seconds, test in shown)
            yield ""
