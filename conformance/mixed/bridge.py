"""What would be understood if something carried the elements from the one stream to the three.

A revision of one update stream and one of three have no method in common, so that nothing of the
one ever reaches the other. A bridge between them that puts each element unchanged into the list
that is about the same would let them meet; the bytes of each revision among its own show what that
would come to.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import DecodeError, Message
from siwire import Capability, Revision

from mixed.comparing import compare
from mixed.outcomes import Exchange, Finding, Outcome
from mixed.play import Result
from mixed.reading import Reader
from mixed.shown import text
from mixed.statements import Known

_ONE_TO_THREE: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("UpdateRequest", "asks"): ("AllocationRequest", "asks"),
    ("UpdateRequest", "releases"): ("AllocationRequest", "releases"),
    ("UpdateRequest", "newSchedulableNodes"): ("NodeRequest", "nodes"),
    ("UpdateRequest", "updatedNodes"): ("NodeRequest", "nodes"),
    ("UpdateRequest", "newApplications"): ("ApplicationRequest", "new"),
    ("UpdateRequest", "removeApplications"): ("ApplicationRequest", "remove"),
    ("UpdateResponse", "newAllocations"): ("AllocationResponse", "new"),
    ("UpdateResponse", "releasedAllocations"): ("AllocationResponse", "released"),
    ("UpdateResponse", "releasedAllocationAsks"): ("AllocationResponse", "releasedAsks"),
    ("UpdateResponse", "rejectedAllocations"): ("AllocationResponse", "rejected"),
    ("UpdateResponse", "rejectedApplications"): ("ApplicationResponse", "rejected"),
    ("UpdateResponse", "acceptedApplications"): ("ApplicationResponse", "accepted"),
    ("UpdateResponse", "updatedApplications"): ("ApplicationResponse", "updated"),
    ("UpdateResponse", "rejectedNodes"): ("NodeResponse", "rejected"),
    ("UpdateResponse", "acceptedNodes"): ("NodeResponse", "accepted"),
}
_THREE_TO_ONE: Final = {there: here for here, there in _ONE_TO_THREE.items()}
_COMING: Final = frozenset({"CREATE", "CREATE_DRAIN"})


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a message, alone in a message of its type."""

    message: Message
    list_name: str
    part: Any


def carried(
    sender: Revision, receiver: Revision, results: Iterable[Result], *, by_rm: bool
) -> list[Finding]:
    """What is understood otherwise of what the sender said among its own; each sentence once.

    ``results`` are of an RM and a scheduler of the sender's revision; ``by_rm`` chooses what the RM
    said of them, else what the scheduler did.
    """
    found: dict[str, Finding] = {}
    for result in results:
        for exchange in result.exchanges:
            if exchange.by_rm is by_rm:
                for element in _elements(sender, exchange):
                    for finding in _of_element(
                        sender, receiver, element, result.known, by_rm=by_rm
                    ):
                        found.setdefault(finding.gist, finding)
    return sorted(found.values(), key=lambda one: -one.outcome.badness)


def _elements(sender: Revision, exchange: Exchange) -> Iterator[Element]:
    kind: type[Message] = getattr(sender.si, exchange.message)
    for field, value in kind.FromString(exchange.shown).ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for part in value if field.is_repeated else [value]:
            alone: Any = kind()
            if field.is_repeated:
                getattr(alone, field.name).add().CopyFrom(part)
            else:
                getattr(alone, field.name).CopyFrom(part)
            yield Element(alone, field.name, part)


def _of_element(
    sender: Revision, receiver: Revision, element: Element, known: Known, *, by_rm: bool
) -> list[Finding]:
    meant = Reader(sender, known).read(element.message)
    place = _place(receiver, element)
    if place is None:
        outcome = Outcome.NOT_HEARD
        return [Finding(outcome, f"{one} has no place there") for one in meant]
    container, name = place
    kind: type[Message] = getattr(receiver.si, container)
    field = kind.DESCRIPTOR.fields_by_name[name]
    assert field.message_type is not None  # noqa: S101  # all of the lists are of messages
    data = _with_length(field.number, element.part.SerializeToString(deterministic=True))
    try:
        got = kind.FromString(data)
    except DecodeError:
        got = None
    exchange = Exchange(
        by_rm=by_rm,
        message=element.part.DESCRIPTOR.name,
        data=data,
        shown=element.part.SerializeToString(deterministic=True),
        means=text(element.part),
        read_as=field.message_type.name,
        reads=text(_only(got, name)),
    )
    if got is None:
        return [Finding(Outcome.REFUSED, f"{one} cannot be decoded", exchange) for one in meant]
    return compare(meant, Reader(receiver, known).read(got), exchange)


def _only(message: Message | None, name: str) -> Message | None:
    if message is None:
        return None
    value: Any = getattr(message, name)
    part: Message = value if isinstance(value, Message) else value[0]
    return part


def _place(receiver: Revision, element: Element) -> tuple[str, str] | None:
    """The message and the list of the receiver that are about the same; None where none is."""
    here = (element.message.DESCRIPTOR.name, element.list_name)
    if not receiver.can(Capability.ONE_UPDATE_STREAM):
        there = _ONE_TO_THREE.get(here)
    elif here == ("NodeRequest", "nodes"):
        action = type(element.part).ActionFromRM.Name(element.part.action)
        is_new = action in _COMING
        there = ("UpdateRequest", "newSchedulableNodes" if is_new else "updatedNodes")
    else:
        there = _THREE_TO_ONE.get(here)
    if there is None:
        return None
    kind = receiver.si.DESCRIPTOR.message_types_by_name[there[0]]
    return there if there[1] in kind.fields_by_name else None


_LENGTH_DELIMITED: Final = 2
_SEVEN_BITS: Final = 0x7F
_MORE: Final = 0x80


def _with_length(number: int, data: bytes) -> bytes:
    """The bytes of a message as those of the field with this number."""
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > _SEVEN_BITS:
        encoded.append(value & _SEVEN_BITS | _MORE)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
