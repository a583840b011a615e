"""Allocations: fields, nodes, capacity."""

from sireference.core.model import Ask, NewAllocation, PreemptionPolicy
from sireference.core.resources import Resource
from sireference.core.states import NodeAction
from tests.driving import RM, identities, keys, of, placed

BIG = 2**62


# requirement: SI-ALLOC-002, SI-ALLOC-003, SI-ALLOC-007
def test_allocation_repeats_all_fields_of_its_ask(busy: RM) -> None:
    ask = Ask(
        key="k1",
        application_id="a1",
        resource=Resource({"memory": 2, "gpu": 0}),
        max_allocations=2,
        priority=7,
        tags={"t": "v"},
        task_group="tg",
        placeholder=True,
        originator=True,
        preemption_policy=PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True),
    )

    made = of(busy.send(asks=(ask,)), NewAllocation)

    assert [new.allocation.ask for new in made] == [ask, ask]
    assert {new.allocation.node_id for new in made} == {"n1"}


def test_state_change_is_reported_before_the_allocation_that_caused_it(busy: RM) -> None:
    kinds = [type(effect).__name__ for effect in busy.asks("k", memory=1, most=2)]

    assert kinds == ["UpdatedApplication"] * 2 + [
        "NewAllocation",
        "UpdatedApplication",
        "NewAllocation",
    ]


# requirement: SI-ALLOC-001
def test_only_schedulable_nodes_of_the_same_rm_are_used(busy: RM) -> None:
    other = RM(scheduler=busy.scheduler, rm_id="other")
    other.creates("n4", memory=1000)
    for node in ("n2", "n3"):
        busy.creates(node, memory=1000)
    busy.drains("n2")
    busy.decommissions("n3")

    effects = busy.asks("k", memory=1, most=20)

    assert placed(effects) == [("k", "n1")] * 10


# requirement: SI-ALLOC-004, SI-ALLOC-005, SI-ALLOC-008
def test_identities_are_unique_even_across_registrations(busy: RM) -> None:
    seen: list[str] = []
    for registration in range(3):
        busy.registers()
        busy.creates("n1", memory=10)
        busy.submits("a1")
        for number in range(20):
            seen += identities(busy.asks(f"{registration}-{number}", memory=10))
            busy.releases(seen[-1])

    assert len(seen) == len(set(seen)) == 60
    assert all(seen)


# requirement: SI-RES-001, SI-RES-002
def test_resource_types_are_arbitrary_names_and_a_missing_one_is_zero(rm: RM) -> None:
    rm.submits("a1")
    rm.creates("n1", memory=10)
    rm.creates("n2", capacity={"memory": 10, "x.y/z": 1})

    assert placed(rm.asks("k1", resource={"memory": 1, "x.y/z": 1})) == [("k1", "n2")]
    assert sorted(placed(rm.asks("k2", memory=9) + rm.asks("k3", memory=9))) in (
        [("k2", "n1"), ("k3", "n2")],
        [("k2", "n2"), ("k3", "n1")],
    )
    assert keys(rm.asks("k4", resource={"x.y/z": 1})) == []


# requirement: SI-RES-003
def test_amounts_use_the_full_range_of_int64(rm: RM) -> None:
    rm.submits("a1")
    rm.creates("n1", memory=2**63 - 1)

    assert keys(rm.asks("k1", memory=BIG)) == ["k1"]
    assert keys(rm.asks("k3", memory=BIG - 1)) == ["k3"]
    assert keys(rm.asks("k2", memory=BIG)) == []
    assert keys(rm.asks("k4", memory=1)) == []


def test_unknown_required_node_blocks_no_other_ask(busy: RM) -> None:
    assert placed(busy.asks("k1", memory=1, more={"required_node": "nX"})) == []
    assert placed(busy.asks("k2", memory=1)) == [("k2", "n1")]
    assert placed(busy.send_node_action("nX", NodeAction.CREATE, {"memory": 1})) == [("k1", "nX")]
