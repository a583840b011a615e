"""Existing allocations that an RM reports, with a node or on the allocation stream."""

from siwire.r2023_12 import si_pb2

from mutation.independent import gangs
from mutation.independent.amounts import read
from mutation.independent.lifecycle import settle
from mutation.independent.state import Application, Ask, Grant, Node, RMState


def adopt(rm: RMState, existing: si_pb2.Allocation, node: Node | None = None) -> None:
    """Add an existing allocation to the state, or reject it."""
    why = _objection(rm, existing, node)
    place = node or rm.nodes.get(existing.nodeID)
    application = rm.applications.get(existing.applicationID)
    if why or place is None or application is None:
        rm.outbox.allocation_rejected(existing, why)
        return
    ask = _ask_for(rm, application, existing)
    identity = existing.allocationID or existing.allocationKey
    grant = Grant(identity, ask, read(existing.resourcePerAlloc), place, existing)
    rm.take_in(grant)
    if grant.placeholder:
        gangs.note_start(rm, ask)
    else:
        application.complete = True
    settle(rm, application)


def _objection(rm: RMState, existing: si_pb2.Allocation, node: Node | None) -> str:
    application = rm.applications.get(existing.applicationID)
    if application is None or application.ending is not None:
        return f"there is no application {existing.applicationID}"
    place = node or rm.nodes.get(existing.nodeID)
    if place is None or existing.nodeID not in {"", place.name}:
        return f"it names the node {existing.nodeID}, not the one it came with"
    if {place.partition, existing.partitionName or place.partition} != {application.partition}:
        return f"{application.name} is in the partition {application.partition}"
    if not existing.allocationKey:
        return "an allocation needs a key"
    identity = existing.allocationID or existing.allocationKey
    if any(grant.identity == identity for grant in rm.all_grants()):
        return f"{identity} exists already"
    return ""


def _ask_for(rm: RMState, application: Application, existing: si_pb2.Allocation) -> Ask:
    ask = application.asks.get(existing.allocationKey)
    if ask is not None and ask.placeholder == (existing.placeholder and bool(ask.group)):
        ask.wish.maxAllocations = max(ask.wish.maxAllocations, ask.made + 1)
        return ask
    wish = si_pb2.AllocationAsk(
        allocationKey=existing.allocationKey,
        applicationID=existing.applicationID,
        resourceAsk=existing.resourcePerAlloc,
        maxAllocations=1,
        priority=existing.priority,
        tags=existing.allocationTags,
        taskGroupName=existing.taskGroupName,
        placeholder=existing.placeholder,
        Originator=existing.originator,
    )
    ask = Ask(application, wish, next(rm.numbers))
    application.asks[ask.key] = ask
    return ask
