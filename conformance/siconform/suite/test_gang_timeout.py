"""The placeholder timeout: when it starts, what it ends and what it keeps (SI-GANG)."""

from typing import Final

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import real_clock, registering_again_is_a_race, requirement
from siconform.protocol.application_states import FAILURE, RESUMING
from siconform.protocol.notifications import (
    Allocated,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Released,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gang_timeouts import expiry_of
from siconform.rm.steps.gangs import (
    ANOTHER_GROUP,
    GANG_QUEUE,
    HARD,
    TASK_GROUP,
    Style,
    otherwise_released,
    timed_out,
)
from siconform.rm.unregistered_rm import UnregisteredRM

_CLEARLY: Final = 5.0  # seconds between two events, for a long limit

of_each_style = pytest.mark.parametrize("style", list(Style))


@requirement("SI-GANG-031")
def test_the_timeout_runs_from_the_first_placeholder_allocation(rm: ResourceManager) -> None:
    limit = rm.short_limit(6.0)  # events further apart than a timer's resolution
    rm.has_node(memory=6, vcore=0)  # enough memory for all, but no vcore
    first_capacity, second_capacity = rm.has_full_node(memory=2), rm.has_full_node(memory=2)
    gang = rm.has_gang(members=3, memory=2, limit=limit)
    for ask in rm.asks_placeholders(gang):
        rm.is_pending(ask)
    expiry = expiry_of(gang)
    after, between = (min(share * limit.seconds, _CLEARLY) for share in (0.5, 0.6))
    rm.stays_quiet(Allocated(application=gang), *expiry, window=limit.seconds + after)

    before_the_first = rm.now()
    rm.releases(first_capacity)
    with rm.unless_whole(gang):
        rm.expect_one_of(Allocated(application=gang), AskRejected(application=gang))
    rm.needs_some(rm.observe(Allocated(application=gang)), of="to keep asks of a gang pending")
    rm.stays_quiet(*expiry, window=between)
    before_the_second = rm.now()
    rm.releases(second_capacity)  # used or not when the limit is over

    rm.expect_between(
        *expiry,
        earliest=before_the_first + limit.seconds,
        latest=before_the_second + limit.seconds,
    )


@requirement("SI-GANG-031")
@registering_again_is_a_race
def test_the_timeout_of_an_earlier_registration_is_not_that_of_the_next_gang_of_its_id(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered()
    limit = unregistered_rm.short_limit(3.0)  # long enough for two gangs
    forgotten = unregistered_rm.has_partial_gang(style=HARD, limit=limit)
    expiry = expiry_of(forgotten.gang)
    unregistered_rm.stays_quiet(window=min(limit.seconds / 2, _CLEARLY))

    unregistered_rm.has_registered_again()
    unregistered_rm.passes_over(*expiry)
    partial = unregistered_rm.has_partial_gang(forgotten.gang, style=HARD, limit=limit)

    unregistered_rm.expect_when_due(*expiry, seconds=limit.seconds, since=partial.since)


@requirement("SI-GANG-031")
def test_the_timeout_of_a_removed_gang_is_not_that_of_the_next_gang_of_its_id(
    rm: ResourceManager,
) -> None:
    limit = rm.short_limit(3.0)  # long enough for two gangs
    removed = rm.has_partial_gang(style=HARD, limit=limit)
    expiry = expiry_of(removed.gang)
    rm.stays_quiet(window=min(limit.seconds / 2, _CLEARLY))

    rm.has_removed(removed.gang)
    for placeholder in removed.placeholders:
        rm.decommissions(placeholder.node)
    rm.passes_over(*expiry)
    partial = rm.has_partial_gang(removed.gang, style=HARD, limit=limit)

    rm.expect_when_due(*expiry, seconds=limit.seconds, since=partial.since)


@requirement("SI-GANG-031")
def test_a_placeholder_ask_sent_again_does_not_restart_the_timeout(rm: ResourceManager) -> None:
    limit = rm.short_limit(6.0)  # half of it exceeds the resolution of a timer
    partial = rm.has_partial_gang(style=HARD, limit=limit)
    rm.stays_quiet(window=min(limit.seconds / 2, _CLEARLY))

    before = rm.now()
    rm.has_asked_again(partial.pending, priority=1)

    rm.expect_between(
        *expiry_of(partial.gang),
        earliest=partial.since + limit.seconds,
        latest=before + limit.seconds,
    )


@requirement("SI-GANG-031")
def test_the_end_of_the_first_placeholder_does_not_restart_the_timeout(
    rm: ResourceManager,
) -> None:
    limit = rm.short_limit(6.0)  # half of it exceeds the resolution of a timer
    partial = rm.has_partial_gang(style=HARD, limit=limit)
    first, *_ = partial.placeholders
    rm.drains(first.node)  # no other placeholder takes its place
    rm.synchronise_all()
    rm.stays_quiet(window=min(limit.seconds / 2, _CLEARLY))

    before = rm.now()
    rm.has_released(first)

    rm.expect_between(
        *expiry_of(partial.gang),
        earliest=partial.since + limit.seconds,
        latest=before + limit.seconds,
    )


@of_each_style
@requirement("SI-GANG-032")
def test_an_incomplete_gang_loses_its_placeholders(rm: ResourceManager, style: Style) -> None:
    groups = [TASK_GROUP, ANOTHER_GROUP, TASK_GROUP, ANOTHER_GROUP]  # any three are of both
    partial = rm.has_partial_gang(members=4, groups=groups, style=style, limit=rm.short_limit())

    rm.expect_expiry(partial.gang, partial.placeholders)


@of_each_style
@requirement("SI-GANG-032")
def test_an_incomplete_gang_loses_its_placeholder_on_a_draining_node(
    rm: ResourceManager, style: Style
) -> None:
    partial = rm.has_partial_gang(style=style, limit=rm.short_limit())
    rm.drains(partial.placeholders[0].node)
    rm.synchronise_all()

    rm.expect_expiry(partial.gang, partial.placeholders)


@of_each_style
@requirement("SI-GANG-032")
def test_an_incomplete_gang_loses_a_placeholder_that_was_updated(
    unregistered_rm: UnregisteredRM, style: Style
) -> None:
    rm = unregistered_rm  # yunikorn-core loses count here
    rm.has_registered()
    rm.has_updates_of_allocations()
    partial = rm.has_partial_gang(style=style, limit=rm.short_limit())
    rm.updates_allocation(partial.placeholders[0], resources={"memory": 2, "vcore": 2})
    rm.synchronise_all()

    rm.expect_expiry(partial.gang, partial.placeholders)


@of_each_style
@requirement("SI-GANG-032")
def test_an_incomplete_gang_loses_the_placeholder_of_a_complete_group(
    rm: ResourceManager, style: Style
) -> None:
    limit = rm.short_limit()
    partial = rm.has_gang_with_a_group_missing(style=style, limit=limit)

    rm.expect_expiry(partial.gang, partial.placeholders)


@of_each_style
@requirement("SI-GANG-032")
def test_an_incomplete_gang_loses_its_placeholders_even_if_a_real_ask_came_early(
    rm: ResourceManager, style: Style
) -> None:
    partial = rm.has_partial_gang(style=style, limit=rm.short_limit())
    rm.asks_member(partial.gang)
    early = rm.receive_replacement_if_any(partial.placeholders)
    kept = [] if early else partial.placeholders  # that none is replaced is a SHOULD
    rm.needs_some(kept, of="to keep placeholders for a whole gang")

    rm.expect_expiry(partial.gang, partial.placeholders)


@requirement("SI-GANG-032")
def test_of_incomplete_gangs_that_wait_at_the_same_time_each_loses_its_placeholders(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.QUEUES)  # in one queue the later gang may wait for the earlier one
    limit = rm.short_limit(3.0)  # long enough for two gangs
    with rm.confirming_nothing():  # else the later one may be completed
        partials = [rm.has_partial_gang(members=2, memory=memory, limit=limit) for memory in (4, 3)]

        releases = [one for p in partials for one in rm.expect_expiry(p.gang, p.placeholders)]

    rm.has_confirmed(releases)


@requirement("SI-GANG-032")
def test_an_incomplete_gang_loses_its_placeholders_even_if_another_runs_in_its_queue(
    rm: ResourceManager,
) -> None:
    older = rm.has_gang(queue=GANG_QUEUE)
    rm.has_node(memory=2)
    rm.has_replaced(older, rm.has_placeholders(older))
    partial = rm.has_partial_gang(queue=GANG_QUEUE, limit=rm.short_limit())

    rm.expect_expiry(partial.gang, partial.placeholders)


@of_each_style
@requirement("SI-GANG-033")
def test_an_incomplete_gang_loses_its_pending_ask(rm: ResourceManager, style: Style) -> None:
    partial = rm.has_partial_gang(style=style, limit=rm.short_limit())
    rm.has_expired(partial)

    rm.expect_ask_released(partial.pending)

    rm.has_node(memory=2)
    rm.expect_none(Allocated(partial.pending))
    with rm.control("an equal ask of another application is allocated"):
        rm.expect(Allocated(rm.asks(rm.has_application(), memory=2)))


@of_each_style
@requirement("SI-GANG-033")
def test_an_incomplete_gang_loses_every_pending_ask(rm: ResourceManager, style: Style) -> None:
    gang = rm.has_gang(members=3, memory=2, style=style, limit=rm.short_limit())
    rm.has_node(memory=2)
    rm.has_node(memory=4, vcore=0)  # enough memory for all, but no vcore
    asks = rm.asks_placeholders(gang)
    [placeholder] = rm.has_some_placeholders(gang, asks, 1)
    pending = [ask for ask in asks if ask != placeholder.key]
    for ask in pending:
        rm.is_pending(ask)
    with rm.precondition("a gang with pending placeholder asks times out"):
        rm.expect_expiry(gang, [placeholder])

    received = rm.expect_ask_released(pending[0])
    of_all = AskReleased(""), Released("")  # one without a key ends all of them
    for ask in () if any(one.matches(received) for one in of_all) else pending[1:]:
        rm.expect_ask_released(ask)

    rm.has_node(memory=4)
    rm.expect_none(*(Allocated(ask) for ask in pending))


@requirement("SI-GANG-032", "SI-GANG-033")
def test_a_gang_that_lost_all_its_placeholders_times_out_once_it_has_others(
    rm: ResourceManager,
) -> None:
    limit = rm.short_limit(6.0)  # enough for a second one
    partial = rm.has_partial_gang(members=2, limit=limit, at_once=True)
    (lost,) = partial.placeholders
    rm.decommissions(lost.node)
    with rm.precondition("a placeholder ends with its node"):
        rm.expect_end_of(lost)

    again = rm.asks_placeholder(partial.gang)
    rm.has_node(memory=2)
    either = Allocated(partial.pending), Allocated(again)
    with rm.precondition("one of two placeholders is allocated"):
        other = rm.is_allocated_in_time(partial.gang, *either)

    rm.expect_expiry(partial.gang, [other])
    rm.expect_ask_released(again if other.key == partial.pending else partial.pending)


@requirement("SI-GANG-062")
def test_removing_the_application_ends_its_open_withdrawals(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(memory=4, style=HARD, limit=rm.short_limit())
    with rm.confirming_nothing():
        rm.has_begun_to_expire(partial)
        rm.settles()

        rm.removes_application(partial.gang)
        rm.settles()
    rm.confirms_everything()
    rm.settles()

    app = rm.has_application()
    capacity = [rm.asks(app, memory=4) for _ in partial.placeholders]
    for ask in capacity:
        rm.expect(Allocated(ask))
    one_more = rm.asks(app, memory=1)
    rm.expect_none(Allocated(one_more), Allocated(application=partial.gang))


@requirement("SI-GANG-063")
def test_unused_placeholders_outlast_the_timeout(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(members=3, limit=rm.short_limit())
    _, gone = rm.has_replaced(gang, placeholders)
    unused = [p for p in placeholders if p != gone]

    rm.outwaits_gangs(memory=3)
    rm.expect_none(*(timed_out(p) for p in unused))

    real = rm.asks_member(gang)
    rm.expect_replacement(real, unused)
    rm.expect(Allocated(real, placeholder=False))


@real_clock
@requirement("SI-GANG-064")
def test_a_gang_without_limit_of_its_own_does_not_wait_for_ever(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(limit=rm.limit_of_scheduler())

    rm.expect_expiry(partial.gang, partial.placeholders)
    rm.expect_ask_released(partial.pending)


@requirement("SI-GANG-065")
def test_a_gang_whose_missing_asks_were_withdrawn_does_not_expire(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    rm.has_time_left(partial)

    rm.withdraws(partial.pending)
    rm.outwaits_gangs(memory=3)

    rm.expect_none(*(ApplicationUpdated(partial.gang, state=s) for s in (FAILURE, RESUMING)))


@requirement("SI-GANG-066")
def test_the_timeout_leaves_an_open_replacement_alone(rm: ResourceManager) -> None:
    gang, placeholders = rm.has_complete_gang(members=2, limit=rm.short_limit())
    open_one = rm.has_open_replacement(gang, placeholders)
    again = otherwise_released(open_one.placeholder)  # repeating the same release is allowed

    rm.outwaits_gangs(memory=3)
    rm.expect_none(*again, Allocated(open_one.real))

    rm.confirms(open_one.release)
    rm.expect(Allocated(open_one.real))
    rm.expect_none(*again)


@of_each_style
@requirement("SI-GANG-066")
def test_the_timeout_leaves_an_open_replacement_of_a_running_gang_alone(
    rm: ResourceManager, style: Style
) -> None:
    limit = rm.short_limit(3.0)  # long enough for two replacements
    gang, placeholders = rm.has_complete_gang(members=2, style=style, limit=limit)
    _, gone = rm.has_replaced(gang, placeholders)
    open_one = rm.has_open_replacement(gang, [one for one in placeholders if one != gone])
    again = otherwise_released(open_one.placeholder)  # repeating the same release is allowed

    rm.outwaits_gangs(memory=3, limit=limit)
    rm.expect_none(*again, Allocated(open_one.real))

    rm.confirms(open_one.release)
    rm.expect(Allocated(open_one.real))
    rm.expect_none(*again)
