"""Foreign allocations: node resources used outside this scheduler, as the RM reports them.

They belong to no application, queue or user, and the scheduler neither releases nor preempts them
(SI-FOR-001, SI-FOR-006, SI-FOR-008). The specification does not say how they count; this follows
yunikorn-core 1.8 (``scheduler/partition.go``), except that the last reported node counts.
"""

from collections.abc import Iterator

from sireference.core.model import (
    Effect,
    ForeignAllocation,
    RejectedAllocation,
    partition_name,
    quoted,
)
from sireference.core.names import too_long
from sireference.core.preemption import cycle
from sireference.core.state.partition import Partition
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import TerminationType


def report(rm: ResourceManager, foreign: ForeignAllocation, now: float) -> list[Effect]:
    """Count it on its node with its current size, or reject it with a reason.

    It needs no free resources, because it exists already, and may be on a draining node
    (SI-FOR-005). A repeated report changes its amount or its node (SI-FOR-002, SI-FOR-009).
    """
    partition = rm.partitions.get(partition_name(foreign.partition))
    reason = next(_objections(partition, foreign), "")
    if reason or partition is None:
        return [RejectedAllocation(rm.rm_id, foreign.key, foreign.application_id, reason)]
    node = partition.nodes[foreign.node_id]
    with_more = partition.foreign.put(foreign, node)
    return [] if with_more is None else cycle.look_again(partition, with_more, now)


def release(
    partition: Partition, key: str, termination: TerminationType, now: float
) -> list[Effect]:
    """End the one with this key, if there is one; no message is sent (SI-FOR-003).

    The scheduler never requests its end, so there is nothing that a type could confirm.
    """
    if termination not in (TerminationType.STOPPED_BY_RM, TerminationType.UNSET):
        return []
    node = partition.foreign.take_away(key)
    return [] if node is None else cycle.look_again(partition, node, now)


def _objections(partition: Partition | None, foreign: ForeignAllocation) -> Iterator[str]:
    """Return why it cannot be counted; empty if it can (SI-FOR-004, SI-FOR-010)."""
    key = quoted(foreign.key)
    if partition is None:
        yield f"there is no partition {quoted(foreign.partition)}"
        return
    yield from too_long(partition.settings.longest_name, foreign.key, *foreign.resource.amounts)
    if not foreign.key:
        yield "the foreign allocation has no key"
    if foreign.node_id not in partition.nodes:
        yield f"there is no node {quoted(foreign.node_id)}"
    if foreign.key in partition.allocations.all:
        yield f"allocation {key} is one of an application"
    if partition.asks.with_key(foreign.key):
        yield f"an application asks for allocation {key}"
    yield from foreign.resource.objections()
    if foreign.resource.is_zero():
        yield f"foreign allocation {key} uses nothing"
