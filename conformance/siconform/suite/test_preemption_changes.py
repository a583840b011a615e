"""Preemption after a change: what was updated, recovered, sent again or timed out (SI-PRE)."""

from dataclasses import replace

from siconform.marks import requirement
from siconform.protocol.notifications import Allocated, Released, Termination
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.preemption import (
    ENTITLED_QUEUE,
    MAY_NOT_PREEMPT,
    OPTED_OUT,
    TAKING_QUEUE,
)


@requirement("SI-PRE-003")
def test_a_task_that_opted_out_is_not_preempted_once_it_was_updated(rm: ResourceManager) -> None:
    rm.has_updates_of_allocations()
    rm.has_node(memory=10, vcore=20)  # enough for the updates
    taker = rm.has_application(queue=TAKING_QUEUE)
    victim = rm.has_allocation(taker, policy=MAY_NOT_PREEMPT)
    spared = [rm.has_allocation(taker, policy=OPTED_OUT) for _ in range(9)]
    for allocation in spared:
        same = replace(allocation, preemption_policy=OPTED_OUT)
        rm.updates_allocation(same, resources={"memory": 1, "vcore": 2})

    rm.preempts_only(victim, spared)


@requirement("SI-PRE-007")
def test_a_recovered_originator_that_opted_out_is_not_preempted(rm: ResourceManager) -> None:
    taker = rm.has_application(queue=TAKING_QUEUE)
    node = rm.new_name("node")
    spared = [rm.remembers_allocation(taker, node, policy=OPTED_OUT) for _ in range(9)]
    spared[0] = replace(spared[0], originator=True)
    victim = rm.remembers_allocation(taker, node, policy=MAY_NOT_PREEMPT)
    rm.has_recovered_node(node, *spared, victim)

    rm.preempts_only(victim, spared)


@requirement("SI-ASK-029")
def test_a_pending_ask_that_is_reported_not_to_preempt_does_not(rm: ResourceManager) -> None:
    rm.has_node(memory=5)
    taker = rm.has_application(queue=TAKING_QUEUE)
    for _ in range(5):
        rm.has_allocation(taker, policy=OPTED_OUT)
    node = rm.has_node(memory=4)  # too small for the ask, whatever is preempted
    allocations = [rm.has_allocation(taker, policy=MAY_NOT_PREEMPT) for _ in range(4)]
    entitled = rm.has_application(queue=ENTITLED_QUEUE)
    ask = rm.claims(entitled, memory=5)
    rm.is_pending(ask)
    released = (Released(identity=one.identity) for one in allocations)
    spared = [] if rm.receive_if_any(*released, window=rm.deadlines.place) else allocations
    rm.needs_some(spared, of="to preempt only what makes room on a node")

    rm.has_asked_again(ask, policy=MAY_NOT_PREEMPT)
    rm.updates_node(node, memory=5)

    rm.sees_no_preemption_of(*allocations)
    rm.withdraws(ask)
    rm.sees_preemption_of(*allocations, by=rm.claims(entitled, memory=5))


@requirement("SI-ASK-004", "SI-ASK-032")
def test_a_preempting_ask_that_is_sent_again_is_allocated_with_its_last_amount(
    rm: ResourceManager,
) -> None:
    taken = rm.has_taken_node()

    with rm.preempting(taken, memory=3) as (ask, _):
        rm.has_asked_again(ask, memory=2)
        rm.confirms_everything()

    served = rm.receive_if_any(Allocated(ask), window=rm.deadlines.place)
    allocated = [served] if isinstance(served, Allocated) else []
    rm.needs_some(allocated, of="to allocate a preempting ask that was updated")
    rm.gives(allocated[0], {"memory": 2, "vcore": 1}, below={"memory": 3})


@requirement("SI-REL-011")
def test_a_placeholder_that_is_being_preempted_is_not_timed_out(rm: ResourceManager) -> None:
    limit = rm.short_limit(3.0)
    partial = rm.has_partial_gang(limit=limit)
    with rm.confirming_nothing():
        claim = rm.claims(rm.has_application(), memory=2, node=partial.placeholders[0].node)
        release = rm.sees_preemption_of(*partial.placeholders, by=claim)
        preempted = [] if release.termination is Termination.TIMEOUT else [release]
        rm.needs_some(preempted, of="to preempt a placeholder before its gang times out")

    left = (one for one in partial.placeholders if one.identity != release.identity)
    expiry = [Released(identity=one.identity, termination=Termination.TIMEOUT) for one in left]
    rm.receive_if_any(*expiry, window=limit.seconds + rm.deadlines.timer)
    timed_out = [one for pattern in expiry for one in rm.observe(pattern)]
    rm.needs_some(timed_out, of="to time out a placeholder while another is being preempted")
    others = [one for one in Termination if one is not release.termination]
    rm.expect_none(*(Released(identity=release.identity, termination=one) for one in others))
