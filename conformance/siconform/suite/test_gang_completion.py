"""The end of a gang application: waiting, leftovers, completion, failure (SI-GANG)."""

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import disruptive, requirement, waits
from siconform.protocol.application_states import COMPLETED, RUNNING, AnotherState
from siconform.protocol.notifications import (
    Allocated,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Released,
    Termination,
)
from siconform.protocol.queue_configurations import conformance_queues_and
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.application_states import HeldBack
from siconform.rm.steps.gang_timeouts import PartialGang, WaitingGang
from siconform.rm.steps.gangs import ANOTHER_GROUP, HARD, TASK_GROUP, timed_out
from siconform.rm.unregistered_rm import UnregisteredRM


@requirement("SI-GANG-042")
def test_leftover_placeholders_do_not_keep_an_application_from_waiting(
    rm: ResourceManager,
) -> None:
    waiting = rm.reported_waiting()
    gang, placeholders = rm.has_complete_gang(members=2)
    real, gone = rm.has_replaced(gang, placeholders)
    rm.passes_over(ApplicationUpdated(gang, state=waiting))

    since = rm.now()
    rm.releases(real)

    if waiting:
        rm.expect(ApplicationUpdated(gang, state=waiting))
        return
    [left] = [placeholder for placeholder in placeholders if placeholder != gone]
    rm.expect_when_due(timed_out(left), seconds=rm.waiting_timeout(), since=since)


@waits
@requirement("SI-GANG-044")
def test_the_leftovers_of_a_waiting_application_are_released(rm: ResourceManager) -> None:
    waiting = rm.has_waiting_gang(leftovers=2, groups=[TASK_GROUP, ANOTHER_GROUP])

    rm.expect_clean_up(waiting)


@waits
@requirement("SI-GANG-044")
def test_the_leftover_on_a_draining_node_is_released(rm: ResourceManager) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)
    rm.drains(waiting.leftovers[0].node)

    rm.expect_clean_up(waiting)


@waits
@requirement("SI-GANG-044")
def test_a_leftover_that_was_recovered_is_released(rm: ResourceManager) -> None:
    gang = rm.has_gang(members=2)
    nodes = [rm.new_name("node") for _ in range(gang.members)]
    placeholders = [rm.remembers_placeholder(gang, node) for node in nodes]
    for node, placeholder in zip(nodes, placeholders, strict=True):
        rm.has_recovered_node(node, placeholder)
    before = rm.now()
    real, gone = rm.has_replaced(gang, placeholders)
    since = rm.now()
    rm.has_released(real)

    left = tuple(placeholder for placeholder in placeholders if placeholder != gone)
    rm.expect_clean_up(WaitingGang(gang, left, since, took=since - before))


@waits
@requirement("SI-GANG-045")
def test_confirming_its_leftovers_completes_an_application_and_does_nothing_else(
    rm: ResourceManager,
) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)
    gang = waiting.gang

    with rm.confirming_nothing():
        first, left = rm.has_begun_to_clean_up(waiting)
        rm.passes_over(ApplicationUpdated(gang, state=AnotherState(COMPLETED)))
        another_state = rm.any_change_of(gang, but=COMPLETED)
        rm.confirms(first)
        rm.synchronise_all()
        rm.confirms(rm.has_release_of(left))

    rm.expect_completed(gang)
    rm.expect_none(
        *(Released(identity=p.identity) for p in waiting.leftovers),
        ApplicationUpdated(gang, state=another_state),
    )


@requirement("SI-GANG-046")
def test_a_real_ask_takes_a_waiting_application_back(rm: ResourceManager) -> None:
    waiting = rm.has_waiting_gang()

    real = rm.asks_member(waiting.gang)

    rm.expect_replacement(real, waiting.leftovers)
    rm.expect(Allocated(real, placeholder=False))
    rm.expect_none(ApplicationUpdated(waiting.gang, state=COMPLETED))
    back = rm.observe(ApplicationUpdated(waiting.gang, state=RUNNING))
    rm.records("a gang application back from waiting", *back[-1:], otherwise="not reported")


@pytest.mark.parametrize("is_full", [False, True], ids=["free capacity", "no free capacity"])
@waits
@requirement("SI-ASK-011")
def test_a_real_ask_that_comes_while_leftovers_are_released_is_not_lost(
    rm: ResourceManager, *, is_full: bool
) -> None:
    rm.does_gang_scheduling()
    waiting = rm.has_waiting_gang(leftovers=2)
    if is_full:
        rm.has_allocation(rm.has_application(), memory=2)
    with rm.confirming_nothing():
        rm.has_begun_to_clean_up(waiting)
        real = rm.asks_member(waiting.gang)
        rm.settles()

    rm.confirms_everything()

    # The application may be running again, or completed.
    end = rm.expect_one_of(
        Allocated(real),
        AskRejected(real),
        AskReleased(real),
        AskReleased("", waiting.gang),
        *rm.ends_otherwise(real),
    )
    rm.records("a real ask while leftover placeholders are released", end)


@waits
@requirement("SI-GANG-069")
def test_completed_is_reported_after_the_last_confirmation(rm: ResourceManager) -> None:
    rm.needs(Feature.STATE_REPORTS)
    waiting = rm.has_waiting_gang(leftovers=2)
    completed = ApplicationUpdated(waiting.gang, state=COMPLETED)

    with rm.confirming_nothing():
        first, left = rm.has_begun_to_clean_up(waiting)
        rm.confirms(first)
        second = rm.has_release_of(left)
        rm.expect_none(completed)
        rm.confirms(second)

    rm.expect(completed)


@waits
@requirement("SI-GANG-070")
def test_a_stop_counts_as_the_end_of_a_leftover(rm: ResourceManager) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)

    with rm.confirming_nothing():
        first, left = rm.has_begun_to_clean_up(waiting)
        rm.releases(next(p for p in waiting.leftovers if p.identity == first.identity))
        rm.expect(Released(identity=first.identity, termination=Termination.STOPPED_BY_RM))
        rm.confirms(rm.has_release_of(left))

    rm.expect_completed(waiting.gang)
    rm.expect_none(*(Released(identity=p.identity) for p in waiting.leftovers))


@waits
@requirement("SI-GANG-070")
def test_a_stop_counts_as_the_end_of_the_last_leftover(rm: ResourceManager) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)

    with rm.confirming_nothing():
        first, left = rm.has_begun_to_clean_up(waiting)
        rm.confirms(first)
        rm.has_release_of(left)
        rm.releases(left)

    rm.expect_completed(waiting.gang)


@disruptive  # some versions of yunikorn-core mishandle a late confirmation
@waits
@requirement("SI-GANG-045")
def test_an_application_is_completed_once_its_last_leftover_ended_with_its_node(
    rm: ResourceManager,
) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)

    with rm.confirming_nothing():
        first, left = rm.has_begun_to_clean_up(waiting)
        rm.confirms(first)
        second = rm.has_release_of(left)
        rm.decommissions(left.node)
        rm.settles()
    rm.confirms(second)

    rm.expect_completed(waiting.gang)


def has_gang_that_holds_back(rm: UnregisteredRM) -> tuple[PartialGang, HeldBack]:
    """Given: an incomplete gang of style hard, and an application that waits for its place."""
    queue = "root.one-by-one"
    rm.needs(Feature.APPLICATION_LIMIT)
    rm.has_registered(config=conformance_queues_and("one-by-one", most_applications=1))
    partial = rm.has_partial_gang(queue=queue, style=HARD, limit=rm.short_limit(3.0))
    return partial, rm.has_application_held_back(queue=queue)


@requirement("SI-GANG-038")
def test_a_failed_gang_leaves_its_place_to_another_application(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    partial, second = has_gang_that_holds_back(rm)

    rm.has_expired(partial)

    rm.expect_failure(partial.gang)
    rm.is_let_in(second, after=0.0)


@requirement("SI-GANG-038")
def test_a_gang_that_asks_while_it_fails_leaves_its_place_to_another_application(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    partial, second = has_gang_that_holds_back(rm)

    with rm.confirming_nothing():
        first, left = rm.has_begun_to_expire(partial)
        rm.asks(partial.gang, memory=50)  # no node has that
        rm.synchronise_all()
        rm.confirms(first)
        rm.confirms(rm.has_release_of(left))

    rm.expect_failure(partial.gang)
    rm.is_let_in(second, after=0.0)


@requirement("SI-GANG-038")
def test_a_gang_removed_while_it_fails_leaves_its_place_to_another_application(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    partial, second = has_gang_that_holds_back(rm)

    with rm.confirming_nothing():
        rm.has_begun_to_expire(partial)
        rm.removes_application(partial.gang)
        rm.settles()
    rm.confirms_everything()

    rm.is_let_in(second, after=0.0)
