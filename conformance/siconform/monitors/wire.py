"""Rules about the wire format: declared types, no reserved numbers, required types set."""

from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import cache
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from siconform.catalogue import Side
from siconform.monitors.latest import of_the_latest
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.protocol.callbacks import Scheduling, SchedulingReported
from siconform.protocol.events import EventReceived, Subject
from siconform.protocol.notifications import Fact, Released, Termination, Unreadable
from siconform.protocol.requests import ReleaseRequest
from siconform.protocol.subjects import AllOf, OneAllocation
from siconform.recording.history import Entry


def every_field_has_its_type(by: Side = Side.SCHEDULER) -> Evaluator:
    """What the target sends decodes as its type, and each enum number is a defined one.

    Empty messages are ignored, and so are the enum numbers of events, which are informative only.
    A declared field of another wire type is kept by protobuf like an unknown one.
    """

    def evaluate_message(message: Message) -> EntryFinding:
        if not message.ByteSize():
            return NOTHING_TO_EVALUATE
        for part, number in unknown_numbers(message):
            if number in part.fields_by_number:
                return f"wrong wire type of field {number} in {part.full_name}"
        undefined = next(_undefined(message), "")
        return f"undeclared {undefined}" if undefined else ""

    received = of_messages(evaluate_message, by)

    def evaluate(entry: Entry) -> EntryFinding:
        if isinstance(entry.content, Unreadable) and entry.sent_by_rm is (by is Side.RM):
            return f"undecodable bytes: {entry.content.problem}"
        return received(entry)

    return evaluate


def every_field_is_declared(by: Side = Side.SCHEDULER) -> Evaluator:
    """What the target sends has no fields that its revision does not declare.

    Empty messages are ignored.
    """

    def evaluate_message(message: Message) -> EntryFinding:
        if not message.ByteSize():
            return NOTHING_TO_EVALUATE
        for part, number in unknown_numbers(message):
            if number not in part.fields_by_number:
                return f"undeclared field {number} in {part.full_name}"
        return ""

    return of_messages(evaluate_message, by)


def reserved_numbers_are_not_used(by: Side = Side.SCHEDULER) -> Evaluator:
    """No message uses a number that its definition, or that of an enum in it, reserves."""

    def evaluate_message(message: Message) -> EntryFinding:
        if next(matching_parts(_reserves, message), None) is None:
            return NOTHING_TO_EVALUATE
        used = next(_reserved_in(message), "")
        return violated_if(used, f"reserved number: {used}")

    return of_messages(evaluate_message, by)


def what_has_a_meaning_is_set() -> Evaluator:
    """A release started by the scheduler, an event and a container state have a type.

    Echoes of a release sent without one do not count.
    """
    unset: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case ReleaseRequest(AllOf(application=name), Termination.UNKNOWN):
                unset.add(name)
            case ReleaseRequest(OneAllocation(identity=name), Termination.UNKNOWN):
                unset.add(name)
            case Released(identity=identity, application=application, termination=termination):
                if not {identity, application} & unset:
                    missing = termination is Termination.UNKNOWN
                    return violated_if(missing, f"release of {identity} has no type")
            case EventReceived(about=about, subject=subject):
                return violated_if(subject is Subject.UNSET, f"event about {about} has no type")
            case SchedulingReported(key=key, state=state):
                return violated_if(state is Scheduling.UNSET, f"report on {key} has no state")
        return NOTHING_TO_EVALUATE

    return evaluate


def a_priority_is_sent_in_one_way(by: Side = Side.SCHEDULER) -> Evaluator:
    """No message of 2021-02 carries both members of the priority, number and class name."""

    def evaluate_message(message: Message) -> EntryFinding:
        if not holds(message.DESCRIPTOR, "si.v1.Priority"):
            return NOTHING_TO_EVALUATE
        sent = [p for p in parts(message) if p.DESCRIPTOR.full_name == "si.v1.Priority"]
        if not sent:
            return NOTHING_TO_EVALUATE
        both = any(all(p.HasField(field.name) for field in p.DESCRIPTOR.fields) for p in sent)
        return violated_if(both, "a priority by number and by name at once")

    return of_messages(evaluate_message, by)


def the_action_is_resync_or_none() -> Evaluator:
    """The control code of 2021-02 is not used for anything else."""

    def evaluate_message(message: Message) -> EntryFinding:
        if message.DESCRIPTOR.full_name != "si.v1.UpdateResponse":
            return NOTHING_TO_EVALUATE
        action = getattr(message, "action", _NO_ACTION)
        return violated_if(action not in (_NO_ACTION, _RESYNC), f"undefined action {action}")

    return of_messages(evaluate_message)


_NO_ACTION, _RESYNC = 0, 1
_GAP: Final = ("si.v1.Allocation", 4)  # not declared, and not reserved in words either


def of_messages(
    evaluate_message: Callable[[Message], EntryFinding], by: Side = Side.SCHEDULER
) -> Evaluator:
    """Return an evaluator of the messages of one peer, called once for each message."""
    last = -1
    sent_by_rm = by is Side.RM

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal last
        if entry.sent_by_rm is not sent_by_rm or entry.message is None or entry.number == last:
            return NOTHING_TO_EVALUATE
        last = entry.number
        return evaluate_message(entry.message)

    return evaluate


@cache
def holds(descriptor: Descriptor, name: str) -> bool:
    """Return whether a message of this type can hold one of that name, at any depth."""
    return any(one.full_name == name for one in _types(descriptor))


@of_the_latest
def parts(message: Message) -> tuple[Message, ...]:
    """Return the message and all messages in it, at any depth."""
    return tuple(_found(message))


def _found(message: Message) -> Iterator[Message]:
    yield message
    for name, shape, _ in _holders(message.DESCRIPTOR):
        for child in _children(message, name, shape):
            yield from _found(child)


def matching_parts(predicate: Callable[[Descriptor], bool], message: Message) -> Iterator[Message]:
    """Yield the parts of some types, without a look at where there can be none."""
    descriptor: Any = message.DESCRIPTOR
    if predicate(descriptor):
        yield message
    for name, shape in _leading_to(predicate, descriptor):
        for child in _children(message, name, shape):
            yield from matching_parts(predicate, child)


@cache
def _leading_to(
    predicate: Callable[[Descriptor], bool], descriptor: Descriptor
) -> tuple[tuple[str, "_Shape"], ...]:
    return tuple(
        (name, shape)
        for name, shape, held in _holders(descriptor)
        if any(predicate(one) for one in _types(held))
    )


def _children(message: Any, name: str, shape: "_Shape") -> Any:
    if shape is _Shape.LIST:
        return getattr(message, name)
    if shape is _Shape.MAP:
        return getattr(message, name).values()
    return (getattr(message, name),) if message.HasField(name) else ()


class _Shape(Enum):
    ONE = auto()
    LIST = auto()
    MAP = auto()


@cache
def _holders(descriptor: Descriptor) -> tuple[tuple[str, _Shape, Descriptor], ...]:
    """Return the fields that hold messages, and the type of these."""
    return tuple(_holders_in(descriptor))


def _holders_in(descriptor: Descriptor) -> Iterator[tuple[str, _Shape, Descriptor]]:
    for field in descriptor.fields:
        kind = field.message_type
        if kind is None:
            continue
        if not kind.GetOptions().map_entry:
            yield field.name, _Shape.LIST if field.is_repeated else _Shape.ONE, kind
        elif (held := kind.fields_by_name["value"].message_type) is not None:
            yield field.name, _Shape.MAP, held


def unknown_numbers(message: Message) -> Iterator[tuple[Descriptor, int]]:
    """Yield the type of each message, at any depth, and the number of each unknown field in it."""
    for part in parts(message) if has_unknown(message) else ():
        unknown: Any = UnknownFieldSet(part)
        for field in unknown:
            descriptor: Any = part.DESCRIPTOR  # of either implementation
            yield descriptor, field.field_number


@of_the_latest
def has_unknown(message: Message) -> bool:
    """Return whether it has unknown fields at any depth, quicker than by looking for them."""
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    return known.ByteSize() != message.ByteSize()


def _undefined(message: Message) -> Iterator[str]:
    """Yield numbers that an enum of the revision does not define; parsing keeps them."""
    for part in matching_parts(_has_enums, message):
        for field, enum in _enums(part.DESCRIPTOR):
            number = getattr(part, field)
            if number not in enum.values_by_number:
                yield f"number {number} of {enum.full_name}"


def _reserved_in(message: Message) -> Iterator[str]:
    for part, number in unknown_numbers(message):
        if number in _reserved_fields(part):
            yield f"{part.full_name} {number}"
    for one in matching_parts(_reserves_values, message):
        for field, enum, numbers in _reserved_values(one.DESCRIPTOR):
            number = getattr(one, field)
            if number in numbers:
                yield f"{enum.full_name} {number}"


def _reserves(descriptor: Descriptor) -> bool:
    return bool(_reserved_fields(descriptor)) or _reserves_values(descriptor)


def _reserves_values(descriptor: Descriptor) -> bool:
    return bool(_reserved_values(descriptor))


@cache
def _reserved_fields(descriptor: Descriptor) -> frozenset[int]:
    """Return the field numbers that this message reserves, and its undeclared gap."""
    declared = DescriptorProto()
    descriptor.CopyToProto(declared)
    numbers = {n for one in declared.reserved_range for n in range(one.start, one.end)}
    name, gap = _GAP
    return frozenset(numbers | ({gap} if descriptor.full_name == name else set()))


@cache
def _reserved_values(
    descriptor: Descriptor,
) -> tuple[tuple[str, EnumDescriptor, frozenset[int]], ...]:
    """Return the singular enum fields with their enums, and the numbers that these reserve."""
    found = []
    for field in descriptor.fields:
        if field.enum_type is None:
            continue
        declared = EnumDescriptorProto()
        field.enum_type.CopyToProto(declared)
        ranges = declared.reserved_range  # these, unlike those of fields, include their end
        numbers = frozenset(n for one in ranges for n in range(one.start, one.end + 1))
        if numbers:
            found.append((field.name, field.enum_type, numbers))
    return tuple(found)


def _has_enums(descriptor: Descriptor) -> bool:
    return bool(_enums(descriptor))


@cache
def _types(descriptor: Descriptor) -> frozenset[Descriptor]:
    """Return the types of messages in a message of this type, and its own."""
    found, left = {descriptor}, [descriptor]
    while left:
        inside = {f.message_type for f in left.pop().fields if f.message_type is not None} - found
        found |= inside
        left += inside
    return frozenset(found)


@cache
def _enums(descriptor: Descriptor) -> tuple[tuple[str, EnumDescriptor], ...]:
    """Return the singular enum fields with their enums."""
    if descriptor.name == "EventRecord":
        return ()
    return tuple((f.name, f.enum_type) for f in descriptor.fields if f.enum_type is not None)


MONITORS: Final = (
    Monitor(every_field_has_its_type, ("SI-WIRE-006",), observes=(Fact,), about_one_message=True),
    Monitor(every_field_is_declared, ("SI-WIRE-017",), observes=(Fact,), about_one_message=True),
    Monitor(
        reserved_numbers_are_not_used, ("SI-WIRE-008",), observes=(Fact,), about_one_message=True
    ),
    Monitor(
        what_has_a_meaning_is_set,
        ("SI-WIRE-010",),
        observes=(ReleaseRequest, Released, EventReceived, SchedulingReported),
    ),
    Monitor(
        a_priority_is_sent_in_one_way, ("SI-WIRE-012",), observes=(Fact,), about_one_message=True
    ),
    Monitor(
        the_action_is_resync_or_none, ("SI-CONN-012",), observes=(Fact,), about_one_message=True
    ),
)
