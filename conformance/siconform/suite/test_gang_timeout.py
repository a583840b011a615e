"""The placeholder timeout: from when it counts, whom it ends and what it leaves alone (SI-GANG)."""

import pytest

from siconform.marks import real_clock, requirement
from siconform.rm.facts import (
    Allocated,
    ApplicationUpdated,
    AskReleased,
    Released,
    Termination,
)
from siconform.rm.gang_timer_verbs import expiry_of
from siconform.rm.gang_verbs import HARD, QUOTA_QUEUE, SOFT, timed_out
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.states import FAILURE, RESUMING


@requirement("SI-GANG-031")
def test_the_timeout_runs_from_the_first_placeholder_allocation(rm: ResourceManager) -> None:
    limit = rm.short_limit()
    rm.has_node(memory=6, vcore=0)  # enough for all of them, and no room for one
    gang = rm.has_gang(members=3, memory=2, limit=limit)
    rm.asks_placeholders(gang)
    expiry = expiry_of(gang)
    rm.stays_quiet(Allocated(application=gang), *expiry, window=2 * limit.seconds)

    before_the_first = rm.now()
    rm.has_node(memory=2)
    rm.is_told(Allocated(application=gang))
    rm.stays_quiet(*expiry, window=0.6 * limit.seconds)
    before_the_second = rm.now()
    rm.has_node(memory=2)
    rm.is_told(Allocated(application=gang))

    rm.is_told_between(
        *expiry,
        earliest=before_the_first + limit.seconds,
        latest=before_the_second + limit.seconds,
    )


@real_clock
@pytest.mark.parametrize("style", [HARD, SOFT])
@requirement("SI-GANG-032")
def test_an_incomplete_gang_loses_its_placeholders(rm: ResourceManager, style: str) -> None:
    partial = rm.has_partial_gang(style=style, limit=rm.short_limit())

    rm.is_told_expiry(partial.gang, partial.placeholders)


@requirement("SI-GANG-033")
def test_an_incomplete_gang_loses_its_pending_ask(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(limit=rm.short_limit())
    rm.has_expired(partial)

    rm.is_told(AskReleased(partial.pending, termination=Termination.TIMEOUT))

    rm.has_node(memory=2)
    rm.is_not_told(Allocated(partial.pending))
    with rm.control("an equal ask of another application is allocated"):
        rm.is_told(Allocated(rm.asks(rm.has_application(), memory=2)))


@requirement("SI-GANG-034")
def test_an_incomplete_gang_of_style_hard_fails(rm: ResourceManager) -> None:
    limit = rm.short_limit()
    with rm.confirming_nothing():
        gangs = [
            rm.has_partial_gang(memory=3, style="hard", limit=limit),
            rm.has_partial_gang(memory=2, style="Hard", limit=limit),
        ]
        releases = [release for partial in gangs for release in rm.has_expired(partial)]
    rm.has_confirmed(releases)

    failed = rm.is_told_one_of(
        *(ApplicationUpdated(partial.gang, state=FAILURE) for partial in gangs)
    ).application
    ask = rm.asks(failed)
    rm.is_not_told(Allocated(ask))
    with rm.control("an equal ask of another application is allocated"):
        rm.is_told(Allocated(rm.asks(rm.has_application())))


@requirement("SI-GANG-035")
def test_an_incomplete_gang_of_style_soft_goes_on_as_an_ordinary_application(
    rm: ResourceManager,
) -> None:
    limit = rm.short_limit()
    with rm.confirming_nothing():
        gangs = [
            rm.has_partial_gang(memory=3, style="soft", limit=limit),
            rm.has_partial_gang(memory=2, style="Soft", limit=limit),
        ]
        releases = [release for partial in gangs for release in rm.has_expired(partial)]
    rm.has_confirmed(releases)
    real = [rm.asks_member(partial.gang) for partial in gangs]

    served = rm.is_told_one_of(*(Allocated(ask, placeholder=False) for ask in real)).application
    rm.is_not_told(
        ApplicationUpdated(served, state=FAILURE),
        Released(application=served, termination=Termination.PLACEHOLDER_REPLACED),
    )


@requirement("SI-GANG-036")
def test_a_style_of_another_spelling_gets_a_default(rm: ResourceManager) -> None:
    limit = rm.short_limit()
    styles = ("", "HARD", "hard", "Hard", "x")
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
        outcome = rm.is_told_one_of(failure, Allocated(real))
        rm.records(f"gang style {style!r}", outcome)


@requirement("SI-GANG-037")
def test_a_gang_fails_for_good_once_its_releases_are_confirmed(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    app = rm.has_application()
    room = [Allocated(rm.has_pending_ask(app, memory=2)) for _ in partial.placeholders]
    with rm.confirming_nothing():
        first, second = rm.has_expired(partial)

    rm.confirms(first)
    with rm.control("the room of a confirmed placeholder is given away"):
        rm.is_told_one_of(*room)
    rm.is_not_told(*room, Allocated(application=partial.gang))

    rm.confirms(second)
    rm.is_told(ApplicationUpdated(partial.gang, state=FAILURE))
    rm.is_told_one_of(*room)
    rm.is_not_told(Allocated(application=partial.gang))


@requirement("SI-GANG-038")
def test_a_failed_gang_leaves_its_queue(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(
        memory=3, node_memory=5, queue=QUOTA_QUEUE, style=HARD, limit=rm.short_limit()
    )
    other = rm.has_application(queue=QUOTA_QUEUE)
    whole_quota = [rm.has_pending_ask(other, memory=5) for _ in range(2)]

    rm.has_expired(partial)

    for ask in whole_quota:
        rm.is_told(Allocated(ask))


@requirement("SI-GANG-039")
def test_a_complete_gang_neither_fails_nor_resumes(rm: ResourceManager) -> None:
    limit = rm.short_limit()
    used, placeholders = rm.has_complete_gang(members=2, style=HARD, limit=limit)
    real, _ = rm.has_replaced(used, placeholders)
    unused, _ = rm.has_complete_gang(members=2, style=SOFT, limit=limit)

    rm.outwaits_gangs(memory=3)

    rm.is_not_told(
        *(ApplicationUpdated(g, state=s) for g in (used, unused) for s in (FAILURE, RESUMING)),
        Released(identity=real.identity),
    )
    rm.still_holds(real)


@requirement("SI-GANG-041")
def test_state_and_releases_come_together_or_apart(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(limit=rm.short_limit())

    releases = rm.has_expired(partial)
    ask = rm.is_told(AskReleased(partial.pending))
    state = rm.is_told(ApplicationUpdated(partial.gang, state=FAILURE))

    together = rm.came_together(*releases, ask, state)
    rm.records(f"the state and the releases of a timeout: {'one' if together else 'several'}")


@requirement("SI-GANG-062")
def test_removing_the_application_ends_its_open_withdrawals(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(memory=4, style=HARD, limit=rm.short_limit())
    with rm.confirming_nothing():
        releases = rm.has_expired(partial)

    rm.removes_application(partial.gang)
    rm.settles()
    rm.has_confirmed(releases)

    app = rm.has_application()
    room = [rm.asks(app, memory=4) for _ in releases]
    for ask in room:
        rm.is_told(Allocated(ask))
    one_more = rm.asks(app, memory=1)
    rm.is_not_told(Allocated(one_more), Allocated(application=partial.gang))


@requirement("SI-GANG-063")
def test_unused_placeholders_outlast_the_timeout(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(members=3, limit=rm.short_limit())
    _, gone = rm.has_replaced(gang, placeholders)
    unused = [p for p in placeholders if p != gone]

    rm.outwaits_gangs(memory=3)
    rm.is_not_told(*(timed_out(p) for p in unused))

    real = rm.asks_member(gang)
    rm.is_told_replacement(real, unused)
    rm.is_told(Allocated(real, placeholder=False))


@requirement("SI-GANG-064")
def test_a_gang_without_limit_of_its_own_does_not_wait_for_ever(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(limit=rm.limit_of_scheduler())

    rm.is_told_expiry(partial.gang, partial.placeholders)
    rm.is_told(AskReleased(partial.pending))


@requirement("SI-GANG-065")
def test_a_gang_whose_missing_asks_were_withdrawn_does_not_expire(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())

    rm.withdraws(partial.pending)
    rm.outwaits_gangs(memory=3)

    rm.is_not_told(*(ApplicationUpdated(partial.gang, state=s) for s in (FAILURE, RESUMING)))


@requirement("SI-GANG-066")
def test_the_timeout_leaves_an_open_replacement_alone(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(members=2, limit=rm.short_limit())
    open_one = rm.has_open_replacement(gang, placeholders)
    again = Released(identity=open_one.placeholder.identity)

    rm.outwaits_gangs(memory=3)
    rm.is_not_told(again, Allocated(open_one.real))

    rm.confirms(open_one.release)
    rm.is_told(Allocated(open_one.real))
    rm.is_not_told(again)


@requirement("SI-GANG-068")
def test_the_final_failure_comes_after_all_confirmations(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    failure = ApplicationUpdated(partial.gang, state=FAILURE)
    with rm.confirming_nothing():
        first, second = rm.has_expired(partial)

    rm.confirms(first)
    rm.passes_over(failure)
    rm.confirms(second)

    rm.is_told(failure)


@requirement("SI-GANG-070")
def test_a_stop_counts_as_the_end_of_a_timed_out_placeholder(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    stopped, _ = partial.placeholders
    with rm.confirming_nothing():
        _, second = rm.has_expired(partial)

    rm.releases(stopped)
    rm.is_told(Released(identity=stopped.identity, termination=Termination.STOPPED_BY_RM))
    rm.confirms(second)

    rm.is_told(ApplicationUpdated(partial.gang, state=FAILURE))
    rm.is_not_told(*(Released(identity=p.identity) for p in partial.placeholders))
