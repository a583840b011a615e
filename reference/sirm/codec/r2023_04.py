"""2023-04: three streams; asks apart from allocations, which are reported with their node."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from siwire import REVISIONS
from siwire.r2023_04 import si_pb2 as si

from sirm.codec import callbacks, parts
from sirm.codec.codec import Codec, Reader, Writer
from sirm.core import model as m

NODE_ACTIONS: Final[Mapping[m.NodeAction, int]] = {
    m.NodeAction.CREATE: si.NodeInfo.CREATE,
    m.NodeAction.UPDATE: si.NodeInfo.UPDATE,
    m.NodeAction.DRAIN_NODE: si.NodeInfo.DRAIN_NODE,
    m.NodeAction.DECOMMISSION: si.NodeInfo.DECOMISSION,
    m.NodeAction.DRAIN_TO_SCHEDULABLE: si.NodeInfo.DRAIN_TO_SCHEDULABLE,
}
TERMINATIONS: Final[Mapping[m.Termination, int]] = {
    m.Termination.UNSET: si.UNKNOWN_TERMINATION_TYPE,
    m.Termination.STOPPED_BY_RM: si.STOPPED_BY_RM,
    m.Termination.TIMEOUT: si.TIMEOUT,
    m.Termination.PREEMPTED_BY_SCHEDULER: si.PREEMPTED_BY_SCHEDULER,
    m.Termination.PLACEHOLDER_REPLACED: si.PLACEHOLDER_REPLACED,
}
RULES: Final = m.Rules(
    create_draining=False,
    allocations_with_node=True,
    reports_foreign=False,
    key_is_identity=False,
    updates_running=False,
)


def node(actions: Mapping[m.NodeAction, int], report: m.ReportNode, request: Any) -> None:
    """Write a NodeInfo with its existing allocations."""
    message = request.nodes.add(action=actions[report.action])
    parts.node(report, message)
    for one in report.allocations:
        allocation("UUID", one, message.existingAllocations.add())


def ask(update: m.RequestAllocation, request: Any) -> None:
    """Write an AllocationAsk."""
    message = request.asks.add()
    parts.ask(update.container, message)
    message.priority = update.container.priority
    message.Originator = update.container.originator


def allocation(identity: str, update: m.ReportAllocation, message: Any) -> None:
    """Fill an Allocation; ``identity`` names the field of its identity."""
    parts.allocation(update.container, message)
    message.priority = update.container.priority
    message.nodeID = update.node_id
    setattr(message, identity, update.identity)


def list_of_release(update: m.Release) -> str:
    """Return the list of a release: without identity it is that of an ask."""
    return "allocations" if update.identity else "asks"


def release(identity: str, update: m.Release, request: Any) -> None:
    """Write an AllocationRelease or an AllocationAskRelease."""
    releases = request.releases
    if update.identity:
        message = releases.allocationsToRelease.add(**{identity: update.identity})
    else:
        message = releases.allocationAsksToRelease.add()
    end(update, message)


def end(update: m.Release, message: Any) -> None:
    """Fill the part that all releases have."""
    message.partitionName = update.partition
    message.applicationID = update.application_id
    message.allocationKey = update.key
    message.terminationType = TERMINATIONS[update.termination]


def allocation_events(identity: str, response: Any) -> Iterator[m.FromScheduler]:
    """Read an AllocationResponse: what began before what ends, asks before allocations."""
    for one in response.new:
        yield parts.allocated(one, getattr(one, identity))
    for one in response.rejected:
        yield parts.rejected_request(one)
    for one in response.releasedAsks:
        kind = termination(one.terminationType)
        yield m.Released(one.applicationID, kind, m.Covered.REQUESTS, key=one.allocationKey)
    for one in response.released:
        kind, name = termination(one.terminationType), getattr(one, identity)
        yield m.Released(one.applicationID, kind, m.Covered.ALLOCATIONS, identity=name)


def termination(number: int) -> m.Termination:
    """Read a TerminationType; an unknown number is unset."""
    known = (kind for kind, its_number in TERMINATIONS.items() if its_number == number)
    return next(known, m.Termination.UNSET)


WRITERS: Final[Mapping[type, Writer]] = {
    m.ReportNode: Writer("UpdateNode", lambda _: "nodes", partial(node, NODE_ACTIONS)),
    m.AddApplication: Writer("UpdateApplication", lambda _: "new", parts.styled_application),
    m.RemoveApplication: Writer("UpdateApplication", lambda _: "remove", parts.removed),
    m.RequestAllocation: Writer("UpdateAllocation", lambda _: "asks", ask),
    m.Release: Writer("UpdateAllocation", list_of_release, partial(release, "UUID")),
}
READERS: Final[Mapping[str, Reader]] = {
    "UpdateNode": parts.node_events,
    "UpdateApplication": parts.application_events,
    "UpdateAllocation": partial(allocation_events, "UUID"),
}
CODEC: Final = Codec(
    revision=REVISIONS["2023-04"],
    rules=RULES,
    registration=parts.registration,
    writers=WRITERS,
    readers=READERS,
    callbacks=callbacks.of(si),
)
