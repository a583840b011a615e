"""What it means in the SI that a field is not there: bytes lost in silence still say something."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from siconform.spec.naming import words
from siconform.spec.schema import Message, Schema


@dataclass(frozen=True, slots=True)
class Absence:
    """What a peer concludes from a message without the field."""

    message: str
    misleads: bool = False  # whether that is another order, rather than less of the same one


_RELEASES_ALL: Final = Absence(
    "a release that names no allocation ends every allocation of the application", misleads=True
)
_RELEASES_ALL_BUT: Final = Absence(
    "unless its allocationKey is sent beside it, a release ends every allocation of the "
    "application",
    misleads=True,
)
_IDENTITIES: Final = frozenset({"UUID", "allocationID"})
"""What named the allocation to release, before its key did (from 2024-10 on)."""

_NO_PRIORITY: Final = Absence("it counts with the default priority")
_NO_GROUP: Final = Absence("it belongs to no gang")
_NO_PLACEHOLDER: Final = Absence("a placeholder is taken for the real thing", misleads=True)
_NO_IDENTITY: Final = Absence("the allocation has no identity: it cannot be released by itself")
_OVER_COMMIT: Final = Absence("the node counts with its full capacity and is over-committed")

_ABSENCES: Final[Mapping[str, Absence]] = {
    "AllocationAsk.placeholder": _NO_PLACEHOLDER,
    "AllocationAsk.priority": _NO_PRIORITY,
    "AllocationAsk.taskGroupName": _NO_GROUP,
    "Allocation.UUID": _NO_IDENTITY,
    "Allocation.allocationID": _NO_IDENTITY,
    "Allocation.placeholder": _NO_PLACEHOLDER,
    "Allocation.priority": _NO_PRIORITY,
    "Allocation.queueName": Absence("the RM does not learn the queue"),
    "Allocation.taskGroupName": _NO_GROUP,
    "AllocationAskRelease.allocationKey": Absence(
        "a release that names no ask withdraws every ask of the application", misleads=True
    ),
    "AllocationRelease.terminationType": Absence("nobody knows who ended it and why"),
    "AllocationRequest.asks": Absence("the asks get neither an allocation nor a rejection"),
    "AllocationRequest.allocations": Absence("they are neither taken nor rejected"),
    "AllocationRequest.releases": Absence("nothing is released"),
    "AllocationReleasesRequest.allocationsToRelease": Absence("the allocations stay"),
    "AllocationReleasesRequest.allocationAsksToRelease": Absence("the asks stay"),
    "AllocationResponse.new": Absence("the RM starts nothing, and the room stays taken"),
    "AllocationResponse.released": Absence("the RM neither stops nor confirms it"),
    "AllocationResponse.releasedAsks": Absence("the RM still waits for these asks"),
    "AllocationResponse.rejected": Absence("the RM still waits for what was rejected"),
    "AllocationResponse.rejectedAllocations": Absence("the RM still waits for what was rejected"),
    "ApplicationRequest.new": Absence("the applications are neither accepted nor rejected"),
    "ApplicationRequest.remove": Absence("the applications stay"),
    "ApplicationResponse.rejected": Absence("the RM still waits for the verdict"),
    "ApplicationResponse.accepted": Absence("the RM still waits for the verdict"),
    "NodeResponse.rejected": Absence("the RM still waits for the verdict"),
    "NodeResponse.accepted": Absence("the RM still waits for the verdict"),
    "NodeRequest.nodes": Absence("the nodes are neither accepted nor rejected"),
    "NodeInfo.action": Absence("the node comes without an action"),
    "NodeInfo.existingAllocations": _OVER_COMMIT,
    "NodeInfo.occupiedResource": _OVER_COMMIT,
    "NodeInfo.schedulableResource": Absence("the node has no room"),
    "Quantity.value": Absence("the amount counts as zero"),
    "RegisterResourceManagerRequest.config": Absence("the scheduler runs its own configuration"),
    "AddApplicationRequest.gangSchedulingStyle": Absence(
        "what a placeholder timeout does is up to the scheduler"
    ),
    "AddApplicationRequest.placeholderAsk": Absence("the queue is not checked for the whole gang"),
}

_OF_ANY_MESSAGE: Final[Mapping[str, Absence]] = {
    "allocationKey": Absence("nothing says which allocation or ask it is about"),
    "applicationID": Absence("nothing says which application it is about"),
    "nodeID": Absence("nothing says which node it is about"),
    "partitionName": Absence("nothing says which partition it is about"),
    "rmID": Absence("nothing says which RM it comes from"),
}
"""What names something else is missed wherever it stands."""


_STATES_NOTHING: Final = frozenset({"unknown", "unspecified", "unset", "undefined", "none", "noop"})
"""First words of values that order nothing."""


def absence_in(place: str, schema: Schema, message: str) -> Absence | None:
    """What a peer with `schema` concludes when `message` comes without the field at `place`.

    An enum that is not there is its zero value, which may be an order of its own.
    """
    reader = schema.messages.get(message)
    field = reader.fields.get(place.rpartition(".")[2]) if reader is not None else None
    enum = schema.enums.get(field.type) if field is not None and not field.cardinality else None
    zero = enum.named(0) if enum is not None else ""
    if zero and _STATES_NOTHING.isdisjoint(words(zero)):
        return Absence(f"it is taken for {zero}, which is zero", misleads=True)
    return absence_of(place, reader)


def absence_of(place: str, reader: Message | None) -> Absence | None:
    """What a peer concludes when the field at `place` is missing, as far as the SI says it.

    `reader` is the message as the reading side declares it: which field names the allocation of
    a release depends on the fields that there are.
    """
    message, _, name = place.rpartition(".")
    if message == "AllocationRelease" and name in _IDENTITIES:
        by_key = reader is not None and _IDENTITIES.isdisjoint(reader.fields)
        return _RELEASES_ALL_BUT if by_key else _RELEASES_ALL
    if message == "AllocationRelease" and name == "allocationKey":
        other = reader is not None and not _IDENTITIES.isdisjoint(reader.fields)
        return None if other else _RELEASES_ALL
    if message == "AllocationAskRelease" and name.lower() == "allocationkey":
        return _ABSENCES["AllocationAskRelease.allocationKey"]
    return _ABSENCES.get(place) or _OF_ANY_MESSAGE.get(name)
