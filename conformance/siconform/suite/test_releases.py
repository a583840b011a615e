"""Releases of allocations and asks (SI-REL)."""

from dataclasses import replace

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import requirement, waits
from siconform.protocol.application_states import FAILED
from siconform.protocol.matchers import PartitionNamed
from siconform.protocol.notifications import (
    Allocated,
    ApplicationUpdated,
    AskReleased,
    Released,
    StreamEnded,
    Termination,
    UpdateKind,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.allocations import refusals
from siconform.rm.steps.gangs import HARD, QUOTA_QUEUE, otherwise_released
from siconform.rm.unregistered_rm import UnregisteredRM


@requirement("SI-REL-001")
def test_a_release_by_the_rm_is_carried_out_and_confirmed(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=10)
    waiting = rm.has_waiting_ask(app, memory=10)

    rm.releases(allocation)

    rm.expect(
        Released(
            application=app, identity=allocation.identity, termination=Termination.STOPPED_BY_RM
        )
    )
    rm.is_served(waiting)


@requirement("SI-REL-001")
def test_a_release_by_identity_needs_no_key(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=10)

    rm.releases(allocation, key="")  # from 2024-10 on the identity is the key

    rm.expect(
        Released(
            application=app, identity=allocation.identity, termination=Termination.STOPPED_BY_RM
        )
    )


@requirement("SI-REL-001", "SI-REL-002")
def test_each_confirmation_repeats_its_release_and_comes_once(rm: ResourceManager) -> None:
    rm.has_node(memory=3)
    app = rm.has_application()
    allocations = [rm.has_allocation(app, memory=1) for _ in range(3)]
    waiting = rm.has_waiting_ask(app, memory=3)

    with rm.one_message():
        for allocation in allocations:
            rm.releases(allocation)

    for allocation in allocations:
        rm.expect(
            Released(
                key=allocation.key,
                application=app,
                identity=allocation.identity,
                termination=Termination.STOPPED_BY_RM,
                partition=PartitionNamed("default"),
            )
        )
    rm.is_served(waiting)
    rm.expect_none(Released(application=app))


@requirement("SI-REL-001", "SI-REL-002")
def test_a_release_ends_only_the_allocation_it_names_of_those_of_an_ask(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=9)
    app = rm.has_application()
    first, second, third = rm.has_allocations_of_one_ask(app, times=3, memory=3)
    waiting = rm.has_waiting_ask(app, memory=6)

    rm.releases(second)

    rm.expect(Released(key=second.key, identity=second.identity))
    rm.expect_none(Released(identity=first.identity), Released(identity=third.identity))
    rm.is_not_served(waiting)
    rm.still_holds(first)
    rm.is_served(waiting)
    rm.still_holds(third)


@requirement("SI-REL-001", "SI-REL-015")
def test_the_asks_and_releases_of_one_message_are_all_carried_out(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=9)
    waiting = rm.has_waiting_ask(app, memory=10)  # nor does it fit in place of the allocation

    with rm.one_message():
        ask = rm.asks(app, memory=1)
        rm.releases(allocation)
        rm.withdraws(waiting)

    rm.expect(Allocated(ask))
    rm.expect(Released(identity=allocation.identity, termination=Termination.STOPPED_BY_RM))
    rm.synchronise_all()
    node = rm.has_node(memory=10)
    rm.expect_none(Allocated(waiting))
    with rm.control("an equal ask is allocated"):
        rm.expect(Allocated(rm.asks(app, memory=10), node=node))


@requirement("SI-REL-003")
def test_a_release_without_identity_ends_everything_of_its_application(rm: ResourceManager) -> None:
    rm.has_node(memory=13, vcore=13)
    app, other_app = rm.has_application(), rm.has_application()
    allocations = [rm.has_allocation(app, memory=1) for _ in range(12)]
    other = rm.has_allocation(other_app, memory=1)
    waiting = rm.has_waiting_ask(other_app, memory=12)

    rm.releases_all(app)

    rm.expect_all_released(*allocations)
    rm.is_served(waiting)
    rm.expect_none(Released(identity=other.identity), Released(application=other_app))
    rm.still_holds(other)


@requirement("SI-REL-003")
def test_a_release_without_identity_ends_all_of_a_gang(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.has_node(memory=5)
    gang, other_app = rm.has_gang(members=3, memory=1), rm.has_application()
    placeholders = rm.has_placeholders(gang)
    real, gone = rm.has_replaced(gang, placeholders)
    left = [placeholder for placeholder in placeholders if placeholder != gone]
    ordinary = rm.has_allocation(gang, memory=2)

    rm.releases_all(gang)

    rm.expect_all_released(*left, real, ordinary)
    rm.expect(Allocated(rm.asks(other_app, memory=5)))


@requirement("SI-REL-003")
def test_a_release_without_identity_ends_what_was_recovered_as_well(rm: ResourceManager) -> None:
    app, other_app = rm.has_application(), rm.has_application()
    node = rm.new_name("node")
    existing = rm.remembers_allocation(app, node, memory=4)
    rm.has_recovered_node(node, existing)
    own = rm.has_allocation(app, memory=6)

    rm.releases_all(app)

    rm.expect_all_released(existing, own)
    rm.expect(Allocated(rm.asks(other_app, memory=10), node=node))


@requirement("SI-REL-003")
def test_a_release_without_identity_leaves_the_asks_of_its_application(rm: ResourceManager) -> None:
    rm.has_asks_apart()
    rm.has_node(memory=2)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=2)
    waiting = rm.has_waiting_ask(app, memory=2)

    rm.releases_all(app)

    rm.expect_all_released(allocation)
    rm.is_served(waiting)


@requirement("SI-REL-004")
def test_a_key_does_not_narrow_a_release_without_identity(rm: ResourceManager) -> None:
    rm.has_node(memory=2)
    app, other_app = rm.has_application(), rm.has_application()
    allocations = [rm.has_allocation(app, memory=1) for _ in range(2)]
    waiting = rm.has_waiting_ask(other_app, memory=2)

    rm.releases_all(app, key=allocations[0].key)

    rm.expect_all_released(*allocations)
    rm.is_served(waiting)


@requirement("SI-REL-005")
def test_releasing_what_does_not_exist_changes_nothing(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=10)
    waiting = rm.has_waiting_ask(app, memory=10)

    rm.releases(allocation, identity=rm.new_name("unknown"), key="")
    rm.releases_all(rm.new_name("unknown"))
    rm.releases(allocation, partition="unknown")

    # An answer that echoes the request does not report the end of the allocation.
    rm.expect_none(Released(identity=allocation.identity, partition=PartitionNamed("default")))
    rm.is_not_served(waiting)
    with rm.control("a release of the live allocation frees its capacity"):
        rm.releases(allocation)
        rm.expect(Released(identity=allocation.identity, partition=PartitionNamed("default")))
        rm.is_served(waiting)


@pytest.mark.parametrize(
    ("queue", "capacity"), [(None, 10), (QUOTA_QUEUE, 100)], ids=["of its node", "of its queue"]
)
@requirement("SI-REL-005")
def test_releasing_an_allocation_twice_frees_its_capacity_once(
    rm: ResourceManager, queue: str | None, capacity: int
) -> None:
    if queue:
        rm.needs(Feature.QUOTAS)
    rm.has_node(memory=capacity)
    app = rm.has_application(queue=queue)
    allocation = rm.has_allocation(app, memory=10)
    waiting = rm.has_waiting_ask(app, memory=10)

    rm.releases(allocation)
    rm.releases(allocation)

    with rm.control("the first release frees the capacity"):
        rm.is_served(waiting)
    rm.is_not_served(rm.asks(app, memory=10))


@requirement("SI-REL-005")
def test_releasing_an_allocation_twice_in_one_message_frees_its_capacity_once(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=10)
    waiting = rm.has_waiting_ask(app, memory=10)

    with rm.one_message():
        for _ in range(2):
            rm.releases(allocation)

    with rm.control("the first release frees the capacity"):
        rm.is_served(waiting)
    rm.is_not_served(rm.asks(app, memory=10))


@requirement("SI-REL-006", "SI-WIRE-009")
def test_a_release_without_type_is_a_stop_by_the_rm(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=10)
    waiting = rm.has_waiting_ask(app, memory=10)

    rm.releases(allocation, Termination.UNKNOWN)

    rm.expect(Released(identity=allocation.identity, termination=Termination.STOPPED_BY_RM))
    rm.is_served(waiting)


@requirement("SI-REL-007")
def test_a_release_without_type_is_carried_out_or_refused(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=10)
    waiting = rm.has_waiting_ask(app, memory=10)

    rm.releases(allocation, Termination.UNKNOWN)

    # The request is faulty, so both are fine (C-12); the answer has to match the effect.
    received = rm.expect_one_of(
        Released(identity=allocation.identity),
        *refusals(allocation),
    )
    rm.has_capacity_exactly_if_released(received, waiting, held=allocation)


@requirement("SI-REL-007")
def test_a_release_without_type_confirms_no_replacement(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    with rm.confirming_nothing():
        replaced = rm.has_replacement_under_way(memory=10)
    placeholder = replaced.placeholder

    rm.confirms(replaced.release, Termination.UNKNOWN)

    # Dropping it is not an answer; the real allocation alone would answer a confirmation.
    received = rm.expect_one_of(
        Released(identity=placeholder.identity, termination=Termination.STOPPED_BY_RM),
        Released(identity=placeholder.identity, termination=Termination.UNKNOWN),
        *refusals(placeholder),
    )
    rm.is_open_unless_released(received, replaced)


@requirement("SI-REL-009")
def test_a_confirmation_by_the_rm_is_not_answered(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    with rm.confirming_nothing():
        replaced = rm.has_replacement_under_way(memory=10)
    ended = Released(identity=replaced.placeholder.identity)
    rm.settles()
    before = len(rm.observe(ended))

    rm.confirms(replaced.release)

    with rm.precondition("the confirmation was processed"):
        rm.expect(Allocated(replaced.real))
    rm.confirms(replaced.release)  # nor is a second one
    rm.settles()
    under_way = 1 if before > 1 else 0  # if releases are repeated until confirmed
    rm.expect_at_most(before + under_way, ended)


@requirement("SI-REL-009")
def test_the_confirmation_of_a_recovered_placeholder_is_not_answered(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    gang, node = rm.has_gang(memory=10), rm.new_name("node")
    placeholder = rm.remembers_placeholder(gang, node)
    rm.has_recovered_node(node, placeholder)
    with rm.confirming_nothing():
        replacement = rm.has_open_replacement(gang, [placeholder])
    ended = Released(identity=placeholder.identity)
    rm.settles()
    before = len(rm.observe(ended))

    rm.confirms(replacement.release)

    with rm.precondition("the confirmation was processed"):
        rm.expect(Allocated(replacement.real))
    rm.settles()
    under_way = 1 if before > 1 else 0  # if releases are repeated until confirmed
    rm.expect_at_most(before + under_way, ended)


@requirement("SI-REL-011")
def test_a_release_by_the_scheduler_is_final_only_when_confirmed(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    other_app = rm.has_application()
    with rm.confirming_nothing():
        replaced = rm.has_replacement_under_way(memory=10)
        waiting = rm.has_waiting_ask(other_app, memory=10)

    rm.expect_nothing_allocated(
        *otherwise_released(replaced.placeholder), Allocated(replaced.real), Allocated(waiting)
    )

    with rm.control("after the confirmation the capacity is allocated"):
        rm.confirms(replaced.release)
        rm.expect_one_of(Allocated(replaced.real), Allocated(waiting))


@requirement("SI-REL-011")
def test_a_placeholder_keeps_its_capacity_although_its_real_ask_is_withdrawn(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    gang, placeholders = rm.has_complete_gang(memory=4)
    open_one = rm.has_open_replacement(gang, placeholders)
    waiting = rm.has_waiting_ask(rm.has_application(), memory=4)

    rm.withdraws(open_one.real)

    rm.expect_nothing_allocated(Allocated(waiting))
    rm.is_not_served(waiting)
    with rm.control("after the confirmation the capacity is allocated"):
        rm.confirms(open_one.release)
        if rm.receive_if_any(Allocated(open_one.real)) is None:  # SI-GANG-059
            rm.is_served(waiting)


@requirement("SI-REL-011")
def test_what_timed_out_keeps_its_capacity_until_that_is_confirmed(rm: ResourceManager) -> None:
    rm.has_asks_apart()
    rm.needs(Feature.EXECUTION_TIMEOUT)
    rm.has_node(memory=11)
    app, other_app = rm.has_application(), rm.has_application()
    rm.has_allocation(other_app, memory=1)  # an empty application would end by then
    with rm.confirming_nothing():
        with rm.precondition("the ask is allocated"):
            allocation = rm.expect(Allocated(rm.asks(app, memory=10, timeout_ms=500)))
        waiting = rm.has_waiting_ask(other_app, memory=10)
        rm.stays_quiet(window=0.5 + rm.deadlines.timer)
    over = Released(identity=allocation.identity, termination=Termination.TIMEOUT)
    rm.needs_some(releases := rm.observe(over), of="to end allocations by a timeout")

    others = [t for t in Termination if t is not Termination.TIMEOUT]
    rm.expect_nothing_allocated(
        Allocated(waiting),
        *(Released(identity=allocation.identity, termination=other) for other in others),
    )

    rm.confirms(releases[0])
    rm.is_served(waiting)


@waits
@requirement("SI-REL-011")
def test_a_leftover_placeholder_keeps_its_capacity_until_its_release_is_confirmed(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    app = rm.has_application()
    waiting_gang = rm.has_waiting_gang(leftovers=2)
    with rm.precondition("the capacity of the real allocation is free again"):
        rm.expect(Allocated(rm.asks(app, memory=2)))

    with rm.confirming_nothing():
        first, _ = rm.has_begun_to_clean_up(waiting_gang)
        waiting = rm.asks(app, memory=2)
        rm.expect_nothing_allocated(Allocated(waiting))
        rm.confirms(first)

    rm.is_served(waiting)


@requirement("SI-REL-011")
def test_a_placeholder_that_is_being_replaced_is_not_timed_out(rm: ResourceManager) -> None:
    rm.has_asks_apart()
    rm.needs(Feature.EXECUTION_TIMEOUT)
    rm.has_node(memory=10)
    with rm.confirming_nothing():
        replaced = rm.has_replacement_under_way(memory=10, timeout_ms=2_000)

    rm.stays_quiet(*otherwise_released(replaced.placeholder), window=2.0 + rm.deadlines.timer)

    rm.confirms(replaced.release)
    rm.expect(Allocated(replaced.real))


@requirement("SI-REL-014")
def test_a_confirmation_of_nothing_does_no_harm(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.has_node(memory=4)
    app = unregistered_rm.has_application()
    first, second = unregistered_rm.has_allocation(app), unregistered_rm.has_allocation(app)

    unregistered_rm.releases(first, Termination.PLACEHOLDER_REPLACED)
    unregistered_rm.releases(second, Termination.PREEMPTED_BY_SCHEDULER)

    unregistered_rm.expect_none(Allocated(application=app), StreamEnded(UpdateKind.ALLOCATIONS))
    ended = unregistered_rm.observe(Released(application=app))
    unregistered_rm.records(
        f"confirmations without a release: {len(ended)} allocations reported ended"
    )
    with unregistered_rm.control("the stream serves an ordinary request"):
        unregistered_rm.expect(Allocated(unregistered_rm.asks(app)))


@requirement("SI-REL-015")
def test_an_ask_release_with_application_and_key_withdraws_that_ask(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    withdrawn, kept = rm.has_pending_ask(app), rm.has_pending_ask(app)

    rm.withdraws(withdrawn)
    rm.has_node()

    with rm.control("an ask made afterwards is allocated"):
        rm.expect(Allocated(rm.asks(app)))
    rm.expect(Allocated(kept))
    rm.expect_none(Allocated(withdrawn))


@requirement("SI-REL-015")
def test_each_ask_release_of_one_message_withdraws_its_ask(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    first, kept, last = (rm.has_pending_ask(app) for _ in range(3))

    with rm.one_message():
        rm.withdraws(first)
        rm.withdraws(last)
    rm.has_node()

    rm.expect(Allocated(kept))
    rm.expect_none(Allocated(first), Allocated(last))


@requirement("SI-REL-016", "SI-REL-029")
def test_an_ask_release_without_key_withdraws_every_ask_of_its_application(
    rm: ResourceManager,
) -> None:
    rm.has_full_node()
    app, other_app = rm.has_application(), rm.has_application()
    withdrawn = [rm.has_pending_ask(app) for _ in range(2)]
    kept = rm.has_pending_ask(other_app)

    rm.withdraws_asks(application=app)
    rm.has_node()

    with rm.control("an ask made afterwards is allocated"):
        rm.expect(Allocated(rm.asks(app)))
    rm.expect(Allocated(kept))
    rm.expect_none(*(Allocated(ask) for ask in withdrawn))


@requirement("SI-REL-029")
def test_a_release_without_key_ends_what_is_pending_as_well(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app, other_app = rm.has_application(), rm.has_application()
    live = rm.has_allocation(app, memory=10)
    withdrawn, kept = rm.has_pending_ask(app, memory=10), rm.has_pending_ask(other_app, memory=10)

    rm.releases_all(app)

    rm.expect_all_released(live)
    rm.expect(Allocated(kept))
    rm.has_node(memory=10)
    rm.expect_none(Allocated(withdrawn))


@requirement("SI-REL-017")
def test_an_ask_release_with_only_a_partition_withdraws_all_asks_or_none(
    rm: ResourceManager,
) -> None:
    rm.has_full_node()
    waiting = [rm.has_pending_ask(rm.has_application()) for _ in range(2)]

    rm.withdraws_asks()
    rm.has_node()
    later = rm.asks(rm.has_application())
    with rm.control("an ask made afterwards is allocated"):
        rm.expect(Allocated(later))

    served = rm.expect_all_or_none(*(Allocated(ask) for ask in waiting))
    rm.records(
        f"an ask release with only a partition withdraws {'nothing' if served else 'every ask'}"
    )


@requirement("SI-REL-018")
def test_ask_releases_leave_allocations_alone(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    ask = rm.asks(app, memory=10, times=3)
    [allocation] = rm.has_first_allocations(ask, 1)

    rm.withdraws(ask)
    rm.withdraws_asks(application=app, key=rm.new_name("unknown"))
    rm.has_node(memory=30)

    with rm.control("a further ask is allocated"):
        rm.expect(Allocated(rm.asks(app, memory=1)))
    rm.expect_none(Released(identity=allocation.identity), Allocated(ask))
    rm.still_holds(allocation)


@requirement("SI-REL-019")
def test_an_ask_release_by_the_rm_is_confirmed(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    waiting = rm.has_pending_ask(app)

    rm.withdraws(waiting)

    rm.expect(AskReleased(key=waiting, application=app, termination=Termination.STOPPED_BY_RM))


@requirement("SI-REL-019")
def test_the_release_of_what_is_pending_of_an_ask_is_confirmed(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    ask, _ = rm.has_partly_allocated_ask(app, memory=6)

    rm.withdraws(ask)

    rm.expect(AskReleased(key=ask, application=app, termination=Termination.STOPPED_BY_RM))


@requirement("SI-REL-019")
def test_the_release_of_an_ask_in_replacement_is_confirmed(rm: ResourceManager) -> None:
    rm.has_asks_apart()
    rm.does_gang_scheduling()
    open_one = rm.has_open_replacement(*rm.has_complete_gang())

    rm.withdraws(open_one.real)

    rm.expect(
        AskReleased(
            key=open_one.real,
            application=open_one.application,
            termination=Termination.STOPPED_BY_RM,
        )
    )


@requirement("SI-REL-020")
def test_an_ask_release_by_the_scheduler_names_the_partition(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(limit=rm.short_limit())
    rm.has_expired(partial)

    release = rm.has_ask_withdrawn(partial.pending)

    rm.names_its_partition(release)


@requirement("SI-REL-021")
def test_an_ask_release_with_key_but_no_application_withdraws_that_ask(
    rm: ResourceManager,
) -> None:
    rm.has_full_node()
    app = rm.has_application()
    withdrawn, kept = rm.has_pending_ask(app), rm.has_pending_ask(app)

    rm.withdraws_asks(key=withdrawn)
    rm.has_node()

    with rm.control("an ask made afterwards is allocated"):
        rm.expect(Allocated(rm.asks(app)))
    rm.expect(Allocated(kept))
    rm.expect_none(Allocated(withdrawn))


@requirement("SI-REL-023")
def test_releases_by_the_scheduler_state_unmistakably_what_ends(rm: ResourceManager) -> None:
    leaving = rm.has_node(memory=2)
    app, other_app = rm.has_application(), rm.has_application()
    ending = [rm.has_allocation(a, memory=1, node=leaving) for a in (app, other_app)]
    staying_node = rm.has_node(memory=2)
    staying = rm.has_allocation(app, memory=1, node=staying_node)

    rm.drains(leaving)
    rm.decommissions(leaving)

    for allocation in ending:
        release = Released(
            application=allocation.application,
            identity=allocation.identity,
            partition=PartitionNamed("default"),
        )
        named = [replace(release, key=allocation.key), replace(release, key="")]
        if allocation.application == other_app:  # it has no others left
            named.append(Released(application=other_app, identity=""))
        rm.expect_one_of(*named)
    rm.expect_none(Released(application=app), Released(application=other_app))
    rm.still_holds(staying)


@requirement("SI-REL-025")
def test_confirmations_of_an_ask_release_are_not_answered(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    rm.has_expired(partial)
    release = rm.has_ask_withdrawn(partial.pending)

    rm.confirms_ask(release)
    rm.confirms_ask(release)

    rm.expect_none(AskReleased(release.key, application=partial.gang))
    rm.expect_failure(partial.gang)


@requirement("SI-REL-025")
def test_a_repeated_confirmation_of_an_ask_release_changes_nothing(rm: ResourceManager) -> None:
    rm.needs(Feature.STATE_REPORTS)
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    failure = ApplicationUpdated(partial.gang, state=rm.failure())
    with rm.confirming_nothing():
        first, left = rm.has_begun_to_expire(partial)
        rm.confirms(first)
        second = rm.has_release_of(left)
        release = rm.has_ask_withdrawn(partial.pending)
        rm.confirms_ask(release)
        rm.confirms_ask(release)
        rm.passes_over(failure)
        at_once = rm.observe(ApplicationUpdated(partial.gang, state=FAILED))
        rm.needs_some([] if at_once else [second], of="to report a failure after confirmations")
        rm.confirms(second)

    rm.expect(failure)


@pytest.mark.parametrize("termination", [Termination.TIMEOUT, Termination.PREEMPTED_BY_SCHEDULER])
@requirement("SI-REL-026")
def test_a_confirmation_of_another_type_loses_nothing_and_frees_nothing_twice(
    unregistered_rm: UnregisteredRM, termination: Termination
) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.has_node(memory=10)
    other_app = unregistered_rm.has_application()
    with unregistered_rm.confirming_nothing():
        replaced = unregistered_rm.has_replacement_under_way(memory=10)

    unregistered_rm.confirms(replaced.release, termination)
    unregistered_rm.synchronise_all()
    unregistered_rm.confirms(replaced.release)

    unregistered_rm.expect(Allocated(replaced.real))
    waiting = unregistered_rm.asks(other_app, memory=10)
    unregistered_rm.expect_none(
        Allocated(replaced.real), Allocated(waiting), StreamEnded(UpdateKind.ALLOCATIONS)
    )
