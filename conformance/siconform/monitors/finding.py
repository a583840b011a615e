"""What a monitor is, and what it found."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from siconform.rm.history import Entry


@dataclass(frozen=True, slots=True)
class Observation:
    """One moment at which a monitor's premise held; ``violation`` is empty where the rule held."""

    index: int  # of the entry in the history
    violation: str = ""


@dataclass(frozen=True, slots=True)
class Era:
    """The life of one RM from one successful registration to the next, with history indexes.

    What was said before the index ``judged_from`` is context: observations there do not count.
    ``earlier`` is what the RM said and heard in the lives before this one.
    """

    entries: Sequence[tuple[int, Entry]]
    judged_from: int = 0
    earlier: Sequence[Entry] = ()


Rule = Callable[[Era], Iterator[Observation]]


@dataclass(frozen=True, slots=True)
class Monitor:
    """A safety rule over an era, and the requirements it is evidence for."""

    name: str
    requirements: tuple[str, ...]
    rule: Rule


@dataclass(frozen=True, slots=True)
class Finding:
    """What one monitor saw during one test.

    ``held`` counts how often its premise held; a monitor whose premise never held proves nothing.
    """

    monitor: str
    requirements: tuple[str, ...]
    held: int
    violation: str | None
    seen_at: int | None = None  # the index of the entry with which it was violated first


MONITORS: list[Monitor] = []
"""Every monitor, in the order of definition."""


def monitors(*requirements: str) -> Callable[[Rule], Rule]:
    """Declare a function over an era as the monitor of these requirements."""

    def declare(rule: Rule) -> Rule:
        MONITORS.append(Monitor(rule.__name__, requirements, rule))
        return rule

    return declare
