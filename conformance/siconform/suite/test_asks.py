"""Asks: keys, replacement, rejection, priority and withdrawal (SI-ASK)."""

from collections.abc import Mapping

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import requirement, waits
from siconform.protocol.constraints import on_nodes, where
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationAccepted,
    AskRejected,
    AskReleased,
    UpdateKind,
)
from siconform.protocol.queue_configurations import queues_with_shared_quota
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.unregistered_rm import UnregisteredRM


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


@pytest.mark.parametrize("amounts", [(3,), (9, 7, 5, 3)], ids=["one", "four"])
@requirement("SI-ASK-004", "SI-ASK-032")
def test_the_values_of_the_last_replacing_ask_are_used(
    rm: ResourceManager, amounts: tuple[int, ...]
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=6, node=node)
    ask = rm.has_pending_ask(app, memory=8)

    for memory in amounts:
        rm.has_asked_again(ask, memory=memory)

    real = rm.expect(Allocated(ask, node=node))
    rm.gives(real, {"memory": 3, "vcore": 1}, below={"memory": min((8, *amounts[:-1]))})
    rm.expect_none(Allocated(ask))


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


@pytest.mark.parametrize(
    "resources",
    [{"memory": -1}, {"memory": 1, "vcore": -1}, {"memory": 1, "gpu": -2}],
    ids=["its only one", "with a positive one", "of a third type"],
)
@requirement("SI-ASK-010")
def test_an_ask_with_a_negative_amount_is_rejected(
    rm: ResourceManager, resources: Mapping[str, int]
) -> None:
    rm.has_node()
    app = rm.has_application()
    with rm.control("an ask for something is allocated"):
        rm.expect(Allocated(rm.asks(app, resources={"memory": 1})))

    ask = rm.asks(app, resources=resources)

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


@requirement("SI-ASK-011")
def test_two_applications_do_not_get_the_same_share_of_another_resource(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.needs(Feature.QUOTAS)
    rm.has_registered(config=queues_with_shared_quota("devices", "first", most={"gpu": 4}))
    amounts = {"memory": 1, "vcore": 1, "gpu": 4}
    rm.has_node(resources={"memory": 10, "vcore": 10, "gpu": 10})
    apps = [rm.has_application(queue="root.devices.first") for _ in range(2)]
    too_much = {**amounts, "gpu": 6}
    rm.withdraws(rm.has_ask_left_alone(apps[0], "quotas of every resource", resources=too_much))

    with rm.one_message():
        asks = [rm.asks(app, resources=amounts) for app in apps]

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


@pytest.mark.parametrize(("lower", "higher"), [(1, 2), (2, 1)], ids=["larger", "smaller"])
@requirement("SI-ASK-012")
def test_an_ask_of_another_size_with_the_higher_priority_is_served_first(
    rm: ResourceManager, lower: int, higher: int
) -> None:
    rm.has_full_node()
    app = rm.has_application()
    low = rm.has_pending_ask(app, memory=lower, priority=1)
    high = rm.has_pending_ask(app, memory=higher, priority=10)

    rm.has_node(memory=2)  # for each of them, but not for both

    rm.expect(Allocated(high))
    rm.expect_none(Allocated(low))


@requirement("SI-ASK-013")
def test_a_priority_class_no_one_knows_is_no_obstacle(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    ask = rm.asks(app, priority_class="no-such-class")

    answer = rm.expect_one_of(Allocated(ask), AskRejected(ask))
    rm.records("the ask of an unknown priority class", answer)


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
def test_an_ask_that_is_withdrawn_after_an_update_is_never_allocated(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    withdrawn, waiting = rm.has_pending_ask(app), rm.has_pending_ask(app)
    rm.has_asked_again(withdrawn, memory=2)

    rm.withdraws(withdrawn)
    rm.has_node()

    rm.expect_none(Allocated(withdrawn))
    with rm.control("an equal ask that is not withdrawn is allocated"):
        rm.expect(Allocated(waiting))
    rm.expect_none(Allocated(withdrawn))


@waits
@requirement("SI-ASK-018")
def test_a_withdrawn_ask_is_not_allocated_later_either(rm: ResourceManager) -> None:
    rm.has_full_node()
    app = rm.has_application()
    withdrawn, waiting = rm.has_pending_ask(app), rm.has_pending_ask(app)
    rm.withdraws(withdrawn)
    rm.has_node()
    with rm.control("an equal ask that is not withdrawn is allocated"):
        rm.expect(Allocated(waiting))

    rm.stays_quiet(Allocated(withdrawn), window=rm.deadlines.afterwards)

    with rm.control("another ask is allocated"):
        rm.expect(Allocated(rm.asks(app)))
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
    others = rm.any_new_key(but=doubtful)  # these may be rejected later
    rm.expect_none(
        AskRejected(others),
        # since 2024-10 the rejection of an unknown key reads like this
        AllocationRejected(others),
        *(AskRejected(rejection.key) for rejection in rejections),
        *(Allocated(rejection.key) for rejection in rejections),
    )
    for ask in doubtful:
        for rejection in rm.observe(AskRejected(ask)):
            rm.agrees(rejection, AskRejected(ask, ask.sent.application))
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
