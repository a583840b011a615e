"""Handles the messages of an RM on its three streams."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from siwire.r2024_10 import si_pb2

from mutation.by_key import lifecycle, reports, rhythm
from mutation.by_key.queues import Queue, upwards
from mutation.by_key.table import USUAL_PARTITION, Application, Node, Table, amounts

Request = si_pb2.AllocationRequest | si_pb2.ApplicationRequest | si_pb2.NodeRequest


class Refused(Exception):
    """A request that cannot be carried out."""


def observe(table: Table, request: Request) -> None:
    """Handle one message."""
    if isinstance(request, si_pb2.NodeRequest):
        for info in request.nodes:
            try:
                _ACTIONS.get(info.action, _unknown)(table, info)
            except Refused as refused:
                table.news.node_rejected(info.nodeID, str(refused))
    elif isinstance(request, si_pb2.ApplicationRequest):
        for removed in request.remove:
            _remove(table, removed)
        for added in request.new:
            try:
                _add(table, added)
            except Refused as refused:
                table.news.application_rejected(added.applicationID, str(refused))
    else:
        for release in request.releases.allocationsToRelease:
            reports.release(table, release)
        for sent in request.allocations:
            reports.take(table, sent)


def _add(table: Table, request: si_pb2.AddApplicationRequest) -> None:
    name = request.applicationID
    partition = table.partitions.get(request.partitionName or USUAL_PARTITION)
    if not name or name in table.applications:
        raise Refused("an application needs an id")
    if name in table.used_ids and table.has("ids-once"):
        raise Refused("this name was used before")
    if partition is None:
        raise Refused(f"there is no partition {request.partitionName}")
    queue = partition.place(request.queueName, request.tags)
    if not queue and request.tags.get("application.create.force") == "true":
        partition.queues[queue := "root.forced"] = Queue()
    if not queue:
        raise Refused(f"there is no queue {request.queueName}")
    gang = amounts(request.placeholderAsk)
    if gang and partition.queues[queue].policy == "fair":
        raise Refused("a FAIR queue takes no gangs")
    quotas = [partition.queues[above].most for above in upwards(queue)]
    if any(gang.get(kind, 0) > most for quota in quotas for kind, most in quota.items()):
        raise Refused(f"{queue} can never hold this gang")
    table.applications[name] = Application(
        name=name,
        partition=request.partitionName or USUAL_PARTITION,
        queue=queue,
        request=request,
        number=next(table.numbers),
    )
    accepted = si_pb2.AcceptedApplication(applicationID=name)
    table.news.report(si_pb2.ApplicationResponse(accepted=[accepted]))


def _remove(table: Table, request: si_pb2.RemoveApplicationRequest) -> None:
    application = table.applications.get(request.applicationID)
    partition = request.partitionName or USUAL_PARTITION
    if application is None or application.partition != partition:
        return
    entries = [entry for entry in table.of(application) if entry.node]
    releases = [
        lifecycle.release_of(entry, si_pb2.STOPPED_BY_RM, "its application was removed")
        for entry in entries
    ]
    if table.has("removed-at-once"):
        releases = releases[:1]
        for release in releases:
            release.ClearField("allocationKey")
    if not table.has("silent-removal"):
        for release in releases:
            table.news.released(release)
    table.used_ids.add(application.name)
    lifecycle.forget(table, application)


def _known(table: Table, info: si_pb2.NodeInfo) -> Node:
    if info.nodeID not in table.nodes:
        raise Refused(f"there is no node {info.nodeID}")
    return table.nodes[info.nodeID]


def _unknown(_: Table, info: si_pb2.NodeInfo) -> None:
    raise Refused(f"unsupported action on {info.nodeID}")


def _create(table: Table, info: si_pb2.NodeInfo) -> None:
    partition = info.attributes.get("si/node-partition") or USUAL_PARTITION
    if not info.nodeID or info.nodeID in table.nodes:
        raise Refused("a node needs an id")
    if partition not in table.partitions:
        raise Refused(f"there is no partition {partition}")
    table.nodes[info.nodeID] = Node(
        name=info.nodeID,
        partition=partition,
        has=amounts(info.schedulableResource),
        attributes=dict(info.attributes),
        draining=info.action == si_pb2.NodeInfo.CREATE_DRAIN,
        usable_from=rhythm.usable_from(table),
    )
    accepted = si_pb2.AcceptedNode(nodeID=info.nodeID)
    table.news.report(si_pb2.NodeResponse(accepted=[accepted]))


def _update(table: Table, info: si_pb2.NodeInfo) -> None:
    node = _known(table, info)
    node.attributes = dict(info.attributes)
    if info.HasField("schedulableResource") or table.has("absent-is-none"):
        node.has = amounts(info.schedulableResource)


def _drain(table: Table, info: si_pb2.NodeInfo) -> None:
    node = _known(table, info)
    if node.draining and table.has("drained-once"):
        raise Refused(f"{node.name} is draining already")
    node.draining = True


def _undrain(table: Table, info: si_pb2.NodeInfo) -> None:
    node = _known(table, info)
    if not node.draining:
        raise Refused(f"{node.name} is not draining")
    node.draining = False
    node.usable_from = rhythm.usable_from(table)


def _decommission(table: Table, info: si_pb2.NodeInfo) -> None:
    node = _known(table, info)
    del table.nodes[node.name]
    kind: si_pb2.TerminationType.ValueType = si_pb2.STOPPED_BY_RM
    if table.has("lost-by-preemption"):
        kind = si_pb2.PREEMPTED_BY_SCHEDULER
    lost = [entry for entry in table.entries.values() if entry.node == node.name]
    for entry in lost:
        table.strike(entry)
        if entry.leaving is None and entry.application is not None:
            table.news.released(lifecycle.release_of(entry, kind, f"{node.name} is gone"))
    for application in {entry.application for entry in lost if entry.application}:
        lifecycle.settle(table, application)


_ACTIONS: Final[Mapping[int, Callable[[Table, si_pb2.NodeInfo], None]]] = MappingProxyType(
    {
        si_pb2.NodeInfo.CREATE: _create,
        si_pb2.NodeInfo.CREATE_DRAIN: _create,
        si_pb2.NodeInfo.UPDATE: _update,
        si_pb2.NodeInfo.DRAIN_NODE: _drain,
        si_pb2.NodeInfo.DRAIN_TO_SCHEDULABLE: _undrain,
        si_pb2.NodeInfo.DECOMISSION: _decommission,
    }
)
