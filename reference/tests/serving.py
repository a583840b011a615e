"""A brute-force oracle of what could be placed, over asks, nodes and quotas.

It uses no queues of waiters, no wake-up lists and no cached facts about nodes.
"""

from collections.abc import Iterator

from sireference.configuration.model import SortPolicy
from sireference.core import predicates
from sireference.core.model import Ask
from sireference.core.resources import NOTHING
from sireference.core.state.application import Application, PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.states import ApplicationState, NodeState


def could_be_served(partition: Partition) -> list[str]:
    """Return the keys of pending asks that could now get an allocation or a placeholder.

    Returns none while a question to the RM is open: what is next depends on its answer.
    """
    if partition.proposals:
        return []
    return [
        pending.ask.key
        for application in partition.applications.values()
        for pending in application.pending.values()
        if _wants_more(pending)
        and not _is_held_back(pending, partition)
        and not _is_behind(application, partition)
        and (
            _has_a_placeholder(partition, pending)
            or _fits(pending, partition)
            or _fits_without_reservation(pending, partition)
        )
    ]


def nothing_fits(partition: Partition) -> None:
    """Assert that no pending ask could be placed."""
    assert could_be_served(partition) == []


def _wants_more(pending: PendingAsk) -> bool:
    return pending.made + pending.awaiting + pending.held < pending.ask.max_allocations


def _has_a_placeholder(partition: Partition, pending: PendingAsk) -> bool:
    """Return whether there is a placeholder that it could replace."""
    ask = pending.ask
    if ask.is_placeholder or not ask.task_group or pending.had_placeholder:
        return False
    if _is_asked_about_again(pending):  # possibly about the placeholder's node
        return False
    return any(
        live.is_placeholder
        and live.open_release is None
        and live.record.ask.task_group == ask.task_group
        for live in partition.allocations.of(pending.application).values()
    )


def _fits(pending: PendingAsk, partition: Partition) -> bool:
    """Return whether its quotas and some node have capacity for it."""
    need = pending.ask.resource
    return (
        _has_slots(pending)
        and all(quota.has_capacity(need) for quota in pending.application.quotas)
        and any(
            need.fits(node.free) and _may_be_on(pending, node, partition)
            for node in partition.nodes.values()
        )
    )


def _fits_without_reservation(pending: PendingAsk, partition: Partition) -> bool:
    """Return whether there is capacity apart from its own reservation, and no pass is due.

    If the RM named the victims, it is not placed on their node before all of them are gone.
    """
    preemption = partition.preemptions.of(pending)
    if preemption is None or partition.timers._pass_at is not None:
        return False
    need = pending.ask.resource
    nodes = [node for node in partition.nodes.values() if _may_be_on(pending, node, partition)]
    return (
        _has_slots(pending)
        and pending.application.can_take(need, need)
        and any(
            need.fits(node.free)
            or (node is preemption.node and not preemption.needs_all and node.can_take(need, need))
            for node in nodes
        )
    )


def _has_slots(pending: PendingAsk) -> bool:
    """Return whether its application runs or may start."""
    application = pending.application
    return application.is_counted or all(quota.has_slot() for quota in application.quotas)


def _may_be_on(pending: PendingAsk, node: Node, partition: Partition) -> bool:
    """Return whether it may be on ``node``, given capacity."""
    return (
        node.state is NodeState.SCHEDULABLE
        and pending.ask.required_node in ("", node.node_id)
        and not (_is_asked_about_again(pending) and _is_refused(pending, node))
        and is_allowed(pending.ask, node, partition)
    )


def _is_refused(pending: PendingAsk, node: Node) -> bool:
    """Return whether the RM refused ``node`` for it."""
    return pending.exclusions is not None and node.node_id in pending.exclusions.nodes


def _is_asked_about_again(pending: PendingAsk) -> bool:
    """Return whether the RM refused nodes for it, to be asked again after a timeout."""
    timer = pending.timers.get(predicates.EXCLUSIONS)
    return timer is not None and timer.due is not None


def _of_its_leaf(application: Application, partition: Partition) -> Iterator[Application]:
    return (one for one in partition.applications.values() if one.leaf is application.leaf)


def _gathers(application: Application) -> bool:
    """Return whether it waits for placeholders before it starts."""
    asked = any(pending.ask.is_placeholder for pending in application.pending.values())
    return asked and application.state is ApplicationState.ACCEPTED


def _is_held_back(pending: PendingAsk, partition: Partition) -> bool:
    """Return whether the rules of gangs make the ask wait."""
    application = pending.application
    if application.is_gang and application.state is ApplicationState.RESUMING:
        return True
    if not _gathers(application):
        return False
    if not pending.ask.is_placeholder:
        return True
    if application.held:
        return False
    is_younger = any(
        _gathers(other) and not _has_passed(other) and other.number < application.number
        for other in _of_its_leaf(application, partition)
    )
    if is_younger and not _has_passed(application):
        return True
    whole = application.submitted.placeholder_ask or NOTHING
    return not all(quota.has_capacity(whole) for quota in application.quotas)


def _has_passed(application: Application) -> bool:
    """Return whether its turn is over and it has no placeholder."""
    return application.has_passed


def _is_behind(application: Application, partition: Partition) -> bool:
    """Return whether another application of a state-aware leaf has to start first."""
    policy = application.leaf.config.properties.sort_policy
    if policy is not SortPolicy.STATE_AWARE or application.state is not ApplicationState.ACCEPTED:
        return False
    return any(
        other.state is ApplicationState.STARTING
        or (
            other.state is ApplicationState.ACCEPTED
            and other.pending
            and other.number < application.number
        )
        for other in _of_its_leaf(application, partition)
    )


def is_allowed(ask: Ask, node: Node, partition: Partition) -> bool:
    """Return whether the placement constraint of the ask allows the node, computed from scratch."""
    constraint = ask.constraint
    if constraint is None:
        return True
    if not all(target.holds(node.attributes) for target in constraint.node):
        return False
    affinity = constraint.affinity
    if affinity is None or not affinity.required:
        return True

    def is_near(other: Node) -> bool:
        value = node.attributes.get(affinity.scope)
        return other is node or (
            value is not None and other.attributes.get(affinity.scope) == value
        )

    def counts(one: Ask) -> bool:
        return all(target.holds(one.tags) for target in affinity.targets)

    there = sum(
        is_near(live.node) and counts(live.record.ask)
        for live in partition.allocations.all.values()
    )
    count = there + counts(ask)
    most = affinity.max_cardinality
    return count >= affinity.min_cardinality and (most is None or count <= most)
