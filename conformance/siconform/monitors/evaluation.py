"""Evaluation of a history by all monitors; each entry is read once, even in a shared history."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakKeyDictionary

from siconform.catalogue import Side
from siconform.monitors.in_flight import InFlight
from siconform.monitors.key_lifecycles import KeyLifecycles
from siconform.monitors.monitor import Evaluator, Monitor, MonitorResult, Observers
from siconform.monitors.registry import MONITORS_OF
from siconform.protocol.registration import RegistrationRequested, is_registered
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry, Exchange, History


@dataclass(slots=True)
class _Record:
    """What one monitor has seen so far: indexes of entries, in order."""

    held: list[int] = field(default_factory=list)
    violations: list[tuple[int, str]] = field(default_factory=list)


class _RmEvaluators:
    """The evaluators of one RM, from one successful registration to the next."""

    def __init__(
        self,
        observers: Observers,
        records: Sequence[_Record],
        shared: Mapping[int, Evaluator],
        previous: "_RmEvaluators | None",
        *,
        is_registered: bool,
    ) -> None:
        kept = None if previous is None else previous.evaluators
        self.evaluators: list[Evaluator] = observers.begin(shared, kept)
        self.is_registered = is_registered
        is_again = previous is not None and previous.is_registered
        self._in_flight = InFlight() if is_again else None
        self._observers = observers
        self._records = records

    def observe_registration(self, registration: Entry | None) -> None:
        """Pass on the registration call, which precedes its successful answer."""
        if registration is not None:
            for number in self._observers.of(registration):
                self.evaluators[number](registration)

    def evaluates(self, index: int, entry: Entry) -> None:
        """Have the monitors that observe such content evaluate the entry."""
        evaluators = self.evaluators
        is_late = self._in_flight is not None and self._in_flight.may_have_been(entry)
        for number in self._observers.of(entry):
            if is_late and not self._observers.monitors[number].spans_registrations:
                continue
            evaluation = evaluators[number](entry)
            if evaluation is not None:
                record = self._records[number]
                record.held.append(index)
                if evaluation:
                    record.violations.append((index, evaluation))


class Reading:
    """The monitors' findings about a history, as far as it has been read."""

    def __init__(self, identity: Identity, observers: Observers) -> None:
        monitors = observers.monitors
        self._observers = observers
        self._read = 0
        self._by_key: defaultdict[str, KeyLifecycles] | None = None
        if identity is Identity.KEY_OF_THE_ASK:
            self._by_key = defaultdict(KeyLifecycles)
        self._evaluators_by_rm: dict[str, _RmEvaluators] = {}
        self._asked: dict[str, Entry] = {}  # the last call to register of each RM
        self._records = [_Record() for _ in monitors]
        self._shared = {n: one.begins() for n, one in enumerate(monitors) if one.of_all_rms}

    def reads(self, history: History, end: int) -> None:
        """Evaluate the new entries before the index ``end``."""
        for entry in history.between(self._read, end):
            self._observe(self._read, entry)
            self._read += 1

    def results(self, start: int, end: int) -> list[MonitorResult]:
        """Return each monitor's result between these indexes; earlier entries are context."""
        return [
            _result(monitor, record, start, end)
            for monitor, record in zip(self._observers.monitors, self._records, strict=True)
        ]

    def _observe(self, index: int, entry: Entry) -> None:
        evaluators = self._evaluators_by_rm.get(entry.rm)
        starts_over = is_registered(entry.content)
        if evaluators is None or starts_over:
            evaluators = self._evaluators_by_rm[entry.rm] = _RmEvaluators(
                self._observers, self._records, self._shared, evaluators, is_registered=starts_over
            )
            evaluators.observe_registration(self._asked.get(entry.rm))
        if isinstance(entry.content, RegistrationRequested):
            self._asked[entry.rm] = entry
        received = (entry,) if self._by_key is None else self._by_key[entry.rm].restates(entry)
        for restated in received:
            evaluators.evaluates(index, restated)


def _result(monitor: Monitor, record: _Record, start: int, end: int) -> MonitorResult:
    held = 0
    if record.held and record.held[-1] >= start:
        held = bisect_left(record.held, end) - bisect_left(record.held, start)
    if record.violations:
        first = bisect_left(record.violations, (start, ""))
        for index, message in record.violations[first : first + 1]:
            if index < end:
                return MonitorResult(monitor.name, monitor.requirements, held, message, index)
    return MonitorResult(monitor.name, monitor.requirements, held, None)


_OBSERVERS: Final = {side: Observers(monitors) for side, monitors in MONITORS_OF.items()}
_READINGS: WeakKeyDictionary[History, Reading] = WeakKeyDictionary()


def reading_of(exchange: Exchange, side: Side = Side.SCHEDULER) -> Reading:
    """Return the history's only reading by the monitors of the tested side.

    It covers at least this exchange.
    """
    history = exchange.history
    reading = _READINGS.get(history)
    if reading is None:
        reading = _READINGS[history] = Reading(history.identity, _OBSERVERS[side])
    reading.reads(history, exchange.until())
    return reading
