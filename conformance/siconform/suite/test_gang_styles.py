"""What follows the placeholder timeout, by the style of the gang (SI-GANG)."""

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import disruptive, requirement, waits
from siconform.protocol.application_states import COMPLETED, FAILURE, RESUMING, WAITING
from siconform.protocol.handles import Gang
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Released,
    Termination,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import (
    ANOTHER_GROUP,
    HARD,
    QUOTA_QUEUE,
    SOFT,
    TASK_GROUP,
)
from siconform.rm.unregistered_rm import UnregisteredRM


@pytest.mark.parametrize(
    "groups", [[], [TASK_GROUP, ANOTHER_GROUP, TASK_GROUP]], ids=["one group", "two groups"]
)
@requirement("SI-GANG-034")
def test_an_incomplete_gang_of_style_hard_fails(rm: ResourceManager, groups: list[str]) -> None:
    partial = rm.has_partial_gang(groups=groups, style=HARD, limit=rm.short_limit())
    rm.has_expired(partial)

    rm.expect_failure(partial.gang)
    rm.settles()  # an ask right after a confirmation may precede its end
    ask = rm.asks(partial.gang)
    rm.expect_none(Allocated(ask), ApplicationUpdated(partial.gang, state=COMPLETED))
    with rm.control("an equal ask of another application is allocated"):
        rm.expect(Allocated(rm.asks(rm.has_application())))


@requirement("SI-GANG-034")
def test_a_gang_of_style_hard_fails_even_if_its_id_was_that_of_a_soft_one(
    rm: ResourceManager,
) -> None:
    limit = rm.short_limit()
    removed = rm.has_gang(style=SOFT, limit=limit)
    rm.has_removed(removed)
    partial = rm.has_partial_gang(removed, style=HARD, limit=limit)
    rm.has_expired(partial)

    rm.expect_failure(partial.gang)
    rm.settles()
    ask = rm.asks(partial.gang)
    rm.expect_none(Allocated(ask))


@requirement("SI-APP-020")
def test_the_id_of_an_application_that_was_removed_while_it_failed_is_free_again(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    with rm.confirming_nothing():
        rm.has_begun_to_expire(partial)
        rm.removes_application(partial.gang)
        rm.synchronise_all()

        rm.submits_application(partial.gang)

        rm.expect(ApplicationAccepted(partial.gang))
    rm.has_node()  # what was being released may be held until it is confirmed
    rm.expect(Allocated(rm.asks(partial.gang)))


@requirement("SI-GANG-035")
def test_an_incomplete_gang_of_style_soft_goes_on_as_an_ordinary_application(
    rm: ResourceManager,
) -> None:
    partial = rm.has_partial_gang(style=SOFT, limit=rm.short_limit())
    rm.has_expired(partial)
    rm.synchronise_all()  # no longer: an empty application soon ends

    real = rm.asks_member(partial.gang)

    rm.expect(Allocated(real, placeholder=False))
    rm.expect_none(
        ApplicationUpdated(partial.gang, state=FAILURE),
        Released(application=partial.gang, termination=Termination.PLACEHOLDER_REPLACED),
    )


@requirement("SI-GANG-035")
def test_a_gang_of_style_soft_that_timed_out_comes_to_wait_like_an_ordinary_application(
    rm: ResourceManager,
) -> None:
    partial = rm.has_partial_gang(style=SOFT, limit=rm.short_limit())
    rm.has_expired(partial)
    rm.synchronise_all()  # no longer: an empty application soon ends
    with rm.precondition("it goes on"):
        real = rm.expect(Allocated(rm.asks_member(partial.gang), placeholder=False))
    ordinary = rm.has_waiting_application()
    rm.passes_over(ApplicationUpdated(partial.gang))

    rm.has_released(real)

    like = ApplicationUpdated(ordinary, state=WAITING)
    rm.expect_where_reported(ApplicationUpdated(partial.gang, state=WAITING), like=like)


@requirement("SI-GANG-035")
def test_a_gang_of_style_soft_goes_on_even_if_its_id_was_that_of_a_hard_one(
    rm: ResourceManager,
) -> None:
    limit = rm.short_limit()
    removed = rm.has_gang(style=HARD, limit=limit)
    rm.has_removed(removed)
    partial = rm.has_partial_gang(removed, style=SOFT, limit=limit)
    rm.has_expired(partial)
    rm.synchronise_all()  # no longer: an empty application soon ends

    rm.expect(Allocated(rm.asks_member(partial.gang), placeholder=False))
    rm.expect_none(ApplicationUpdated(partial.gang, state=FAILURE))


def goes_on_with_the_id_of(rm: ResourceManager, ended: Gang, placeholders: list[Allocated]) -> None:
    """Then: a gang of style soft goes on after its timeout, although this one had its id."""
    for placeholder in placeholders:
        rm.decommissions(placeholder.node)  # the last placeholder of the next one fits no node
    partial = rm.has_partial_gang(ended, style=SOFT, limit=rm.short_limit())
    rm.has_expired(partial)
    rm.synchronise_all()  # no longer: an empty application soon ends

    rm.expect(Allocated(rm.asks_member(partial.gang), placeholder=False))
    rm.expect_none(ApplicationUpdated(partial.gang, state=FAILURE))


@waits
@requirement("SI-GANG-035")
def test_a_gang_of_style_soft_goes_on_even_if_its_id_was_that_of_a_completed_hard_one(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.WAITING_TIMEOUT)
    completed, placeholders = rm.has_complete_gang(style=HARD, limit=rm.short_limit())
    real, _ = rm.has_replaced(completed, placeholders)
    rm.has_released(real)
    rm.outlasts_waiting()
    rm.passes_over(ApplicationUpdated(completed))

    goes_on_with_the_id_of(rm, completed, placeholders)


@requirement("SI-GANG-035")
def test_a_gang_of_style_soft_goes_on_even_if_its_id_was_that_of_a_failed_one(
    rm: ResourceManager,
) -> None:
    failed = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    rm.has_expired(failed)
    with rm.precondition("its failure is reported"):
        rm.expect_failure(failed.gang)
    rm.settles()  # the id need not be free at once
    rm.passes_over(ApplicationUpdated(failed.gang))

    goes_on_with_the_id_of(rm, failed.gang, list(failed.placeholders))


@requirement("SI-GANG-035")
def test_an_ordinary_ask_alongside_an_incomplete_gang_is_not_lost(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered()
    limit = unregistered_rm.short_limit()
    partial = unregistered_rm.has_partial_gang(style=SOFT, limit=limit)
    ordinary = unregistered_rm.asks(partial.gang, memory=50)
    with unregistered_rm.control("the time of the gang is over"):
        unregistered_rm.has_expired(partial)
    node = unregistered_rm.has_node(memory=50)

    outcomes = (
        Allocated(ordinary),
        AskReleased(ordinary),
        AskReleased(application=partial.gang, key=""),
        AskRejected(ordinary),
    )
    if unregistered_rm.receive_if_any(*outcomes) is None:
        unregistered_rm.decommissions(node)
        if unregistered_rm.ignores_early_asks():
            unregistered_rm.asks_again(ordinary)
        unregistered_rm.has_node(memory=50)
        unregistered_rm.expect_one_of(*outcomes)
    unregistered_rm.expect_none(ApplicationUpdated(partial.gang, state=FAILURE))


@requirement("SI-GANG-035")
def test_a_real_ask_that_comes_while_a_gang_of_style_soft_times_out_is_not_lost(
    rm: ResourceManager,
) -> None:
    partial = rm.has_partial_gang(style=SOFT, limit=rm.short_limit())
    with rm.confirming_nothing():
        rm.has_begun_to_expire(partial)
        real = rm.asks_member(partial.gang)
        rm.settles()

    rm.confirms_everything()

    rm.is_served(real, placeholder=False)


@requirement("SI-GANG-035")
def test_a_gang_of_style_soft_goes_on_once_its_last_placeholder_was_stopped(
    rm: ResourceManager,
) -> None:
    partial = rm.has_partial_gang(style=SOFT, limit=rm.short_limit())
    with rm.confirming_nothing():
        second, left = rm.has_last_release(partial)
        rm.releases(left)
        rm.synchronise_all()
    rm.confirms(second)
    rm.synchronise_all()  # no longer: an empty application soon ends

    rm.is_served(rm.asks_member(partial.gang), placeholder=False)


@disruptive  # some versions of yunikorn-core mishandle a late confirmation
@requirement("SI-GANG-035")
def test_a_gang_of_style_soft_goes_on_once_its_last_placeholder_ended_with_its_node(
    rm: ResourceManager,
) -> None:
    partial = rm.has_partial_gang(style=SOFT, limit=rm.short_limit())
    with rm.confirming_nothing():
        second, left = rm.has_last_release(partial)
        rm.decommissions(left.node)
        rm.synchronise_all()
    rm.confirms(second)
    rm.synchronise_all()  # no longer: an empty application soon ends

    rm.is_served(rm.asks_member(partial.gang), placeholder=False)


@requirement("SI-GANG-035")
def test_a_placeholder_asked_for_after_a_gang_of_style_soft_timed_out_is_not_lost(
    rm: ResourceManager,
) -> None:
    partial = rm.has_partial_gang(style=SOFT, limit=rm.short_limit())
    rm.has_expired(partial)
    rm.synchronise_all()  # no longer: an empty application soon ends

    rm.has_observed(AskReleased("", partial.gang))  # at the timeout
    late = rm.asks_placeholder(partial.gang)

    rm.expect_one_of(
        Allocated(late),
        AskRejected(late),
        AskReleased(late),
        AskReleased("", partial.gang),
        *rm.ends_otherwise(late),
    )


@requirement("SI-GANG-036")
def test_a_style_of_another_spelling_gets_a_default(rm: ResourceManager) -> None:
    rm.needs(Feature.QUEUES)  # in one queue the later gang may wait for the earlier one
    limit = rm.short_limit()
    styles = [s for s in ("", "HARD", "hard", "Hard", "x") if rm.takes_gangs_spelled(s)]
    with rm.confirming_nothing():
        gangs = [
            rm.has_partial_gang(members=2, memory=6 - number, style=style, limit=limit)
            for number, style in enumerate(styles)
        ]
        releases = [release for partial in gangs for release in rm.has_expired(partial)]
    rm.has_confirmed(releases)

    for style, partial in zip(styles, gangs, strict=True):
        real = rm.asks_member(partial.gang)
        failure = ApplicationUpdated(partial.gang, state=FAILURE)
        outcome = rm.expect_one_of(failure, AskRejected(real), Allocated(real))
        rm.records(f"gang style {style!r}", outcome)


@requirement("SI-GANG-037")
def test_a_gang_fails_for_good_once_its_releases_are_confirmed(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    with rm.confirming_nothing():
        second, _ = rm.has_last_release(partial)

    app = rm.has_application()
    with rm.control("the capacity of a confirmed placeholder is allocated"):
        rm.expect(Allocated(rm.asks(app, memory=2)))
    late = rm.asks(app, memory=2)
    rm.expect_none(Allocated(late), Allocated(application=partial.gang))

    rm.confirms(second)
    rm.expect_failure(partial.gang)
    rm.is_served(late)
    rm.expect_none(
        Allocated(application=partial.gang), ApplicationUpdated(partial.gang, state=COMPLETED)
    )


@requirement("SI-GANG-037")
def test_a_failing_gang_keeps_its_share_until_it_is_confirmed(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    partial = rm.has_partial_gang(
        memory=3, queue=QUOTA_QUEUE, style=HARD, limit=rm.short_limit()
    )  # the quota is 10, and two are held
    with rm.confirming_nothing():
        second, _ = rm.has_last_release(partial)

    rm.has_node(memory=20)
    other = rm.has_application(queue=QUOTA_QUEUE)  # an older one, still empty, may have ended
    with rm.control("the quota share of a confirmed placeholder is allocated"):
        rm.expect(Allocated(rm.asks(other, memory=7)))
    late = rm.asks(other, memory=3)
    rm.expect_none(Allocated(late), Allocated(application=partial.gang))

    rm.confirms(second)
    rm.expect_failure(partial.gang)
    rm.is_served(late)


@requirement("SI-GANG-038")
def test_a_failed_gang_leaves_its_queue(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=1)
    other = rm.has_application(queue=QUOTA_QUEUE)
    rm.has_allocation(other, memory=0)  # an empty application would end by then
    partial = rm.has_partial_gang(
        memory=3, node_memory=5, queue=QUOTA_QUEUE, style=HARD, limit=rm.short_limit()
    )
    half_of_the_quota = rm.asks(other, memory=5)

    with rm.confirming_nothing():
        first, left = rm.has_begun_to_expire(partial)
        with rm.control("before that, half of the quota is in use"):
            rm.stays_quiet(Allocated(half_of_the_quota), window=0.0)
        rm.confirms(first)
        second = rm.has_release_of(left)
    rm.has_confirmed([second])

    rm.expect_failure(partial.gang)
    for half in (half_of_the_quota, rm.asks(other, memory=5)):
        rm.is_served(half)
    rm.expect_none(ApplicationUpdated(partial.gang, state=COMPLETED))


@requirement("SI-GANG-039")
def test_a_complete_gang_neither_fails_nor_resumes(rm: ResourceManager) -> None:
    limit = rm.short_limit()
    used, placeholders = rm.has_complete_gang(members=2, style=HARD, limit=limit)
    in_use, _ = rm.has_replaced(used, placeholders)
    hard, _ = rm.has_complete_gang(members=2, style=HARD, limit=limit)
    soft, _ = rm.has_complete_gang(members=2, style=SOFT, limit=limit)

    rm.outwaits_gangs(memory=3)

    gangs = (used, hard, soft)
    rm.expect_none(
        *(ApplicationUpdated(gang, state=state) for gang in gangs for state in (FAILURE, RESUMING)),
        Released(identity=in_use.identity),
    )
    for gang in gangs:
        real = rm.asks_member(gang)
        received = rm.expect_one_of(Allocated(real), AskRejected(real))
        was_given_up = rm.observe(Released(application=gang, termination=Termination.TIMEOUT))
        if gang == used or not was_given_up:  # an empty one may be completed by now
            rm.agrees(received, Allocated(real))
    rm.still_holds(in_use)


@requirement("SI-GANG-041")
def test_state_and_releases_come_together_or_apart(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(limit=rm.short_limit())

    releases = rm.has_expired(partial)
    ask = rm.expect_ask_released(partial.pending)
    state = rm.expect(ApplicationUpdated(partial.gang, state=FAILURE))

    together = rm.came_together(*releases, ask, state)
    rm.records(f"the state and the releases of a timeout: {'one' if together else 'several'}")


@requirement("SI-GANG-068")
def test_the_final_failure_comes_after_all_confirmations(rm: ResourceManager) -> None:
    rm.needs(Feature.STATE_REPORTS)
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    failure = ApplicationUpdated(partial.gang, state=rm.failure())
    with rm.confirming_nothing():
        second, _ = rm.has_last_release(partial)
        rm.passes_over(failure)
        rm.confirms(second)

    rm.expect(failure)


@requirement("SI-GANG-070")
def test_a_stop_counts_as_the_end_of_a_timed_out_placeholder(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    with rm.confirming_nothing():
        first, left = rm.has_begun_to_expire(partial)
        rm.releases(next(p for p in partial.placeholders if p.identity == first.identity))
        rm.expect(Released(identity=first.identity, termination=Termination.STOPPED_BY_RM))
        rm.confirms(rm.has_release_of(left))

    rm.expect_failure(partial.gang)
    rm.expect_none(*(Released(identity=p.identity) for p in partial.placeholders))
