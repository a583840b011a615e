"""Evaluates changes: what each breaks, which peers it misleads, and the alternative."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sispec.advice import advice
from sispec.changes import Change, Kind, compare
from sispec.cross_decoding import NEW, OLD, Exchange
from sispec.meanings import absence_in
from sispec.message_senders import Peer, carried_by_rpc, implementer, senders
from sispec.misreading import Decoding, Form, Reading
from sispec.model import Spec
from sispec.pairing import in_interface, interface_partners
from sispec.schema import revision_schema
from sispec.sentences import AGES, Describer, of_new_interface, without_bytes

_SENTENCES = 2  # per peer: enough for a misread and a lost value


class Class(StrEnum):
    """What a change breaks, worst first."""

    MISREAD = "silently misread"
    WIRE_BREAKING = "wire-breaking"
    JSON_BREAKING = "JSON-breaking"
    SOURCE_BREAKING = "source-breaking"
    COMPATIBLE = "compatible"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Consequences of one change."""

    change: Change
    classes: tuple[Class, ...]
    """Worst first; COMPATIBLE only alone."""
    old_peer: str
    """What an old peer understands of a new peer's messages."""
    new_peer: str
    """What a new peer understands of an old peer's messages."""
    advice: str
    """The alternative; "" if there is none."""
    readings: tuple[Reading, ...] = ()
    """The decoded messages that show it."""

    @property
    def worst(self) -> Class:
        """Return the worst of its classes."""
        return self.classes[0]

    @property
    def breaks(self) -> bool:
        """Whether it breaks any peer or code."""
        return self.worst is not Class.COMPATIBLE


_SOURCE = frozenset(
    {
        Kind.PACKAGE,
        Kind.OPTION,
        Kind.SERVICE_REMOVED,
        Kind.METHOD_REMOVED,
        Kind.METHOD_TYPES,
        Kind.METHOD_STREAMING,
        Kind.MESSAGE_REMOVED,
        Kind.MESSAGE_RENAMED,
        Kind.FIELD_REMOVED,
        Kind.FIELD_RENAMED,
        Kind.FIELD_REPLACED,
        Kind.FIELD_TYPE,
        Kind.FIELD_CARDINALITY,
        Kind.FIELD_ONEOF,
        Kind.ENUM_REMOVED,
        Kind.ENUM_MOVED,
        Kind.VALUE_REMOVED,
        Kind.VALUE_RENAMED,
        Kind.VALUE_REPLACED,
        Kind.EXTENSION_REMOVED,
        Kind.EXTENSION_CHANGED,
        Kind.CONSTANT_REMOVED,
        Kind.CONSTANT_RENAMED,
        Kind.API_REMOVED,
        Kind.API_RENAMED,
        Kind.API_SIGNATURE,
    }
)
_JSON = frozenset(
    {
        Kind.MESSAGE_REMOVED,
        Kind.VALUE_REMOVED,
        Kind.VALUE_RENAMED,
        Kind.VALUE_REPLACED,
    }
)
_WIRE = frozenset(
    {
        Kind.PACKAGE,
        Kind.SERVICE_REMOVED,
        Kind.METHOD_REMOVED,
        Kind.METHOD_STREAMING,
        Kind.VALUE_REMOVED,
        Kind.CONSTANT_VALUE,
    }
)
_ADDED = frozenset({Kind.FIELD_ADDED, Kind.VALUE_ADDED})
_OF_METHODS = frozenset(
    {
        Kind.PACKAGE,
        Kind.SERVICE_ADDED,
        Kind.SERVICE_REMOVED,
        Kind.METHOD_ADDED,
        Kind.METHOD_REMOVED,
        Kind.METHOD_TYPES,
        Kind.METHOD_STREAMING,
    }
)
_SIGNATURES = frozenset({Kind.API_SIGNATURE, Kind.API_PARAMETERS})
_OF_THE_API = frozenset({Kind.API_ADDED, Kind.API_REMOVED, Kind.API_RENAMED}) | _SIGNATURES
_LOSSES = (Decoding.LOST, Decoding.PARTLY, Decoding.REFUSED)


def evaluate(old: Spec, new: Spec) -> list[Evaluation]:
    """Evaluate every change between two specifications, in the order of `compare`."""
    changes = compare(old, new)
    exchange = Exchange(old, new)
    schemas = {OLD: exchange.before, NEW: exchange.after}
    sent = {OLD: senders(exchange.before, old.api), NEW: senders(exchange.after, new.api)}
    for revision in exchange.memory.revisions:
        schemas[revision] = revision_schema(revision)
    court = _Classifier(exchange, Describer(schemas, sent))
    return [court.evaluation(change) for change in changes]


class _Classifier:
    def __init__(self, exchange: Exchange, teller: Describer) -> None:
        self._exchange = exchange
        self._teller = teller
        self._carried = carried_by_rpc(exchange.before)

    def evaluation(self, change: Change) -> Evaluation:
        readings = self._exchange.readings(change)
        classes = self._classes(change, readings)
        breaks = classes != (Class.COMPATIBLE,)
        advised = bool(
            breaks
            or change.kind in (Kind.RESERVED_REMOVED, Kind.FIELD_ROLE)
            or (change.kind is Kind.FIELD_ADDED and self._exchange.former_owner(change))
        )
        return Evaluation(
            change,
            classes,
            self._received(change, readings, OLD),
            self._received(change, readings, NEW),
            advice(change, self._exchange) if advised else "",
            readings,
        )

    def _classes(self, change: Change, readings: Iterable[Reading]) -> tuple[Class, ...]:
        found: set[Class] = set()
        for reading in readings:
            found |= self._of_reading(change, reading)
        if change.kind in _SOURCE or self._must_be_implemented(change):
            found.add(Class.SOURCE_BREAKING)
        if change.kind is Kind.CONSTANT_VALUE and change.taken_from:
            found.add(Class.MISREAD)
        if change.kind is Kind.CONSTANT_VALUE and change.was:
            found.add(Class.SOURCE_BREAKING)
        alias = self._exchange.is_alias(change)  # as its readings show
        if (change.kind in _JSON and not alias) or (
            change.kind is Kind.ENUM_REMOVED
            and self._is_used(change.where, self._exchange.before.messages)
        ):
            found.add(Class.JSON_BREAKING)
        if (change.kind in _WIRE and not alias) or self._is_gone_from_wire(change):
            found.add(Class.WIRE_BREAKING)
        if change.kind is Kind.VALUE_NUMBER and not readings:
            found.add(Class.WIRE_BREAKING)
        if change.kind is Kind.VALUE_REPLACED and not readings:
            found.add(Class.MISREAD)
        return tuple(c for c in Class if c in found) or (Class.COMPATIBLE,)

    def _of_reading(self, change: Change, reading: Reading) -> set[Class]:
        if reading.outcome is Decoding.SAME:
            return set()
        if reading.form is Form.JSON:
            return {Class.JSON_BREAKING}
        if reading.outcome is Decoding.MISREAD:
            return {Class.MISREAD}
        if change.kind in _ADDED and reading.outcome is not Decoding.REFUSED:
            return set()  # no peer relied on it before
        if reading.outcome is Decoding.LOST and self._misleads(reading):
            return {Class.MISREAD, Class.WIRE_BREAKING}
        return {Class.WIRE_BREAKING} if reading.outcome in _LOSSES else set()

    def _misleads(self, reading: Reading) -> bool:
        schema = self._exchange.after if reading.reader == NEW else self._exchange.before
        place = f"{reading.message}.{reading.element}"
        absence = absence_in(place, schema, reading.taken_for)
        return absence is not None and absence.misleads

    def _must_be_implemented(self, change: Change) -> bool:
        """Whether it is a new method of a Go interface that is already implemented."""
        interface = change.where.partition(".")[0]
        old, new = self._exchange.old.api, self._exchange.new.api
        renamed = interface_partners(old, new)
        known = {in_interface(name, renamed).partition(".")[0] for name in old}
        return change.kind is Kind.API_ADDED and interface in known

    def _is_gone_from_wire(self, change: Change) -> bool:
        if change.kind is Kind.MESSAGE_REMOVED:
            return change.where in self._carried
        return change.kind is Kind.ENUM_REMOVED and self._is_used(change.where, self._carried)

    def _is_used(self, enum: str, messages: Iterable[str]) -> bool:
        """Whether a field of one of the old `messages` has values of `enum`."""
        old = self._exchange.before.messages
        return any(f.type == enum for name in messages for f in old[name].fields.values())

    def _received(self, change: Change, readings: Iterable[Reading], side: str) -> str:
        mine = [r for r in readings if r.reader == side or (side == OLD and r.reader != NEW)]
        mine.sort(key=lambda r: (r.form is Form.JSON, -r.outcome.badness))
        distinct = [r for r in mine if r.outcome is not Decoding.SAME]
        if any(r.form is Form.BYTES for r in distinct):
            distinct = [r for r in distinct if r.form is Form.BYTES]
        if not distinct:
            distinct = [r for r in mine if r.form is Form.BYTES][:1]
        sent = dict.fromkeys(self._teller.send(reading) for reading in distinct)
        if sent:
            return " ".join([*sent][:_SENTENCES])
        who = self._reader(change, side)
        added = change.kind is Kind.API_ADDED and side == NEW
        if added and not self._must_be_implemented(change):
            return of_new_interface(change, who)
        return without_bytes(change, side, who)

    def _reader(self, change: Change, side: str) -> str:
        """Return the peer on one side of a change that no message shows."""
        if change.kind in _OF_METHODS:
            return f"{AGES[side]} {Peer.SCHEDULER.value}"
        if change.kind in _OF_THE_API:
            end = implementer(change.where)
            calls = side == OLD and change.kind is not Kind.API_ADDED
            return f"{AGES[side]} {(end.other if calls else end).value}"
        writer = NEW if side == OLD else OLD
        for age, place in ((writer, change.old_place), (NEW, change.where), (OLD, change.where)):
            message = self._exchange.message_of(age, place)
            if message:
                return self._teller.reader(side, age, message)
        return self._teller.reader(side, writer, "")
