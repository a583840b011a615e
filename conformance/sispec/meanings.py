"""What the absence of a field means in the SI: silently lost bytes still carry a meaning."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sispec.naming import words
from sispec.schema import Message, Schema


@dataclass(frozen=True, slots=True)
class Absence:
    """What a peer concludes from a message without the field."""

    message: str
    misleads: bool = False  # whether it means another order, not just less information


_RELEASES_ALL: Final = Absence(
    "a release that names no allocation ends every allocation of the application", misleads=True
)
_RELEASES_ALL_BUT: Final = Absence(
    "unless its allocationKey is sent, too, a release ends every allocation of the application",
    misleads=True,
)
_IDENTITIES: Final = frozenset({"UUID", "allocationID"})
"""Fields that named the allocation to release before its key did (from 2024-10 on)."""

_NO_PRIORITY: Final = Absence("it counts with the default priority")
_NO_GROUP: Final = Absence("it is not part of a gang")
_NO_PLACEHOLDER: Final = Absence("a placeholder is taken for a real allocation", misleads=True)
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
    "AllocationRelease.terminationType": Absence("who ended it and why is unknown"),
    "AllocationRequest.asks": Absence("the asks get neither an allocation nor a rejection"),
    "AllocationRequest.allocations": Absence("they are neither taken nor rejected"),
    "AllocationRequest.releases": Absence("nothing is released"),
    "AllocationReleasesRequest.allocationsToRelease": Absence("the allocations stay"),
    "AllocationReleasesRequest.allocationAsksToRelease": Absence("the asks stay"),
    "AllocationResponse.new": Absence("the RM starts nothing, and the capacity stays allocated"),
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
    "NodeInfo.schedulableResource": Absence("the node has no capacity"),
    "Quantity.value": Absence("the amount counts as zero"),
    "RegisterResourceManagerRequest.config": Absence("the scheduler runs its own configuration"),
    "AddApplicationRequest.gangSchedulingStyle": Absence(
        "what a placeholder timeout does is up to the scheduler"
    ),
    "AddApplicationRequest.placeholderAsk": Absence("the queue is not checked for the whole gang"),
}

_OF_ANY_MESSAGE: Final[Mapping[str, Absence]] = {
    "allocationKey": Absence("the allocation or ask is unknown"),
    "applicationID": Absence("the application is unknown"),
    "nodeID": Absence("the node is unknown"),
    "partitionName": Absence("the partition is unknown"),
    "rmID": Absence("the RM is unknown"),
}
"""Identifying fields, in any message."""


_STATES_NOTHING: Final = frozenset({"unknown", "unspecified", "unset", "undefined", "none", "noop"})
"""First words of enum values that order nothing."""


def absence_in(place: str, schema: Schema, message: str) -> Absence | None:
    """Return what a peer with `schema` concludes from a `message` without the field at `place`.

    A missing enum is its zero value, which may be an order itself.
    """
    reader = schema.messages.get(message)
    field = reader.fields.get(place.rpartition(".")[2]) if reader is not None else None
    enum = schema.enums.get(field.type) if field is not None and not field.cardinality else None
    zero = enum.named(0) if enum is not None else ""
    if zero and _STATES_NOTHING.isdisjoint(words(zero)):
        return Absence(f"it is taken for {zero}, which is zero", misleads=True)
    return absence_of(place, reader)


def absence_of(place: str, reader: Message | None) -> Absence | None:
    """Return what a peer concludes if the field at `place` is missing, as far as the SI defines it.

    `reader` is the message as the reader declares it: which field names the allocation of a release
    depends on the existing fields.
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
