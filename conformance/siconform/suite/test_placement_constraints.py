"""Placement constraints (2021-02 only): the nodes an allocation may use (SI-PLACE).

The published schema cannot express operators other than the default. Tests of the others use a
corrected schema, and are skipped if the scheduler does not read them.
"""

from dataclasses import replace

from siconform.catalogue.features import Feature
from siconform.marks import requirement
from siconform.protocol.constraints import Affinity, Constraint, Operator, on_nodes, where
from siconform.protocol.matchers import AnotherThan
from siconform.protocol.notifications import Allocated, NodeAccepted
from siconform.rm.resource_manager import ResourceManager

HOST = "si/hostname"
ONE_X_PER_HOST = Affinity(HOST, (where("app", "x"),), at_most=1)


@requirement("SI-PLACE-001")
def test_an_ask_without_constraint_goes_wherever_there_is_capacity(rm: ResourceManager) -> None:
    full = rm.has_node(memory=10, attributes={"zone": "a", HOST: rm.new_name("host")})
    app = rm.has_application()
    rm.has_allocation(app, memory=10, tags={"app": "x"}, node=full)
    free = rm.has_node(memory=10, attributes={"disk": "ssd", HOST: rm.new_name("host")})

    for _ in range(2):  # the second next to the first
        ask = rm.asks(app, memory=5, tags={"app": "x"})
        rm.expect(Allocated(ask, node=free))


@requirement("SI-PLACE-002")
def test_a_condition_without_operator_asks_for_one_of_its_values(rm: ResourceManager) -> None:
    in_a = rm.has_node(memory=4, attributes={"zone": "a"})
    in_b = rm.has_node(memory=100, attributes={"zone": "b"})
    app = rm.has_application()

    for operator in (Operator.IN, Operator.EMPTY):
        for zone, node in (("a", in_a), ("b", in_b)):
            ask = rm.asks(app, constraint=on_nodes(where("zone", zone, operator=operator)))
            rm.expect(Allocated(ask, node=node))
    for values in (("a", "c"), ("c", "a")):
        ask = rm.asks(app, constraint=on_nodes(where("zone", *values)))
        rm.expect(Allocated(ask, node=in_a))

    rm.expect_none(Allocated(rm.asks(app, constraint=on_nodes(where("zone", "a")))))


@requirement("SI-PLACE-003")
def test_an_attribute_is_one_of_the_values(rm: ResourceManager) -> None:
    rm.has_operators_read()
    in_a = rm.has_node(memory=2, attributes={"zone": "a"})
    rm.has_node(memory=100, attributes={"zone": "b"})
    app = rm.has_application()

    for values in (("a",), ("c", "a")):
        ask = rm.asks(app, constraint=on_nodes(where("zone", *values)))
        rm.expect(Allocated(ask, node=in_a))

    rm.expect_none(Allocated(rm.asks(app, constraint=on_nodes(where("zone", "a", "c")))))


@requirement("SI-PLACE-003")
def test_an_attribute_is_none_of_the_values(rm: ResourceManager) -> None:
    rm.has_operators_read()
    in_a = rm.has_node(memory=2, attributes={"zone": "a"})
    rm.has_node(memory=100, attributes={"zone": "b"})
    app = rm.has_application()
    not_in = Operator.NOT_IN

    for values in (("b",), ("c", "b")):
        ask = rm.asks(app, constraint=on_nodes(where("zone", *values, operator=not_in)))
        rm.expect(Allocated(ask, node=in_a))

    rm.expect_none(
        Allocated(rm.asks(app, constraint=on_nodes(where("zone", "b", operator=not_in))))
    )


@requirement("SI-PLACE-004")
def test_for_an_attribute_to_be_there_its_value_is_no_matter(rm: ResourceManager) -> None:
    rm.has_operators_read()
    with_disk = rm.has_node(memory=2, attributes={"disk": "ssd"})
    rm.has_node(memory=100, attributes={"zone": "ssd"})
    app = rm.has_application()
    exists = Operator.EXIST

    for value in ("hdd", "ssd"):
        ask = rm.asks(app, constraint=on_nodes(where("disk", value, operator=exists)))
        rm.expect(Allocated(ask, node=with_disk))

    rm.expect_none(
        Allocated(rm.asks(app, constraint=on_nodes(where("disk", "hdd", operator=exists))))
    )


@requirement("SI-PLACE-004")
def test_for_an_attribute_to_be_missing_its_value_is_no_matter(rm: ResourceManager) -> None:
    rm.has_operators_read()
    without_disk = rm.has_node(memory=2, attributes={"zone": "ssd"})
    rm.has_node(memory=100, attributes={"disk": "ssd"})
    app = rm.has_application()
    missing = Operator.NOT_EXIST

    for value in ("hdd", "ssd"):
        ask = rm.asks(app, constraint=on_nodes(where("disk", value, operator=missing)))
        rm.expect(Allocated(ask, node=without_disk))

    rm.expect_none(
        Allocated(rm.asks(app, constraint=on_nodes(where("disk", "hdd", operator=missing))))
    )


@requirement("SI-PLACE-005")
def test_all_conditions_on_a_node_hold_together(rm: ResourceManager) -> None:
    rm.has_node(memory=100, attributes={"zone": "a", "disk": "hdd"})
    fitting = rm.has_node(memory=1, attributes={"zone": "a", "disk": "ssd"})
    rm.has_node(memory=100, attributes={"zone": "b", "disk": "ssd"})
    app = rm.has_application()
    both = on_nodes(where("zone", "a"), where("disk", "ssd"))

    rm.expect(Allocated(rm.asks(app, constraint=both), node=fitting))

    rm.expect_none(Allocated(rm.asks(app, constraint=both)))


@requirement("SI-PLACE-006")
def test_conditions_on_the_node_and_on_what_runs_there_hold_together(rm: ResourceManager) -> None:
    taken = rm.has_node(attributes={"zone": "a", HOST: rm.new_name("host")})
    app = rm.has_application()
    rm.has_allocation(app, tags={"app": "x"}, node=taken)
    fitting = rm.has_node(attributes={"zone": "a", HOST: rm.new_name("host")})
    rm.has_node(attributes={"zone": "b", HOST: rm.new_name("host")})
    both = Constraint((where("zone", "a"),), ONE_X_PER_HOST)

    first = rm.asks(app, tags={"app": "x"}, constraint=both)
    rm.expect(Allocated(first, node=fitting))
    second = rm.asks(app, tags={"app": "x"}, constraint=both)

    rm.expect_none(Allocated(second))


@requirement("SI-PLACE-007")
def test_at_most_one_for_each_host_is_one_for_each_host(rm: ResourceManager) -> None:
    for _ in range(2):
        rm.has_node(attributes={HOST: rm.new_name("host")})
    app = rm.has_application()

    first = rm.asks(app, tags={"app": "x"}, constraint=Constraint(others=ONE_X_PER_HOST))
    with rm.control("the first ask is allocated"):
        there = rm.expect(Allocated(first))
    second = rm.asks(app, tags={"app": "x"}, constraint=Constraint(others=ONE_X_PER_HOST))
    rm.expect(Allocated(second, node=AnotherThan(there.node)))
    third = rm.asks(app, tags={"app": "x"}, constraint=Constraint(others=ONE_X_PER_HOST))

    rm.expect_none(Allocated(third))
    rm.has_released(there)
    rm.is_served(third, node=there.node)


@requirement("SI-PLACE-007")
def test_at_most_one_for_each_host_is_for_the_allocations_of_one_ask_too(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.SEVERAL_ALLOCATIONS)
    for _ in range(2):
        rm.has_node(attributes={HOST: rm.new_name("host")})
    app = rm.has_application()

    ask = rm.asks(app, times=3, tags={"app": "x"}, constraint=Constraint(others=ONE_X_PER_HOST))
    rm.has_first_allocations(ask, 2)

    rm.expect_none(Allocated(ask))


@requirement("SI-PLACE-007")
def test_existing_allocations_of_a_new_node_count_on_its_host(rm: ResourceManager) -> None:
    app = rm.has_application()
    taken = rm.new_name("node")
    existing = replace(rm.remembers_allocation(app, taken), tags={"app": "x"})
    with rm.precondition("a node with an existing allocation is accepted"):
        rm.registers_node(taken, attributes={HOST: rm.new_name("host")}, existing=(existing,))
        rm.expect(NodeAccepted(taken))

    ask = rm.asks(app, tags={"app": "x"}, constraint=Constraint(others=ONE_X_PER_HOST))

    rm.expect_none(Allocated(ask))
    free = rm.has_node(attributes={HOST: rm.new_name("host")})
    rm.is_served(ask, node=free)


@requirement("SI-PLACE-007")
def test_nodes_with_one_value_of_the_scope_count_as_one(rm: ResourceManager) -> None:
    taken = rm.has_node(attributes={"rack": "r1"})
    app = rm.has_application()
    rm.has_allocation(app, tags={"app": "x"}, node=taken)
    rm.has_node(attributes={"rack": "r1"})
    one_per_rack = Constraint(others=Affinity("rack", (where("app", "x"),), at_most=1))

    alongside = rm.asks(app, tags={"app": "x"}, constraint=one_per_rack)
    rm.expect_none(Allocated(alongside))
    rm.withdraws(alongside)
    in_another_rack = rm.has_node(attributes={"rack": "r2"})

    elsewhere = rm.asks(app, tags={"app": "x"}, constraint=one_per_rack)
    rm.expect(Allocated(elsewhere, node=in_another_rack))


@requirement("SI-PLACE-008")
def test_as_many_as_are_needed_have_to_be_there(rm: ResourceManager) -> None:
    crowded = rm.has_node(memory=3, attributes={"zone": "a"})
    app = rm.has_application()
    for _ in range(2):
        rm.has_allocation(app, tags={"app": "x"}, node=crowded)
    empty = rm.has_node(memory=100, attributes={"zone": "b"})
    two_in_its_zone = Constraint(others=Affinity("zone", (where("app", "x"),), at_least=2))

    rm.expect(Allocated(rm.asks(app, constraint=two_in_its_zone), node=crowded))
    with rm.control("without the constraint an ask is allocated on a free node"):
        rm.expect(Allocated(rm.asks(app), node=empty))
    without_capacity = rm.asks(app, constraint=two_in_its_zone)

    rm.expect_none(Allocated(without_capacity))


@requirement("SI-PLACE-008")
def test_as_many_as_are_allowed_may_be_there(rm: ResourceManager) -> None:
    host = rm.has_node(attributes={HOST: rm.new_name("host")})
    app = rm.has_application()
    two_on_a_host = Constraint(others=Affinity(HOST, (where("app", "x"),), at_most=2))

    for _ in range(2):
        ask = rm.asks(app, tags={"app": "x"}, constraint=two_on_a_host)
        rm.expect(Allocated(ask, node=host))

    more = [rm.asks(app, tags={"app": "x"}, constraint=two_on_a_host) for _ in range(2)]
    rm.receive_if_any(*(Allocated(ask) for ask in more))  # a third, if asks do not count themselves
    rm.expect_none(*(Allocated(ask) for ask in more))


@requirement("SI-PLACE-009")
def test_what_is_required_holds_back_and_what_is_preferred_does_not(rm: ResourceManager) -> None:
    rm.has_node(attributes={"zone": "a"})
    app = rm.has_application()
    company = (where("app", "unknown"),)

    preferred = Affinity("zone", company, at_least=1, required=False)
    with rm.control("the same ask with a preferred constraint is allocated"):
        rm.expect(Allocated(rm.asks(app, constraint=Constraint(others=preferred))))
    required = Affinity("zone", company, at_least=1, required=True)
    alone = rm.asks(app, constraint=Constraint(others=required))

    rm.expect_none(Allocated(alone))


@requirement("SI-PLACE-009")
def test_a_preferred_constraint_that_cannot_be_met_is_passed_over(rm: ResourceManager) -> None:
    host = rm.has_node(attributes={HOST: rm.new_name("host")})
    app = rm.has_application()
    rm.has_allocation(app, tags={"app": "x"}, node=host)
    rather_not = Affinity(HOST, (where("app", "x"),), at_most=1, required=False)

    ask = rm.asks(app, tags={"app": "x"}, constraint=Constraint(others=rather_not))

    rm.expect(Allocated(ask, node=host))


@requirement("SI-PLACE-010")
def test_a_constraint_binds_what_comes_with_it_and_not_what_comes_later(
    rm: ResourceManager,
) -> None:
    host = rm.has_node(attributes={HOST: rm.new_name("host")})
    app = rm.has_application()
    alone = Constraint(others=Affinity(HOST, (where("app", "y"),), at_most=1))
    rm.has_allocation(app, tags={"app": "y"}, constraint=alone, node=host)

    unbound = rm.asks(app, tags={"app": "y"})

    rm.expect(Allocated(unbound, node=host))


@requirement("SI-PLACE-011")
def test_for_a_tag_to_be_there_its_value_is_no_matter(rm: ResourceManager) -> None:
    rm.has_operators_read()
    host = rm.has_node(attributes={HOST: rm.new_name("host")})
    app = rm.has_application()
    for value in ("y", "w"):
        rm.has_allocation(app, tags={"app": value}, node=host)

    no_more_with_other = Affinity(HOST, (where("other", "x", operator=Operator.EXIST),), at_most=1)
    with rm.control("an ask whose tag no allocation carries is allocated"):
        rm.expect(Allocated(rm.asks(app, constraint=Constraint(others=no_more_with_other))))
    no_more_with_app = Affinity(HOST, (where("app", "x", operator=Operator.EXIST),), at_most=1)
    crowded_out = rm.asks(app, constraint=Constraint(others=no_more_with_app))

    rm.expect_none(Allocated(crowded_out))
