"""Placeholders: allocation, accounting and their effect on the application (SI-GANG)."""

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import disruptive, requirement, waits
from siconform.protocol.application_states import COMPLETED, RUNNING, WAITING
from siconform.protocol.notifications import (
    Allocated,
    ApplicationRejected,
    ApplicationUpdated,
    Released,
    Termination,
)
from siconform.protocol.queue_configurations import conformance_queues_and
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.allocations import ASK_AMOUNTS, MAY_PREEMPT
from siconform.rm.steps.gang_timeouts import expiry_of
from siconform.rm.steps.gangs import ANOTHER_GROUP, GANG_QUEUE, QUOTA_QUEUE, TASK_GROUP, replaced
from siconform.rm.steps.preemption import ENTITLED_QUEUE, TAKING_QUEUE
from siconform.rm.unregistered_rm import UnregisteredRM


@requirement("SI-GANG-009")
def test_no_placeholder_is_allocated_before_there_is_capacity_for_all(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=20)
    app = rm.has_application(queue=QUOTA_QUEUE)
    _, released = rm.has_allocation(app, memory=4), rm.has_allocation(app, memory=4)
    gang = rm.has_gang(queue=QUOTA_QUEUE, members=3, memory=2)

    asks = rm.asks_placeholders(gang)
    rm.expect_none(*(Allocated(ask) for ask in asks))

    rm.releases(released)
    with rm.control("the placeholders are allocated once there is capacity"):
        for ask in asks:
            rm.is_served(ask)


@requirement("SI-GANG-009")
def test_no_placeholder_is_allocated_before_the_queue_above_has_capacity_for_all(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=20)
    app = rm.has_application(queue="root.parent.right")
    _, released = rm.has_allocation(app, memory=4), rm.has_allocation(app, memory=4)
    neighbour = rm.has_application(queue="root.parent.left")
    rm.withdraws(rm.has_ask_left_alone(neighbour, "quotas of parent queues", memory=3))
    gang = rm.has_gang(queue="root.parent.left", members=3, memory=2)

    asks = rm.asks_placeholders(gang)
    rm.expect_none(*(Allocated(ask) for ask in asks))

    rm.releases(released)
    with rm.control("the placeholders are allocated once there is capacity"):
        for ask in asks:
            rm.is_served(ask)


@requirement("SI-GANG-010")
def test_other_applications_are_served_while_a_gang_waits_for_capacity(rm: ResourceManager) -> None:
    rm.has_node(memory=20)
    app = rm.has_application(queue=QUOTA_QUEUE)
    rm.has_allocation(app, memory=7)
    gang = rm.has_gang(queue=QUOTA_QUEUE, members=2, memory=2)
    rm.asks_placeholders(gang)

    ask = rm.asks(app, memory=1)

    rm.expect(Allocated(ask))


@requirement("SI-GANG-012")
def test_a_placeholder_is_allocated_and_reported_as_one(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    gang = rm.has_gang(members=3)

    asks = rm.asks_placeholders(gang)

    for ask in asks:
        rm.expect(Allocated(ask, application=gang, placeholder=True, task_group=TASK_GROUP))


@requirement("SI-GANG-012")
def test_placeholders_are_not_held_back_by_what_an_earlier_gang_of_their_id_announced(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=20)
    rm.has_allocation(rm.has_application(queue=QUOTA_QUEUE), memory=6)  # of 10
    removed = rm.has_gang(queue=QUOTA_QUEUE, members=4, memory=2)
    rm.asks_placeholders(removed)
    rm.settles()  # some may be allocated: the gang is removed after that
    rm.has_removed(removed)

    gang = rm.has_gang(removed, queue=QUOTA_QUEUE, members=2, memory=2)
    asks = rm.asks_placeholders(gang)

    for ask in asks:
        rm.expect(Allocated(ask, placeholder=True))


@requirement("SI-GANG-015")
def test_an_application_stays_accepted_while_placeholders_are_pending(rm: ResourceManager) -> None:
    running = rm.reported_once_allocated()
    partial = rm.has_partial_gang(at_once=True)
    rm.had_nothing_at_first(partial.gang)

    moved = [ApplicationUpdated(partial.gang, state=s) for s in (running, WAITING, COMPLETED)]
    window = rm.window_before_end(partial.gang, partial.since)
    first = rm.receive_if_any(*moved, *expiry_of(partial.gang), window=window)
    if first is not None:
        with rm.unless_ended(partial.gang, partial.since):
            rm.expect_none_of(first, *moved)


@disruptive  # yunikorn-core never ends such an application
@requirement("SI-GANG-016")
def test_a_real_ask_replaces_nothing_before_the_last_placeholder(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(memory=2, node_memory=3, at_once=True)

    early = rm.asks_member(partial.gang)
    fitting = [rm.asks_member(partial.gang, memory=1), rm.asks(partial.gang, memory=1)]
    replacements = [replaced(placeholder) for placeholder in partial.placeholders]
    allocated = [Allocated(ask) for ask in (early, *fitting)]
    rm.expect_no_replacement_in_time(partial, *allocated, *replacements)

    for ask in fitting:
        rm.withdraws(ask)
    rm.has_node(memory=2)
    with rm.control("the last placeholder is allocated, and then a real ask replaces one"):
        last = rm.is_allocated_in_time(partial.gang, Allocated(partial.pending))
        rm.expect_allocated_after_retry(early, [*partial.placeholders, last])


@disruptive  # yunikorn-core never ends such an application
@requirement("SI-GANG-016")
def test_the_ask_of_an_originator_replaces_nothing_before_the_last_placeholder(
    rm: ResourceManager,
) -> None:
    rm.has_originators()
    partial = rm.has_partial_gang(memory=2, node_memory=3, at_once=True)
    gang = partial.gang

    early = [
        rm.asks(gang, resources=gang.member, task_group=TASK_GROUP, originator=True),
        rm.asks(gang, memory=1, task_group=TASK_GROUP, originator=True),
        rm.asks(gang, memory=1, originator=True),
    ]
    replacements = [replaced(placeholder) for placeholder in partial.placeholders]
    rm.expect_no_replacement_in_time(partial, *map(Allocated, early), *replacements)

    for ask in early:
        rm.withdraws(ask)
    rm.has_node(memory=2)
    with rm.control("the last placeholder is allocated, and then a real ask replaces one"):
        last = rm.is_allocated_in_time(partial.gang, Allocated(partial.pending))
        rm.expect_replacement(rm.asks_member(gang), [*partial.placeholders, last])


@requirement("SI-GANG-016")
def test_a_real_ask_of_a_complete_group_replaces_nothing_before_the_other_group_is_complete(
    rm: ResourceManager,
) -> None:
    partial = rm.has_gang_with_a_group_missing(at_once=True)
    [placeholder] = partial.placeholders

    early = rm.asks_member(partial.gang, group=placeholder.task_group or "")
    rm.expect_no_replacement_in_time(partial, Allocated(early), replaced(placeholder))

    rm.has_node(memory=2)
    with rm.control("the last placeholder is allocated, and then a real ask replaces one"):
        rm.is_allocated_in_time(partial.gang, Allocated(partial.pending))
        rm.expect_allocated_after_retry(early, [placeholder])


@requirement("SI-GANG-016")
def test_a_gang_of_the_id_of_a_complete_one_waits_for_its_own_placeholders(
    rm: ResourceManager,
) -> None:
    complete, placeholders = rm.has_complete_gang()
    rm.has_replaced(complete, placeholders)
    rm.has_removed(complete)
    for placeholder in placeholders:
        rm.decommissions(placeholder.node)
    partial = rm.has_partial_gang(complete, at_once=True)

    early = rm.asks_member(partial.gang)
    replacements = [replaced(placeholder) for placeholder in partial.placeholders]
    rm.expect_no_replacement_in_time(partial, Allocated(early), *replacements)

    rm.has_node(memory=2)
    with rm.control("the last placeholder is allocated, and then a real ask replaces one"):
        last = rm.is_allocated_in_time(partial.gang, Allocated(partial.pending))
        rm.expect_allocated_after_retry(early, [*partial.placeholders, last])


@requirement("SI-GANG-018")
def test_a_placeholder_may_be_asked_for_later(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    gang = rm.has_gang(members=2)
    first = rm.asks_placeholder(gang)
    # Allocated now, or with the last one if the scheduler waits for all that the gang announced.
    rm.receive_if_any(Allocated(first), window=rm.deadlines.place)

    later = rm.asks_placeholder(gang)

    rm.expect(Allocated(later, placeholder=True, task_group=TASK_GROUP))


@requirement("SI-GANG-018")
def test_the_rest_of_a_recovered_gang_may_be_asked_for_later(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    since = rm.now()
    gang = rm.has_gang(queue=QUOTA_QUEUE, members=5, memory=2)  # all of the quota
    node = rm.new_name("node")
    rm.has_recovered_node(node, rm.remembers_placeholder(gang, node), memory=20)

    rest = [rm.asks_placeholder(gang) for _ in range(4)]

    for ask in rest:
        rm.expect_before_end(gang, since, Allocated(ask, placeholder=True))


@requirement("SI-GANG-027")
def test_placeholders_count_against_the_quota(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=20)
    since = rm.now()
    gang = rm.has_gang(queue=QUOTA_QUEUE, members=4, memory=2)
    rm.has_placeholders(gang)
    app = rm.has_application(queue=QUOTA_QUEUE)

    too_large = rm.asks(app, memory=3)

    rm.expect_none_before_end(gang, since, Allocated(too_large))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=2)))


@requirement("SI-GANG-027")
def test_placeholders_count_against_the_quota_of_another_resource(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm, queue = unregistered_rm, "root.gpus"
    rm.needs(Feature.QUOTAS)
    rm.has_registered(config=conformance_queues_and("gpus", most={"gpu": 10}))
    style = rm.spelled(None)  # may be probed, which needs an empty cluster
    rm.has_node(resources={"memory": 20, "vcore": 20, "gpu": 20})
    app = rm.has_application(queue=queue)
    beyond = {**ASK_AMOUNTS, "gpu": 11}
    rm.withdraws(rm.has_ask_left_alone(app, "quotas of every resource", resources=beyond))
    since = rm.now()
    gang = rm.has_gang(members=4, memory=2, devices=2, queue=queue, style=style)
    rm.has_placeholders(gang)

    too_large = rm.asks(app, resources={**ASK_AMOUNTS, "gpu": 3})

    rm.expect_none_before_end(gang, since, Allocated(too_large))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, resources={**ASK_AMOUNTS, "gpu": 2})))


@requirement("SI-GANG-027")
def test_placeholders_count_against_the_quota_of_the_queue_above(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=20)
    app, neighbour = (rm.has_application(queue=f"root.parent.{q}") for q in ("right", "left"))
    held = rm.has_allocation(neighbour, memory=8)
    rm.withdraws(rm.has_ask_left_alone(app, "quotas of parent queues", memory=3))
    rm.has_released(held)
    since = rm.now()
    gang = rm.has_gang(queue="root.parent.left", members=4, memory=2)
    rm.has_placeholders(gang)

    too_large = rm.asks(app, memory=3)

    rm.expect_none_before_end(gang, since, Allocated(too_large))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=2)))


@requirement("SI-GANG-027")
def test_a_larger_real_ask_counts_against_the_quota_in_full(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=20)
    app = rm.has_application(queue=QUOTA_QUEUE)
    held = rm.has_allocation(app, memory=6)
    gang = rm.has_gang(queue=QUOTA_QUEUE, memory=4)
    placeholder = rm.has_placeholder(gang)

    real = rm.asks_member(gang, memory=6)
    rm.receive_if_any(Released(identity=placeholder.identity), window=rm.deadlines.place)

    rm.expect_none(Allocated(real))
    with rm.control("with the other allocation gone an ask of that size is allocated"):
        rm.withdraws(real)
        rm.has_released(held)
        rm.expect(Allocated(rm.asks(rm.has_application(queue=QUOTA_QUEUE), memory=6)))


@pytest.mark.parametrize("resource", ["memory", "gpu"])
@requirement("SI-GANG-027")
def test_placeholders_count_against_the_capacity_of_their_node(
    rm: ResourceManager, resource: str
) -> None:
    rm.has_node(resources={"memory": 20, "vcore": 20, "gpu": 20, resource: 10})
    since = rm.now()
    gang = rm.has_gang(members=4, memory=2, devices=2)
    rm.has_placeholders(gang)
    app = rm.has_application()

    too_large = rm.asks(app, resources={**ASK_AMOUNTS, resource: 3})

    rm.expect_none_before_end(gang, since, Allocated(too_large))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, resources={**ASK_AMOUNTS, resource: 2})))


@requirement("SI-GANG-028")
def test_the_placeholder_flag_means_nothing_without_a_group(rm: ResourceManager) -> None:
    rm.has_node()
    ordinary, app = rm.has_application(), rm.has_application()
    rm.has_allocation(ordinary)

    allocation = rm.expect(Allocated(rm.asks(app, placeholder=True)))

    rm.expect_where_reported(
        ApplicationUpdated(app, state=RUNNING), like=ApplicationUpdated(ordinary, state=RUNNING)
    )
    for group in ("", TASK_GROUP):
        rm.expect(Allocated(rm.asks(app, task_group=group)))
    rm.expect_none(Released(identity=allocation.identity))


@requirement("SI-GANG-012")
def test_each_placeholder_of_one_ask_is_reported_with_group_and_flag(rm: ResourceManager) -> None:
    rm.has_asks_apart()
    rm.needs(Feature.SEVERAL_ALLOCATIONS)
    rm.has_node(memory=10)
    gang = rm.has_gang(members=3)

    ask = rm.asks_placeholder(gang, times=3)

    placeholders = rm.collects(Allocated(ask), most=3)
    rm.has_at_least(2, placeholders, "one ask is allocated several times")
    for placeholder in placeholders:
        rm.agrees(placeholder, Allocated(ask, placeholder=True, task_group=TASK_GROUP))


@requirement("SI-GANG-027")
def test_placeholders_of_one_ask_stay_within_the_quota(rm: ResourceManager) -> None:
    rm.has_asks_apart()
    rm.needs(Feature.QUOTAS)
    rm.needs(Feature.SEVERAL_ALLOCATIONS)
    rm.has_node(memory=100)
    gang = rm.has_gang(queue=QUOTA_QUEUE, members=2, memory=4)

    ask = rm.asks_placeholder(gang, times=3)  # more than was announced, which may be refused

    placeholders = rm.collects(Allocated(ask), most=2)
    rm.needs_some(placeholders[1:], of="to allocate what fits of such an ask")
    rm.expect_none(Allocated(ask))


@requirement("SI-GANG-030")
def test_one_ask_may_stand_for_all_placeholders_of_a_group(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    gang = rm.has_gang(members=3)

    allocated = rm.collects(Allocated(rm.asks_placeholder(gang, times=3)), most=3)
    rm.has_at_least(1, allocated, "a placeholder is allocated")
    real = [rm.asks_member(gang) for _ in allocated]
    answered = rm.collects(Allocated(application=gang, placeholder=False), most=len(real))

    rm.records(
        f"one placeholder ask for 3: {len(allocated)} placeholders, {len(answered)} replaced"
    )


@requirement("SI-GANG-043")
def test_a_pending_placeholder_keeps_an_application_from_waiting(rm: ResourceManager) -> None:
    waiting = rm.reported_waiting()
    since = rm.now()
    gang, placeholders = rm.has_complete_gang()
    real, _ = rm.has_replaced(gang, placeholders)
    rm.has_full_node(memory=2)
    pending = rm.asks_placeholder(gang)
    rm.is_pending(pending)
    active_since = rm.now()  # the pending ask keeps it active from now on
    rm.drains(real.node)  # else the pending one would take the capacity
    rm.passes_over(ApplicationUpdated(gang, state=waiting))  # during the replacement

    rm.has_released(real)

    if not waiting:
        with rm.unless_ended_before(active_since, gang, since):
            rm.outlasts_waiting(ApplicationUpdated(gang, state=COMPLETED))
            rm.submits_application(gang)
            rm.expect(ApplicationRejected(gang))  # the id of a completed one would be free
            rm.has_node(memory=2)
            rm.expect(Allocated(pending, placeholder=True))
        return
    with rm.unless_ended(gang, since):  # then nothing is pending
        rm.expect_none(
            ApplicationUpdated(gang, state=waiting), ApplicationUpdated(gang, state=COMPLETED)
        )
    with rm.control("with its last placeholder ask withdrawn it is waiting"):
        rm.withdraws(pending)
        rm.expect(ApplicationUpdated(gang, state=waiting))


@waits
@requirement("SI-GANG-043")
def test_a_placeholder_asked_for_while_its_application_is_waiting_keeps_it_from_completing(
    rm: ResourceManager,
) -> None:
    since = rm.now()
    gang, placeholders = rm.has_complete_gang()
    real, _ = rm.has_replaced(gang, placeholders)
    rm.has_full_node(memory=2)
    rm.drains(real.node)  # else the pending one would take the capacity
    waiting_since = rm.now()
    rm.has_released(real)

    with rm.in_its_waiting_time(since=waiting_since):
        pending = rm.asks_placeholder(gang)
        rm.is_pending(pending)

    with rm.unless_ended_before(rm.now(), gang, since):
        rm.outlasts_waiting()
        kept = [] if rm.rejected(pending) else [real]
        rm.needs_some(kept, of="to keep a placeholder ask pending")
        rm.expect_none(ApplicationUpdated(gang, state=COMPLETED))
        rm.submits_application(gang)
        rm.expect(ApplicationRejected(gang))  # the id of a completed one would be free
        rm.has_node(memory=2)
        rm.expect(Allocated(pending, placeholder=True))


@requirement("SI-GANG-047")
def test_a_placeholder_stopped_by_the_rm_is_gone(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang()
    stopped, _ = partial.placeholders

    rm.releases(stopped)

    end = Released(identity=stopped.identity, termination=Termination.STOPPED_BY_RM)
    rm.expect(end)
    rm.expect_none(end, replaced(stopped))  # a timeout may race with the stop


@requirement("SI-GANG-047")
def test_a_stopped_placeholder_is_not_replaced(rm: ResourceManager) -> None:
    gang, (stopped, left) = rm.has_complete_gang(members=2)

    rm.releases(stopped)
    rm.expect(Released(identity=stopped.identity, termination=Termination.STOPPED_BY_RM))
    real = [rm.asks_member(gang), rm.asks_member(gang)]

    rm.expect(replaced(left))
    for ask in real:
        rm.expect(Allocated(ask, placeholder=False))
    rm.expect_none(Released(identity=stopped.identity), Released(identity=left.identity))


@requirement("SI-GANG-047")
def test_a_leftover_stopped_while_the_application_is_waiting_is_not_replaced(
    rm: ResourceManager,
) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)
    stopped, left = waiting.leftovers

    rm.releases(stopped)
    real = [rm.asks_member(waiting.gang), rm.asks_member(waiting.gang)]

    rm.expect_in_time(waiting, replaced(left))
    for ask in real:
        rm.expect(Allocated(ask, placeholder=False))
    rm.expect(Released(identity=stopped.identity, termination=Termination.STOPPED_BY_RM))
    rm.expect_none(Released(identity=stopped.identity), Released(identity=left.identity))


@requirement("SI-GANG-052")
def test_a_fifo_queue_serves_the_older_gang_first(rm: ResourceManager) -> None:
    older, younger = (rm.has_gang(queue=GANG_QUEUE, members=2) for _ in range(2))
    first, second = rm.asks_placeholders(older), rm.asks_placeholders(younger)
    for ask in (*first, *second):
        rm.is_pending(ask)

    rm.registers_node(memory=4)

    rm.expect_none(*(Allocated(ask) for ask in second))
    with rm.control("the placeholders of the older gang are allocated"):
        for ask in first:
            rm.expect(Allocated(ask))


@requirement("SI-GANG-053")
def test_placeholders_need_no_placeholder_ask(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application(queue=GANG_QUEUE)

    asks = [rm.asks(app, task_group=TASK_GROUP, placeholder=True) for _ in range(2)]
    placeholders = [rm.expect(Allocated(ask, placeholder=True)) for ask in asks]
    real = rm.asks(app, task_group=TASK_GROUP)

    rm.expect_replacement(real, placeholders)
    rm.expect(Allocated(real, placeholder=False))


@requirement("SI-GANG-067")
def test_a_preempted_placeholder_is_gone_for_replacements(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    gang = rm.has_gang(queue=TAKING_QUEUE, members=2, memory=5)
    placeholders = rm.has_placeholders(gang)
    entitled = rm.has_application(queue=ENTITLED_QUEUE)

    claim = rm.asks(entitled, memory=5, policy=MAY_PREEMPT)
    release = rm.sees_preemption_of(*placeholders, by=claim)
    rm.agrees(release, Released(termination=Termination.PREEMPTED_BY_SCHEDULER))
    real = rm.asks_member(gang)

    rm.expect_replacement(real, [p for p in placeholders if p.identity != release.identity])
    rm.expect_none(Released(identity=release.identity))


@requirement("SI-REL-011")
def test_a_placeholder_that_is_being_preempted_is_not_replaced(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.has_node(memory=10)
    gang = rm.has_gang(queue=TAKING_QUEUE, members=2, memory=5)
    placeholders = rm.has_placeholders(gang)
    entitled = rm.has_application(queue=ENTITLED_QUEUE)

    with rm.confirming_nothing():
        claim = rm.asks(entitled, memory=5, policy=MAY_PREEMPT)
        release = rm.sees_preemption_of(*placeholders, by=claim)
        for _ in placeholders:
            rm.asks_member(gang)

        rm.expect_nothing_allocated(
            Allocated(claim),
            *(
                Released(identity=release.identity, termination=another)
                for another in Termination
                if another is not release.termination
            ),
        )

    with rm.control("after the confirmation the capacity is allocated"):
        rm.confirms_everything()
        rm.expect(Allocated(claim))


@requirement("SI-REC-011")
def test_a_recovered_placeholder_is_replaced_by_a_real_ask_of_its_group_only(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    gang = rm.has_gang(members=2, memory=1)
    node = rm.new_name("node")
    another, one = (
        rm.remembers_allocation(gang, node, task_group=group, placeholder=True)
        for group in (ANOTHER_GROUP, TASK_GROUP)
    )
    rm.has_recovered_node(node, another, one)

    for group, placeholder in ((TASK_GROUP, one), (ANOTHER_GROUP, another)):
        real = rm.asks_member(gang, group=group)
        rm.expect_replacement(real, [placeholder])
        rm.expect(Allocated(real, node=node))


@requirement("SI-REL-015")
def test_a_pending_placeholder_ask_is_withdrawn_even_if_others_are_allocated(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    rm.has_node(memory=2)
    rm.has_node(memory=4, vcore=0)  # enough memory for all, but no vcore
    gang = rm.has_gang(members=3, memory=2)
    asks = rm.asks_placeholders(gang)
    [allocated] = rm.has_some_placeholders(gang, asks, 1)
    withdrawn, kept = (ask for ask in asks if ask != allocated.key)
    rm.is_pending(withdrawn)

    rm.withdraws(withdrawn)
    rm.has_node(memory=4)

    with rm.control("the ask that was not withdrawn is allocated"):
        rm.is_allocated_in_time(gang, Allocated(kept, placeholder=True))
    rm.expect_none(Allocated(withdrawn))


@requirement("SI-REL-016", "SI-REL-029")
def test_an_ask_release_without_key_withdraws_placeholder_asks_as_well(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    partial = rm.has_partial_gang()

    rm.withdraws_asks(application=partial.gang)
    rm.has_node(memory=4)

    with rm.control("an equal ask of another application is allocated"):
        rm.expect(Allocated(rm.asks(rm.has_application(), memory=2)))
    rm.expect_none(Allocated(partial.pending))


@requirement("SI-GANG-059")
def test_an_ask_release_without_key_withdraws_an_ask_that_waits_for_a_placeholder(
    rm: ResourceManager,
) -> None:
    gang, placeholders = rm.has_complete_gang(memory=4)
    replacement = rm.has_open_replacement(gang, placeholders)

    rm.withdraws_asks(application=gang)
    rm.synchronise_all()
    rm.confirms(replacement.release)

    rm.expect_none(Allocated(replacement.real))
    rm.expect(Allocated(rm.asks(rm.has_application(), memory=4)))
