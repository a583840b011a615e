"""What a side understands of a message: statements, read by the text of its own revision.

A revision's words are told by the names of its fields, so there is one table for all of them.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from siwire import Capability, Revision, constants

from mixed.speech import identity_field
from mixed.statements import IDENTITY, Kind, Known, Statement

_CONCEPTS: Final = {
    "UUID": IDENTITY,
    "allocationID": IDENTITY,
    "allocationkey": "key",
    "allocationKey": "key",
    "allocationTags": "tags",
    "resourceAsk": "resource",
    "resourcePerAlloc": "resource",
    "Originator": "originator",
    "nodeID": "node",
    "applicationID": "application",
    "terminationType": "type",
}
"""What fields of several names mean; any other means what it is called."""

_ACTIONS: Final = {
    "CREATE": Kind.CREATE,
    "CREATE_DRAIN": Kind.CREATE_DRAINED,
    "UPDATE": Kind.UPDATE_NODE,
    "DRAIN_NODE": Kind.DRAIN,
    "DECOMISSION": Kind.DECOMMISSION,
    "DRAIN_TO_SCHEDULABLE": Kind.UNDRAIN,
}
_NO_RESYNC: Final = 0

Read = Callable[["Reader", Any], Iterator[Statement]]


class Reader:
    """Reads messages of one revision, with what is known of the keys in them."""

    def __init__(self, revision: Revision, known: Known) -> None:
        self.revision = revision
        self.known = known
        self.has_one_list: Final = not revision.can(Capability.ASKS_APART)

    def read(self, message: Message) -> list[Statement]:
        """Everything the message says, in the order of its fields."""
        return list(self._statements(message))

    def _statements(self, message: Message) -> Iterator[Statement]:
        if message.DESCRIPTOR.name == "RegisterResourceManagerRequest":
            yield from _registration(self, message)
        for field, value in message.ListFields():
            read = _READERS.get((message.DESCRIPTOR.name, field.name))
            if read is None:
                continue
            for one in value if field.is_repeated else [value]:
                yield from read(self, one)

    def statement(self, kind: Kind, subject: str, part: Message, *apart: str) -> Statement:
        """With all that is set in ``part``, but for the concepts told ``apart``."""
        values, wire = {}, {}
        for field, value in part.ListFields():
            concept = _CONCEPTS.get(field.name, field.name)
            if concept not in apart and (plain := _plain(field, value)) is not None:
                values[concept], wire[concept] = plain, field.name
        application = str(values.get("application") or "")
        return Statement(kind, subject, application, values, wire)

    def allocation(self, kind: Kind, part: Any) -> Statement:
        """An Allocation, with the key that its identity designates in place of the identity."""
        statement = self.statement(kind, part.allocationKey, part, "key", IDENTITY)
        name = identity_field(part)
        designated = self.known.designated(getattr(part, name))
        if not designated:
            return statement
        return Statement(
            kind,
            statement.subject,
            statement.application,
            {**statement.values, IDENTITY: designated},
            {**statement.wire, IDENTITY: name},
        )


def _plain(field: FieldDescriptor, value: Any) -> Any:
    """The value as anybody would compare it; None where it says nothing."""
    if field.enum_type is not None:
        return _enum_name(field.enum_type, value)
    if isinstance(value, Mapping):
        return {key: _inside(inner) for key, inner in sorted(value.items())}
    return [_inside(one) for one in value] if field.is_repeated else _inside(value)


def _enum_name(enum: EnumDescriptor, number: int) -> str | None:
    value = enum.values_by_number.get(number)
    name = f"{number}, which has no name" if value is None else value.name
    return None if name.startswith("UNKNOWN_") else name


def _inside(value: Any) -> Any:
    if not isinstance(value, Message):
        return value
    inside = {field.name: _plain(field, inner) for field, inner in value.ListFields()}
    return next(iter(inside.values()), None) if len(value.DESCRIPTOR.fields) == 1 else inside


# Of an RM


def _registration(reader: Reader, part: Any) -> Iterator[Statement]:
    yield reader.statement(Kind.REGISTRATION, part.rmID, part, "rmID", "version")


def _new_node(reader: Reader, part: Any) -> Iterator[Statement]:
    yield from _node(reader, Kind.CREATE, part)


def _node_info(reader: Reader, part: Any) -> Iterator[Statement]:
    """A node with an action: by its name; one without a name is none."""
    value = part.DESCRIPTOR.fields_by_name["action"].enum_type.values_by_number.get(part.action)
    kind = _ACTIONS.get(value.name, Kind.NO_ACTION) if value is not None else Kind.NO_ACTION
    yield from _node(reader, kind, part)


def _node(reader: Reader, kind: Kind, part: Any) -> Iterator[Statement]:
    yield reader.statement(kind, part.nodeID, part, "node", "action", "existingAllocations")
    for existing in getattr(part, "existingAllocations", ()):
        yield reader.allocation(Kind.EXISTING, existing)


def _submission(reader: Reader, part: Any) -> Iterator[Statement]:
    yield reader.statement(Kind.SUBMIT, part.applicationID, part)


def _removal(reader: Reader, part: Any) -> Iterator[Statement]:
    yield reader.statement(Kind.REMOVE, part.applicationID, part)


def _ask(reader: Reader, part: Any) -> Iterator[Statement]:
    statement = reader.statement(Kind.ASK, part.allocationKey, part, "key")
    if part.maxAllocations == 1:  # as everywhere that has no such number
        values = {k: v for k, v in statement.values.items() if k != "maxAllocations"}
        statement = Statement(
            Kind.ASK, statement.subject, statement.application, values, statement.wire
        )
    yield statement


def _entry(reader: Reader, part: Any) -> Iterator[Statement]:
    """Up to 2023-12 an allocation that exists; later what its tags, its node and its key say."""
    kind = Kind.EXISTING
    if reader.has_one_list:
        if constants.FOREIGN in part.allocationTags:
            kind = Kind.FOREIGN
        elif part.allocationKey in reader.known.live:
            kind = Kind.UPDATE
        elif not part.nodeID:
            kind = Kind.ASK
    if kind is Kind.ASK:
        yield reader.statement(kind, part.allocationKey, part, "key")
    else:
        yield reader.allocation(kind, part)


def _release(reader: Reader, part: Any) -> Iterator[Statement]:
    """Without an identity it is of all of the application, whatever key is said beside it."""
    identity = getattr(part, identity_field(part))
    key = reader.known.designated(identity)
    if not identity:
        kind, subject = Kind.RELEASE_OF_ALL, part.applicationID
    elif reader.has_one_list and key not in reader.known.live:
        kind, subject = Kind.WITHDRAWAL, key
    else:
        kind, subject = Kind.RELEASE, key
    apart = ("key", IDENTITY)
    yield reader.statement(kind, subject, part, *apart)


def _withdrawal(reader: Reader, part: Any) -> Iterator[Statement]:
    key = getattr(part, "allocationkey", "") or getattr(part, "allocationKey", "")
    kind = Kind.WITHDRAWAL if key else Kind.WITHDRAWAL_OF_ALL
    yield reader.statement(kind, key or part.applicationID, part, "key")


def _releases(reader: Reader, part: Any) -> Iterator[Statement]:
    for release in part.allocationsToRelease:
        yield from _release(reader, release)
    for withdrawal in getattr(part, "allocationAsksToRelease", ()):
        yield from _withdrawal(reader, withdrawal)


def _utilisation(reader: Reader, part: Any) -> Iterator[Statement]:
    yield reader.statement(Kind.UTILISATION, part.ID, part, "ID")


# Of a scheduler


def _resync(reader: Reader, action: int) -> Iterator[Statement]:
    if action != _NO_RESYNC:
        yield Statement(Kind.RESYNC, reader.revision.name)


def _of(kind: Kind, name: str) -> Read:
    """An answer about a node or an application, whose name is in the field ``name``."""

    def read(reader: Reader, part: Any) -> Iterator[Statement]:
        apart = ("node", "application") if kind is not Kind.APPLICATION_STATE else ("node",)
        yield reader.statement(
            kind, getattr(part, name), part, *apart, "stateTransitionTimestamp", "reason"
        )

    return read


def _allocated(reader: Reader, part: Any) -> Iterator[Statement]:
    yield reader.allocation(Kind.ALLOCATED, part)


def _released(reader: Reader, part: Any) -> Iterator[Statement]:
    """The same message as the release by an RM, read by the same rule."""
    names = {
        Kind.RELEASE: Kind.RELEASED,
        Kind.RELEASE_OF_ALL: Kind.RELEASED_ALL,
        Kind.WITHDRAWAL: Kind.ASK_RELEASED,
    }
    for one in _release(reader, part):
        yield Statement(names[one.kind], one.subject, one.application, one.values, one.wire)


def _ask_released(reader: Reader, part: Any) -> Iterator[Statement]:
    for one in _withdrawal(reader, part):
        yield Statement(Kind.ASK_RELEASED, one.subject, one.application, one.values, one.wire)


def _ask_rejected(reader: Reader, part: Any) -> Iterator[Statement]:
    yield reader.statement(Kind.ASK_REJECTED, part.allocationKey, part, "key", "reason")


def _entry_rejected(reader: Reader, part: Any) -> Iterator[Statement]:
    """Up to 2023-12 of an existing allocation; later of whatever has the key."""
    is_ask = reader.has_one_list and part.allocationKey not in reader.known.live
    kind = Kind.ASK_REJECTED if is_ask else Kind.ALLOCATION_REJECTED
    yield reader.statement(kind, part.allocationKey, part, "key", "reason")


_NODE_ACCEPTED: Final = _of(Kind.NODE_ACCEPTED, "nodeID")
_NODE_REJECTED: Final = _of(Kind.NODE_REJECTED, "nodeID")
_ACCEPTED: Final = _of(Kind.APPLICATION_ACCEPTED, "applicationID")
_REJECTED: Final = _of(Kind.APPLICATION_REJECTED, "applicationID")
_STATE: Final = _of(Kind.APPLICATION_STATE, "applicationID")

_READERS: Final[Mapping[tuple[str, str], Read]] = {
    ("UpdateRequest", "asks"): _ask,
    ("UpdateRequest", "releases"): _releases,
    ("UpdateRequest", "newSchedulableNodes"): _new_node,
    ("UpdateRequest", "updatedNodes"): _node_info,
    ("UpdateRequest", "utilizationReports"): _utilisation,
    ("UpdateRequest", "newApplications"): _submission,
    ("UpdateRequest", "removeApplications"): _removal,
    ("NodeRequest", "nodes"): _node_info,
    ("ApplicationRequest", "new"): _submission,
    ("ApplicationRequest", "remove"): _removal,
    ("AllocationRequest", "asks"): _ask,
    ("AllocationRequest", "allocations"): _entry,
    ("AllocationRequest", "releases"): _releases,
    ("UpdateResponse", "action"): _resync,
    ("UpdateResponse", "newAllocations"): _allocated,
    ("UpdateResponse", "releasedAllocations"): _released,
    ("UpdateResponse", "releasedAllocationAsks"): _ask_released,
    ("UpdateResponse", "rejectedAllocations"): _ask_rejected,
    ("UpdateResponse", "rejectedApplications"): _REJECTED,
    ("UpdateResponse", "acceptedApplications"): _ACCEPTED,
    ("UpdateResponse", "updatedApplications"): _STATE,
    ("UpdateResponse", "rejectedNodes"): _NODE_REJECTED,
    ("UpdateResponse", "acceptedNodes"): _NODE_ACCEPTED,
    ("NodeResponse", "accepted"): _NODE_ACCEPTED,
    ("NodeResponse", "rejected"): _NODE_REJECTED,
    ("ApplicationResponse", "accepted"): _ACCEPTED,
    ("ApplicationResponse", "rejected"): _REJECTED,
    ("ApplicationResponse", "updated"): _STATE,
    ("AllocationResponse", "new"): _allocated,
    ("AllocationResponse", "released"): _released,
    ("AllocationResponse", "releasedAsks"): _ask_released,
    ("AllocationResponse", "rejected"): _ask_rejected,
    ("AllocationResponse", "rejectedAllocations"): _entry_rejected,
}
"""By message and field; the rest says nothing by itself."""
