"""Quota enforcement: a queue above its lowered maximum must release the excess.

If configured (``preemption.quotapreemptionenabled`` of the partition, ``quota.preemption.delay`` of
the queue), allocations are asked to end some time after an update has lowered the maximum below the
usage. The normal handshake applies, and no ask gets the resources by it. No queue falls below its
guarantee; allocations that opted out of preemption or require their node stay (SI-PRE-009,
SI-EVT-016). The order is that of victims for an ask.

Only maxima in the configuration are enforced, not namespace tags.
Source: the event detail QUEUE_PREEMPTION of 2026-04, and yunikorn-core 1.9 which has it.
"""

from collections.abc import Iterator
from functools import partial

from sireference.core.model import ChangeDetail, ChangeType, Effect, ReleasedAllocation, quoted
from sireference.core.preemption import eligibility
from sireference.core.preemption.victims import (
    Victim,
    VictimSet,
    fence_and_offset,
    is_kept,
    may_be_preempted,
)
from sireference.core.resources import Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.states import TerminationType

_Excess = dict[str, int]  # by resource type, every amount above zero


def watch(partition: Partition, queue: Queue, before: Resource | None, now: float) -> None:
    """After an update, schedule enforcement of the maximum of ``queue``, which was ``before``.

    A queue with a deadline keeps it, unless it no longer exceeds its maximum or the update has
    disabled enforcement.
    """
    delay = queue.config.properties.quota_preemption_delay
    if not partition.config.quota_preemption_enabled or delay is None or not _excess(queue):
        partition.enforcements.end(queue)
    elif queue not in partition.enforcements and _is_lowered(queue.maximum, before):
        timer = partition.timers.set(now + delay, partial(_enforce, partition, queue))
        partition.enforcements.begin(queue, timer)


def _is_lowered(maximum: Resource | None, before: Resource | None) -> bool:
    """Return whether the maximum of any type is lower; a missing type has no maximum."""
    if maximum is None:
        return False
    old = {} if before is None else before.amounts
    return any(name not in old or amount < old[name] for name, amount in maximum.amounts.items())


def _excess(queue: Queue) -> _Excess:
    """Return by how much allocations of ``queue`` that are not ending exceed its maximum."""
    if queue.maximum is None:
        return {}
    held = _held(queue).amounts
    return {
        name: held.get(name, 0) - most
        for name, most in queue.maximum.amounts.items()
        if held.get(name, 0) > most
    }


def _held(queue: Queue) -> Resource:
    return queue.used - queue.reserved - queue.yielding


def _enforce(partition: Partition, queue: Queue, _now: float) -> list[Effect]:
    """Ask the RM to end the excess allocations of ``queue``."""
    partition.enforcements.end(queue)
    victims = _choose(partition, queue, _excess(queue))
    if not victims:
        return []
    partition.event_log.queue(
        queue,
        ChangeType.SET,
        ChangeDetail.QUEUE_PREEMPTION,
        "its queue exceeds its lowered maximum",
        queue.maximum,
    )
    message = f"queue {quoted(queue.name)} exceeds its lowered maximum"
    effects: list[Effect] = []
    for victim in victims:
        release = partition.ask_for_release(victim, TerminationType.PREEMPTED_BY_SCHEDULER, message)
        partition.preemptions.expect(victim)
        effects.append(ReleasedAllocation(partition.rm_id, release))
    return effects


def _choose(partition: Partition, queue: Queue, excess: _Excess) -> list[Allocation]:
    """Choose victims in order until they suffice; drop victims that are not needed."""
    loss, chosen = VictimSet(), list[Victim]()
    for victim in sorted(_candidates(partition, queue), key=lambda victim: victim.order):
        lack = _lack(queue, excess, loss)
        if not lack:
            break
        if _gives(victim, lack) and _keeps_guarantees(queue, victim, loss):
            loss.add(victim)
            chosen.append(victim)
    is_covered = not _lack(queue, excess, loss)
    for victim in reversed(chosen):
        if is_covered:
            loss.spare(victim)
            if _lack(queue, excess, loss):
                loss.add(victim)
    return [victim.allocation for victim in chosen if victim.allocation in loss.victims]


def _candidates(partition: Partition, queue: Queue) -> Iterator[Victim]:
    for application in partition.applications.values():
        leaf = application.leaf
        if queue not in leaf.path or eligibility.is_disabled(leaf):
            continue
        behind_fence, offset = fence_and_offset(queue, leaf)
        for allocation in partition.allocations.of(application).values():
            if may_be_preempted(allocation):
                own = 0 if behind_fence else allocation.record.ask.priority
                yield Victim(allocation, offset + own)


def _lack(queue: Queue, excess: _Excess, loss: VictimSet) -> _Excess:
    lost = loss.of(queue).amounts
    return {
        name: amount - lost.get(name, 0)
        for name, amount in excess.items()
        if amount > lost.get(name, 0)
    }


def _gives(victim: Victim, lack: _Excess) -> bool:
    return any(victim.resource.amounts.get(name, 0) > 0 for name in lack)


def _keeps_guarantees(queue: Queue, victim: Victim, loss: VictimSet) -> bool:
    """Return whether every queue from the leaf of ``victim`` to ``queue`` keeps its guarantee."""
    for one in victim.allocation.application.leaf.path:
        if one.guaranteed is not None:
            left = _held(one) - loss.of(one) - victim.resource
            if not is_kept(one.guaranteed, victim.resource, left):
                return False
        if one is queue:
            break
    return True
