"""Recovery: existing allocations are taken over (SI-REC)."""

from dataclasses import replace

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import disruptive, requirement, waits
from siconform.protocol.application_states import COMPLETED, FAILURE, WAITING
from siconform.protocol.handles import Application
from siconform.protocol.matchers import AnotherThan
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationUpdated,
    NodeAccepted,
    NodeRejected,
    Released,
    Termination,
)
from siconform.protocol.queue_configurations import queue_with_limits
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.allocations import ASK_AMOUNTS
from siconform.rm.steps.gangs import (
    HARD,
    QUOTA_QUEUE,
    TASK_GROUP,
    Style,
    otherwise_released,
    replaced,
)
from siconform.rm.unregistered_rm import UnregisteredRM

of_the_queue_and_the_one_above = pytest.mark.parametrize(
    ("queue", "another"),
    [("root.quota", "root.quota"), ("root.parent.left", "root.parent.right")],
    ids=["its queue", "the queue above"],
)


def gets_three_of_ten(rm: ResourceManager, app: Application) -> None:
    """Then: of a quota of 10, of which an existing allocation holds 7, asks get no more than 3."""
    too_large = rm.asks(app, memory=4)
    rm.expect_none(Allocated(too_large))
    with rm.control("an ask that fits the quota as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=3)))


@pytest.mark.parametrize("resource", ["memory", "vcore"])
@requirement("SI-REC-001")
def test_existing_allocations_of_a_new_node_hold_their_capacity_on_it(
    rm: ResourceManager, resource: str
) -> None:
    app = rm.has_application()
    node = rm.new_name("node")
    existing = rm.remembers_allocation(app, node, resources={**ASK_AMOUNTS, resource: 7})

    rm.registers_node(node, memory=10, vcore=10, existing=(existing,))

    rm.expect(NodeAccepted(node))
    too_large = rm.asks(app, resources={**ASK_AMOUNTS, resource: 4})
    rm.expect_none(Allocated(too_large))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, resources={**ASK_AMOUNTS, resource: 3}), node=node))


@of_the_queue_and_the_one_above
@requirement("SI-REC-001")
def test_existing_allocations_of_a_new_node_count_in_their_queue(
    rm: ResourceManager, queue: str, another: str
) -> None:
    rm.needs(Feature.QUOTAS)
    app, other_app = rm.has_application(queue=queue), rm.has_application(queue=another)
    node = rm.new_name("node")
    existing = rm.remembers_allocation(app, node, memory=7)

    rm.registers_node(node, memory=100, existing=(existing,))

    rm.expect(NodeAccepted(node))
    gets_three_of_ten(rm, other_app)


@requirement("SI-REC-001")
def test_existing_placeholders_of_a_new_node_count_in_their_queue(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    rm.does_gang_scheduling()
    gang, app = rm.has_gang(memory=7, queue="root.quota"), rm.has_application(queue="root.quota")
    node = rm.new_name("node")
    existing = rm.remembers_placeholder(gang, node)

    rm.registers_node(node, memory=100, existing=(existing,))

    rm.expect(NodeAccepted(node))
    gets_three_of_ten(rm, app)


@requirement("SI-REC-001")
def test_each_existing_allocation_of_one_ask_is_taken_over(rm: ResourceManager) -> None:
    app = rm.has_application()
    node = rm.new_name("node")
    first, *rest = (rm.remembers_allocation(app, node, memory=3) for _ in range(3))
    existing = (first, *(replace(one, key=first.key) for one in rest))

    rm.registers_node(node, memory=10, existing=existing)

    rm.expect(NodeAccepted(node))
    too_large = rm.asks(app, memory=4)
    rm.expect_none(Allocated(too_large))
    rm.withdraws(too_large)
    for allocation in existing:
        rm.still_holds(allocation)
    with rm.control("an ask that fits the whole node is allocated"):
        rm.expect(Allocated(rm.asks(app, memory=10), node=node))


@requirement("SI-REC-023")
def test_existing_allocations_of_a_node_that_comes_drained_hold_their_capacity(
    rm: ResourceManager,
) -> None:
    app = rm.has_application()
    node = rm.new_name("node")
    existing = rm.remembers_allocation(app, node, memory=7)

    rm.registers_node(node, memory=10, draining=True, existing=(existing,))

    rm.expect(NodeAccepted(node))
    rm.undrains(node)
    too_large = rm.asks(app, memory=4)
    rm.expect_none(Allocated(too_large))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=3), node=node))


@requirement("SI-REC-002")
def test_a_recovered_allocation_is_not_allocated_again(rm: ResourceManager) -> None:
    app = rm.has_application()
    other_node = rm.has_node()
    node = rm.new_name("node")
    existing = rm.remembers_allocation(app, node, memory=7)

    rm.has_recovered_node(node, existing)

    rm.expect_none(
        Allocated(existing.key, node=other_node),
        Allocated(existing.key, identity=AnotherThan(existing.identity)),
    )
    with rm.control("an ask of the same application is allocated"):
        rm.expect(Allocated(rm.asks(app)))


@requirement("SI-REC-003")
def test_a_recovered_allocation_is_released_by_the_identity_it_had(rm: ResourceManager) -> None:
    app = rm.has_application()
    node = rm.new_name("node")
    existing = rm.remembers_allocation(app, node, memory=7)
    rm.has_recovered_node(node, existing)

    rm.releases(existing)

    rm.expect(Released(identity=existing.identity, termination=Termination.STOPPED_BY_RM))
    rm.expect(Allocated(rm.asks(app, memory=10), node=node))


@requirement("SI-REC-004")
def test_an_existing_allocation_without_identity_is_refused(rm: ResourceManager) -> None:
    app = rm.has_application()
    with rm.control("the same allocation with an identity is taken over"):
        known = rm.new_name("node")
        existing = rm.remembers_allocation(app, known)
        rm.registers_node(known, existing=(existing,))
        rm.expect(NodeAccepted(known))
        rm.still_holds(existing)

    node = rm.new_name("node")
    nameless = rm.remembers_allocation(app, node, identity="")
    rm.registers_node(node, existing=(nameless,))

    rm.expect_one_of(NodeRejected(node), AllocationRejected(nameless.key))


@requirement("SI-REC-006")
def test_a_node_with_an_allocation_of_an_unknown_application_is_refused(
    rm: ResourceManager,
) -> None:
    app = rm.has_application()
    node = rm.new_name("node")
    with rm.control("a node with an allocation of a known application is accepted"):
        rm.has_recovered_node(known := rm.new_name("node"), rm.remembers_allocation(app, known))

    stray = rm.remembers_allocation(rm.new_name("app"), node, memory=10)
    rm.registers_node(node, memory=10, existing=(stray,))

    rm.expect_one_of(NodeRejected(node), AllocationRejected(stray.key))


@requirement("SI-REC-006")
def test_a_refused_node_leaves_none_of_its_allocations_behind(rm: ResourceManager) -> None:
    app = rm.has_application(queue=QUOTA_QUEUE)  # a leftover would count there, too
    node = rm.new_name("node")
    good = rm.remembers_allocation(app, node, memory=4)
    stray = rm.remembers_allocation(rm.new_name("app"), node, memory=6)
    rm.registers_node(node, memory=10, existing=(good, stray))
    with rm.precondition("the node or the allocation is refused"):
        rm.expect_one_of(NodeRejected(node), AllocationRejected(stray.key))

    rm.passes_over(NodeAccepted(node), NodeRejected(node))
    rm.registers_node(node, memory=10, existing=(good,))

    rm.expect_one_of(NodeAccepted(node), NodeRejected(node))
    rm.expect(Allocated(rm.asks(app, memory=6), node=node))
    one_more = rm.asks(app, memory=1)
    rm.expect_none(Allocated(one_more))
    rm.releases(good)
    rm.is_served(one_more, node=node)


@requirement("SI-REC-007")
def test_existing_allocations_can_be_added_by_themselves(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    existing = rm.remembers_allocation(app, node, memory=7)

    rm.adds_existing(existing)

    too_large = rm.asks(app, memory=4)
    rm.expect_none(
        Allocated(too_large), Allocated(existing.key, identity=AnotherThan(existing.identity))
    )
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=3), node=node))
    rm.releases(existing)
    rm.expect(Released(identity=existing.identity, termination=Termination.STOPPED_BY_RM))
    rm.expect(Allocated(rm.asks(app, memory=7), node=node))


@requirement("SI-REC-007")
def test_each_of_the_existing_allocations_added_by_one_message_counts(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    existing = [rm.remembers_allocation(app, node, memory=3) for _ in range(3)]

    with rm.one_message():
        for allocation in existing:
            rm.adds_existing(allocation)

    too_large = rm.asks(app, memory=4)
    rm.expect_none(Allocated(too_large))
    rm.withdraws(too_large)
    for allocation in existing:
        rm.still_holds(allocation)
    with rm.control("an ask that fits the whole node is allocated"):
        rm.expect(Allocated(rm.asks(app, memory=10), node=node))


@of_the_queue_and_the_one_above
@requirement("SI-REC-007")
def test_existing_allocations_added_by_themselves_count_in_their_queue(
    rm: ResourceManager, queue: str, another: str
) -> None:
    rm.needs(Feature.QUOTAS)
    node = rm.has_node(memory=100)
    app, other_app = rm.has_application(queue=queue), rm.has_application(queue=another)

    rm.adds_existing(rm.remembers_allocation(app, node, memory=7))

    gets_three_of_ten(rm, other_app)


@requirement("SI-REC-007")
def test_existing_placeholders_added_by_themselves_count_in_their_queue(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.QUOTAS)
    rm.does_gang_scheduling()
    node = rm.has_node(memory=100)
    gang, app = rm.has_gang(memory=7, queue="root.quota"), rm.has_application(queue="root.quota")

    rm.adds_existing(rm.remembers_placeholder(gang, node))

    gets_three_of_ten(rm, app)


@requirement("SI-REC-007")
def test_existing_allocations_added_by_themselves_count_for_their_user(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    user = rm.new_name("user")
    limit = {"users": [user], "maxresources": {"memory": 10}}
    rm.has_registered_with_limits(queue_with_limits("shared", limit))
    node = rm.has_node(memory=100)
    app = rm.has_application(queue="root.shared", user=user)
    held = rm.has_allocation(app, memory=1)
    beyond = rm.asks(app, memory=10)
    is_limited = rm.receive_if_any(Allocated(beyond)) is None
    rm.needs_some([held] if is_limited else [], of="limits of users")
    rm.withdraws(beyond)
    existing = rm.remembers_allocation(app, node, memory=6)

    rm.adds_existing(existing)

    too_large = rm.asks(app, memory=4)
    rm.expect_none(Allocated(too_large))
    with rm.control("an ask within the limit is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=3)))


@requirement("SI-REC-007")
def test_each_amount_of_an_existing_allocation_counts(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10, vcore=10)
    app = rm.has_application()
    existing = rm.remembers_allocation(app, node, memory=1, vcore=7)

    rm.adds_existing(existing)

    too_large = rm.asks(app, memory=1, vcore=4)
    rm.expect_none(Allocated(too_large))
    rm.withdraws(too_large)
    rm.expect(Allocated(rm.asks(app, memory=9, vcore=3), node=node))


@requirement("SI-REC-008")
def test_existing_allocations_of_nowhere_are_rejected(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application(queue=QUOTA_QUEUE)  # what is rejected must not count there, either
    with rm.control("an existing allocation with node and application is taken over"):
        rm.adds_existing(existing := rm.remembers_allocation(app, node))
        rm.still_holds(existing)
    unknown_app, unknown_node = rm.new_name("app"), rm.new_name("node")

    misplaced = [
        rm.remembers_allocation(app, unknown_node, memory=10),
        rm.remembers_allocation(unknown_app, node, memory=10),
        rm.remembers_allocation(app, node, memory=10, partition="nope"),
    ]
    for allocation in misplaced:
        rm.adds_existing(allocation)

    for allocation in misplaced:
        rm.expect(AllocationRejected(allocation.key, application=allocation.application))
    rm.is_served(rm.asks(app, memory=10), node=node)


@requirement("SI-REC-009")
def test_a_draining_node_is_filled_with_what_exists_before_it_takes_work(
    rm: ResourceManager,
) -> None:
    app = rm.has_application()
    waiting = rm.has_waiting_ask(app, memory=10)
    node = rm.has_node(memory=10, draining=True)

    rm.expect_none(Allocated(waiting))
    rm.adds_existing(rm.remembers_allocation(app, node, memory=7))
    rm.undrains(node)

    rm.expect_none(Allocated(waiting))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(waiting)
        rm.expect(Allocated(rm.asks(app, memory=3), node=node))


@requirement("SI-REC-011")
def test_a_recovered_placeholder_is_replaced_like_any_other(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    gang = rm.has_gang(memory=1)
    node = rm.new_name("node")
    placeholder = rm.remembers_placeholder(gang, node)
    rm.has_recovered_node(node, placeholder)
    rm.has_node(memory=20)  # capacity elsewhere, before the real ask

    with rm.confirming_nothing():
        real = rm.asks_member(gang)
        release = rm.expect_one_of(replaced(placeholder), *otherwise_released(placeholder))
        rm.agrees(release, replaced(placeholder))
        rm.expect_none(Allocated(real))
    rm.has_node(memory=30)  # and after it

    rm.confirms(release)
    rm.expect(Allocated(real, node=node))


@requirement("SI-REC-021")
def test_a_placeholder_added_by_itself_is_replaced_like_any_other(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    gang = rm.has_gang(memory=1)
    node = rm.has_node(memory=1)
    placeholder = rm.remembers_placeholder(gang, node)
    rm.adds_existing(placeholder)
    rm.has_node(memory=20)  # capacity elsewhere, before the real ask

    with rm.confirming_nothing():
        real = rm.asks_member(gang)
        release = rm.expect(replaced(placeholder))
        rm.expect_none(Allocated(real))
    rm.has_node(memory=30)  # and after it

    rm.confirms(release)
    rm.expect(Allocated(real, node=node))


@requirement("SI-REC-012")
@pytest.mark.parametrize(
    ("task_group", "placeholder"),
    [("", False), (TASK_GROUP, False), ("", True)],
    ids=["neither group nor flag", "group without flag", "flag without group"],
)
def test_a_recovered_allocation_with_incomplete_gang_data_is_a_regular_one(
    rm: ResourceManager, *, task_group: str, placeholder: bool
) -> None:
    rm.does_gang_scheduling()
    gang = rm.has_gang(memory=1)
    node = rm.new_name("node")
    regular = rm.remembers_allocation(gang, node, task_group=task_group, placeholder=placeholder)
    complete = rm.remembers_placeholder(gang, node)
    handle = rm.registers_node(node, existing=(regular, complete))
    rm.expect(NodeAccepted(handle))

    first = rm.asks_member(gang)
    with rm.control("a recovered allocation with complete gang data is replaced"):
        release = rm.expect_one_of(replaced(complete), replaced(regular))
        first_real = rm.expect(Allocated(first))
    rm.agrees(release, replaced(complete))
    second_real = rm.expect(Allocated(rm.asks_member(gang)))

    rm.expect_none(Released(identity=regular.identity), AllocationRejected(regular.key))
    rm.still_holds(first_real)
    rm.still_holds(second_real)
    rm.had_nothing_at_first(gang)
    rm.expect_none(
        ApplicationUpdated(gang, state=WAITING), ApplicationUpdated(gang, state=COMPLETED)
    )
    rm.still_holds(regular)


@requirement("SI-REC-013")
def test_a_recovered_allocation_beyond_the_quota_only_holds_back_new_ones(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.QUOTAS)
    app = rm.has_application(queue="root.quota")
    node = rm.new_name("node")
    existing = rm.remembers_allocation(app, node, memory=12)

    rm.registers_node(node, memory=100, existing=(existing,))

    rm.expect(NodeAccepted(node))
    waiting = rm.asks(app)
    rm.expect_none(Allocated(waiting))
    rm.still_holds(existing)
    rm.is_served(waiting)


@pytest.mark.parametrize(("sizes", "free"), [([12], 10), ([8, 8], 2)], ids=["one", "two"])
@requirement("SI-REC-013")
@disruptive
def test_a_recovered_allocation_beyond_the_capacity_only_holds_back_new_ones(
    rm: ResourceManager, sizes: list[int], free: int
) -> None:
    app = rm.has_application()
    node = rm.new_name("node")
    existing = tuple(rm.remembers_allocation(app, node, memory=size) for size in sizes)

    rm.registers_node(node, memory=10, existing=existing)

    rm.expect(NodeAccepted(node))
    waiting = rm.asks(app, memory=free)
    rm.expect_none(Allocated(waiting))
    rm.still_holds(existing[0])
    rm.is_served(waiting)
    rm.expect_none(Allocated(rm.asks(app)))


@requirement("SI-REC-014")
def test_a_recovered_allocation_keeps_its_application_from_waiting(rm: ResourceManager) -> None:
    rm.has_node()
    app, other = rm.has_application(), rm.has_application()
    node = rm.new_name("node")
    existing = rm.remembers_allocation(app, node)
    rm.has_recovered_node(node, existing)

    with rm.control("an empty application goes to waiting"):
        rm.releases(rm.has_allocation(other))
        rm.expect_waiting(other)
    rm.had_nothing_at_first(app)
    rm.expect_none(ApplicationUpdated(app, state=WAITING), ApplicationUpdated(app, state=COMPLETED))
    later = rm.expect(Allocated(rm.asks(app)))

    rm.releases(later)
    rm.releases(existing)
    rm.expect_waiting(app)


@requirement("SI-REC-014")
def test_a_recovered_allocation_ends_the_waiting_of_its_application(rm: ResourceManager) -> None:
    rm.has_node()
    since = rm.now()
    app = rm.has_waiting_application()
    node = rm.new_name("node")
    existing = rm.remembers_allocation(app, node)

    with rm.in_its_waiting_time(since=since):
        rm.has_recovered_node(node, existing)
        rm.is_not_seen_waiting(app)

    rm.still_holds(existing)


@waits
@requirement("SI-REC-014")
def test_a_recovered_allocation_keeps_a_waiting_application_from_completing(
    rm: ResourceManager,
) -> None:
    rm.has_node()
    since = rm.now()
    app = rm.has_waiting_application()
    node = rm.new_name("node")
    existing = rm.remembers_allocation(app, node)

    with rm.in_its_waiting_time(since=since):
        rm.has_recovered_node(node, existing)
        rm.synchronise_all()

    rm.outlasts_waiting(ApplicationUpdated(app, state=COMPLETED))
    rm.expect(Allocated(rm.asks(app)))
    rm.still_holds(existing)


@requirement("SI-REC-015")
def test_existing_allocations_of_an_update_are_ignored(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()

    rm.updates_node(node, memory=20, existing=(rm.remembers_allocation(app, node, memory=9),))

    rm.expect(Allocated(rm.asks(app, memory=19), node=node))
    with rm.control("in a creation it holds capacity"):
        created = rm.new_name("node")
        rm.has_recovered_node(created, rm.remembers_allocation(app, created, memory=9))
        rm.expect_none(Allocated(rm.asks(app, memory=9)))


@pytest.mark.parametrize("unknown", ["application", "node"])
@requirement("SI-REC-017")
def test_a_rejected_existing_allocation_is_named(rm: ResourceManager, unknown: str) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application(queue=QUOTA_QUEUE)  # what is rejected must not count there, either
    owner = rm.new_name("app") if unknown == "application" else app
    place = rm.new_name("node") if unknown == "node" else node
    stray = rm.remembers_allocation(owner, place, memory=10)

    rm.adds_existing(stray)
    rejections = rm.collects(AllocationRejected(), most=1)
    rm.needs_some(rejections, of="to reject existing allocations that it need not reject")

    for rejection in rejections:
        rm.agrees(rejection, AllocationRejected(stray.key, application=owner))
    everything = rm.expect(Allocated(rm.asks(app, memory=10), node=node))
    with rm.control("an existing allocation of a known application holds capacity"):
        rm.still_holds(everything)
        rm.adds_existing(rm.remembers_allocation(app, node, memory=10))
        rm.expect_none(Allocated(rm.asks(app)))


@requirement("SI-REC-017")
def test_an_existing_allocation_that_is_rejected_as_known_counts_once(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    existing = rm.remembers_allocation(app, node, memory=4)
    rm.adds_existing(existing)

    rm.adds_existing(existing)
    rm.receive_if_any(AllocationRejected(existing.key))
    rejections = rm.observe(AllocationRejected(existing.key))
    rm.needs_some(rejections, of="to reject an existing allocation that it knows")

    rm.expect(Allocated(rm.asks(app, memory=6), node=node))


@requirement("SI-REC-022")
def test_the_rejection_of_an_existing_allocation_gives_a_reason(rm: ResourceManager) -> None:
    node = rm.has_node()

    rm.adds_existing(rm.remembers_allocation(rm.new_name("app"), node))

    rejections = rm.collects(AllocationRejected(), most=1)
    rm.needs_some(rejections, of="to reject existing allocations that it need not reject")
    for rejection in rejections:
        rm.states_reason(rejection)


@requirement("SI-REC-019")
def test_recovered_placeholders_and_real_allocations_are_kept_apart(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    gang = rm.has_gang(memory=1)
    node = rm.new_name("node")
    real = rm.remembers_allocation(gang, node, task_group=TASK_GROUP)
    placeholder = rm.remembers_placeholder(gang, node)
    rm.has_recovered_node(node, real, placeholder)

    ask = rm.asks_member(gang)

    rm.expect(replaced(placeholder))
    replacement = rm.expect(Allocated(ask))
    rm.expect_none(Released(identity=real.identity))
    rm.still_holds(real)
    rm.had_nothing_at_first(gang)
    rm.expect_none(
        ApplicationUpdated(gang, state=WAITING), ApplicationUpdated(gang, state=COMPLETED)
    )
    rm.still_holds(replacement)


@pytest.mark.parametrize("style", list(Style))
@requirement("SI-REC-020")
def test_a_gang_that_is_incomplete_after_recovery_times_out(
    rm: ResourceManager, style: Style
) -> None:
    gang = rm.has_gang(members=2, memory=1, style=style, limit=rm.short_limit())
    node = rm.new_name("node")
    placeholder = rm.remembers_placeholder(gang, node)
    rm.has_recovered_node(node, placeholder, memory=1)
    rm.asks_placeholder(gang)

    rm.expect_expiry(gang, [placeholder])
    if style is HARD or not rm.sends_gang_styles:
        rm.expect_failure(gang)
        return
    rm.synchronise_all()  # no longer: an empty application soon ends
    rm.expect(Allocated(rm.asks_member(gang), placeholder=False))
    rm.expect_none(ApplicationUpdated(gang, state=FAILURE))
