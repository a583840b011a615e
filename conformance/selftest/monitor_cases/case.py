"""The histories that a monitor is tried with."""

from collections.abc import Sequence
from dataclasses import dataclass

from selftest.sample_histories import Part


@dataclass(frozen=True)
class Case:
    """A monitor with a history it passes, one that does not apply, and violating ones."""

    monitor: str
    holds: Sequence[Part]
    idle: Sequence[Part]
    broken: Sequence[tuple[str, Sequence[Part]]]  # a part of the violation, the history
