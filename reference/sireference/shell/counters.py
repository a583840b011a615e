"""Counters: what happened since the start, by kind."""

from collections import Counter
from collections.abc import Iterable


class Counters:
    """Plain numbers that only grow."""

    def __init__(self) -> None:
        self.heard: Counter[str] = Counter()  # messages from RMs, by method
        self.told: Counter[str] = Counter()  # what RMs were told, by kind of effect
        self.refused = 0  # events of RMs that are not served

    def tell(self, effects: Iterable[object]) -> None:
        """Count ``effects``."""
        self.told.update(type(effect).__name__ for effect in effects)
