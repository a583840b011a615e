"""Asks for several allocations (SI-ASK-005 to SI-ASK-007)."""

from siconform.catalogue.features import Feature
from siconform.marks import requirement
from siconform.protocol.notifications import (
    Allocated,
    AskRejected,
)
from siconform.rm.resource_manager import ResourceManager


@requirement("SI-ASK-004")
def test_an_update_is_used_for_what_is_still_pending_of_an_ask(rm: ResourceManager) -> None:
    rm.needs(Feature.SEVERAL_ALLOCATIONS)
    node = rm.has_node(memory=10)
    app = rm.has_application()
    ask = rm.asks(app, memory=6, times=2)
    rm.has_first_allocations(ask, 1)

    rm.has_asked_again(ask, memory=3)

    rm.gives(rm.expect(Allocated(ask, node=node)), {"memory": 3}, below={"memory": 6})


@requirement("SI-NODE-006")
def test_what_an_ask_got_holds_its_amount_when_the_rest_is_updated(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    ask, _ = rm.has_partly_allocated_ask(app, memory=6)

    rm.has_asked_again(ask, memory=2)
    rm.expect(Allocated(ask, node=node))

    beyond = rm.asks(app, memory=3)
    rm.expect_none(Allocated(beyond))
    with rm.control("it is allocated where it fits"):
        rm.is_served(beyond, node=rm.has_node(memory=3))


@requirement("SI-NODE-006")
def test_what_an_ask_got_frees_its_amount_although_the_rest_was_updated(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=7, node=node)
    ask, first = rm.has_partly_allocated_ask(app, memory=2)

    rm.has_asked_again(ask, memory=8)
    rm.withdraws(ask)
    rm.releases(first)

    beyond = rm.asks(app, memory=4)
    rm.expect_none(Allocated(beyond))
    with rm.control("it is allocated where it fits"):
        rm.is_served(beyond, node=rm.has_node(memory=4))


@requirement("SI-ASK-005")
def test_an_ask_is_allocated_no_more_often_than_it_wants(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()

    ask = rm.asks(app, times=3)

    with rm.control("the ask is allocated at all"):
        rm.expect(Allocated(ask))
    more = rm.collects(Allocated(ask), most=2)
    rm.records(f"an ask for 3 allocations: {1 + len(more)} came")
    rm.expect_none(Allocated(ask))


@requirement("SI-ASK-004", "SI-ASK-005")
def test_a_pending_ask_that_wants_fewer_gets_no_more_than_those(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    ask = rm.has_pending_ask(app, times=3)

    rm.asks_again(ask, times=1)
    rm.has_node(memory=10)

    rm.expect(Allocated(ask))
    rm.expect_none(Allocated(ask))


@requirement("SI-ASK-005")
def test_an_ask_that_wants_fewer_than_it_has_gets_no_more_than_those(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    ask = rm.asks(app, memory=5, times=3)
    allocations = rm.has_first_allocations(ask, 1)
    allocations += rm.collects(Allocated(ask), most=1)

    rm.asks_again(ask, times=1)
    rm.has_node(memory=30)

    # Unspecified: whether existing allocations count (C-43); one more may come.
    one_more = rm.receive_if_any(Allocated(ask))
    if isinstance(one_more, Allocated):
        allocations.append(one_more)
    rm.have_different_identities(allocations)
    rm.expect_none(Allocated(ask))


@requirement("SI-ASK-005")
def test_an_ask_gets_no_other_allocation_for_one_that_was_released(rm: ResourceManager) -> None:
    rm.needs(Feature.SEVERAL_ALLOCATIONS)
    rm.has_node(memory=10)
    app = rm.has_application()
    ask = rm.asks(app, memory=5, times=3)
    two = rm.has_first_allocations(ask, 2)

    rm.has_released(two[0])
    rm.has_node(memory=30)

    rm.settles()
    rm.expect_at_most(3, Allocated(ask))


@requirement("SI-ASK-006")
def test_allocations_of_one_ask_share_its_key_and_nothing_else(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()

    ask = rm.asks(app, times=4)

    allocations = rm.collects(Allocated(ask), most=4)
    rm.expect_none(Allocated(application=app))
    rm.has_at_least(2, allocations, "one ask is allocated several times")
    rm.have_different_identities(allocations)


@requirement("SI-ASK-007")
def test_an_ask_for_no_allocation_gets_none(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    with rm.control("an ask for one allocation gets it"):
        rm.expect(Allocated(rm.asks(app)))

    none, fewer = rm.asks(app, times=0), rm.asks(app, times=-1)
    later = rm.asks(app, times=2)  # a failure shows only once there is something to allocate

    rm.receive_if_any(Allocated(later), window=rm.deadlines.place)
    rm.expect_none(Allocated(none), Allocated(fewer))
    rejected = [ask for ask in (none, fewer) if rm.observe(AskRejected(ask))]
    rm.records(f"asks for 0 and -1 allocations: {len(rejected)} of 2 rejected")


@requirement("SI-ASK-018")
def test_what_is_pending_of_a_withdrawn_ask_is_never_allocated(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    withdrawn, _ = rm.has_partly_allocated_ask(app, memory=6)
    waiting = rm.has_pending_ask(app, memory=6)

    rm.withdraws(withdrawn)
    rm.has_node(memory=20)

    with rm.control("an equal ask that is not withdrawn is allocated"):
        rm.expect(Allocated(waiting))
    rm.expect_none(Allocated(withdrawn))
