"""Allocations an RM already has and reports: with a node, or by themselves."""

from siwire.r2023_12 import si_pb2

from proof.independent import gangs
from proof.independent.amounts import read
from proof.independent.books import Application, Ask, Grant, Node, World
from proof.independent.lives import settle


def adopt(world: World, existing: si_pb2.Allocation, node: Node | None = None) -> None:
    """Take an existing allocation into the books, or reject it."""
    why = _objection(world, existing, node)
    place = node or world.nodes.get(existing.nodeID)
    application = world.applications.get(existing.applicationID)
    if why or place is None or application is None:
        world.outbox.allocation_rejected(existing, why)
        return
    ask = _ask_for(world, application, existing)
    identity = existing.allocationID or existing.allocationKey
    grant = Grant(identity, ask, read(existing.resourcePerAlloc), place, existing)
    world.take_in(grant)
    if grant.placeholder:
        gangs.note_start(world, ask)
    else:
        application.complete = True
    settle(world, application)


def _objection(world: World, existing: si_pb2.Allocation, node: Node | None) -> str:
    application = world.applications.get(existing.applicationID)
    if application is None or application.ending is not None:
        return f"there is no application {existing.applicationID}"
    place = node or world.nodes.get(existing.nodeID)
    if place is None or existing.nodeID not in {"", place.name}:
        return f"the node {existing.nodeID} is not the one it came with"
    if {place.partition, existing.partitionName or place.partition} != {application.partition}:
        return f"{application.name} is in the partition {application.partition}"
    if not existing.allocationKey:
        return "an allocation needs a key"
    identity = existing.allocationID or existing.allocationKey
    if any(grant.identity == identity for grant in world.all_grants()):
        return f"{identity} is there already"
    return ""


def _ask_for(world: World, application: Application, existing: si_pb2.Allocation) -> Ask:
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
    ask = Ask(application, wish, next(world.turns))
    application.asks[ask.key] = ask
    return ask
