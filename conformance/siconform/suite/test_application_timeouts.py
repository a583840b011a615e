"""Execution timeouts of applications (SI-APP)."""

from collections.abc import Sequence

from siconform.catalogue.features import Feature
from siconform.marks import registering_again_is_a_race, requirement, waits
from siconform.outcomes import NotOffered
from siconform.protocol.application_states import FAILURE, OVER
from siconform.protocol.handles import Application, Ask, Gang, Limit
from siconform.protocol.notifications import (
    Allocated,
    ApplicationUpdated,
    Fact,
    NodeAccepted,
    Released,
    Termination,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import QUOTA_QUEUE
from siconform.rm.unregistered_rm import UnregisteredRM


def ends_when_due(rm: ResourceManager, held: Allocated, *, seconds: float, since: float) -> None:
    """Then: the allocation is released with TIMEOUT, or its application reported as over."""
    rm.expect_when_due(*ends_of(held), seconds=seconds, since=since)


def ends_of(held: Allocated) -> tuple[Fact, ...]:
    """Return how the timeout of its application may show: a release without identity is of all."""
    return (
        Released(identity=held.identity, termination=Termination.TIMEOUT),
        Released(application=held.application, identity="", termination=Termination.TIMEOUT),
        ApplicationUpdated(held.application, state=OVER),
    )


def has_no_limit(rm: ResourceManager, app: Application, limit: float) -> None:
    """Then: the application outlasts the limit of an earlier one, which another one does not."""
    unlimited = rm.has_allocation(app)
    with rm.control("an application with a positive timeout ends"):
        before = rm.now()
        limited = rm.has_application(timeout_ms=round(1000 * limit))
        ends_when_due(rm, rm.has_allocation(limited), seconds=limit, since=before)
    rm.expect_none(Released(identity=unlimited.identity), ApplicationUpdated(app, state=OVER))
    rm.expect(Allocated(rm.asks(app)))


@requirement("SI-APP-012")
def test_an_application_is_not_kept_running_beyond_its_timeout(rm: ResourceManager) -> None:
    rm.has_node()
    before = rm.now()
    app = rm.has_application(timeout_ms=500)
    allocation = rm.has_allocation(app)

    ends_when_due(rm, allocation, seconds=0.5, since=before)


@requirement("SI-APP-012")
def test_no_allocation_of_an_application_is_kept_running_beyond_its_timeout(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    limit = rm.long_enough_to_be_served(0.5)
    before = rm.now()
    app = rm.has_application(timeout_ms=round(1000 * limit))
    with rm.one_message():
        asks = [rm.asks(app), rm.asks(app)]
    with rm.precondition("asks that fit are allocated"):
        first, second = [rm.expect(Allocated(ask)) for ask in asks]

    ends_when_due(rm, first, seconds=limit, since=before)
    if not any(rm.observe(end) for end in ends_of(second)):
        rm.expect_one_of(*ends_of(second))


@requirement("SI-APP-012")
def test_of_applications_that_run_at_the_same_time_each_has_its_timeout(
    rm: ResourceManager,
) -> None:
    rm.has_node()
    limit = rm.long_enough_to_be_served(1.0)
    before = rm.now()
    apps = [rm.has_application(timeout_ms=round(1000 * limit)) for _ in range(2)]
    allocations = [rm.has_allocation(app) for app in apps]

    for allocation in allocations:
        ends_when_due(rm, allocation, seconds=limit, since=before)


@requirement("SI-APP-012")
def test_an_application_with_a_placeholder_left_is_not_kept_running_beyond_its_timeout(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    rm.has_node()
    limit = rm.long_enough_to_be_served(1.0)
    before = rm.now()
    gang = rm.has_gang(members=2, limit=Limit(limit, timeout_ms=round(1000 * limit)))
    real, _ = rm.has_replaced(gang, rm.has_placeholders(gang))

    ends_when_due(rm, real, seconds=limit, since=before)


@requirement("SI-APP-012")
def test_an_application_that_was_waiting_is_not_kept_running_beyond_its_timeout(
    rm: ResourceManager,
) -> None:
    rm.has_node()
    limit = rm.long_enough_to_be_served(1.0) + rm.quiet_window()  # it may take that to be waiting
    before = rm.now()
    app = rm.has_waiting_application(timeout_ms=round(1000 * limit))
    again = rm.has_allocation(app)

    ends_when_due(rm, again, seconds=limit, since=before)  # at the latest: its time may begin again


@requirement("SI-APP-012")
def test_a_recovered_application_is_not_kept_running_beyond_its_timeout(
    rm: ResourceManager,
) -> None:
    before = rm.now()
    app = rm.has_application(timeout_ms=500)
    node = rm.new_name("node")
    existing = rm.remembers_allocation(app, node)
    rm.has_recovered_node(node, existing)
    rm.has_observed(Allocated(existing.key))  # it may be echoed

    ends_when_due(rm, existing, seconds=0.5, since=before)


@requirement("SI-APP-012")
def test_what_an_application_asked_for_is_not_placed_once_its_time_is_over(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    limit = rm.long_enough_to_be_served(0.5)
    app, other_app = rm.has_application(timeout_ms=round(1000 * limit)), rm.has_application()
    rm.has_allocation(app, memory=10)
    waiting = rm.has_pending_ask(app, memory=10)
    over = ApplicationUpdated(app, state=OVER)
    rm.receive_if_any(over, window=limit + rm.deadlines.timer)
    rm.needs_some(rm.observe(over), of="to report that an application is over")

    rm.has_node(memory=30)

    with rm.control("an ask of another application is allocated"):
        rm.expect(Allocated(rm.asks(other_app, memory=10)))
    rm.expect_none(Allocated(waiting))


@requirement("SI-REL-011", "SI-ALLOC-010", "SI-NODE-006")
def test_what_ends_with_the_time_of_its_application_is_free_when_confirmed_and_once(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.EXECUTION_TIMEOUT)
    rm.has_node(memory=10)
    limit = rm.long_enough_to_be_served(1.0)
    other_app = rm.has_application(queue=QUOTA_QUEUE)  # the quota is that of the node
    rm.has_allocation(other_app, memory=1)  # an empty application may end by then
    app = rm.has_application(queue=QUOTA_QUEUE, timeout_ms=round(1000 * limit))
    with rm.confirming_nothing():
        held = rm.has_allocation(app, memory=9)
        waiting = rm.has_waiting_ask(other_app, memory=9)
        release = has_timed_out(rm, held, limit)

    others = [t for t in Termination if t is not Termination.TIMEOUT]
    rm.expect_nothing_allocated(
        Allocated(waiting), *(Released(identity=held.identity, termination=t) for t in others)
    )

    rm.confirms(release)
    rm.is_served(waiting)
    rm.confirms(release)
    rm.expect_none(Allocated(rm.asks(rm.has_application(), memory=9)))


def has_timed_out(rm: ResourceManager, held: Allocated, limit: float) -> Released:
    """Given: the release of this allocation, or of all of its application, by its timeout."""
    release = rm.receive_if_any(
        Released(identity=held.identity, termination=Termination.TIMEOUT),
        Released(application=held.application, identity="", termination=Termination.TIMEOUT),
        window=limit + rm.deadlines.timer,
    )
    if not isinstance(release, Released):
        raise NotOffered("the target does not release what a timeout of an application ends")
    return release


@requirement("SI-APP-012")
def test_a_real_ask_in_replacement_is_not_allocated_once_the_time_of_its_gang_is_over(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    rm.has_node()
    limit = rm.long_enough_to_be_served(1.0)
    gang = rm.has_gang(members=2, limit=Limit(limit, timeout_ms=round(1000 * limit)))
    placeholders = rm.has_placeholders(gang)
    real, gone = has_replacement_in_time(rm, gang, placeholders)
    with rm.precondition("the real ask is allocated"):
        rm.expect(Allocated(real))
    left = [placeholder for placeholder in placeholders if placeholder.identity != gone.identity]
    with rm.confirming_nothing():
        real, release = has_replacement_in_time(rm, gang, left)
    over = ApplicationUpdated(gang, state=OVER)
    rm.receive_if_any(over, window=limit + rm.deadlines.timer)
    rm.needs_some(rm.observe(over), of="to report that an application is over")

    rm.confirms(release)

    rm.expect_none(Allocated(real))


def has_replacement_in_time(
    rm: ResourceManager, gang: Gang, of: Sequence[Allocated]
) -> tuple[Ask, Released]:
    """Given: a real ask, and the release of a placeholder for it before the gang's time is over."""
    real = rm.asks_member(gang)
    release = rm.receive_replacement_if_any(of)
    if release is None:
        raise NotOffered("the target does not offer to replace a placeholder in so short a time")
    return real, release


def ends_as_if_nothing_came(
    rm: ResourceManager, held: Allocated, limit: float, *, since: float, before: float
) -> None:
    """Then: the time of its application is over before one that began at ``before`` is."""
    rm.expect_between(*ends_of(held), earliest=since + limit, latest=before + limit)


@requirement("SI-APP-012")
def test_an_updated_allocation_does_not_prolong_the_time_of_its_application(
    rm: ResourceManager,
) -> None:
    rm.has_updates_of_allocations()
    rm.has_node()
    limit = rm.long_enough_to_be_served(6.0)  # half of it exceeds the resolution of a timer
    since = rm.now()
    app = rm.has_application(timeout_ms=round(1000 * limit))
    allocation = rm.has_allocation(app)
    rm.stays_quiet(window=limit / 2)

    before = rm.now()
    rm.has_updated(allocation, memory=2)

    ends_as_if_nothing_came(rm, allocation, limit, since=since, before=before)


@requirement("SI-APP-012")
def test_an_ask_sent_again_does_not_prolong_the_time_of_its_application(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    limit = rm.long_enough_to_be_served(6.0)  # half of it exceeds the resolution of a timer
    since = rm.now()
    app = rm.has_application(timeout_ms=round(1000 * limit))
    allocation = rm.has_allocation(app, memory=10)
    waiting = rm.has_pending_ask(app, memory=2)
    rm.stays_quiet(window=limit / 2)

    before = rm.now()
    rm.has_asked_again(waiting, memory=3)

    ends_as_if_nothing_came(rm, allocation, limit, since=since, before=before)


@requirement("SI-APP-012")
def test_a_very_large_application_timeout_does_not_end_it_at_once(rm: ResourceManager) -> None:
    rm.has_node()
    patient = [
        rm.has_allocation(rm.has_application(timeout_ms=ages)) for ages in (2**53, 2**63 - 1)
    ]

    before = rm.now()
    app = rm.has_application(timeout_ms=500)
    ends_when_due(rm, rm.has_allocation(app), seconds=0.5, since=before)
    rm.expect_none(
        *(Released(identity=one.identity) for one in patient),
        *(ApplicationUpdated(one.application, state=OVER) for one in patient),
    )


@requirement("SI-APP-013")
def test_an_application_timeout_of_zero_or_less_is_no_limit(rm: ResourceManager) -> None:
    rm.has_node()
    with rm.control("an ask that fits is allocated"):
        rm.expect(Allocated(rm.asks(rm.has_application())))
    apps = [rm.has_application(timeout_ms=never) for never in (0, -5)]
    unlimited = [rm.expect(Allocated(rm.asks(app))) for app in apps]

    with rm.control("an application with a positive timeout ends"):
        before = rm.now()
        app = rm.has_application(timeout_ms=500)
        ends_when_due(rm, rm.has_allocation(app), seconds=0.5, since=before)
    rm.expect_none(
        *(Released(identity=one.identity) for one in unlimited),
        *(ApplicationUpdated(one.application, state=OVER) for one in unlimited),
    )
    for one in unlimited:
        rm.expect(Allocated(rm.asks(one.application)))


@requirement("SI-APP-013")
def test_the_timeout_of_a_removed_application_does_not_limit_the_next_of_its_id(
    rm: ResourceManager,
) -> None:
    rm.has_node()
    limit = rm.long_enough_to_be_served(0.5)
    removed = rm.has_application(timeout_ms=round(1000 * limit))
    rm.has_allocation(removed)
    rm.has_removed(removed)
    app = rm.has_application(removed)

    has_no_limit(rm, app, limit)


@waits
@requirement("SI-APP-013")
def test_the_timeout_of_a_completed_application_does_not_limit_the_next_of_its_id(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.WAITING_TIMEOUT)
    completing = rm.waiting_timeout() + rm.deadlines.timer
    limit = completing + rm.long_enough_to_be_served(1.0)
    rm.has_node()
    before = rm.now()
    completed = rm.has_application(timeout_ms=round(1000 * limit))
    rm.has_released(rm.has_allocation(completed))
    rm.outlasts_waiting()

    app = rm.has_application(completed)
    unlimited = rm.has_allocation(app)

    rm.stays_quiet(
        Released(identity=unlimited.identity, termination=Termination.TIMEOUT),
        Released(application=app, identity="", termination=Termination.TIMEOUT),
        ApplicationUpdated(app, state=FAILURE),
        window=max(before + limit + rm.deadlines.timer - rm.now(), 0.0),
    )
    rm.expect(Allocated(rm.asks(app)))
    rm.still_holds(unlimited)


@waits
@requirement("SI-APP-013")
def test_the_allocation_of_an_ask_that_was_updated_has_no_limit_either(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    ask = rm.has_pending_ask(app)
    rm.has_asked_again(ask, memory=2)
    rm.has_node()

    unlimited = rm.expect(Allocated(ask))

    rm.stays_quiet(*ends_of(unlimited), window=rm.deadlines.afterwards)
    rm.still_holds(unlimited)


@waits
@requirement("SI-APP-013")
def test_an_application_does_not_inherit_the_timeout_of_a_completed_one(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.WAITING_TIMEOUT)
    rm.has_node()
    limit = rm.long_enough_to_be_served(0.5)
    completed = rm.has_application(timeout_ms=round(1000 * limit))
    rm.has_released(rm.has_allocation(completed))
    rm.outlasts_waiting()
    rm.passes_over(ApplicationUpdated(completed))
    app = rm.has_application(completed)

    has_no_limit(rm, app, limit)


@requirement("SI-APP-013")
@registering_again_is_a_race
def test_the_timeout_of_an_earlier_registration_does_not_limit_the_next_application_of_its_id(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.has_registered()
    node = rm.has_node()
    limit = rm.long_enough_to_be_served(1.0)
    forgotten = rm.has_application(timeout_ms=round(1000 * limit))
    rm.has_allocation(forgotten)

    rm.has_registered_again()
    rm.registers_node(node)
    rm.expect(NodeAccepted(node))
    app = rm.has_application(forgotten)

    has_no_limit(rm, app, limit)


@requirement("SI-APP-014")
def test_an_application_timeout_does_not_count_queueing(rm: ResourceManager) -> None:
    limit = rm.long_enough_to_be_served(0.5)
    began = rm.now()
    app = rm.has_application(timeout_ms=round(1000 * limit))
    ask = rm.has_waiting_ask(app)
    ended = ApplicationUpdated(app, state=OVER)
    with rm.in_its_waiting_time(since=began, lasting=1.2 * limit):
        rm.stays_quiet(ended, window=1.2 * limit)
    before = rm.now()

    rm.has_node()
    allocation = rm.is_served(ask)

    ends_when_due(rm, allocation, seconds=limit, since=before)
