"""Draining, undraining and decommissioning nodes (SI-NODE)."""

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import requirement, waits
from siconform.protocol.handles import Application, Ask
from siconform.protocol.matchers import Including
from siconform.protocol.notifications import (
    Allocated,
    NodeAccepted,
    NodeRejected,
    Released,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.requests import REQUIRED_NODE
from siconform.protocol.snapshot_facts import NodeSeen
from siconform.rm.resource_manager import ResourceManager


@requirement("SI-NODE-016")
def test_actions_on_an_unknown_node_fail_visibly(rm: ResourceManager) -> None:
    known, unknown = rm.has_node(), rm.new_name("node")

    for action in (rm.updates_node, rm.drains, rm.undrains, rm.decommissions):
        action(unknown)
        rm.expect_one_of(NodeRejected(unknown), StreamEnded(UpdateKind.NODES))

    with rm.control("the same actions on a known node do not fail"):
        for action in (rm.updates_node, rm.drains, rm.undrains, rm.decommissions):
            action(known)
            rm.expect_none(NodeRejected(known))


def takes_equal_asks(rm: ResourceManager, app: Application, node: str) -> None:
    """Control: the node takes an ask like those of the test."""
    with rm.control("before it is drained the node takes an equal ask"):
        rm.expect(Allocated(rm.asks(app), node=node))


def has_held_back(rm: ResourceManager, app: Application) -> Ask:
    """Given: an ask that is not placed because the node is draining."""
    ask = rm.asks(app)
    with rm.precondition("a draining node takes no work"):
        rm.expect_none(Allocated(ask))
    return ask


@requirement("SI-NODE-026")
def test_a_draining_node_takes_no_work(rm: ResourceManager) -> None:
    node, app = rm.has_node(), rm.has_application()
    takes_equal_asks(rm, app, node)

    for _ in range(2):
        rm.drains(node)
        ask = rm.asks(app)
        rm.expect_none(Allocated(ask))
        with rm.precondition("the node can be undrained"):
            rm.undrains(node)
            rm.is_served(ask, node=node)


@requirement("SI-NODE-028")
def test_an_undrained_node_takes_work_again(rm: ResourceManager) -> None:
    node, app = rm.has_node(), rm.has_application()
    takes_equal_asks(rm, app, node)

    for _ in range(2):
        rm.drains(node)
        ask = has_held_back(rm, app)
        rm.undrains(node)
        rm.is_served(ask, node=node)


@requirement("SI-NODE-028")
def test_one_undrain_is_enough_for_a_node_that_was_drained_twice(rm: ResourceManager) -> None:
    node, app = rm.has_node(), rm.has_application()
    takes_equal_asks(rm, app, node)
    for _ in range(2):
        rm.drains(node)
    ask = has_held_back(rm, app)

    rm.undrains(node)

    rm.is_served(ask, node=node)


@requirement("SI-NODE-026")
def test_nodes_drained_in_one_message_take_no_work(rm: ResourceManager) -> None:
    nodes = [rm.has_node(memory=4) for _ in range(3)]
    app = rm.has_application()

    with rm.one_message():
        for node in nodes:
            rm.drains(node)

    rm.expect_none(*(Allocated(rm.asks(app, memory=4)) for _ in nodes))


@requirement("SI-NODE-028")
def test_nodes_undrained_in_one_message_take_work_again(rm: ResourceManager) -> None:
    nodes = [rm.has_node(memory=4) for _ in range(3)]
    app = rm.has_application()
    with rm.one_message():
        for node in nodes:
            rm.drains(node)
    asks = [rm.asks(app, memory=4) for _ in nodes]
    with rm.precondition("a draining node takes no work"):
        rm.expect_none(*(Allocated(ask) for ask in asks))

    with rm.one_message():
        for node in nodes:
            rm.undrains(node)

    for ask in asks:
        rm.is_served(ask)


@requirement("SI-NODE-027")
def test_draining_does_not_end_allocations(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()
    allocation = rm.has_allocation(app)

    rm.drains(node)

    rm.expect_none(Released(identity=allocation.identity))
    rm.still_holds(allocation)


@requirement("SI-NODE-029")
def test_undraining_a_node_that_is_not_draining_is_an_error(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()

    rm.undrains(node)

    rm.expect_one_of(NodeRejected(node), StreamEnded(UpdateKind.NODES))
    rm.expect(Allocated(rm.asks(app), node=node))


@requirement("SI-NODE-029")
def test_undraining_a_node_again_is_an_error(rm: ResourceManager) -> None:
    node = rm.has_node()
    rm.drains(node)
    rm.undrains(node)
    with rm.precondition("undraining a draining node is no error"):
        rm.expect_none(NodeRejected(node), StreamEnded(UpdateKind.NODES))

    for _ in range(2):
        rm.undrains(node)
        rm.expect_one_of(NodeRejected(node), StreamEnded(UpdateKind.NODES))

    rm.expect(Allocated(rm.asks(rm.has_application()), node=node))


@requirement("SI-NODE-029")
def test_undraining_a_draining_node_is_no_error(rm: ResourceManager) -> None:
    node = rm.has_node()
    rm.drains(node)

    rm.undrains(node)

    rm.expect_none(NodeRejected(node), StreamEnded(UpdateKind.NODES))


@requirement("SI-NODE-030")
def test_a_draining_node_can_be_decommissioned(rm: ResourceManager) -> None:
    rm.has_application()  # without any objects the RM may be dropped
    node = rm.has_node()
    rm.drains(node)
    with rm.control("while it exists it cannot be created"):
        rm.registers_node(node)
        rm.expect(NodeRejected(node))

    rm.decommissions(node)

    rm.registers_node(node)
    rm.expect(NodeAccepted(node))


@requirement("SI-NODE-030", "SI-NODE-010")
def test_a_node_that_comes_back_is_like_new(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=10)

    rm.drains(node)
    rm.decommissions(node)
    rm.registers_node(node)

    rm.expect(NodeAccepted(node))
    other_app = rm.has_application()  # the first one has nothing left and may be over
    rm.expect(Allocated(rm.asks(other_app, memory=10), node=node))


@requirement("SI-NODE-030", "SI-NODE-010")
def test_a_node_that_comes_back_is_not_occupied_as_it_was(rm: ResourceManager) -> None:
    rm.has_occupied_resource()
    node = rm.has_node(memory=10, occupied={"memory": 6})

    rm.drains(node)
    rm.decommissions(node)
    rm.registers_node(node, memory=10)

    rm.expect(NodeAccepted(node))
    rm.expect(Allocated(rm.asks(rm.has_application(), memory=10), node=node))


@requirement("SI-NODE-006")
def test_a_node_that_comes_back_smaller_is_as_large_as_it_is_now(rm: ResourceManager) -> None:
    rm.has_node(memory=1)
    app = rm.has_application()
    rm.has_allocation(app, memory=1)  # keeps the application active
    node = rm.has_node(memory=10)
    with rm.precondition("a decommissioned node is accepted again"):
        rm.decommissions(node)
        rm.settles()
        rm.has_observed(NodeAccepted(node))
        rm.registers_node(node, memory=4)
        rm.expect(NodeAccepted(node))

    too_large = rm.asks(app, memory=5)

    rm.expect_none(Allocated(too_large))
    rm.withdraws(too_large)
    rm.expect(Allocated(rm.asks(app, memory=4), node=node))


@requirement("SI-NODE-031")
def test_a_schedulable_node_can_be_decommissioned(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()

    rm.decommissions(node)
    ask = rm.asks(app)
    rm.expect_none(Allocated(ask))

    rm.registers_node(node)
    rm.expect(NodeAccepted(node))
    rm.is_served(ask, node=node)


@requirement("SI-NODE-032")
def test_decommissioning_ends_every_allocation_on_the_node(rm: ResourceManager) -> None:
    node, apps = rm.has_node(memory=12, vcore=12), [rm.has_application() for _ in range(3)]
    allocations = [rm.has_allocation(app, memory=1, node=node) for app in 4 * apps]
    rm.drains(node)
    rm.has_node()
    elsewhere = rm.has_allocation(rm.has_application())

    rm.decommissions(node)

    rm.expect_end_of(*allocations)
    rm.expect_none(Released(identity=elsewhere.identity))
    rm.still_holds(elsewhere)


@requirement("SI-NODE-032")
def test_decommissioning_ends_each_allocation_of_one_ask(rm: ResourceManager) -> None:
    node, app = rm.has_node(), rm.has_application()
    allocations = rm.has_allocations_of_one_ask(app)

    rm.decommissions(node)

    rm.expect_end_of(*allocations)


@requirement("SI-NODE-032")
def test_decommissioning_ends_a_recovered_allocation(rm: ResourceManager) -> None:
    app, node = rm.has_application(), rm.new_name("node")
    existing = rm.remembers_allocation(app, node)
    handle = rm.has_recovered_node(node, existing)
    rm.settles()

    rm.decommissions(handle)

    rm.expect_end_of(existing)


@requirement("SI-NODE-032")
def test_decommissioning_ends_what_replaced_a_placeholder(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    real, _ = rm.has_replaced(*rm.has_complete_gang())

    rm.decommissions(real.node)

    rm.expect_end_of(real)


@requirement("SI-NODE-032")
def test_decommissioning_ends_nothing_on_other_nodes(rm: ResourceManager) -> None:
    node, app = rm.has_node(), rm.has_application()
    ending = rm.has_allocation(app, node=node)
    rm.drains(node)
    rm.has_node()
    staying = rm.has_allocation(app)

    rm.decommissions(node)

    rm.expect(Released(identity=ending.identity))
    rm.expect_none(Released(identity=staying.identity), Released(application=app, identity=""))
    rm.still_holds(staying)


@requirement("SI-NODE-033")
def test_nothing_is_placed_on_a_decommissioned_node(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()
    with rm.control("the node takes an ask before"):
        rm.expect(Allocated(rm.asks(app), node=node))

    rm.drains(node)
    rm.decommissions(node)
    ask = rm.asks(app)
    rm.expect_none(Allocated(ask))

    rm.undrains(node)  # no effect, unless the node still exists
    rm.updates_node(node, memory=100)
    another = rm.asks(app)
    rm.expect_none(Allocated(ask), Allocated(another))


@requirement("SI-NODE-034")
def test_asks_survive_the_removal_of_a_node(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=10)
    waiting = rm.has_waiting_ask(app, memory=10)

    rm.drains(node)
    rm.decommissions(node)
    other = rm.has_node(memory=10)

    rm.is_served(waiting, node=other)


@requirement("SI-NODE-034")
def test_an_ask_that_requires_a_node_survives_its_removal(rm: ResourceManager) -> None:
    node = rm.has_node(memory=1)
    app = rm.has_application()
    rm.has_allocation(app, memory=1, node=node)
    other = rm.has_node(memory=10)
    rm.has_allocation(app, memory=1, node=other)  # keeps the application from completing
    waiting = rm.has_ask_left_alone(app, "required nodes", memory=5, tags={REQUIRED_NODE: node})

    rm.drains(node)
    rm.decommissions(node)
    rm.settles()
    if not rm.observe(Allocated(waiting)):  # without its node it may go elsewhere
        with rm.precondition("a decommissioned node is accepted again"):
            rm.has_observed(NodeAccepted(node))
            rm.registers_node(node, memory=10)
            rm.expect(NodeAccepted(node))

    rm.is_served(waiting)


@requirement("SI-ALLOC-008", "SI-ASK-005")
def test_what_ended_with_its_node_is_not_allocated_again_unrequested(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()
    allocation = rm.has_allocation(app, node=node)
    other = rm.has_node()

    rm.decommissions(node)

    with rm.precondition("an allocation ends with its node"):
        rm.expect_end_of(allocation)
    rm.expect_none(Allocated(allocation.key))
    with rm.control("an ask made afterwards is allocated"):
        rm.expect(Allocated(rm.asks(rm.has_application()), node=other))


@requirement("SI-NODE-006")
def test_a_late_release_frees_nothing_on_the_next_node_of_the_id(rm: ResourceManager) -> None:
    node = rm.has_node(memory=4)
    app, other_app = rm.has_application(), rm.has_application()
    allocation = rm.has_allocation(app, memory=4)
    rm.decommissions(node)
    with rm.precondition("an allocation ends with its node, which can be created again"):
        rm.expect_end_of(allocation)
        rm.registers_node(node)
        rm.expect(NodeAccepted(node))
    rm.has_allocation(other_app, memory=4)

    rm.releases(allocation)

    rm.expect_none(Allocated(rm.asks(other_app, memory=4)))


@requirement("SI-ALLOC-010", "SI-NODE-032")
def test_what_ended_with_its_node_counts_in_no_queue(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application(queue="root.quota")
    allocation = rm.has_allocation(app, memory=10)

    rm.decommissions(node)
    rm.expect_end_of(allocation)
    another = rm.has_node(memory=10)

    rm.is_served(rm.asks(app, memory=10), node=another)


@requirement("SI-ALLOC-010", "SI-NODE-032")
def test_what_ended_with_a_drained_node_counts_in_no_queue(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    node = rm.has_node(memory=10)
    app = rm.has_application(queue="root.quota")
    allocation = rm.has_allocation(app, memory=10)

    rm.drains(node)
    rm.decommissions(node)
    rm.expect_end_of(allocation)
    another = rm.has_node(memory=10)

    rm.is_served(rm.asks(app, memory=10), node=another)


@requirement("SI-NODE-035")
def test_actions_on_a_removed_node_have_no_effect(rm: ResourceManager) -> None:
    removed, other = rm.has_node(), rm.has_node()
    app = rm.has_application()
    rm.drains(removed)
    rm.decommissions(removed)
    allocation = rm.has_allocation(app, memory=6, node=other)

    for action in (rm.drains, rm.undrains, rm.decommissions):
        for node in (removed, rm.new_name("node")):
            action(node)
            rm.barriers(UpdateKind.NODES)
    too_large = rm.asks(app, memory=6)

    rm.expect_none(
        Allocated(too_large), NodeRejected(other), Released(identity=allocation.identity)
    )
    rm.withdraws(too_large)
    rm.expect(Allocated(rm.asks(app, memory=4), node=other))
    rm.passes_over(NodeAccepted(removed))
    rm.registers_node(removed)
    rm.expect(NodeAccepted(removed))


@pytest.mark.parametrize("action", ["drains", "undrains", "decommissions"])
@requirement("SI-NODE-035")
def test_an_action_on_a_node_to_come_leaves_no_trace(rm: ResourceManager, action: str) -> None:
    app = rm.has_application()  # without any objects the RM may be dropped
    unknown = rm.new_name("node")
    getattr(rm, action)(unknown)
    rm.passes_over(NodeAccepted(unknown))  # it may acknowledge the message

    rm.registers_node(unknown)

    rm.expect(NodeAccepted(unknown))
    rm.expect(Allocated(rm.asks(app), node=unknown))


@requirement("SI-NODE-036")
def test_a_node_without_action_is_neither_created_nor_changed(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    unknown = rm.new_name("node")

    rm.names_node_without_action(unknown, memory=100)
    rm.names_node_without_action(node, memory=100)
    too_large = rm.asks(app, memory=50)

    rm.expect_none(NodeAccepted(unknown), Allocated(too_large))
    with rm.control("an ask that fits is allocated"):
        rm.withdraws(too_large)
        rm.is_served(rm.asks(app, memory=10), node=node)


@requirement("SI-NODE-036")
def test_a_node_without_action_is_not_occupied(rm: ResourceManager) -> None:
    rm.has_occupied_resource()
    node = rm.has_node(memory=10)
    app = rm.has_application()

    rm.names_node_without_action(node, occupied={"memory": 5})

    rm.expect(Allocated(rm.asks(app, memory=10), node=node))


@requirement("SI-NODE-036")
def test_a_node_without_action_keeps_its_attributes(rm: ResourceManager) -> None:
    node = rm.has_node(attributes={"zone": "a"})
    with rm.precondition("a snapshot shows attributes"):
        rm.sees(NodeSeen(node, attributes=Including({"zone": "a"})))

    rm.names_node_without_action(node, attributes={"zone": "b"})

    rm.does_not_see(NodeSeen(node, attributes=Including({"zone": "b"})))
    rm.sees(NodeSeen(node, attributes=Including({"zone": "a"})))


@requirement("SI-NODE-026")
def test_draining_a_draining_node_again_leaves_it_draining(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()
    rm.drains(node)

    rm.drains(node)

    rm.sees_draining(node, app)


@requirement("SI-NODE-026")
def test_a_draining_node_takes_no_ask_with_a_priority(rm: ResourceManager) -> None:
    node, app = rm.has_node(), rm.has_application()
    rm.drains(node)

    ask = rm.asks(app, priority=10)

    rm.expect_none(Allocated(ask))
    with rm.control("undrained, the node takes the ask"):
        rm.undrains(node)
        rm.is_served(ask, node=node)


@waits
@requirement("SI-NODE-026")
def test_nothing_lands_on_a_draining_node_later_either(rm: ResourceManager) -> None:
    smaller, app = rm.has_node(memory=4), rm.has_application()
    rm.has_allocation(app, memory=1)  # keeps the application from completing
    rm.drains(rm.has_node(memory=10))
    ask = rm.asks(app, memory=6)

    rm.stays_quiet(Allocated(ask), window=rm.deadlines.afterwards)

    rm.is_not_served(ask)
    with rm.control("an ask that fits the other node is allocated"):
        rm.withdraws(ask)
        rm.expect(Allocated(rm.asks(app, memory=3), node=smaller))


@requirement("SI-NODE-026")
def test_an_update_of_what_is_on_a_draining_node_leaves_it_draining(rm: ResourceManager) -> None:
    rm.has_updates_of_allocations()
    node = rm.has_node(memory=10)
    app, other_app = rm.has_application(), rm.has_application()
    allocation = rm.has_allocation(app, memory=4)
    rm.drains(node)

    for memory in (5, 2):  # it may be rejected
        rm.updates_allocation(allocation, memory=memory)

    rm.sees_draining(node, other_app)


@requirement("SI-NODE-026")
def test_the_end_of_an_allocation_on_a_draining_node_leaves_it_draining(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app, other_app = rm.has_application(), rm.has_application()
    allocations = [rm.has_allocation(app, memory=4) for _ in range(2)]
    rm.drains(node)

    rm.has_released(allocations[0])

    rm.sees_draining(node, other_app)


@requirement("SI-NODE-012")
def test_an_existing_allocation_leaves_a_node_draining_that_came_so(rm: ResourceManager) -> None:
    app, other_app = rm.has_application(), rm.has_application()
    node = rm.has_node(memory=10, draining=True)

    rm.adds_existing(rm.remembers_allocation(app, node, memory=4))

    rm.sees_draining(node, other_app)


@requirement("SI-NODE-026")
def test_foreign_allocations_on_a_draining_node_leave_it_draining(rm: ResourceManager) -> None:
    rm.has_foreign_allocations()
    node = rm.has_node(memory=10)
    app = rm.has_application()
    earlier = rm.has_foreign(node, memory=4)
    rm.drains(node)

    rm.has_foreign(node, memory=1)
    for memory in (5, 2):
        rm.has_foreign(node, key=earlier, memory=memory)

    rm.sees_draining(node, app)


@requirement("SI-NODE-036")
def test_naming_a_draining_node_without_action_leaves_it_draining(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.drains(node)

    rm.names_node_without_action(node, memory=10)

    rm.sees_draining(node, app)


@requirement("SI-REL-003")
def test_a_release_without_identity_ends_what_is_on_a_draining_node(rm: ResourceManager) -> None:
    app, other_app = rm.has_application(), rm.has_application()
    draining = rm.has_node(memory=10)
    held = [rm.has_allocation(app, memory=4, node=draining) for _ in range(2)]
    node = rm.has_node(memory=10)
    held.append(rm.has_allocation(app, memory=10, node=node))
    rm.drains(draining)

    rm.releases_all(app)

    rm.expect_all_released(*held)
    rm.expect(Allocated(rm.asks(other_app, memory=10), node=node))
