"""Execution timeouts of asks (SI-ASK-014 to SI-ASK-016)."""

from dataclasses import replace

from siconform.catalogue.features import Feature
from siconform.marks import real_clock, requirement
from siconform.protocol.notifications import (
    Allocated,
    AskReleased,
    Released,
    Termination,
)
from siconform.rm.resource_manager import ResourceManager


def end_after_half_a_second(rm: ResourceManager, *allocations: Allocated, since: float) -> None:
    """Then: an execution timeout of 500 ms that began after this moment ends the allocations.

    A release without identity ends everything that their application has.
    """
    for allocation in allocations:
        own = Released(identity=allocation.identity, termination=Termination.TIMEOUT)
        whole = replace(own, application=allocation.application, identity="")
        if whole.matches(rm.expect_when_due(own, whole, seconds=0.5, since=since)):
            return


@real_clock
@requirement("SI-ASK-014")
def test_an_allocation_ends_when_its_execution_timeout_is_over(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    before = rm.now()

    allocation = rm.expect(Allocated(rm.asks(app, timeout_ms=500)))

    end_after_half_a_second(rm, allocation, since=before)


@requirement("SI-ASK-014")
def test_each_allocation_of_an_ask_ends_when_its_execution_timeout_is_over(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.SEVERAL_ALLOCATIONS)
    rm.has_node(memory=10)
    app = rm.has_application()
    before = rm.now()

    allocations = rm.collects(Allocated(rm.asks(app, times=3, timeout_ms=500)), most=3)

    rm.has_at_least(1, allocations, "an ask is allocated")
    end_after_half_a_second(rm, *allocations, since=before)


@requirement("SI-ASK-014")
def test_a_later_allocation_of_an_ask_has_an_execution_timeout_of_its_own(
    rm: ResourceManager,
) -> None:
    rm.has_asks_apart()
    rm.needs(Feature.SEVERAL_ALLOCATIONS)
    rm.has_node(memory=10)
    app = rm.has_application()
    ask = rm.asks(app, memory=6, times=2, timeout_ms=2000)
    rm.has_first_allocations(ask, 1)
    rm.stays_quiet(window=1.0)

    since = rm.now()
    rm.has_node(memory=10)
    [later] = rm.has_first_allocations(ask, 1)  # NotOffered if the rest was given up

    over = Released(identity=later.identity, termination=Termination.TIMEOUT)
    rm.expect_when_due(over, seconds=2.0, since=since)


@requirement("SI-ASK-014")
def test_a_very_large_execution_timeout_does_not_end_an_allocation_at_once(
    rm: ResourceManager,
) -> None:
    rm.has_asks_apart()
    rm.has_node()
    app = rm.has_application()
    asks = [rm.asks(app, timeout_ms=ages) for ages in (2**32 + 1, 2**53, 2**63 - 1)]
    patient = [rm.expect(Allocated(ask)) for ask in asks]

    before = rm.now()
    allocation = rm.expect(Allocated(rm.asks(app, timeout_ms=500)))

    end_after_half_a_second(rm, allocation, since=before)
    rm.expect_none(*(Released(identity=one.identity) for one in patient))


@requirement("SI-ASK-014")
def test_an_allocation_that_replaced_a_placeholder_ends_when_its_execution_timeout_is_over(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    rm.has_node()
    gang = rm.has_gang()
    placeholders = rm.has_placeholders(gang)
    before = rm.now()

    real = rm.asks_member(gang, timeout_ms=500)

    with rm.precondition("a placeholder is replaced"):
        rm.expect_replacement(real, placeholders)
        allocation = rm.expect(Allocated(real))
    end_after_half_a_second(rm, allocation, since=before)


@requirement("SI-ASK-014")
def test_a_placeholder_ends_when_its_execution_timeout_is_over(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.has_node()
    gang = rm.has_gang()
    before = rm.now()

    placeholder = rm.expect(Allocated(rm.asks_placeholder(gang, timeout_ms=500)))
    rm.has_allocation(gang)  # keeps the gang from waiting, which would end the placeholder too

    end_after_half_a_second(rm, placeholder, since=before)


@requirement("SI-ASK-014")
def test_an_allocation_ends_when_the_timeout_of_the_replacing_ask_is_over(
    rm: ResourceManager,
) -> None:
    rm.has_full_node()
    app = rm.has_application()
    ask = rm.has_pending_ask(app)

    rm.has_asked_again(ask, timeout_ms=500)
    before = rm.now()
    rm.has_node()

    allocation = rm.expect(Allocated(ask))
    end_after_half_a_second(rm, allocation, since=before)


@requirement("SI-ASK-015")
def test_an_execution_timeout_of_zero_or_less_never_ends_it(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    unlimited = [rm.expect(Allocated(rm.asks(app, timeout_ms=never))) for never in (0, -1)]

    with rm.control("an allocation with a positive timeout ends"):
        before = rm.now()
        limited = rm.expect(Allocated(rm.asks(app, timeout_ms=500)))
        ended = Released(identity=limited.identity, termination=Termination.TIMEOUT)
        rm.expect_when_due(ended, seconds=0.5, since=before)
    rm.expect_none(*(Released(identity=allocation.identity) for allocation in unlimited))


@requirement("SI-ASK-015")
def test_a_replacing_ask_without_execution_timeout_never_ends_it(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    ask = rm.has_pending_ask(app, timeout_ms=500)

    rm.has_asked_again(ask, timeout_ms=0)
    rm.has_node()
    unlimited = rm.expect(Allocated(ask))

    with rm.control("an allocation with a positive timeout ends"):
        before = rm.now()
        limited = rm.expect(Allocated(rm.asks(app, timeout_ms=500)))
        ended = Released(identity=limited.identity, termination=Termination.TIMEOUT)
        rm.expect_when_due(ended, seconds=0.5, since=before)
    rm.expect_none(Released(identity=unlimited.identity))


@requirement("SI-ASK-016")
def test_an_execution_timeout_does_not_count_the_time_before_the_allocation(
    rm: ResourceManager,
) -> None:
    rm.has_full_node()
    app = rm.has_application()
    ask = rm.asks(app, timeout_ms=500)
    rm.stays_quiet(AskReleased(ask), window=0.6)
    rm.is_pending(ask)
    before = rm.now()

    rm.has_node()
    allocation = rm.expect(Allocated(ask))

    end_after_half_a_second(rm, allocation, since=before)
