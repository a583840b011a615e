"""Rules about the bytes themselves: declared fields only, nothing reserved, nothing left unset."""

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from siconform.monitors.finding import Era, Observation, monitors
from siconform.rm.facts import Released, Termination, Unreadable
from siconform.rm.sayings import ReleaseSaying


@monitors("SI-WIRE-006")
def every_field_is_declared(era: Era) -> Iterator[Observation]:
    """What the scheduler sends decodes as its type and leaves no unknown field.

    A message with nothing in it shows neither.
    """
    for index, message in _messages(era):
        unknown = list(_unknown(message))
        if message.ByteSize():
            yield Observation(index, f"undeclared field {unknown[0]}" if unknown else "")
    for index, entry in era.entries:
        if isinstance(entry.content, Unreadable):
            yield Observation(index, f"undecodable bytes: {entry.content.problem}")


@monitors("SI-WIRE-008")
def reserved_numbers_are_not_used(era: Era) -> Iterator[Observation]:
    """No message carries a number its definition reserves."""
    for index, message in _messages(era):
        used = [f"{name} {number}" for name, number in _unknown_numbers(message)]
        reserved = [u for u in used if u in _RESERVED]
        if _can_reserve(message):
            yield Observation(index, f"reserved number: {reserved[0]}" if reserved else "")


@monitors("SI-WIRE-010")
def releases_say_why(era: Era) -> Iterator[Observation]:
    """A release the scheduler started has a type; echoes of an unset one do not count."""
    unset: set[str] = set()
    for index, entry in era.entries:
        match entry.content:
            case ReleaseSaying(termination=Termination.UNKNOWN, identity=identity):
                unset.add(identity)
                if not identity:
                    unset.add(entry.content.application)
            case Released() as release:
                echo = release.identity in unset or release.application in unset
                if not echo:
                    missing = release.termination is Termination.UNKNOWN
                    yield Observation(
                        index, f"release of {release.identity} has no type" if missing else ""
                    )
            case _:
                pass


@monitors("SI-WIRE-012")
def a_priority_is_said_in_one_way(era: Era) -> Iterator[Observation]:
    """No message of 2021-02 carries both members of the priority, number and class name."""
    for index, message in _messages(era):
        for part in _parts(message):
            if part.DESCRIPTOR.full_name == "si.v1.Priority":
                both = all(part.HasField(field.name) for field in part.DESCRIPTOR.fields)
                yield Observation(index, "a priority by number and by name at once" if both else "")


@monitors("SI-CONN-012")
def the_action_is_resync_or_none(era: Era) -> Iterator[Observation]:
    """The control code of 2021-02 is not used for anything else."""
    for index, message in _messages(era):
        if message.DESCRIPTOR.full_name == "si.v1.UpdateResponse":
            action = getattr(message, "action", _NO_ACTION)
            defined = action in (_NO_ACTION, _RESYNC)
            yield Observation(index, "" if defined else f"action {action}, which is none")


_NO_ACTION, _RESYNC = 0, 1
_RESERVED = {
    "si.v1.Allocation 7",
    "si.v1.Allocation 3",
    "si.v1.Allocation 4",
    "si.v1.AllocationRelease 3",
}
"""Where they are declared fields (UUID up to 2023-08) they never show up as unknown numbers."""


def _messages(era: Era) -> Iterator[tuple[int, Message]]:
    """What the scheduler said during the test; these rules need no context."""
    seen = None
    for index, entry in era.entries:
        if (
            index < era.judged_from
            or entry.said_by_rm
            or entry.message is None
            or entry.number == seen
        ):
            continue
        seen = entry.number
        yield index, entry.message


def _can_reserve(message: Message) -> bool:
    return any(
        part.DESCRIPTOR.full_name in ("si.v1.Allocation", "si.v1.AllocationRelease")
        for part in _parts(message)
    )


def _parts(message: Message) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        children = value if field.is_repeated else [value]
        if field.message_type.GetOptions().map_entry:
            children = [v for v in value.values() if isinstance(v, Message)]
        for child in children:
            yield from _parts(child)


def _unknown_numbers(message: Message) -> Iterator[tuple[str, int]]:
    for part in _parts(message):
        unknown: Any = UnknownFieldSet(part)
        for field in unknown:
            yield part.DESCRIPTOR.full_name, field.field_number


def _unknown(message: Message) -> Iterator[str]:
    for name, number in _unknown_numbers(message):
        yield f"{number} in {name}"
