"""The monitor and its result."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from siconform.monitors.restated import UpdateRejected
from siconform.protocol.notifications import AllocationRejected, AskRejected, Fact
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry

EntryFinding = str | None
"""The finding for one entry: None if the rule does not apply, "" if it holds, else a message."""

Evaluator = Callable[[Entry], EntryFinding]
"""Called in order with the entries of one registration that it observes; returns the findings."""

NOTHING_TO_EVALUATE: Final = None

F = TypeVar("F", bound=Fact)


class Barriers:
    """Stands in ``observes`` for everything that belongs to a barrier, of whatever type."""


@dataclass(frozen=True, slots=True)
class Monitor:
    """A safety rule, and the requirements it is evidence for.

    Each successful registration of an RM starts a new evaluator; the evaluator of a rule that
    ``outlives_registrations`` is kept across them, and a rule ``of_all_rms`` has one for all of
    them. In a trace with a gap only a rule
    ``about_one_message`` is evaluated for what may have begun before, and once a trace is so long
    that names are forgotten, none ``about_new_names``.
    """

    begins: Callable[[], Evaluator]
    requirements: tuple[str, ...]
    observes: tuple[type, ...] = ()  # types of content, or Barriers, it is called with; () for all
    outlives_registrations: bool = False
    of_all_rms: bool = False
    about_one_message: bool = False  # remembers nothing of other messages
    about_new_names: bool = False  # has to tell a name that was used before from a new one
    presupposes: str = ""  # the feature the target must have, "" for none
    identity: Identity | None = None  # evaluated only with this identity, None for any

    @property
    def name(self) -> str:
        """The rule's name: that of its function."""
        return self.begins.__name__

    @property
    def spans_registrations(self) -> bool:
        """Whether it can judge what was sent before the last registration of an RM."""
        return self.outlives_registrations or self.of_all_rms or self.about_one_message


class Observers:
    """Some monitors, and which of those that are evaluated observe what."""

    def __init__(
        self,
        monitors: Sequence[Monitor],
        is_evaluated: Callable[[Monitor], bool] = lambda _: True,
    ) -> None:
        self.monitors: Final = monitors
        self._is_evaluated = is_evaluated
        self._of: dict[type, tuple[int, ...]] = {}
        self._of_barriers: dict[type, tuple[int, ...]] = {}

    def begin(
        self, shared: Mapping[int, Evaluator], previous: Sequence[Evaluator] | None
    ) -> list[Evaluator]:
        """Return the evaluators of all monitors from a registration on, by number.

        Those ``shared`` by all RMs are not begun; of the ``previous`` registration, those that
        outlive it are kept.
        """
        return [
            previous[number]
            if previous is not None and monitor.outlives_registrations
            else shared.get(number) or monitor.begins()
            for number, monitor in enumerate(self.monitors)
        ]

    def of(self, entry: Entry) -> tuple[int, ...]:
        """Return the numbers of the monitors that observe such an entry."""
        content = type(entry.content)
        known = self._of_barriers if entry.barrier else self._of
        found = known.get(content)
        if found is None:
            found = known[content] = tuple(self._which(content, barrier=entry.barrier))
        return found

    def _which(self, content: type, *, barrier: bool) -> Iterator[int]:
        for number, monitor in enumerate(self.monitors):
            observes = monitor.observes
            is_called = not observes or issubclass(content, observes)
            if (is_called or (barrier and Barriers in observes)) and self._is_evaluated(monitor):
                yield number


@dataclass(frozen=True, slots=True)
class MonitorResult:
    """The result of one monitor for one test.

    ``held`` counts how often its precondition held; 0 means the rule was never exercised.
    """

    monitor: str
    requirements: tuple[str, ...]
    held: int
    violation: str | None
    seen_at: int | None = None  # the index of the entry that first violated it


def of_each(kind: type[F], evaluation: Callable[[F], str]) -> Evaluator:
    """Return an evaluator that checks each fact of one kind in isolation."""

    def evaluate(entry: Entry) -> EntryFinding:
        return evaluation(entry.content) if isinstance(entry.content, kind) else NOTHING_TO_EVALUATE

    return evaluate


def without_reason(rejection: AskRejected | AllocationRejected | UpdateRejected) -> str:
    """Return a violation if the rejection's reason is empty."""
    missing = not rejection.reason.strip()
    return violated_if(missing, f"rejection of {rejection.key} gives no reason")


def violated_if(wrong: object, message: str) -> str:
    """Return the message if the rule is violated, else ""."""
    return message if wrong else ""
