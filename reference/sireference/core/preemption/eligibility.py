"""Who may preempt: what an ask, its queue and its partition have to say about it."""

from sireference.configuration.model import QueuePreemptionPolicy
from sireference.core.state.application import PendingAsk
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue


def allow(partition: Partition, pending: PendingAsk) -> bool:
    """Whether the ask may ever preempt others.

    Its policy has to allow it (SI-PRE-004). Without a policy it may not (SI-PRE-006), unless it can
    run on one node only: the scheduler's default for such an ask is to make room for it there.
    An ask with a placement constraint waits: no SI text has both that and preemption policies.
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
    """How long the ask has to wait first, in seconds: what its leaf says, or nothing."""
    if pending.ask.required_node:
        return 0.0
    return pending.application.leaf.config.properties.preemption_delay


def is_disabled(leaf: Queue) -> bool:
    """Whether preemption neither starts in ``leaf`` nor strikes it."""
    return leaf.config.properties.preemption_policy is QueuePreemptionPolicy.DISABLED


def fence(leaf: Queue) -> Queue:
    """The queue that preemption by asks of ``leaf`` does not go beyond, the root if none is."""
    for queue in leaf.path:
        if queue.config.properties.preemption_policy is QueuePreemptionPolicy.FENCE:
            return queue
    return leaf.path[-1]


def is_ready(partition: Partition, pending: PendingAsk) -> bool:
    """Whether the ask may preempt, and waits for room that nobody is to give back for it yet."""
    return (
        not pending.is_reserved
        and allow(partition, pending)
        and is_stuck(partition, pending)
        and is_within_limits(pending)
    )


def may_claim(pending: PendingAsk) -> bool:
    """Whether room is made for the ask: on the only node it can run on, or by a guarantee."""
    return pending.ask.required_node != "" or is_entitled(pending)


def is_entitled(pending: PendingAsk) -> bool:
    """Whether the ask is for something that is guaranteed to its queue.

    Something it needs is guaranteed to its leaf or to a queue above, and with it no queue on the
    path has more than its guarantee. Usage counts what is reserved for asks with open preemptions.
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
    """Whether its user and group may have as much; if not, victims would be of no use."""
    path, need = pending.application.leaf.path, pending.ask.resource
    return all(quota in path or quota.has_capacity(need) for quota in pending.application.quotas)


def is_stuck(partition: Partition, pending: PendingAsk) -> bool:
    """Whether the ask waits for room, on nodes or below a maximum, and not for something else."""
    ask_group, path = pending.ask_group, pending.application.leaf.path
    if ask_group is None or ask_group.waits_in is None or ask_group.waits_in.may_go(ask_group):
        return False
    return ask_group.waits_in is partition.node_index.waiting or any(
        ask_group.waits_in is queue.full for queue in path
    )
