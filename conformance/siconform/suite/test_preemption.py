"""Preemption: an allocation ends so that an entitled ask fits (SI-PRE)."""

import pytest

from siconform.marks import real_clock, requirement
from siconform.protocol.handles import Node
from siconform.protocol.notifications import Allocated, PreemptionPolicy, Released, Termination
from siconform.protocol.queue_configurations import queues_with_enforced_quotas
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import TASK_GROUP
from siconform.rm.steps.preemption import (
    CLAIM,
    ENTITLED_QUEUE,
    MAY_NOT_PREEMPT,
    OPTED_OUT,
    TAKING_QUEUE,
)
from siconform.rm.unregistered_rm import UnregisteredRM

PREEMPTED = Termination.PREEMPTED_BY_SCHEDULER


@real_clock
@requirement("SI-PRE-001")
def test_a_preempted_allocation_is_released_as_such_and_named(rm: ResourceManager) -> None:
    taken = rm.has_taken_node()

    release = rm.sees_preemption_of(*taken.allocations, by=rm.claims(taken.entitled))

    rm.agrees(release, Released(termination=PREEMPTED, application=taken.taker))
    rm.names_one_of(release, taken.allocations)


@requirement("SI-PRE-002")
def test_the_preempting_ask_is_allocated_after_the_confirmations(rm: ResourceManager) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken) as (ask, _):
        rm.expect_nothing_allocated(Allocated(ask))

        rm.confirms_everything()
    rm.expect(Allocated(ask))


@requirement("SI-NODE-006")
def test_a_victim_whose_end_is_confirmed_twice_frees_its_capacity_once(rm: ResourceManager) -> None:
    taken = rm.has_taken_node()
    with rm.preempting(taken) as (ask, release):
        rm.spares_others(release, taken.allocations)
        rm.confirms(release)
    allocation = rm.expect(Allocated(ask))

    rm.confirms(release)

    beyond = rm.asks(rm.has_application(), policy=MAY_NOT_PREEMPT)  # in a queue without limits
    rm.expect_none(Allocated(beyond))
    rm.still_holds(allocation)
    rm.is_served(beyond)


@requirement("SI-APP-018")
def test_the_preempting_ask_is_allocated_if_the_application_of_its_victim_goes(
    rm: ResourceManager,
) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken) as (ask, _):
        rm.removes_application(taken.taker)

        rm.confirms_everything()
    rm.expect(Allocated(ask))


@requirement("SI-APP-018")
def test_an_application_removed_while_it_is_preempted_frees_its_capacity_unconfirmed(
    rm: ResourceManager,
) -> None:
    taken = rm.has_taken_node(apart=True)

    with rm.preempting(taken) as (ask, release):
        victim = rm.victim_of(release, taken.allocations)
        rm.spares_others(release, taken.allocations)

        rm.removes_application(victim.application)

        rm.expect(Allocated(ask))


@requirement("SI-REL-003")
def test_a_release_without_identity_ends_what_is_being_preempted_as_well(
    rm: ResourceManager,
) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken):
        rm.releases_all(taken.taker)

        rm.expect_all_released(*taken.allocations)


@requirement("SI-ALLOC-010")
def test_the_capacity_of_a_victim_is_free_if_the_preempting_ask_was_withdrawn(
    rm: ResourceManager,
) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken) as (ask, _):
        rm.withdraws(ask)
        rm.confirms_everything()

    rm.expect(Allocated(rm.asks(taken.taker, memory=1)))


@requirement("SI-ALLOC-010")
def test_the_capacity_of_a_victim_is_free_if_the_application_of_the_preempting_ask_goes(
    rm: ResourceManager,
) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken):
        rm.removes_application(taken.entitled)
        rm.synchronise_all()
        rm.confirms_everything()

    rm.expect(Allocated(rm.asks(taken.taker, memory=1)))


@requirement("SI-ALLOC-010")
def test_the_capacity_of_a_victim_that_the_rm_stopped_is_free(rm: ResourceManager) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken) as (ask, release):
        rm.withdraws(ask)
        rm.releases(rm.victim_of(release, taken.allocations))
        rm.confirms_everything()

    rm.is_served(rm.asks(taken.taker, memory=1))


@requirement("SI-PRE-002")
def test_a_preempting_ask_that_is_sent_again_is_allocated_after_the_confirmations(
    rm: ResourceManager,
) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken) as (ask, _):
        rm.has_asked_again(ask, priority=CLAIM + 1)
        rm.confirms_everything()

    rm.expect(Allocated(ask))


@pytest.mark.parametrize(("memory", "later"), [(3, 1), (1, 3)], ids=["smaller", "larger"])
@requirement("SI-ALLOC-010", "SI-NODE-006")
def test_what_a_preempting_ask_of_another_amount_leaves_is_free(
    rm: ResourceManager, memory: int, later: int
) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken, memory=memory) as (ask, _):
        rm.has_asked_again(ask, memory=later)
        rm.confirms_everything()
    served = rm.receive_if_any(Allocated(ask), window=rm.deadlines.place)
    allocated = [served] if isinstance(served, Allocated) else []
    rm.needs_some(allocated, of="to allocate a preempting ask that was updated")
    rm.settles()  # it may have chosen more than needed

    live = [one for one in (*taken.allocations, *allocated) if not rm.was_released(one)]
    free = 10 - sum(one.resource["memory"] for one in live)
    other = rm.has_application()  # in a queue without limits
    if free:
        rm.is_served(rm.asks(other, memory=free, policy=MAY_NOT_PREEMPT))
    beyond = rm.asks(other, policy=MAY_NOT_PREEMPT)
    rm.expect_none(Allocated(beyond))


@requirement("SI-NODE-034")
def test_the_preempting_ask_is_allocated_elsewhere_if_the_node_of_its_victim_goes(
    rm: ResourceManager,
) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken) as (ask, _):
        rm.decommissions(taken.node)
        other = rm.has_node(memory=10)
        rm.confirms_everything()

    rm.is_served(ask, node=other)


@requirement("SI-ALLOC-008", "SI-ASK-005")
def test_what_was_preempted_is_not_allocated_again_unrequested(rm: ResourceManager) -> None:
    taken = rm.has_taken_node()
    ask = rm.claims(taken.entitled)
    release = rm.sees_preemption_of(*taken.allocations, by=ask)
    victim = rm.victim_of(release, taken.allocations)
    with rm.precondition("the preempting ask is allocated in place of it"):
        allocation = rm.expect(Allocated(ask))

    rm.has_released(allocation)

    rm.expect_none(Allocated(victim.key))
    with rm.control("the capacity is free for an ask"):
        rm.expect(Allocated(rm.asks(taken.taker, memory=1)))


@requirement("SI-PRE-003")
def test_a_task_that_opted_out_is_not_preempted(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    taker = rm.has_application(queue=TAKING_QUEUE)
    spared = [rm.has_allocation(taker, policy=OPTED_OUT) for _ in range(5)]
    victim = rm.has_allocation(taker, policy=MAY_NOT_PREEMPT)
    spared += [rm.has_allocation(taker, policy=OPTED_OUT) for _ in range(4)]

    rm.preempts_only(victim, spared)


def has_node_to_require(rm: ResourceManager) -> Node:
    """Given: a node for memory 10, and another with memory, where no ask fits.

    A scheduler may compare an ask with what all nodes have left before it preempts.
    """
    node = rm.has_node(memory=10, vcore=20)
    rm.has_node(memory=10, vcore=0)
    return node


@requirement("SI-PRE-003")
def test_a_task_that_opted_out_is_not_preempted_for_an_ask_that_requires_its_node(
    rm: ResourceManager,
) -> None:
    node = has_node_to_require(rm)
    taker = rm.has_application()
    spared = [rm.has_allocation(taker, policy=OPTED_OUT) for _ in range(5)]
    victim = rm.has_allocation(taker, policy=MAY_NOT_PREEMPT)
    spared += [rm.has_allocation(taker, policy=OPTED_OUT) for _ in range(4)]

    rm.preempts_only(victim, spared, node=node)


@requirement("SI-PRE-003")
def test_a_task_that_opted_out_is_not_preempted_for_a_lowered_maximum(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    registered = rm.registers(config=queues_with_enforced_quotas(5, first=10))
    rm.needs_some([registered] if registered.status == "OK" else [], of="to enforce maxima")
    rm.has_node(memory=100)
    app = rm.has_application(queue="root.first")
    for _ in range(3):
        rm.has_allocation(app, memory=2, policy=MAY_NOT_PREEMPT)
    spared = [rm.has_allocation(app, memory=2, policy=OPTED_OUT) for _ in range(2)]

    rm.has_been_reconfigured(queues_with_enforced_quotas(5, first=5))

    rm.sees_no_preemption_of(*spared)
    rm.needs_some(rm.observe(Released(termination=PREEMPTED)), of="to enforce a lowered maximum")


@requirement("SI-PRE-003")
def test_a_placeholder_that_opted_out_is_not_preempted(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.has_node(memory=10)
    taker = rm.has_application(queue=TAKING_QUEUE)
    victim = rm.has_allocation(taker, policy=MAY_NOT_PREEMPT)
    gang = rm.has_gang(members=8, memory=1, queue=TAKING_QUEUE)
    asks = [
        rm.asks(
            gang,
            resources=gang.member,
            task_group=TASK_GROUP,
            placeholder=True,
            policy=OPTED_OUT,
        )
        for _ in range(8)
    ]
    with rm.precondition("the placeholders of a gang are allocated"):
        spared = [rm.expect(Allocated(ask, placeholder=True)) for ask in asks]
    spared.append(rm.has_allocation(gang, policy=OPTED_OUT))  # keeps the gang from waiting

    rm.preempts_only(victim, spared)


def has_real_members(
    rm: ResourceManager,
    count: int,
    *,
    policy: PreemptionPolicy = MAY_NOT_PREEMPT,
    priority: int = 0,
) -> list[Allocated]:
    """Given: so many real allocations in ``TAKING_QUEUE``, each in place of a placeholder."""
    gang = rm.has_gang(members=count, memory=1, queue=TAKING_QUEUE)
    placeholders, members = rm.has_placeholders(gang), []
    with rm.precondition("real asks replace the placeholders"):
        for _ in range(count):  # one by one, because each replacement may take its time
            ask = rm.asks(
                gang,
                resources=gang.member,
                task_group=TASK_GROUP,
                policy=policy,
                priority=priority,
            )
            rm.expect_replacement(ask, placeholders)
            members.append(rm.expect(Allocated(ask, placeholder=False)))
    return members


@requirement("SI-PRE-003")
def test_what_replaced_a_placeholder_and_opted_out_is_not_preempted(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.has_node(memory=10)
    victim = rm.has_allocation(rm.has_application(queue=TAKING_QUEUE), policy=MAY_NOT_PREEMPT)
    spared = has_real_members(rm, 9, policy=OPTED_OUT)

    rm.preempts_only(victim, spared)


@requirement("SI-PRE-004")
def test_only_an_ask_that_may_preempt_does_so(rm: ResourceManager) -> None:
    taken = rm.has_taken_node()
    allowed = rm.claims(taken.entitled)
    release = rm.sees_preemption_of(*taken.allocations, by=allowed)
    rm.expect(Allocated(allowed))
    left = rm.spares_others(release, taken.allocations)

    not_allowed = rm.claims(taken.entitled, policy=MAY_NOT_PREEMPT)

    rm.sees_no_preemption_of(*left)
    rm.withdraws(not_allowed)
    rm.sees_preemption_of(*left, by=rm.claims(taken.entitled))


@requirement("SI-PRE-004")
def test_an_ask_that_requires_a_node_preempts_there_only_if_it_may(rm: ResourceManager) -> None:
    node = has_node_to_require(rm)
    taker, app = rm.has_application(), rm.has_application()
    allocations = [rm.has_allocation(taker) for _ in range(10)]
    allowed = rm.claims(app, node=node)
    release = rm.sees_preemption_of(*allocations, by=allowed)
    rm.expect(Allocated(allowed))
    left = rm.spares_others(release, allocations)

    not_allowed = rm.claims(app, node=node, policy=MAY_NOT_PREEMPT)

    rm.sees_no_preemption_of(*left)
    rm.withdraws(not_allowed)
    rm.sees_preemption_of(*left, by=rm.claims(app, node=node))


@pytest.mark.parametrize(
    ("priority", "above"),
    [(5, 5), (-5, 5), (-2_000_000_000, 4_000_000_000)],
    ids=["positive", "negative", "far below"],  # by more than an int32 can hold
)
@requirement("SI-PRE-005")
def test_victims_do_not_have_a_higher_priority_than_the_ask(
    rm: ResourceManager, priority: int, above: int
) -> None:
    rm.has_node(memory=10)
    taker = rm.has_application(queue=TAKING_QUEUE)
    higher = [rm.has_allocation(taker, priority=priority + above) for _ in range(5)]
    lower = rm.has_allocation(taker, priority=priority - 5)
    higher += [rm.has_allocation(taker, priority=priority + above) for _ in range(4)]
    entitled = rm.has_application(queue=ENTITLED_QUEUE)

    first = rm.claims(entitled, priority=priority)
    release = rm.sees_preemption_of(*higher, lower, by=first)
    rm.agrees(release, Released(identity=lower.identity))
    rm.expect(Allocated(first))

    rm.claims(entitled, priority=priority)
    rm.sees_no_preemption_of(*higher)


@requirement("SI-PRE-005")
def test_an_ask_that_requires_a_node_preempts_no_higher_priority_there(rm: ResourceManager) -> None:
    node = has_node_to_require(rm)
    taker = rm.has_application()
    higher = [rm.has_allocation(taker, priority=CLAIM + 5) for _ in range(5)]
    lower = rm.has_allocation(taker, priority=CLAIM - 5)
    higher += [rm.has_allocation(taker, priority=CLAIM + 5) for _ in range(4)]

    rm.preempts_only(lower, higher, node=node)


@requirement("SI-PRE-005")
def test_a_placeholder_of_a_higher_priority_is_not_preempted(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.has_node(memory=10)
    taker = rm.has_application(queue=TAKING_QUEUE)
    lower = rm.has_allocation(taker, priority=CLAIM - 5)
    gang = rm.has_gang(members=8, memory=1, queue=TAKING_QUEUE)
    asks = [
        rm.asks(
            gang,
            resources=gang.member,
            task_group=TASK_GROUP,
            placeholder=True,
            priority=CLAIM + 5,
        )
        for _ in range(8)
    ]
    with rm.precondition("the placeholders of a gang are allocated"):
        higher = [rm.expect(Allocated(ask, placeholder=True)) for ask in asks]
    higher.append(rm.has_allocation(gang, priority=CLAIM + 5))  # keeps the gang from waiting

    rm.preempts_only(lower, higher)


@requirement("SI-PRE-005")
def test_what_replaced_a_placeholder_of_a_higher_priority_is_not_preempted(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    rm.has_node(memory=10)
    lower = rm.has_allocation(rm.has_application(queue=TAKING_QUEUE), priority=CLAIM - 5)
    higher = has_real_members(rm, 9, priority=CLAIM + 5)

    rm.preempts_only(lower, higher)


@requirement("SI-PRE-005")
def test_an_updated_victim_does_not_have_a_higher_priority_than_the_ask(
    rm: ResourceManager,
) -> None:
    rm.has_updates_of_allocations()
    rm.has_node(memory=10, vcore=20)  # enough for the updates
    taker = rm.has_application(queue=TAKING_QUEUE)
    lower = rm.has_allocation(taker, priority=CLAIM - 5)
    higher = [rm.has_allocation(taker, priority=CLAIM + 5) for _ in range(9)]
    for allocation in higher:
        rm.updates_allocation(allocation, resources={"memory": 1, "vcore": 2})

    rm.preempts_only(lower, higher)


@requirement("SI-APP-027")
def test_an_allocation_being_preempted_keeps_its_application_from_waiting(
    rm: ResourceManager,
) -> None:
    taken = rm.has_taken_node(apart=True)

    with rm.preempting(taken) as (_, release):
        victim = rm.victim_of(release, taken.allocations)
        rm.is_not_seen_waiting(victim.application)

        rm.confirms_everything()
    with rm.control("with its allocation gone it is waiting"):
        rm.comes_to_wait(victim.application)


@requirement("SI-PRE-006")
def test_asks_without_a_preemption_policy_share_one_default(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    taker = rm.has_application(queue=TAKING_QUEUE)
    for _ in range(10):
        rm.has_allocation(taker, policy=None)
    entitled = rm.has_application(queue=ENTITLED_QUEUE)

    allowed = rm.claims(entitled)
    is_preempted = rm.may_see_preemption_for(allowed)
    preempts = rm.may_see_preemption_for(*(rm.claims(entitled, policy=None) for _ in range(2)))

    rm.records(f"without a policy an allocation is preempted: {is_preempted}")
    rm.records(f"without a policy an ask preempts: {preempts}")


@requirement("SI-PRE-007")
def test_the_policy_of_a_recovered_allocation_is_honoured(rm: ResourceManager) -> None:
    taker = rm.has_application(queue=TAKING_QUEUE)
    node = rm.new_name("node")
    spared = [rm.remembers_allocation(taker, node, policy=OPTED_OUT) for _ in range(9)]
    victim = rm.remembers_allocation(taker, node, policy=MAY_NOT_PREEMPT)
    rm.has_recovered_node(node, *spared[:5], victim, *spared[5:])

    rm.preempts_only(victim, spared)


@requirement("SI-PRE-002", "SI-PRE-008")
def test_an_ask_with_several_victims_is_allocated_after_their_confirmations(
    rm: ResourceManager,
) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken, memory=3) as (ask, release):
        rm.confirms(release)
        rm.expect_none(Allocated(ask))
        rm.confirms(rm.sees_preemption_of(*taken.allocations, by=ask))
        rm.expect_nothing_allocated(Allocated(ask))
        rm.confirms(rm.sees_preemption_of(*taken.allocations, by=ask))
        rm.confirms_everything()  # it may have chosen more than needed
    rm.expect(Allocated(ask))


@requirement("SI-PRE-009")
def test_a_lowered_maximum_may_be_enforced_down_to_the_guarantee(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.has_registered(config=queues_with_enforced_quotas(5, first=10, second=10))
    rm.has_node(memory=100)
    app = rm.has_application(queue="root.first")
    allocations = [rm.has_allocation(app, memory=2) for _ in range(5)]
    other = rm.has_application(queue="root.second")
    rm.has_allocation(other, memory=10)

    rm.has_been_reconfigured(queues_with_enforced_quotas(5, first=5, second=10))

    release = rm.receive_if_any(Released(termination=PREEMPTED), window=rm.deadlines.place)
    rm.records("above its lowered maximum", release, otherwise="nothing is preempted")
    rm.settles()
    rm.expect_none(Released(application=other))
    rm.keeps_memory(5, *allocations)


@requirement("SI-NODE-026")
def test_the_preempting_ask_is_not_allocated_on_a_node_drained_meanwhile(
    rm: ResourceManager,
) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken) as (ask, release):
        rm.drains(taken.node)
        rm.confirms(release)
        rm.expect_nothing_allocated(Allocated(ask))

        rm.undrains(taken.node)
        rm.confirms_everything()
    with rm.control("undrained, the node takes the ask"):
        rm.is_served(ask, node=taken.node)


@requirement("SI-NODE-018")
def test_the_preempting_ask_is_not_allocated_beyond_a_node_shrunk_meanwhile(
    rm: ResourceManager,
) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken) as (ask, release):
        rm.updates_node(taken.node, memory=9)
        rm.confirms(release)
        rm.expect_nothing_allocated(Allocated(ask))

        rm.updates_node(taken.node, memory=10)
        rm.confirms_everything()
    with rm.control("on the node as it was the ask is allocated"):
        rm.is_served(ask, node=taken.node)


@requirement("SI-PRE-005")
def test_a_recovered_victim_does_not_have_a_higher_priority_than_the_ask(
    rm: ResourceManager,
) -> None:
    taker = rm.has_application(queue=TAKING_QUEUE)
    node = rm.new_name("node")
    higher = [rm.remembers_allocation(taker, node, priority=10) for _ in range(9)]
    lower = rm.remembers_allocation(taker, node, priority=0)
    rm.has_recovered_node(node, *higher[:5], lower, *higher[5:])
    entitled = rm.has_application(queue=ENTITLED_QUEUE)

    ask = rm.claims(entitled, priority=5)
    release = rm.sees_preemption_of(*higher, lower, by=ask)
    rm.agrees(release, Released(identity=lower.identity))
    rm.expect(Allocated(ask))

    rm.claims(entitled, priority=5)
    rm.sees_no_preemption_of(*higher)


@requirement("SI-PRE-003")
def test_a_task_opts_out_by_the_last_message_of_its_ask(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    taker = rm.has_application(queue=TAKING_QUEUE)
    spared = [rm.has_allocation(taker, policy=OPTED_OUT) for _ in range(8)]
    victim = rm.has_allocation(taker, policy=MAY_NOT_PREEMPT)
    ask = rm.asks(taker, memory=3, policy=OPTED_OUT)
    rm.is_pending(ask)
    rm.has_asked_again(ask, memory=1)
    spared.append(rm.expect(Allocated(ask)))
    entitled = rm.has_application(queue=ENTITLED_QUEUE)

    release = rm.sees_preemption_of(*spared, victim, by=rm.claims(entitled))

    rm.agrees(release, Released(identity=victim.identity))
    rm.sees_no_preemption_of(*spared)


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1)], ids=["grown", "shrunk"])
@requirement("SI-ALLOC-012")
def test_a_victim_frees_the_amount_it_was_updated_to(
    rm: ResourceManager, before: int, after: int
) -> None:
    node = rm.has_node(memory=10)
    taker = rm.has_application(queue=TAKING_QUEUE)
    first = rm.has_allocation(taker, memory=before, policy=MAY_NOT_PREEMPT)
    others = [rm.has_allocation(taker, policy=OPTED_OUT) for _ in range(8)]
    victim = rm.has_updated(first, memory=after)
    others += [rm.has_allocation(taker, policy=OPTED_OUT) for _ in range(2 - after)]
    entitled = rm.has_application(queue=ENTITLED_QUEUE)

    ask = rm.claims(entitled)
    rm.spares_others(rm.sees_preemption_of(victim, by=ask), others)

    rm.expect(Allocated(ask, node=node))
    if after > before:
        rm.expect(Allocated(rm.asks(entitled), node=node))
    one_more = rm.asks(entitled)
    rm.expect_none(Allocated(one_more))


@requirement("SI-ALLOC-012")
def test_an_update_of_a_victim_does_not_end_it(rm: ResourceManager) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken) as (ask, release):
        victim = rm.victim_of(release, taken.allocations)
        rm.has_updated(victim, resources={"memory": 1, "vcore": 2})
        rm.expect_nothing_allocated(Allocated(ask))

        rm.confirms_everything()
    rm.expect(Allocated(ask))


@requirement("SI-PRE-002")
def test_a_victim_holds_its_capacity_on_a_node_that_is_updated(rm: ResourceManager) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken) as (ask, _):
        rm.updates_node(taken.node, memory=10, vcore=20)
        rm.expect_nothing_allocated(Allocated(ask))

        rm.confirms_everything()
    rm.expect(Allocated(ask))
