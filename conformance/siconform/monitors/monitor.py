"""What a monitor is, and what it found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from siconform.monitors.restated import UpdateRejected
from siconform.protocol.notifications import AllocationRejected, AskRejected, Fact
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry

EntryFinding = str | None
"""Of one entry: None where there is nothing to judge, "" where the rule holds, or what is wrong."""

Evaluator = Callable[[Entry], EntryFinding]
"""Hears every entry of one life of an RM in order, and says of each what it makes of it."""

NOTHING_TO_EVALUATE: Final = None

F = TypeVar("F", bound=Fact)


@dataclass(frozen=True, slots=True)
class Monitor:
    """A safety rule, and the requirements it is evidence for.

    A life of an RM goes from one successful registration to the next and has a judge of its own;
    the judge of a rule that ``outlives_registrations`` hears all lives of the RM.
    """

    begins: Callable[[], Evaluator]
    requirements: tuple[str, ...]
    outlives_registrations: bool = False
    presupposes: str = ""  # the feature of a target without which it judges nothing, "" for none
    identity: Identity | None = None  # judged only where it is this, None for any

    @property
    def name(self) -> str:
        """The rule in words, which is the name of its function."""
        return self.begins.__name__


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


def of_each(kind: type[F], evaluation: Callable[[F], str]) -> Evaluator:
    """A judge of every fact of one kind by itself: what is wrong with it, or ""."""

    def evaluate(entry: Entry) -> EntryFinding:
        return evaluation(entry.content) if isinstance(entry.content, kind) else NOTHING_TO_EVALUATE

    return evaluate


def without_reason(rejection: AskRejected | AllocationRejected | UpdateRejected) -> str:
    """What is wrong with a rejection whose reason is empty."""
    missing = not rejection.reason.strip()
    return violated_if(missing, f"rejection of {rejection.key} gives no reason")


def violated_if(wrong: object, message: str) -> str:
    """The judgement of a rule that is violated with this sentence, or holds."""
    return message if wrong else ""
