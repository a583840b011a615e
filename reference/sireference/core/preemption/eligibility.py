"""Eligibility for preemption, by the ask, its queue and its partition."""

from sireference.configuration.model import QueuePreemptionPolicy
from sireference.core.state.application import PendingAsk
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue


def allow(partition: Partition, pending: PendingAsk) -> bool:
    """Return whether the ask may ever preempt.

    Its policy must allow it (SI-PRE-004). Without a policy it may not (SI-PRE-006), unless it
    requires one node: the scheduler's default for such an ask is to preempt there. An ask with a
    placement constraint waits: no revision of the SI has both constraints and preemption policies.
    """
    if not partition.config.preemption_enabled or pending.ask.constraint is not None:
        return False
    policy = pending.ask.preemption_policy
    if policy is None:
        return pending.ask.required_node != ""
    return policy.allow_preempt_other and (
        pending.ask.required_node != "" or not is_disabled(pending.application.leaf)
    )


def delay(pending: PendingAsk) -> float:
    """Return the delay before preemption in seconds; None if the leaf sets none."""
    if pending.ask.required_node:
        return 0.0
    return pending.application.leaf.config.properties.preemption_delay


def is_disabled(leaf: Queue) -> bool:
    """Return whether ``leaf`` neither preempts nor is preempted."""
    return leaf.config.properties.preemption_policy is QueuePreemptionPolicy.DISABLED


def fence(leaf: Queue) -> Queue:
    """Return the queue that preemption by asks of ``leaf`` stays within; the root by default."""
    for queue in leaf.path:
        if queue.config.properties.preemption_policy is QueuePreemptionPolicy.FENCE:
            return queue
    return leaf.path[-1]


def is_ready(partition: Partition, pending: PendingAsk) -> bool:
    """Return whether the ask may preempt, and no victim is about to end for it."""
    return (
        not pending.is_reserved
        and allow(partition, pending)
        and is_stuck(partition, pending)
        and is_within_limits(pending)
    )


def may_claim(pending: PendingAsk) -> bool:
    """Return whether the ask may preempt: for its required node, or by a guarantee."""
    return pending.ask.required_node != "" or is_entitled(pending)


def is_entitled(pending: PendingAsk) -> bool:
    """Return whether the ask is entitled to guaranteed resources of its queue.

    Something it needs is guaranteed to its leaf or a parent, and with the ask no queue on the path
    exceeds its guarantee. Usage includes reservations for asks with open preemptions.
    """
    need = pending.ask.resource
    has_guarantee = False
    for queue in pending.application.leaf.path:
        guaranteed = queue.guaranteed
        if guaranteed is None:
            continue
        if not need.stays_within(queue.used, guaranteed):
            return False
        has_guarantee = has_guarantee or any(
            amount > 0 and guaranteed.amounts.get(name, 0) > 0
            for name, amount in need.amounts.items()
        )
    return has_guarantee


def is_within_limits(pending: PendingAsk) -> bool:
    """Return whether user and group limits allow the ask; if not, preemption is useless."""
    path, need = pending.application.leaf.path, pending.ask.resource
    return all(quota in path or quota.has_capacity(need) for quota in pending.application.quotas)


def is_untried(pending: PendingAsk) -> bool:
    """Return whether the ask does not wait yet, because no pass has come to it."""
    return pending.ask_group is not None and pending.ask_group.waits_in is None


def is_stuck(partition: Partition, pending: PendingAsk) -> bool:
    """Return whether the ask waits for nodes or a queue maximum, and not for something else."""
    ask_group, path = pending.ask_group, pending.application.leaf.path
    if ask_group is None or ask_group.waits_in is None or ask_group.waits_in.may_go(ask_group):
        return False
    return ask_group.waits_in is partition.node_index.waiting or any(
        ask_group.waits_in is queue.full for queue in path
    )
