"""Random histories: accounting balances, nothing leaks, and runs are deterministic."""

from collections.abc import Callable
from typing import Final

from hypothesis import given, settings
from hypothesis_profiles import examples
from sireference.core.model import AllocationRecord
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application
from sireference.core.state.gang import Gang
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.preemption import Preemption
from sireference.core.state.service_order import next_ask_group
from sireference.core.states import (
    ApplicationState,
    NodeState,
    RMState,
    TerminationType,
)
from tests.histories import Player
from tests.history_moves import histories
from tests.quiescence import remove_everything
from tests.serving import nothing_fits


def total(resources: list[Resource]) -> Resource:
    whole = NOTHING
    for resource in resources:
        whole += resource
    return whole


def is_preempted(live: Allocation) -> bool:
    return live.open_release is TerminationType.PREEMPTED_BY_SCHEDULER


def accounting_balances(partition: Partition, *, goes_on: bool = False) -> None:
    open_ones = list(partition.preemptions.open)

    def preemptions_on(node: Node) -> list[Preemption]:
        return [preemption for preemption in open_ones if preemption.node is node]

    live = partition.allocations.all.values()
    by_node = {
        id(x) for node in partition.nodes.values() for x in partition.allocations.on(node).values()
    }
    by_application = {
        id(x)
        for app in partition.applications.values()
        for x in partition.allocations.of(app).values()
    }
    assert by_node == by_application == {id(x) for x in live}
    for application in partition.applications.values():
        assert application.held == len(partition.allocations.of(application))
    for node in partition.nodes.values():
        taken = total([x.record.ask.resource for x in partition.allocations.on(node).values()])
        assert node.allocated == taken
        assert node.reserved == total([p.pending.ask.resource for p in preemptions_on(node)])
        assert node.free == node.capacity - node.used_by_others - taken - node.reserved
        assert node.yielding == total(
            [
                x.record.ask.resource
                for x in partition.allocations.on(node).values()
                if is_preempted(x)
            ]
        )
        assert (node in partition.node_index.index) is (node.state is NodeState.SCHEDULABLE)
    foreign_make_sense(partition)
    assert partition.total == total([node.capacity for node in partition.nodes.values()])
    for queue in partition.root.all():
        below = [a for a in partition.applications.values() if queue in a.leaf.path]
        there = [x for application in below for x in partition.allocations.of(application).values()]
        assert queue.reserved == total(
            [p.pending.ask.resource for p in open_ones if p.pending.application in below]
        )
        assert queue.used == queue.reserved + total([x.record.ask.resource for x in there])
        assert queue.yielding == total([x.record.ask.resource for x in there if is_preempted(x)])
        assert queue.running == sum(application.is_counted for application in below)
    assert goes_on or partition.proposals or next_ask_group(partition.root) is None
    limits_balance(partition)


def foreign_on(partition: Partition, node: Node) -> Resource:
    return total([one.resource for one in partition.foreign.on(node).values()])


def foreign_make_sense(partition: Partition) -> None:
    """Check that each is on one existing node under a unique key."""
    there = [key for node in partition.nodes.values() for key in partition.foreign.on(node)]
    assert sorted(there) == sorted(partition.foreign.nodes)
    assert set(partition.foreign._on) <= set(partition.nodes.values())
    for key in there:
        assert key not in partition.allocations.all
        assert not partition.asks.with_key(key)
    for node in partition.nodes.values():
        assert node.foreign == foreign_on(partition, node)


def limits_balance(partition: Partition) -> None:
    applications = partition.applications.values()
    for queue in partition.root.all():
        for user_quota in queue.user_quotas.values():
            those = [
                application for application in applications if user_quota in application.quotas
            ]
            assert user_quota.applications == len(those) > 0
            assert user_quota.running == sum(application.is_counted for application in those)
            assert user_quota.used == user_quota.reserved + total([a.used for a in those])
    for application in applications:
        assert application.used == total(
            [live.record.ask.resource for live in partition.allocations.of(application).values()]
        )


def applications_make_sense(partition: Partition, *, goes_on: bool = False) -> None:
    gathered = (ApplicationState.ACCEPTED, ApplicationState.RESUMING, ApplicationState.FAILING)
    idle = (ApplicationState.NEW, ApplicationState.COMPLETING)
    for application in partition.applications.values():
        real = [x for x in partition.allocations.of(application).values() if not x.is_placeholder]
        if real or application.pending:
            assert application.state not in idle
        elif application.held:
            assert application.state in (*gathered, ApplicationState.COMPLETING)
        else:
            assert application.state in idle
        for key in application.pending:
            assert application in partition.asks.with_key(key)
        standing = {p.ask_group for p in application.pending.values() if p.wants_more}
        assert standing == set(application.ask_groups.values())
        groups = application.ask_groups.values()
        at_gates = {one for one in groups if one.waits_in is not None and one.waits_in.is_gate}
        assert set(application.held_back) == at_gates
        is_done = all(one.waits_in is not None for one in groups)
        assert is_done or goes_on or partition.proposals


def gangs_make_sense(partition: Partition) -> None:
    for application in partition.applications.values():
        pending = application.pending.values()
        for waiting in pending:
            assert waiting.made + waiting.awaiting <= waiting.ask.max_allocations
            for placeholder in partition.replacements.of(waiting).values():
                assert partition.replacements.by_placeholder[placeholder] is waiting
                assert placeholder.open_release is TerminationType.PLACEHOLDER_REPLACED
        for live in partition.allocations.of(application).values():
            replaced_by = partition.replacements.by_placeholder.get(live)
            if replaced_by is not None:
                assert live in partition.replacements.of(replaced_by).values()
                assert replaced_by in pending
        gang = partition.gangs.get(application)
        assert application.is_gang is (gang is not None)
        if gang is not None:
            gang_makes_sense(partition, application, gang)
    assert set(partition.gangs) <= set(partition.applications.values())


def gang_makes_sense(partition: Partition, application: Application, gang: Gang) -> None:
    placeholders = [x for x in partition.allocations.of(application).values() if x.is_placeholder]
    assert application.placeholders_asked == sum(
        p.ask.is_placeholder for p in application.pending.values()
    )
    assert application.placeholders_held == len(placeholders)
    replaceable = [x for group in gang.replaceable.values() for x in group.values()]
    assert replaceable == [x for x in placeholders if x.open_release is None] or {
        id(x) for x in replaceable
    } == {id(x) for x in placeholders if x.open_release is None}
    if application.is_gathering and placeholders:
        assert gang.timer is not None
        assert gang.timer.due is not None  # it has not fired yet


def preemptions_make_sense(partition: Partition) -> None:
    for preemption in partition.preemptions.open:
        pending = preemption.pending
        assert partition.preemptions.of(pending) is preemption
        assert pending.is_reserved
        assert pending in pending.application.pending.values()
        assert preemption.node.node_id in partition.nodes
        assert preemption.victims
        for identity, victim in preemption.victims.items():
            assert partition.allocations.all[identity] is victim
            assert partition.preemptions.by_victim[victim] is preemption
            assert is_preempted(victim)
    for live in partition.allocations.all.values():
        if live in partition.preemptions.by_victim:
            assert partition.preemptions.by_victim[live] in partition.preemptions.open
        if is_preempted(live):
            policy = live.record.ask.preemption_policy
            assert policy is None or policy.allow_preempt_self
            assert live.record.ask.required_node == ""
    preemptors = partition.preemptors
    for pending in (*preemptors.fresh, *preemptors.tried):
        assert pending in pending.application.pending.values()
    is_looked_after = partition.timers._pass_at is not None or partition.proposals
    assert not preemptors.fresh or is_looked_after


INVARIANTS: Final[tuple[Callable[[Partition], None], ...]] = (
    accounting_balances,
    applications_make_sense,
    gangs_make_sense,
    preemptions_make_sense,
)
CHECKS: Final = (*INVARIANTS, nothing_fits)


@given(histories)
@settings(max_examples=examples(60))
def test_accounting_applications_gangs_and_preemptions_are_consistent_and_nothing_else_fits(
    history: list[object],
) -> None:
    Player().plays(history, *CHECKS)


def nothing_is_left(player: Player) -> None:
    """Assert that no index, list or timer of the scheduler refers to anything."""
    (rm,) = player.scheduler.rms.all()
    assert rm.state is RMState.RUNNING
    assert rm.timers.next_deadline() is None
    for partition in player.partitions:
        accounting_balances(partition)
        assert not partition.allocations.all
        assert not partition.finished
        assert not partition.foreign.nodes
        assert not partition.proposals
        assert not partition.preemptions.open
        assert not partition.preemptors.fresh
        assert not partition.preemptors.tried
        assert not partition.node_index._unplaced
        assert not partition.asks._by_key
        assert not partition.node_index._groups._counts
        assert partition.total == NOTHING
        for queue in partition.root.all():
            assert queue.used == NOTHING
            assert list(queue.full) == list(queue.slots_taken) == list(queue.too_small) == []
            assert queue.gathering.first() is None
            assert list(queue.gathering.younger) == list(queue.beginning.younger) == []
            assert queue.beginning.first() is None
            assert not queue.starting


def assert_within_limits(player: Player, allocation: AllocationRecord) -> None:
    """Check that a live allocation has capacity on its node and in its queues."""
    (partition,) = (p for p in player.partitions if p.name == allocation.ask.partition)
    live = partition.allocations.all.get(allocation.identity)
    if live is None:
        return
    for name, amount in allocation.ask.resource.amounts.items():
        if amount > 0:
            there = live.node.free + live.node.reserved
            assert there.amounts.get(name, 0) >= 0
            for quota in live.application.quotas:
                most = quota.maximum.amounts.get(name) if quota.maximum else None
                used = quota.used - quota.reserved
                assert most is None or used.amounts[name] <= most


class Overcommit(Player):
    """Checks that nothing new is placed without capacity."""

    def watch_new(self, allocation: AllocationRecord) -> None:
        super().watch_new(allocation)
        assert_within_limits(self, allocation)


@given(histories)
@settings(max_examples=examples(60))
def test_new_allocations_stay_within_all_limits(history: list[object]) -> None:
    Overcommit().plays(history)


@given(histories)
@settings(max_examples=examples(60))
def test_same_history_has_the_same_effects(history: list[object]) -> None:
    once, again = (Player().plays(history) for _ in range(2))

    assert once.effects == again.effects


@given(histories)
@settings(max_examples=examples(60))
def test_nothing_is_left_when_everything_is_removed(history: list[object]) -> None:
    player = Player().plays(history)

    remove_everything(player)

    nothing_is_left(player)


@given(histories)
@settings(max_examples=examples(60))
def test_nothing_is_left_when_everything_open_is_confirmed_and_released(
    history: list[object],
) -> None:
    """Nothing is removed: the RM's releases and confirmations suffice."""
    player = Player().plays(history)

    for _ in range(10):  # pending asks may be allocated in place of what was released
        for partition in player.partitions:
            for application in list(partition.applications.values()):
                for live in list(partition.allocations.of(application).values()):
                    kind = live.open_release or TerminationType.STOPPED_BY_RM
                    player.play((partition.name, application.application_id, "", kind))
                    del live
        player.play(1000.0)

    for partition in player.partitions:
        accounting_balances(partition)
        for application in partition.applications.values():
            assert application.pending or application.state is ApplicationState.NEW
