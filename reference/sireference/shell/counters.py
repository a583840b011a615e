"""Counters of events since the start, by kind."""

from collections import Counter
from collections.abc import Iterable


class Counters:
    """Plain numbers that only grow."""

    def __init__(self) -> None:
        self.handled: Counter[str] = Counter()  # messages from RMs, by method
        self.reported: Counter[str] = Counter()  # messages to RMs, by kind of effect
        self.refused = 0  # events of RMs that are not served

    def report(self, effects: Iterable[object]) -> None:
        """Count ``effects``."""
        for kind, number in Counter(map(type, effects)).items():
            self.reported[kind.__name__] += number
