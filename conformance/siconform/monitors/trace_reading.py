"""Evaluation of a trace by monitors, entry by entry; nothing is kept but counts and what lives."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from siconform.monitors.in_flight import InFlight
from siconform.monitors.key_lifecycles import KeyLifecycles
from siconform.monitors.monitor import Evaluator, Monitor, Observers
from siconform.monitors.trace_gap import Gap
from siconform.monitors.trace_memory import RETENTION, Forgotten, Memory
from siconform.monitors.trace_result import MOST_VIOLATIONS, Position, Violation, kind_of
from siconform.protocol.registration import (
    RegistrationAnswered,
    RegistrationRequested,
    is_registered,
)
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry

_RESTART_AFTER: Final = 4 * RETENTION  # entries, at least, until the monitors are begun again
_AGAIN: Final = 2  # times the entries they are begun with, at least
_MOST_KINDS: Final = 1_000  # of violations of a rule of which one is kept


@dataclass(slots=True)
class Found:
    """What one monitor found."""

    held: int = 0
    violated: int = 0
    violations: list[Violation] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)  # of the violations, at most _MOST_KINDS

    def should_keep(self, message: str) -> bool:
        """Return whether a violation is one of the first, or of a kind that is not kept yet."""
        kind = kind_of(message)
        is_new = kind not in self.kinds and len(self.kinds) < _MOST_KINDS
        if is_new:
            self.kinds.add(kind)
        return is_new or len(self.violations) < MOST_VIOLATIONS


_Observing = Sequence[tuple[Evaluator, int]]
"""Evaluators with the numbers of their monitors."""


class _RmEvaluators:
    """The evaluators of one RM, from one successful registration to the next."""

    def __init__(
        self,
        observers: Observers,
        shared: Mapping[int, Evaluator],
        previous: "_RmEvaluators | None",
    ) -> None:
        kept = None if previous is None else previous.evaluators
        self.evaluators: list[Evaluator] = observers.begin(shared, kept)
        self._observers = observers
        self._observing: dict[type, _Observing] = {}
        self._observing_barriers: dict[type, _Observing] = {}

    def observing(self, entry: Entry) -> _Observing:
        """Return the evaluators that observe such an entry."""
        known = self._observing_barriers if entry.barrier else self._observing
        found = known.get(type(entry.content))
        if found is None:
            numbers = self._observers.of(entry)
            found = [(self.evaluators[number], number) for number in numbers]
            known[type(entry.content)] = found
        return found

    def of(self, numbers: Iterable[int]) -> _Observing:
        """Return the evaluators of these monitors."""
        return [(self.evaluators[number], number) for number in numbers]


class _Monitors:
    """The monitors, and which of them are evaluated, by what is known of an RM's past."""

    def __init__(self, monitors: Sequence[Monitor]) -> None:
        self.all: Final = monitors
        self.alone: Final = Observers(monitors, lambda one: one.about_one_message)
        self._observers: dict[tuple[bool, bool], Observers] = {}

    def observers(self, *, is_whole: bool, knows_names: bool) -> Observers:
        """Return those that are evaluated.

        Those that outlive registrations are left out unless all was seen. Once names were
        forgotten those about new names do not observe any more.
        """

        def is_evaluated(monitor: Monitor) -> bool:
            return (is_whole or not monitor.outlives_registrations) and (
                knows_names or not monitor.about_new_names
            )

        return self._observers.setdefault(
            (is_whole, knows_names), Observers(self.all, is_evaluated)
        )


class _RM:
    """The monitors of one RM, begun again from time to time with what still lives."""

    def __init__(
        self,
        monitors: _Monitors,
        shared: Mapping[int, Evaluator],
        identity: Identity,
        *,
        is_whole: bool,
        forgotten: Forgotten,
    ) -> None:
        self._monitors, self._shared = monitors, shared
        self._identity = identity
        self._is_whole = is_whole
        self._by_key = identity is Identity.KEY_OF_THE_ASK
        self.gap: Gap | None = None if is_whole else Gap(identity)
        self.memory = Memory(forgotten)
        self._since = 0  # entries since the monitors were begun again
        self._begun_with = 0  # entries that they were given then
        self._knows_names = True  # whether none was forgotten
        self._evaluators_by_rm = KeyLifecycles()
        self._evaluators = self._begun(None)
        self._asked: Entry | None = None
        self._may_have_registered = not is_whole
        self._in_flight: InFlight | None = None

    def restated(self, entry: Entry) -> Iterable[Entry]:
        """Return the entry as monitors are to observe it."""
        return self._evaluators_by_rm.restates(entry) if self._by_key else (entry,)

    def observing(self, entry: Entry) -> _Observing:
        """Return the evaluators that observe such an entry."""
        observing = self._evaluators.observing(entry)
        if self._in_flight is None or not self._in_flight.may_have_been(entry):
            return observing
        monitors = self._monitors.all
        return [(e, number) for e, number in observing if monitors[number].spans_registrations]

    def observing_alone(self, entry: Entry) -> _Observing:
        """Return those whose rule is about a single message."""
        return self._evaluators.of(self._monitors.alone.of(entry))

    def observe_registration(self, entry: Entry) -> bool:
        """Begin again after a successful registration; return whether all is known of it."""
        content = entry.content
        if isinstance(content, RegistrationRequested):
            self._asked = entry
        elif self._asked is not None and is_registered(content):
            if self.gap is not None:
                self.gap = None
                self._evaluators_by_rm = KeyLifecycles()
                self.memory = self.memory.emptied()
                self.memory.note(self._asked)
            self._begin(self._asked)
            self._in_flight = InFlight() if self._may_have_registered else None
            self._may_have_registered = True
        return self.gap is None

    def _begin(self, asked: Entry | None) -> None:
        self._evaluators = self._begun(self._evaluators)
        if asked is not None:
            for evaluate, _ in self._evaluators.observing(asked):
                evaluate(asked)

    def _begun(self, previous: _RmEvaluators | None) -> _RmEvaluators:
        observers = self._monitors.observers(is_whole=self._is_whole, knows_names=self._knows_names)
        return _RmEvaluators(observers, self._shared, previous)

    def should_restart(self) -> bool:
        """Return whether enough has passed since the monitors were begun."""
        self._since += 1
        return self._since >= _RESTART_AFTER and self._since >= _AGAIN * self._begun_with

    def restart(self) -> Iterator[str]:
        """Begin the monitors with what still lives; yield the keys that were forgotten."""
        for name in self.memory.forget():
            if name[0] == "key":
                yield name[2]
            if self.gap is not None:
                self.gap.forget(name)
            self._knows_names = False
        self._since = 0
        self._evaluators_by_rm = KeyLifecycles()
        self._evaluators = self._begun(None)
        asked: Entry | None = None
        log = self.memory.log()
        self._begun_with = len(log)
        for entry in log:
            content = entry.content
            if isinstance(content, RegistrationRequested):
                asked = entry
            elif is_registered(content):
                self._begin(asked)
            for restated in self.restated(entry):
                for evaluate, number in self._evaluators.observing(restated):
                    if number not in self._shared:
                        evaluate(restated)


class TraceReading:
    """The findings of some monitors about a trace, as far as it has been read."""

    def __init__(
        self,
        identity: Identity,
        monitors: Sequence[Monitor],
        forget: Callable[[str, str], None],
        violated: Callable[[Monitor, Violation], None] | None = None,
    ) -> None:
        """``forget`` is called with an RM and a key that ended long ago."""
        self.monitors: Final = monitors
        self._monitors = _Monitors(monitors)
        self.found: Final = [Found() for _ in monitors]
        self.elements: Counter[str] = Counter()  # by RM
        self.unknown: Counter[str] = Counter()
        self.forgotten = 0
        self._identity = identity
        self._forget = forget
        self._violated = violated
        self._names = Forgotten()
        self._is_whole = False
        self._shared: dict[int, Evaluator] = {}
        self._rms: dict[str, _RM] = {}

    def begin(self, *, is_whole: bool) -> None:
        """Begin again: nothing is known. ``is_whole``: nothing was before."""
        self._is_whole = is_whole
        self._rms.clear()
        shared = ((n, one) for n, one in enumerate(self.monitors) if one.of_all_rms)
        self._shared = {number: one.begins() for number, one in shared}

    def reads(self, entry: Entry, position: Callable[[float], Position]) -> None:
        """Evaluate an entry; ``position`` is called if it violates a rule."""
        rm = self._rms.get(entry.rm)
        if rm is None:
            rm = self._rms[entry.rm] = self._begins(entry)
        self.elements[entry.rm] += 1
        content = entry.content
        if isinstance(content, (RegistrationRequested, RegistrationAnswered)):
            if not rm.observe_registration(entry):
                self._alone(rm, entry, position)
                return
        elif rm.gap is not None:
            seen = rm.gap.sees(entry)
            for presupposed in seen.presupposed:
                rm.memory.note(presupposed)
                self._evaluate(rm, presupposed, None)
            if seen.entry is None:
                self.unknown[entry.rm] += 1
                self._alone(rm, entry, position)
                return
            entry = seen.entry
        if rm.memory.is_forgotten(entry):
            self.forgotten += 1
            self._alone(rm, entry, position)
            return
        self._evaluate(rm, entry, position)
        rm.memory.note(entry)
        if rm.should_restart():
            for key in rm.restart():
                self._forget(entry.rm, key)

    def _begins(self, entry: Entry) -> _RM:
        """Return the monitors of an RM of which this is the first entry."""
        is_whole = self._is_whole and isinstance(entry.content, RegistrationRequested)
        return _RM(
            self._monitors, self._shared, self._identity, is_whole=is_whole, forgotten=self._names
        )

    def _evaluate(
        self, rm: _RM, entry: Entry, position: Callable[[float], Position] | None
    ) -> None:
        """Have all monitors evaluate it; without a position nothing counts."""
        for restated in rm.restated(entry):
            for evaluate, number in rm.observing(restated):
                finding = evaluate(restated)
                if finding is not None and position is not None:
                    self._count(number, finding, entry, position)

    def _alone(self, rm: _RM, entry: Entry, position: Callable[[float], Position]) -> None:
        """Have only the rules about a single message evaluate it."""
        for evaluate, number in rm.observing_alone(entry):
            finding = evaluate(entry)
            if finding is not None:
                self._count(number, finding, entry, position)

    def _count(
        self, number: int, finding: str, entry: Entry, position: Callable[[float], Position]
    ) -> None:
        found = self.found[number]
        found.held += 1
        if not finding:
            return
        found.violated += 1
        if found.should_keep(finding):
            monitor = self.monitors[number]
            violation = Violation(position(entry.at), entry.rm, monitor.name, finding)
            found.violations.append(violation)
            if self._violated is not None:
                self._violated(monitor, violation)
