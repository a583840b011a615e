"""Asks: keys, replacement, number, rejection, priority, timeout and withdrawal (SI-ASK)."""

from dataclasses import replace

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import real_clock, requirement
from siconform.protocol.constraints import on_nodes, where
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationAccepted,
    AskRejected,
    AskReleased,
    Released,
    Termination,
    UpdateKind,
)
from siconform.rm.resource_manager import ResourceManager


@requirement("SI-ASK-001")
def test_an_ask_that_fits_is_allocated_with_tags_or_without(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    untagged = rm.asks(app)
    tagged = rm.asks(app, tags={"d/x": "y"})

    rm.expect(Allocated(untagged))
    rm.expect(Allocated(tagged))


@requirement("SI-ASK-002")
def test_the_key_of_an_ask_comes_back_unchanged(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    unique = rm.new_name("key")

    shaped = (f" {unique} ", f"{unique}.Key", f"{unique}.key", f"{unique} a  b", f"{unique}/ключ-√")
    for odd in (*shaped, f"{unique}." + "k" * 1_000, "0042"):
        rm.expect(Allocated(rm.asks(app, key=odd)))

    rm.expect_none(Allocated(application=app))


@requirement("SI-ASK-003")
def test_an_ask_with_a_pending_key_adds_no_demand(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    ask = rm.has_pending_ask(app)
    for _ in range(2):
        rm.has_asked_again(ask)
    others = [rm.has_pending_ask(app) for _ in range(3)]

    rm.has_node(memory=10)

    rm.expect(Allocated(ask))
    rm.expect_none(Allocated(ask))
    with rm.control("asks with different keys get an allocation each"):
        for other in others:
            rm.expect(Allocated(other))


@requirement("SI-ASK-004", "SI-ASK-032")
def test_the_values_of_the_replacing_ask_are_used(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=6, node=node)
    ask = rm.has_pending_ask(app, memory=8)

    rm.has_asked_again(ask, memory=3)

    real = rm.expect(Allocated(ask, node=node))
    rm.gives(real, {"memory": 3, "vcore": 1}, below={"memory": 8})
    rm.expect_none(Allocated(ask))


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


@requirement("SI-ASK-003")
def test_of_equal_keys_in_one_message_the_last_one_counts(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()

    with rm.one_message():
        ask = rm.asks(app, memory=20)
        rm.asks_again(ask, memory=30)
        rm.asks_again(ask, memory=3)

    rm.needs_updates_of(ask)
    rm.gives(rm.expect(Allocated(ask, node=node)), {"memory": 3}, below={"memory": 20})
    rm.expect_none(Allocated(ask))


@requirement("SI-ASK-004", "SI-ASK-029")
def test_tags_and_priority_of_the_earlier_ask_are_forgotten(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    first, last = {"said": "first"}, {"said": "last"}
    ask = rm.has_pending_ask(app, priority=3, tags=first)
    with_more = rm.has_pending_ask(app, tags={"more": "first"})

    rm.has_asked_again(ask, priority=7, tags=last)
    rm.has_asked_again(with_more, tags=last)
    rm.has_node()

    # Whether an allocation repeats them at all is tested elsewhere (SI-ALLOC-003).
    rm.expect_none_of(rm.expect(Allocated(ask)), Allocated(priority=3), Allocated(tags=first))
    both = {"more": "first", **last}
    rm.expect_none_of(
        rm.expect(Allocated(with_more)), Allocated(tags={"more": "first"}), Allocated(tags=both)
    )


@requirement("SI-ASK-004", "SI-ASK-029")
def test_the_priority_of_the_replacing_ask_decides_its_turn(rm: ResourceManager) -> None:
    rm.serves_higher_priority_first()
    rm.has_full_node()
    app = rm.has_application()
    lowered, other = rm.has_pending_ask(app, priority=10), rm.has_pending_ask(app, priority=5)

    rm.has_asked_again(lowered, priority=1)
    rm.has_node(memory=1)

    rm.expect(Allocated(other))
    rm.expect_none(Allocated(lowered))


@requirement("SI-ASK-004")
def test_the_placement_constraint_of_the_earlier_ask_is_forgotten(rm: ResourceManager) -> None:
    rm.has_constraints_enforced()
    here = rm.has_node(attributes={"zone": "here"})
    app = rm.has_application()
    nowhere = on_nodes(where("zone", "nowhere"))
    moved, freed = (rm.has_pending_ask(app, constraint=nowhere) for _ in range(2))

    rm.has_asked_again(moved, constraint=on_nodes(where("zone", "here")))
    rm.expect(Allocated(moved, node=here))
    rm.has_asked_again(freed, constraint=None)

    rm.expect(Allocated(freed, node=here))


@requirement("SI-ASK-004")
def test_the_placement_constraint_of_the_replacing_ask_holds(rm: ResourceManager) -> None:
    rm.has_constraints_enforced()
    rm.has_full_node()
    app = rm.has_application()
    bound, other = rm.has_pending_ask(app), rm.has_pending_ask(app)

    rm.has_asked_again(bound, constraint=on_nodes(where("zone", "nowhere")))
    rm.has_node()

    with rm.control("an equal ask without constraint is allocated"):
        rm.expect(Allocated(other))
    rm.expect_none(Allocated(bound))


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


@requirement("SI-ASK-026")
def test_the_rejection_of_an_ask_gives_a_reason(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    doubtful = [rm.asks(rm.new_name("app")), rm.asks(app, partition="nope")]

    rejections = [one for ask in doubtful for one in rm.collects(AskRejected(ask), most=1)]
    rm.needs_some(rejections, of="to reject asks that it need not reject")
    for rejection in rejections:
        rm.states_reason(rejection)


@requirement("SI-ASK-008")
def test_an_ask_of_an_unknown_application_is_rejected(rm: ResourceManager) -> None:
    rm.has_node()
    app, unknown = rm.has_application(), rm.new_name("app")

    stray = rm.asks(unknown)

    rm.expect(AskRejected(stray, application=unknown))
    with rm.control("an equal ask of an accepted application is allocated"):
        rm.expect(Allocated(rm.asks(app)))


@requirement("SI-ASK-009")
def test_an_ask_of_an_unknown_partition_is_rejected(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    stray = rm.asks(app, partition="nope")

    rm.expect(AskRejected(stray))
    with rm.control("an equal ask of the default partition is allocated"):
        rm.expect(Allocated(rm.asks(app)))


@requirement("SI-ASK-010")
def test_an_ask_with_a_negative_amount_is_rejected(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    with rm.control("an ask for something is allocated"):
        rm.expect(Allocated(rm.asks(app, resources={"memory": 1})))

    ask = rm.asks(app, resources={"memory": -1})

    rm.expect(AskRejected(ask))
    rm.expect_none(Allocated(ask))


@requirement("SI-ASK-025")
def test_an_ask_for_nothing_may_be_allocated_or_rejected(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    asks = [rm.asks(app, without_resource=True), rm.asks(app, resources={"memory": 0})]

    for ask in asks:
        answer = rm.expect_one_of(AskRejected(ask), Allocated(ask))
        rm.records("an ask for nothing", answer)


@requirement("SI-ASK-011")
def test_an_ask_without_capacity_is_served_once_there_is_some(rm: ResourceManager) -> None:
    rm.has_node(memory=4)
    app = rm.has_application()

    ask = rm.asks(app, memory=6)
    rm.expect_none(Allocated(ask))
    roomy = rm.has_node(memory=8)

    end = rm.expect_one_of(Allocated(ask, node=roomy), AskRejected(ask))
    rm.records("an ask that does not fit", end)


@requirement("SI-ASK-011", "SI-NODE-006")
def test_two_applications_do_not_get_the_same_capacity(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    apps = [rm.has_application() for _ in range(3)]

    with rm.one_message():
        asks = [rm.asks(app, memory=6) for app in apps]

    rm.expect_one_of(*(Allocated(ask) for ask in asks))
    rm.expect_none(*(Allocated(ask) for ask in asks))


@pytest.mark.parametrize(
    "queues",
    [("root.quota", "root.quota"), ("root.parent.left", "root.parent.right")],
    ids=["of their queue", "of the queue above"],
)
@requirement("SI-ASK-011")
def test_two_applications_do_not_get_the_same_share(
    rm: ResourceManager, queues: tuple[str, ...]
) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=100)
    apps = [rm.has_application(queue=queue) for queue in queues]

    with rm.one_message():
        asks = [rm.asks(app, memory=6) for app in apps]

    rm.expect_one_of(*(Allocated(ask) for ask in asks))
    rm.expect_none(*(Allocated(ask) for ask in asks))


@pytest.mark.parametrize(("lower", "higher"), [(-5, 0), (1, 10), (20, 1000), (-(2**31), 2**31 - 1)])
@requirement("SI-ASK-012")
def test_the_ask_with_the_higher_priority_is_served_first(
    rm: ResourceManager, lower: int, higher: int
) -> None:
    rm.has_full_node()
    app = rm.has_application()
    low = rm.has_pending_ask(app, priority=lower)
    high = rm.has_pending_ask(app, priority=higher)

    rm.has_node(memory=1)

    rm.expect(Allocated(high))
    rm.expect_none(Allocated(low))


@requirement("SI-ASK-013")
def test_a_priority_class_no_one_knows_is_no_obstacle(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    ask = rm.asks(app, priority_class="no-such-class")

    answer = rm.expect_one_of(Allocated(ask), AskRejected(ask))
    rm.records("the ask of an unknown priority class", answer)


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


@requirement("SI-ASK-017")
def test_a_rejected_ask_is_over_until_it_is_asked_again(rm: ResourceManager) -> None:
    rm.has_node()
    unknown = rm.new_name("app")
    ask = rm.asks(unknown)
    rm.needs_some(
        rm.collects(AskRejected(ask), most=1), of="to reject asks of unknown applications"
    )

    rm.submits_application(unknown)
    with rm.precondition("the application is accepted afterwards"):
        rm.expect(ApplicationAccepted(unknown))

    rm.expect_none(Allocated(ask))
    rm.expect(Allocated(rm.asks_again(ask)))


@requirement("SI-ASK-018")
def test_a_withdrawn_ask_is_never_allocated(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    withdrawn = rm.has_pending_ask(app)
    waiting = rm.has_pending_ask(app)

    rm.withdraws(withdrawn)
    rm.has_node()

    with rm.control("an equal ask that is not withdrawn is allocated"):
        rm.expect(Allocated(waiting))
    rm.expect_none(Allocated(withdrawn))


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


@requirement("SI-ASK-019")
def test_an_allocated_ask_is_not_rejected_afterwards(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()
    ask = rm.asks(app)
    with rm.precondition("the ask is allocated"):
        rm.expect(Allocated(ask))

    rm.drains(node)
    rm.withdraws(rm.asks(app))
    rm.undrains(node)
    rm.asks(app)

    rm.expect_none(AskRejected(ask))


@requirement("SI-ASK-020", "SI-ASK-024")
def test_the_ask_of_an_originator_is_allocated_or_rejected(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    with rm.control("an ask without the flag is allocated"):
        rm.expect(Allocated(rm.asks(app)))

    flagged = rm.asks(app, originator=True)

    answer = rm.expect_one_of(Allocated(flagged), AskRejected(flagged))
    rm.expect_none(Allocated(flagged), AskRejected(flagged), AskReleased(flagged))
    rm.records("the ask of an originator", answer)


@requirement("SI-ASK-022")
def test_a_rejection_names_the_ask_and_its_application(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    with rm.control("an ask that fits is allocated"):
        rm.expect(Allocated(rm.asks(app)))

    doubtful = [
        rm.asks(rm.new_name("app")),
        rm.asks(app, partition="nope"),
        rm.asks(app, without_resource=True),
    ]
    rm.barriers(UpdateKind.ALLOCATIONS)

    rejections = [
        rejection
        for ask in doubtful
        for rejection in rm.collects(AskRejected(ask, ask.sent.application), most=1)
    ]
    rm.expect_none(
        AskRejected(rm.any_new_key()),
        # since 2024-10 the rejection of an unknown key reads like this
        AllocationRejected(rm.any_new_key()),
        *(Allocated(rejection.key) for rejection in rejections),
    )
    rm.needs_some(rejections, of="to reject asks that it need not reject")


@requirement("SI-ASK-023")
def test_a_pending_ask_is_allocated_or_rejected_not_both(rm: ResourceManager) -> None:
    app = rm.has_application()
    ask = rm.asks(app)
    ends = (Allocated(ask), AskRejected(ask))
    late = rm.receive_if_any(AskRejected(ask))
    rm.records("an ask that does not fit", late, otherwise="stays pending")

    rm.has_node()

    late = late or rm.expect_one_of(*ends)
    rm.expect_none(*ends)
