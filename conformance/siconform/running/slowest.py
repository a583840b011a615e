"""The slowest tests of a run, for ``--durations``."""

from collections.abc import Iterator

import pytest


class Slowest:
    """Collects the durations of tests, including all phases."""

    def __init__(self, many: int, at_least: float) -> None:
        """Show the ``many`` slowest (0: all) that take at least ``at_least`` seconds."""
        self._many = many
        self._at_least = at_least
        self._seconds: dict[str, float] = {}

    def observe(self, report: pytest.TestReport) -> None:
        """Add a phase of a test."""
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration

    def received(self) -> Iterator[str]:
        """Yield a line per test, the slowest first."""
        slow = [(seconds, test) for test, seconds in self._seconds.items()]
        shown = sorted((one for one in slow if one[0] >= self._at_least), reverse=True)
        shown = shown[: self._many or None]
        if shown:
            yield f"slowest {len(shown)} of {len(self._seconds)} tests:"
            yield from (f"  {seconds:6.2f} s  {test}" for seconds, test in shown)
            yield ""
