"""Updates: the RM names a key again, of an allocation that lives or of a request that waits.

Only where allocations are identified by key. Of what lives only the amount changes (C-45); a
request that comes again with a node is an allocation from then on, placed there by the RM
(SI-ASK-031). The text has no answer to either but a rejection, and a refused update changes nothing
(SI-ASK-030).
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
    """The allocation that ``key`` names again, None if it names none that lives."""
    is_by_key = partition is not None and partition.identifies_by_key
    return partition.allocations.all.get(key) if partition is not None and is_by_key else None


def change(
    partition: Partition, live: Allocation, ask: Ask, now: float, node_id: str = ""
) -> list[Effect]:
    """Let ``live`` hold as much as ``ask`` says from now on; nobody is told (SI-ALLOC-012, -013).

    One that the RM was asked to release is updated as well: it holds its room until it ends.
    """
    reason = next(_objections(partition, live, ask, node_id), "")
    if reason:
        return [RejectedAllocation(partition.rm_id, ask.key, ask.application_id, reason)]
    if ask.resource == live.record.ask.resource:  # reported again, as after a restart
        return []
    shrinks = partition.resize(live, ask.resource)
    return cycle.look_again(partition, live.node, now) if shrinks else []


def _objections(partition: Partition, live: Allocation, ask: Ask, node_id: str) -> Iterator[str]:
    """Why ``live`` cannot be as ``ask`` says, nothing if it can.

    It needs no room: the RM says what runs, even beyond a node, a queue or a limit (SI-ALLOC-014).
    But it runs where it runs: nothing is moved by an update (SI-ALLOC-015).
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
    """Why nothing can have as much as ``ask`` says, nothing if something can."""
    yield from ask.resource.objections()
    if ask.resource.is_zero():
        yield "no resource is asked for"


def of_pending(partition: Partition, ask: Ask) -> PendingAsk | None:
    """The request that ``ask`` names again, None if its application has no such one."""
    application = partition.applications.get(ask.application_id)
    if application is None or not partition.identifies_by_key:
        return None
    return application.pending.get(ask.key)


def place(
    partition: Partition, pending: PendingAsk, record: AllocationRecord, now: float
) -> list[Effect]:
    """Have ``pending``, as it is said now, on the node that the RM has put it on (SI-ASK-031).

    It needs no room. Whatever was on its way for it is of no use any more: a placeholder that it
    waited for, victims, a node that the RM was asked about.
    """
    application = pending.application
    partition.asks.replace(pending, record.ask)
    placed = application.pending[record.ask.key]
    return allocations.make(partition, placed, partition.nodes[record.node_id], now)
