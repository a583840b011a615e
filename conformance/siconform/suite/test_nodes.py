"""Node creation and capacity (SI-NODE); see test_node_actions, test_node_updates."""

import pytest

from siconform.marks import requirement
from siconform.protocol.constraints import on_nodes, where
from siconform.protocol.matchers import Including
from siconform.protocol.notifications import (
    Allocated,
    NodeAccepted,
    NodeRejected,
    Released,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.snapshot_facts import NodeSeen
from siconform.rm.resource_manager import ResourceManager


@requirement("SI-NODE-001")
def test_a_new_node_is_accepted(rm: ResourceManager) -> None:
    node = rm.registers_node(memory=16, vcore=4)

    rm.expect(NodeAccepted(node))


@requirement("SI-NODE-001")
def test_nodes_whose_ids_differ_in_case_are_accepted(rm: ResourceManager) -> None:
    unique = rm.new_name("node")

    for node in (f"{unique}.Node", f"{unique}.node"):
        rm.registers_node(node)
        rm.expect(NodeAccepted(node))


@requirement("SI-NODE-002")
def test_a_known_node_is_rejected(rm: ResourceManager) -> None:
    node = rm.has_node()

    rm.registers_node(node)

    rm.expect(NodeRejected(node))


@requirement("SI-NODE-042")
def test_the_rejection_of_a_node_gives_a_reason(rm: ResourceManager) -> None:
    node = rm.has_node()

    rm.registers_node(node)

    with rm.precondition("a known node is rejected"):
        rejection = rm.expect(NodeRejected(node))
    rm.states_reason(rejection)


@pytest.mark.parametrize("memory", [100, 5], ids=["larger", "smaller"])
@requirement("SI-NODE-003")
def test_a_rejected_duplicate_changes_neither_capacity_nor_allocations(
    rm: ResourceManager, memory: int
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    held = rm.has_allocation(app, memory=3)

    rm.registers_node(node, memory=memory)
    rm.expect(NodeRejected(node))

    rm.expect(Allocated(rm.asks(app, memory=7), node=node))
    beyond = rm.asks(app, memory=1)
    rm.expect_none(Allocated(beyond), Released(identity=held.identity))
    rm.still_holds(held)


@requirement("SI-NODE-003")
def test_a_rejected_duplicate_does_not_change_the_capacity_of_a_draining_node(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.drains(node)
    rm.synchronise_all()

    rm.registers_node(node, memory=20)
    rm.expect(NodeRejected(node))

    rm.undrains(node)
    with rm.control("the node can be undrained"):
        rm.expect(Allocated(rm.asks(app, memory=7), node=node))
    beyond = rm.asks(app, memory=4)
    rm.expect_none(Allocated(beyond))


@requirement("SI-NODE-003")
def test_existing_allocations_of_a_rejected_duplicate_are_not_taken_over(
    rm: ResourceManager,
) -> None:
    rm.has_asks_apart()
    node = rm.has_node(memory=10)
    app = rm.has_application()
    existing = rm.remembers_allocation(app, node, memory=7)

    rm.registers_node(node, memory=10, existing=(existing,))
    rm.expect(NodeRejected(node))

    rm.expect(Allocated(rm.asks(app, memory=10), node=node))


@requirement("SI-NODE-003")
def test_a_rejected_duplicate_leaves_what_others_occupy_as_it_is(rm: ResourceManager) -> None:
    rm.has_occupied_resource()
    node = rm.has_node(memory=10, occupied={"memory": 2})
    app = rm.has_application()

    rm.registers_node(node, memory=10, occupied={"memory": 0})
    rm.expect(NodeRejected(node))

    rm.expect(Allocated(rm.asks(app, memory=8), node=node))
    beyond = rm.asks(app, memory=1)
    rm.expect_none(Allocated(beyond))


@requirement("SI-NODE-003")
def test_a_rejected_duplicate_leaves_the_attributes_as_they_are(rm: ResourceManager) -> None:
    node = rm.has_node(attributes={"zone": "a"})
    with rm.precondition("a snapshot shows attributes"):
        rm.sees(NodeSeen(node, attributes=Including({"zone": "a"})))

    rm.registers_node(node, attributes={"zone": "b"})
    rm.expect(NodeRejected(node))

    rm.does_not_see(NodeSeen(node, attributes=Including({"zone": "b"})))
    rm.sees(NodeSeen(node, attributes=Including({"zone": "a"})))


@requirement("SI-NODE-003")
def test_a_rejected_duplicate_does_not_change_where_an_ask_may_go(rm: ResourceManager) -> None:
    rm.has_constraints_enforced()
    node = rm.has_node(attributes={"zone": "a"})
    app = rm.has_application()

    rm.registers_node(node, attributes={"zone": "b"})
    rm.expect(NodeRejected(node))

    rm.expect(Allocated(rm.asks(app, constraint=on_nodes(where("zone", "a"))), node=node))
    rm.expect_none(Allocated(rm.asks(app, constraint=on_nodes(where("zone", "b")))))


@requirement("SI-NODE-004")
def test_every_creation_gets_exactly_one_verdict(rm: ResourceManager) -> None:
    known = [rm.has_node() for _ in range(10)]
    new = []

    for number in range(10):
        with rm.one_message():
            new += [rm.registers_node() for _ in range(4)]
            rm.registers_node(known[number])

    for node in new:
        rm.expect(NodeAccepted(node))
    for node in known:
        rm.expect(NodeRejected(node))
    rm.expect_none(*(NodeAccepted(n) for n in known), *(NodeRejected(n) for n in new))


@requirement("SI-NODE-004")
def test_a_node_that_is_created_twice_in_one_message_gets_two_verdicts(
    rm: ResourceManager,
) -> None:
    with rm.one_message():
        node = rm.registers_node()
        rm.registers_node(node)

    for _ in range(2):
        rm.expect_one_of(NodeAccepted(node), NodeRejected(node))


@requirement("SI-NODE-005")
def test_a_node_without_id_is_not_accepted(rm: ResourceManager) -> None:
    with rm.control("a node with an id is accepted"):
        rm.expect(NodeAccepted(rm.registers_node()))

    rm.registers_node("")

    rm.expect_one_of(NodeRejected(""), StreamEnded(UpdateKind.NODES))
    rm.expect_none(NodeAccepted(""))


@requirement("SI-NODE-006")
def test_a_node_is_filled_to_its_capacity_and_no_further(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10, vcore=10)
    app = rm.has_application()

    asks = [rm.asks(app, memory=1, vcore=1) for _ in range(11)]

    with rm.control("the asks that fit are allocated"):
        for _ in range(10):
            rm.expect(Allocated(node=node))
    rm.expect_none(*(Allocated(ask) for ask in asks))


@requirement("SI-NODE-006")
def test_a_node_takes_many_small_allocations_and_no_more_than_fit(rm: ResourceManager) -> None:
    node = rm.has_node(memory=30, vcore=100)
    app = rm.has_application()

    asks = [rm.asks(app, memory=1) for _ in range(31)]

    with rm.control("the asks that fit are allocated"):
        for _ in range(30):
            rm.expect(Allocated(node=node))
    rm.expect_none(*(Allocated(ask) for ask in asks))


@requirement("SI-NODE-006")
def test_applications_that_ask_in_one_message_do_not_get_the_same_capacity(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    apps = [rm.has_application(queue=queue) for queue in ("root.plain", "root.other")]

    with rm.one_message():
        asks = [rm.asks(app, memory=6) for app in apps]

    rm.expect_one_of(*(Allocated(ask) for ask in asks))
    rm.expect_none(*(Allocated(ask) for ask in asks))


@requirement("SI-NODE-007")
def test_occupied_resource_is_not_available(rm: ResourceManager) -> None:
    rm.has_node(memory=10, occupied={"memory": 6})
    app = rm.has_application()

    rm.expect(Allocated(rm.asks(app, memory=4)))
    one_more = rm.asks(app, memory=1)
    rm.expect_none(Allocated(one_more))


@requirement("SI-NODE-007")
def test_occupied_resource_is_not_available_once_the_node_is_undrained(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10, occupied={"memory": 6})
    app = rm.has_application()

    rm.drains(node)
    rm.undrains(node)

    with rm.precondition("an undrained node takes work"):
        rm.expect(Allocated(rm.asks(app, memory=4), node=node))
    one_more = rm.asks(app, memory=1)
    rm.expect_none(Allocated(one_more))


@requirement("SI-NODE-008")
def test_attributes_are_free_form(rm: ResourceManager) -> None:
    odd = rm.registers_node(attributes={"foo": "bar"})
    none = rm.registers_node()

    rm.expect(NodeAccepted(odd))
    rm.expect(NodeAccepted(none))


@requirement("SI-NODE-009")
def test_a_node_of_an_unknown_partition_is_rejected(rm: ResourceManager) -> None:
    nowhere = rm.registers_node(attributes={"si/node-partition": "nope"})
    default = rm.registers_node()

    rm.expect(NodeRejected(nowhere))
    rm.expect(NodeAccepted(default))


@requirement("SI-NODE-010")
def test_a_new_node_takes_work_at_once(rm: ResourceManager) -> None:
    app = rm.has_application()
    waiting = rm.has_waiting_ask(app)

    node = rm.has_node()

    rm.is_served(waiting, node=node)


@requirement("SI-NODE-011", "SI-NODE-012")
def test_a_node_created_draining_takes_work_only_once_it_is_undrained(rm: ResourceManager) -> None:
    app = rm.has_application()
    waiting = rm.has_waiting_ask(app)

    node = rm.registers_node(draining=True)
    rm.expect(NodeAccepted(node))
    later = rm.asks(app)
    rm.expect_none(Allocated(waiting), Allocated(later))
    rm.updates_node(node, memory=100)
    latest = rm.asks(app)
    rm.expect_none(Allocated(waiting), Allocated(later), Allocated(latest))

    rm.undrains(node)
    rm.is_served(waiting, node=node)


@requirement("SI-NODE-013")
def test_creating_a_known_node_draining_is_rejected_and_does_not_drain_it(
    rm: ResourceManager,
) -> None:
    node = rm.has_node()
    app = rm.has_application()

    rm.registers_node(node, draining=True)

    rm.expect(NodeRejected(node))
    rm.expect(Allocated(rm.asks(app), node=node))


@requirement("SI-NODE-013")
def test_creating_a_known_node_draining_does_not_drain_it_as_it_was_before(
    rm: ResourceManager,
) -> None:
    node = rm.has_node()
    app = rm.has_application()
    rm.drains(node)
    rm.undrains(node)
    with rm.precondition("an undrained node takes work"):
        rm.expect(Allocated(rm.asks(app), node=node))

    rm.registers_node(node, draining=True)

    rm.expect(NodeRejected(node))
    rm.expect(Allocated(rm.asks(app), node=node))


@requirement("SI-NODE-015")
def test_an_update_does_not_create_a_node(rm: ResourceManager) -> None:
    app = rm.has_application()
    waiting = rm.has_waiting_ask(app)
    unknown = rm.new_name("node")

    rm.updates_node(unknown, memory=10)

    rm.passes_over(NodeAccepted(unknown))  # an acknowledgement does not mean creation
    ask = rm.asks(app)
    rm.expect_none(Allocated(waiting), Allocated(ask))
    rm.registers_node(unknown)
    rm.expect(NodeAccepted(unknown))
    with rm.control("once created, the same node takes the ask"):
        rm.is_served(waiting, node=unknown)


@requirement("SI-NODE-037")
def test_entries_for_one_node_in_one_request_take_effect_in_order(rm: ResourceManager) -> None:
    app = rm.has_application()

    with rm.one_message():
        node = rm.registers_node()
        rm.drains(node)

    rm.expect(NodeAccepted(node))
    rm.sees_draining(node, app)


@requirement("SI-NODE-037")
def test_more_than_two_entries_for_one_node_take_effect_in_order(rm: ResourceManager) -> None:
    app = rm.has_application()

    with rm.one_message():
        node = rm.registers_node(memory=1)
        rm.updates_node(node, memory=10)
        rm.drains(node)
        rm.undrains(node)

    rm.expect(NodeAccepted(node))
    rm.expect(Allocated(rm.asks(app, memory=10), node=node))


@requirement("SI-NODE-037")
def test_a_node_decommissioned_and_created_in_one_request_is_the_new_one(
    rm: ResourceManager,
) -> None:
    rm.has_one_list_of_nodes()
    node = rm.has_node(memory=10)
    app = rm.has_application()

    with rm.one_message():
        rm.decommissions(node)
        rm.registers_node(node, memory=20)

    rm.expect(NodeAccepted(node))
    rm.expect(Allocated(rm.asks(app, memory=20), node=node))


@requirement("SI-NODE-039")
def test_a_draining_node_counts_as_known(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()
    rm.drains(node)

    rm.registers_node(node)

    rm.expect(NodeRejected(node))
    rm.sees_draining(node, app)


@requirement("SI-NODE-013")
def test_creating_a_draining_node_draining_is_rejected_and_leaves_it_draining(
    rm: ResourceManager,
) -> None:
    node = rm.has_node()
    app = rm.has_application()
    rm.drains(node)

    rm.registers_node(node, draining=True)

    rm.expect(NodeRejected(node))
    rm.sees_draining(node, app)
