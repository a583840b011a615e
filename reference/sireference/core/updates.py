"""Updates: the RM sends the key of a live allocation or of a pending request again.

This applies only where allocations are identified by key. Only the amount of a live allocation
changes (C-45); a pending request sent again with a node becomes an allocation, placed there by the
RM (SI-ASK-031). The specification has no answer except a rejection, and a rejected update changes
nothing (SI-ASK-030).
"""

from collections.abc import Iterator

from sireference.core import allocations
from sireference.core.model import AllocationRecord, Ask, Effect, RejectedAllocation, quoted
from sireference.core.names import too_long
from sireference.core.preemption import cycle
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.partition import Partition


def of_live(partition: Partition | None, key: str) -> Allocation | None:
    """Return the live allocation with this key, None if there is none."""
    is_by_key = partition is not None and partition.identifies_by_key
    return partition.allocations.all.get(key) if partition is not None and is_by_key else None


def change(
    partition: Partition, live: Allocation, ask: Ask, now: float, node_id: str = ""
) -> list[Effect]:
    """Set the size of ``live`` to that of ``ask``; no message is sent (SI-ALLOC-012, -013).

    An allocation with an open release is updated too: it holds its resources until it ends.
    """
    reason = next(objections(partition, live, ask, node_id), "")
    if reason:
        return [RejectedAllocation(partition.rm_id, ask.key, ask.application_id, reason)]
    if ask.resource == live.record.ask.resource:  # reported again, as after a restart
        return []
    shrinks = partition.resize(live, ask.resource)
    return cycle.look_again(partition, live.node, now) if shrinks else []


def objections(partition: Partition, live: Allocation, ask: Ask, node_id: str) -> Iterator[str]:
    """Return why ``live`` cannot be updated to ``ask``; empty if it can.

    It needs no free resources: the RM states what runs, even beyond a node, a queue or a limit
    (SI-ALLOC-014). But an update cannot move it (SI-ALLOC-015).
    """
    key = quoted(ask.key)
    yield from too_long(partition.settings.longest_name, *ask.resource.amounts)
    if ask.application_id != live.application.application_id:
        yield f"allocation {key} is not one of application {quoted(ask.application_id)}"
    if node_id and node_id not in partition.nodes:
        yield f"there is no node {quoted(node_id)}"
    if node_id not in ("", live.node.node_id):
        yield f"allocation {key} is on node {quoted(live.node.node_id)} and stays there"
    yield from objections_to_amount(ask)


def objections_to_amount(ask: Ask) -> Iterator[str]:
    """Return why no allocation can have the size of ``ask``; empty if one can."""
    yield from ask.resource.objections()
    if ask.resource.is_zero():
        yield "no resource is asked for"


def of_pending(partition: Partition, ask: Ask) -> PendingAsk | None:
    """Return the pending request that ``ask`` updates, None if its application has none."""
    application = partition.applications.get(ask.application_id)
    if application is None or not partition.identifies_by_key:
        return None
    return application.pending.get(ask.key)


def place(
    partition: Partition, pending: PendingAsk, record: AllocationRecord, now: float
) -> list[Effect]:
    """Place ``pending``, with its new values, on the node chosen by the RM (SI-ASK-031).

    It needs no free resources. Anything under way for it is dropped: a placeholder that it waited
    for, victims, a node that the RM was asked about.
    """
    application = pending.application
    partition.asks.replace(pending, record.ask)
    placed = application.pending[record.ask.key]
    return allocations.make(partition, placed, partition.nodes[record.node_id], now)
