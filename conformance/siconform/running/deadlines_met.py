"""Waits compared with their deadlines: the headroom of each deadline class."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from siconform.expecting.waits import Wait
from siconform.results import DeadlineFacts


class FinishedWaits:
    """The waits of a test, in the process that runs it."""

    def __init__(self) -> None:
        self._finished: list[tuple[str, float, float]] = []

    def began(self, wait: Wait) -> None:
        """Do nothing: a wait counts when it ends."""

    def ended(self, wait: Wait) -> None:
        """Record the wait if it was successful."""
        if wait.took is not None:
            self._finished.append((wait.kind.value, wait.limit, max(0.0, wait.took)))

    def taken(self) -> list[tuple[str, float, float]]:
        """Return class, seconds allowed and seconds taken of each wait since the last call."""
        finished, self._finished = self._finished, []
        return finished


@dataclass(slots=True)
class DeadlinesMet:
    """All waits of a run, in its controller."""

    _by_class: dict[str, list[tuple[float, float, str]]] = field(default_factory=dict)

    def observe(self, test: str, waits: Sequence[tuple[str, float, float]]) -> None:
        """Add the waits of a test."""
        for kind, allowed, took in waits:
            self._by_class.setdefault(kind, []).append((allowed, took, test))

    def received(self) -> list[DeadlineFacts]:
        """Return the count and the wait closest to its deadline for each class."""
        return [_facts(kind, waits) for kind, waits in sorted(self._by_class.items())]


def _facts(kind: str, waits: Sequence[tuple[float, float, str]]) -> DeadlineFacts:
    allowed, slowest, test = max(waits, key=_share)
    middle = median(took for _, took, _ in waits)
    return DeadlineFacts(kind, allowed, len(waits), middle, slowest, test)


def _share(wait: tuple[float, float, str]) -> float:
    allowed, took, _ = wait
    return took / allowed if allowed else 0.0
