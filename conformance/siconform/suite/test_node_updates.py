"""Node updates: capacity, occupied resource and attributes (SI-NODE)."""

from collections.abc import Mapping

import pytest

from siconform.marks import requirement, waits
from siconform.protocol.constraints import on_nodes, where
from siconform.protocol.matchers import Including, Lacking
from siconform.protocol.notifications import Allocated, Released, Termination
from siconform.protocol.snapshot_facts import NodeSeen
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.unregistered_rm import UnregisteredRM


@requirement("SI-NODE-017", "SI-NODE-006")
def test_more_capacity_serves_what_had_no_capacity(rm: ResourceManager) -> None:
    node = rm.has_node(memory=4)
    app = rm.has_application()
    rm.has_allocation(app, memory=4)
    waiting = rm.has_waiting_ask(app, memory=4)

    rm.updates_node(node, memory=10)

    rm.is_served(waiting, node=node)
    beyond = rm.asks(app, memory=4)
    rm.expect_none(Allocated(beyond))


@requirement("SI-NODE-018")
def test_less_capacity_stops_placement_beyond_it(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app, other_app = rm.has_application(), rm.has_application()

    rm.updates_node(node, memory=4)
    too_large = rm.asks(app, memory=6)

    rm.expect_none(Allocated(too_large))
    with rm.control("an ask that fits the smaller node is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(other_app, memory=4), node=node))


@requirement("SI-NODE-018")
def test_less_capacity_counts_what_is_there(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=3)

    rm.updates_node(node, memory=6)
    beyond = rm.asks(app, memory=4)

    rm.expect_none(Allocated(beyond))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(beyond)
        rm.expect(Allocated(rm.asks(app, memory=3), node=node))


@requirement("SI-NODE-018")
def test_a_type_left_out_of_an_update_is_no_more_on_the_node(rm: ResourceManager) -> None:
    node = rm.has_node(resources={"memory": 10, "vcore": 10, "gpu": 2})
    app = rm.has_application()
    rm.has_allocation(app)  # keeps the application from completing
    with rm.control("before the update an equal ask is allocated"):
        rm.has_released(rm.has_allocation(app, resources={"memory": 1, "gpu": 1}, node=node))

    rm.updates_node(node, resources={"memory": 10, "vcore": 10})

    too_large = rm.asks(app, resources={"memory": 1, "gpu": 1})
    rm.expect_none(Allocated(too_large))
    rm.withdraws(too_large)
    rm.expect(Allocated(rm.asks(app, memory=1), node=node))


@requirement("SI-NODE-018")
def test_a_type_updated_to_zero_is_no_more_on_the_node(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10, vcore=10)
    app = rm.has_application()

    rm.updates_node(node, memory=0, vcore=10)

    waiting = rm.asks(app, memory=1, vcore=1)
    rm.expect_none(Allocated(waiting))
    with rm.control("with some of the type again the node takes the ask"):
        rm.updates_node(node, memory=1, vcore=10)
        rm.is_served(waiting, node=node)


@requirement("SI-NODE-018")
def test_a_type_updated_below_zero_gives_its_node_no_more(unregistered_rm: UnregisteredRM) -> None:
    rm = unregistered_rm
    rm.has_registered()
    node = rm.has_node(memory=10, vcore=10)
    app = rm.has_application()

    rm.updates_node(node, memory=-20, vcore=10)

    waiting = rm.asks(app, memory=15)
    rm.expect_none(Allocated(waiting))
    with rm.control("with as much of the type the node takes the ask"):
        rm.updates_node(node, memory=20, vcore=10)
        rm.is_served(waiting, node=node)


@requirement("SI-NODE-017")
def test_a_node_may_grow_more_than_once(rm: ResourceManager) -> None:
    node = rm.has_node(memory=4)
    app = rm.has_application()
    rm.has_allocation(app, memory=4)

    for memory in (8, 12):
        waiting = rm.has_waiting_ask(app, memory=4)
        rm.updates_node(node, memory=memory)
        rm.is_served(waiting, node=node)


@requirement("SI-NODE-018")
def test_a_node_may_shrink_more_than_once(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app)  # keeps the application from completing

    for memory in (8, 5):
        rm.updates_node(node, memory=memory)
        beyond = rm.asks(app, memory=memory)
        rm.expect_none(Allocated(beyond))
        rm.withdraws(beyond)

    with rm.control("an ask that fits the smaller node is allocated"):
        rm.expect(Allocated(rm.asks(app, memory=4), node=node))


@requirement("SI-NODE-018")
def test_a_node_that_has_grown_may_shrink(rm: ResourceManager) -> None:
    node = rm.has_node(memory=4)
    app, other_app = rm.has_application(), rm.has_application()

    rm.updates_node(node, memory=10)
    rm.updates_node(node, memory=6)
    too_large = rm.asks(app, memory=7)

    rm.expect_none(Allocated(too_large))
    rm.withdraws(too_large)
    with rm.control("an ask that fits the smaller node is allocated"):
        rm.expect(Allocated(rm.asks(other_app, memory=4), node=node))


@requirement("SI-NODE-017")
def test_a_node_that_has_shrunk_may_grow(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()

    rm.updates_node(node, memory=2)
    waiting = rm.has_waiting_ask(app, memory=6)
    rm.updates_node(node, memory=8)

    rm.is_served(waiting, node=node)


@requirement("SI-NODE-018")
def test_less_of_any_type_stops_placement_beyond_it(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10, vcore=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=1, vcore=2)

    rm.updates_node(node, memory=20, vcore=5)

    beyond = rm.asks(app, memory=1, vcore=4)
    rm.expect_none(Allocated(beyond))
    rm.withdraws(beyond)
    rm.expect(Allocated(rm.asks(app, memory=19, vcore=3), node=node))


@requirement("SI-NODE-017")
def test_more_of_any_type_serves_what_had_no_capacity(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10, vcore=2)
    app = rm.has_application()
    rm.has_allocation(app, memory=1, vcore=1)
    waiting = rm.has_waiting_ask(app, memory=1, vcore=5)

    rm.updates_node(node, memory=10, vcore=6)

    rm.is_served(waiting, node=node)


@requirement("SI-NODE-018")
def test_less_capacity_counts_once_its_node_is_undrained(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.drains(node)

    rm.updates_node(node, memory=4)
    rm.undrains(node)

    with rm.control("an ask that fits the smaller node is allocated"):
        rm.expect(Allocated(rm.asks(app, memory=4), node=node))
    rm.expect_none(Allocated(rm.asks(app, memory=1)))


@requirement("SI-NODE-017")
def test_more_capacity_counts_once_its_node_is_undrained(rm: ResourceManager) -> None:
    node = rm.has_node(memory=4)
    app = rm.has_application()
    waiting = rm.has_waiting_ask(app, memory=6)
    rm.drains(node)

    rm.updates_node(node, memory=10)
    rm.undrains(node)

    rm.is_served(waiting, node=node)


@pytest.mark.parametrize("before", [{}, {"gpu": 1}], ids=["none before", "less before"])
@requirement("SI-NODE-017")
def test_more_of_a_third_type_serves_what_had_no_capacity(
    rm: ResourceManager, before: dict[str, int]
) -> None:
    node = rm.has_node(resources={"memory": 10, "vcore": 10, **before})
    app = rm.has_application()
    two = {"memory": 1, "vcore": 1, "gpu": 2}
    waiting = rm.has_ask_left_alone(app, "the types of a node", resources=two)

    rm.updates_node(node, resources={"memory": 10, "vcore": 10, "gpu": 2})

    rm.is_served(waiting, node=node)


@requirement("SI-NODE-019")
def test_a_node_that_shrinks_below_its_usage_may_lose_allocations(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    for _ in range(2):
        rm.has_allocation(app, memory=5, node=node)

    rm.updates_node(node, memory=6)
    rm.settles()

    preempted = rm.observe(Released(termination=Termination.PREEMPTED_BY_SCHEDULER))
    rm.records(f"a node that shrank below its usage: {len(preempted)} allocations preempted")


@requirement("SI-NODE-043")
def test_a_shrinking_node_loses_allocations_by_preemption_only(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocations = [rm.has_allocation(app, memory=5, node=node) for _ in range(2)]

    rm.updates_node(node, memory=6)

    others = [t for t in Termination if t is not Termination.PREEMPTED_BY_SCHEDULER]
    rm.expect_none(
        *(Released(identity=a.identity, termination=t) for a in allocations for t in others),
        *(Released(application=app, identity="", termination=t) for t in others),
    )
    rm.synchronise_all()
    for allocation in allocations:
        if not rm.was_released(allocation):
            rm.still_holds(allocation)


@requirement("SI-NODE-020")
def test_attributes_of_an_update_replace_those_before(rm: ResourceManager) -> None:
    node = rm.has_node(attributes={"zone": "a", "disk": "ssd"})
    with rm.precondition("a snapshot shows attributes"):
        rm.sees(NodeSeen(node, attributes=Including({"zone": "a"})))

    rm.updates_node(node, attributes={"zone": "b"})

    rm.sees(NodeSeen(node, attributes=Including({"zone": "b"})))


@requirement("SI-NODE-020")
def test_an_ask_goes_by_the_latest_attributes_of_a_node(rm: ResourceManager) -> None:
    rm.has_constraints_enforced()
    node = rm.has_node(attributes={"zone": "a", "disk": "ssd"})
    app = rm.has_application()

    rm.updates_node(node, attributes={"zone": "b"})

    rm.expect(Allocated(rm.asks(app, constraint=on_nodes(where("zone", "b"))), node=node))
    rm.expect_none(Allocated(rm.asks(app, constraint=on_nodes(where("zone", "a")))))


@requirement("SI-NODE-038")
def test_attributes_left_out_of_an_update_are_gone(rm: ResourceManager) -> None:
    node = rm.has_node(attributes={"zone": "a", "disk": "ssd"})
    with rm.control("before the update the attribute exists"):
        rm.sees(NodeSeen(node, attributes=Including({"disk": "ssd"})))

    rm.updates_node(node, attributes={"zone": "b"})

    rm.sees(NodeSeen(node, attributes=Lacking("disk")))


@requirement("SI-NODE-038")
def test_no_ask_goes_by_an_attribute_that_was_left_out_of_an_update(rm: ResourceManager) -> None:
    rm.has_constraints_enforced()
    node = rm.has_node(attributes={"zone": "a", "disk": "ssd"})
    app = rm.has_application()
    with rm.control("before the update the attribute exists"):
        fast = on_nodes(where("disk", "ssd"))
        rm.expect(Allocated(rm.asks(app, constraint=fast), node=node))

    rm.updates_node(node, attributes={"zone": "b"})

    rm.expect_none(Allocated(rm.asks(app, constraint=fast)))
    with rm.control("an ask without constraint is still allocated there"):
        rm.expect(Allocated(rm.asks(app), node=node))


@requirement("SI-NODE-021")
def test_less_occupied_resource_makes_capacity(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10, occupied={"memory": 8})
    app = rm.has_application()
    waiting = rm.has_waiting_ask(app, memory=6)

    rm.updates_node(node, memory=10, occupied={"memory": 2})

    rm.is_served(waiting, node=node)
    beyond = rm.asks(app, memory=3)
    rm.expect_none(Allocated(beyond))


@requirement("SI-NODE-021")
def test_a_type_left_out_of_an_occupied_resource_is_not_occupied_any_more(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10, vcore=10, occupied={"memory": 2, "vcore": 10})
    waiting = rm.has_waiting_ask(rm.has_application(), memory=6)

    rm.updates_node(node, memory=10, vcore=10, occupied={"memory": 2})

    rm.is_served(waiting, node=node)


@pytest.mark.parametrize("capacity", [10, None], ids=["with-capacity", "alone"])
@requirement("SI-NODE-021", "SI-NODE-007")
def test_more_occupied_resource_takes_capacity_away(
    rm: ResourceManager, capacity: int | None
) -> None:
    node = rm.has_node(memory=10, occupied={"memory": 1})
    app = rm.has_application()
    with rm.control("before the update an equal ask is allocated"):
        rm.has_released(rm.expect(Allocated(rm.asks(app, memory=7), node=node)))

    rm.updates_node(node, memory=capacity, occupied={"memory": 4})

    beyond = rm.asks(app, memory=7)
    rm.expect_none(Allocated(beyond))


@requirement("SI-NODE-022")
def test_a_capacity_left_out_of_an_update_stays(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=2)

    rm.updates_node(node, attributes={"zone": "b"})

    rm.expect(Allocated(rm.asks(app, memory=8), node=node))
    beyond = rm.asks(app, memory=1)
    rm.expect_none(Allocated(beyond))


@requirement("SI-NODE-022")
def test_a_capacity_left_out_alongside_an_occupied_resource_stays(rm: ResourceManager) -> None:
    rm.has_occupied_resource()
    node = rm.has_node(memory=10, occupied={"memory": 2})
    app = rm.has_application()

    rm.updates_node(node, attributes={"zone": "b"})
    rm.expect(Allocated(rm.asks(app, memory=4), node=node))
    rm.updates_node(node, occupied={"memory": 3})

    rm.expect(Allocated(rm.asks(app, memory=3), node=node))
    beyond = rm.asks(app, memory=1)
    rm.expect_none(Allocated(beyond))


@requirement("SI-NODE-022")
def test_an_occupied_resource_left_out_of_an_update_stays(rm: ResourceManager) -> None:
    rm.has_occupied_resource()
    node = rm.has_node(memory=10, occupied={"memory": 2})
    app = rm.has_application()

    rm.updates_node(node, attributes={"zone": "b"})
    beyond = rm.asks(app, memory=9)
    rm.expect_none(Allocated(beyond))
    rm.withdraws(beyond)
    rm.updates_node(node, memory=12)

    rm.is_served(rm.asks(app, memory=10), node=node)
    beyond = rm.asks(app, memory=1)
    rm.expect_none(Allocated(beyond))


@pytest.mark.parametrize(
    ("memory", "attributes"),
    [(100, {}), (None, {"si/rackname": "one"}), (10, {"si/rackname": "one"})],
    ids=["resources", "attributes", "both"],
)
@requirement("SI-NODE-025")
def test_an_update_does_not_end_draining(
    rm: ResourceManager, memory: int | None, attributes: Mapping[str, str]
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.drains(node)
    waiting = rm.has_waiting_ask(app)

    rm.updates_node(node, memory=memory, attributes=attributes)

    later = rm.asks(app)
    rm.expect_none(Allocated(waiting), Allocated(later))
    with rm.control("undrained, the node takes the ask"):
        rm.undrains(node)
        rm.is_served(waiting, node=node)


@requirement("SI-NODE-025", "SI-NODE-026")
def test_an_update_does_not_end_draining_of_a_node_in_use(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=4)
    rm.drains(node)

    rm.updates_node(node, memory=20)

    rm.sees_draining(node, app)


@requirement("SI-NODE-040")
def test_an_update_may_carry_any_attribute(rm: ResourceManager) -> None:
    node = rm.has_node(attributes={"si/local-images": "one"})
    app = rm.has_application()

    rm.updates_node(node, attributes={"si/local-images": "two"})

    rm.expect(Allocated(rm.asks(app), node=node))


@requirement("SI-NODE-040")
def test_an_update_may_name_another_partition(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()

    rm.updates_node(node, attributes={"si/node-partition": "another"})

    still_used = rm.receive_if_any(Allocated(rm.asks(app), node=node))
    rm.records(
        f"a node whose partition changed {'is still used' if still_used else 'is no longer used'}"
    )


@requirement("SI-NODE-020")
def test_readiness_reported_again_counts(rm: ResourceManager) -> None:
    app = rm.has_application()
    node = rm.has_node(attributes={"ready": "false"})
    ask = rm.has_ask_left_alone(app, "the readiness of nodes")

    rm.updates_node(node, attributes={"ready": "true"})

    rm.is_served(ask, node=node)


@requirement("SI-NODE-018")
def test_a_node_below_its_use_has_capacity_only_once_enough_has_ended(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocations = [rm.has_allocation(app, memory=5) for _ in range(2)]

    rm.updates_node(node, memory=6)

    rm.settles()  # one of them may be preempted
    live = [one for one in allocations if not rm.was_released(one)]
    rm.needs_some(live, of="to keep what fits a node that has shrunk")
    if len(live) == len(allocations):
        rm.has_released(live[0])
    too_large = rm.asks(app, memory=2)
    rm.expect_none(Allocated(too_large))
    with rm.control("an ask that fits is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=1), node=node))


@requirement("SI-NODE-018", "SI-NODE-006")
def test_a_node_that_was_below_its_use_and_grows_has_only_what_is_left(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=8)

    rm.updates_node(node, memory=4)
    rm.has_kept(allocation)
    rm.updates_node(node, memory=10)

    beyond = rm.asks(app, memory=3)
    with rm.keeping(allocation):
        rm.expect_none(Allocated(beyond))
    with rm.control("an ask that fits is allocated"):
        rm.withdraws(beyond)
        rm.expect(Allocated(rm.asks(app, memory=2), node=node))


@waits
@requirement("SI-NODE-018")
def test_a_node_that_shrank_takes_no_more_later_either(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.updates_node(node, memory=4)
    rm.has_allocation(app, memory=1, node=node)  # keeps the application from completing
    too_large = rm.asks(app, memory=6)

    rm.stays_quiet(Allocated(too_large), window=rm.deadlines.afterwards)

    rm.is_not_served(too_large)
    with rm.control("an ask that fits the smaller node is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=3), node=node))
