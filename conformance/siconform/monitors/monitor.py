"""What a monitor is, and what it found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from siconform.recording.history import Entry

EntryJudgement = str | None
"""Of one entry: None where there is nothing to judge, "" where the rule holds, or what is wrong."""

Judge = Callable[[Entry], EntryJudgement]
"""Hears every entry of one life of an RM in order, and says of each what it makes of it."""

NOTHING_TO_JUDGE: Final = None


@dataclass(frozen=True, slots=True)
class Monitor:
    """A safety rule, and the requirements it is evidence for.

    A life of an RM goes from one successful registration to the next and has a judge of its own;
    the judge of a rule that ``outlives_registrations`` hears all lives of the RM.
    """

    name: str
    requirements: tuple[str, ...]
    begins: Callable[[], Judge]
    outlives_registrations: bool = False
    presupposes: str = ""  # the feature of a target without which it judges nothing, "" for none


@dataclass(frozen=True, slots=True)
class MonitorResult:
    """What one monitor saw during one test.

    ``held`` counts how often its premise held; a monitor whose premise never held proves nothing.
    """

    monitor: str
    requirements: tuple[str, ...]
    held: int
    violation: str | None
    seen_at: int | None = None  # the index of the entry with which it was violated first


def violated_if(wrong: object, says: str) -> str:
    """The judgement of a rule that is violated with this sentence, or holds."""
    return says if wrong else ""
