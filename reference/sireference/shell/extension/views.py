"""Conversion of core snapshots to messages of the extension."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from siwire.ext import extension_pb2 as ext

from sireference.core.auto_scaling import OutstandingRequest
from sireference.core.counts import Counts
from sireference.core.snapshot import AllocationView, ApplicationView, NodeView, QueueView, Snapshot
from sireference.core.states import RMState
from sireference.shell.counters import Counters

# Registration is one step here, so init is never visible
_PHASES: Final[Mapping[RMState | None, ext.SnapshotResult.RmPhase.ValueType]] = {
    None: ext.SnapshotResult.UNKNOWN_RM,
    RMState.INIT: ext.SnapshotResult.UNKNOWN_RM,
    RMState.RUNNING: ext.SnapshotResult.RUNNING,
    RMState.PAUSED: ext.SnapshotResult.PAUSED,
    RMState.STOPPED: ext.SnapshotResult.STOPPED,
}
_MOST: Final = 2**63 - 1


def serialized(snapshot: Snapshot) -> bytes:
    """Return the serialised answer to Snapshot.

    It is assembled from small pieces, so that other threads can run in between.
    """
    return b"".join(piece.SerializeToString() for piece in _pieces(snapshot))


def _pieces(snapshot: Snapshot) -> Iterator[ext.SnapshotResult]:
    """Yield messages that together are the answer."""
    phase = _PHASES[snapshot.state]
    yield ext.SnapshotResult(phase=phase, extra_config=snapshot.extra_config)
    for node in snapshot.nodes:
        yield ext.SnapshotResult(nodes=[_node(node)])
    for application in snapshot.applications:
        yield ext.SnapshotResult(applications=[_application(application)])
    for queue in snapshot.queues:
        yield ext.SnapshotResult(queues=[_queue(queue)])


def metrics_result(
    outstanding: Iterable[OutstandingRequest], counts: Counts, counters: Counters
) -> ext.MetricsResult:
    """Return the answer to ReadMetrics; the message counts cover all RMs."""
    return ext.MetricsResult(
        outstanding=[
            ext.Outstanding(
                request_id=one.request_id,
                resource=wire_amounts(one.resource.amounts),
                tags=one.tags,
            )
            for one in outstanding
        ],
        counters={
            "nodes": counts.nodes,
            "allocations": counts.allocations,
            "pending_asks": counts.pending_asks,
            **{f"applications.{state}": count for state, count in counts.applications.items()},
            **{f"heard.{method}": count for method, count in counters.handled.items()},
            **{f"told.{what}": count for what, count in counters.reported.items()},
        },
    )


def state_dump(answer: ext.FromRm.Answer) -> str:
    """Return the RM's state dump as JSON, or the reason why there is none."""
    given: Any = {"error": answer.text}
    if answer.ok:
        try:
            given = msgspec.json.decode(answer.text)
        except msgspec.DecodeError as why:
            given = {"error": f"the state dump is not JSON: {why}"}
    return msgspec.json.encode({"resource_manager": given}).decode()


def wire_amounts(amounts: Mapping[str, int]) -> dict[str, int]:
    """Limit ``amounts`` to int64; sums in the core may be larger."""
    return {name: max(-_MOST, min(amount, _MOST)) for name, amount in amounts.items()}


def _node(node: NodeView) -> ext.NodeView:
    return ext.NodeView(
        node_id=node.node_id,
        partition=node.partition,
        schedulable=node.schedulable,
        attributes=node.attributes,
        capacity=wire_amounts(node.capacity),
        occupied=wire_amounts(node.occupied),
        allocated=wire_amounts(node.allocated),
    )


def _queue(queue: QueueView) -> ext.QueueView:
    return ext.QueueView(
        name=queue.name,
        partition=queue.partition,
        max=wire_amounts(queue.max),
        guaranteed=wire_amounts(queue.guaranteed),
        allocated=wire_amounts(queue.allocated),
        running_applications=queue.running_applications,
        dynamic=queue.dynamic,
        draining=queue.draining,
    )


def _application(application: ApplicationView) -> ext.AppView:
    return ext.AppView(
        application_id=application.application_id,
        partition=application.partition,
        queue=application.queue,
        state=application.state,
        allocated_real=wire_amounts(application.allocated_real),
        allocated_placeholder=wire_amounts(application.allocated_placeholder),
        allocations=map(_allocation, application.allocations),
        pending_keys=application.pending_keys,
    )


def _allocation(allocation: AllocationView) -> ext.AllocView:
    return ext.AllocView(
        identity=allocation.identity,
        allocation_key=allocation.allocation_key,
        node_id=allocation.node_id,
        task_group=allocation.task_group,
        placeholder=allocation.placeholder,
        release_open=allocation.release_open,
        resource=wire_amounts(allocation.resource),
    )
