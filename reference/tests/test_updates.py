"""Repeated keys: live allocations are resized, pending asks are replaced or placed.

Only where the key is the identity.
"""

import pytest
from sireference.core.model import (
    Answered,
    Ask,
    Callback,
    Effect,
    Entry,
    NewAllocation,
    PredicatesQuestion,
    PreemptionPolicy,
    RejectedAllocation,
)
from sireference.core.resources import Resource
from sireference.core.state.partition import Partition
from tests.configuring import tree
from tests.driving import STOPPED, TIMEOUT, keys, of, placed, released, states
from tests.gangs import PREEMPTED, REPLACED
from tests.keyed import Keyed, refused_entries, running, wanted
from tests.test_histories import accounting_balances, gangs_make_sense, preemptions_make_sense

MEMBER = {"task_group": "tg"}
PLACEHOLDER = {"task_group": "tg", "placeholder": True}
LIMITED = tree(
    "{name: default}",
    "{name: small, resources: {max: {memory: 10}}}",
    '{name: limited, limits: [{users: ["*"], maxresources: {memory: 10}}]}',
)
GUARANTEED = tree("{name: default, resources: {guaranteed: {memory: 10}}}", "{name: other}")
MAY_PREEMPT = {"preemption_policy": PreemptionPolicy(allow_preempt_other=True)}
MAY_GO = {"preemption_policy": PreemptionPolicy(allow_preempt_self=True)}


@pytest.fixture
def rm() -> Keyed:
    """Return an RM with node n1 (memory 10) and applications a1 and a2."""
    rm = Keyed()
    rm.creates("n1", memory=10)
    rm.submits("a1")
    rm.submits("a2")
    return rm


def makes_sense(partition: Partition) -> None:
    accounting_balances(partition)
    gangs_make_sense(partition)
    preemptions_make_sense(partition)


def reason(effects: list[Effect]) -> str:
    (rejected,) = of(effects, RejectedAllocation)
    return rejected.reason


# Live allocations


# requirement: SI-ALLOC-012, SI-ALLOC-013
@pytest.mark.parametrize("with_node", [True, False])
def test_update_of_a_live_allocation_sets_its_amount(rm: Keyed, *, with_node: bool) -> None:
    rm.wants("k1", memory=2)
    change = rm.runs if with_node else rm.wants

    assert change("k1", memory=8) == []
    assert rm.node().allocated == Resource({"memory": 8})
    assert rm.wants("k2", "a2", memory=4)[1:] == []
    assert placed(change("k1", memory=1)) == [("k2", "n1")]
    assert rm.node().allocated == Resource({"memory": 5})
    assert released(rm.ends("k1")) == [("k1", STOPPED)]
    makes_sense(rm.partition)


def test_update_adds_resource_types_and_removes_others(rm: Keyed) -> None:
    rm.wants("k1", memory=2)

    rm.runs("k1", vcore=3)

    assert rm.partition.root.used == Resource({"vcore": 3})
    assert rm.node().free == Resource({"memory": 10, "vcore": -3})


# requirement: SI-ALLOC-014
@pytest.mark.parametrize("queue", ["default", "small", "limited"])
def test_update_needs_no_capacity(queue: str) -> None:
    rm = Keyed(queues=LIMITED)
    rm.creates("n1", memory=10)
    rm.submits("a1", f"root.{queue}", user="bob")
    rm.wants("k1", memory=2)

    assert rm.runs("k1", memory=25) == []
    assert rm.wants("k2", memory=1) == []
    assert keys(rm.runs("k1", memory=2)) == ["k2"]
    makes_sense(rm.partition)


def test_update_to_the_same_amount_changes_nothing(rm: Keyed) -> None:
    rm.wants("k1", memory=2)
    rm.offers(*Callback)
    record = rm.partition.allocations.all["k1"].record
    changes = rm.partition.node_index.changes

    assert rm.lists(Ask("k1", "a1", resource=Resource({"memory": 2, "vcore": 0}))) == []

    assert rm.partition.allocations.all["k1"].record is record
    assert rm.partition.node_index.changes == changes


def test_growing_allocation_wakes_no_ask(rm: Keyed) -> None:
    rm.wants("k1", memory=2)
    rm.wants("k2", "a2", memory=9)
    looked_at = rm.partition.node_index.looked_at

    rm.runs("k1", memory=5)

    assert rm.partition.node_index.looked_at == looked_at


# requirement: SI-ASK-030, SI-ALLOC-015
@pytest.mark.parametrize(
    ("update", "change"),
    [
        (wanted("k1", memory=0), "no resource"),
        (wanted("k1"), "no resource"),
        (wanted("k1", memory=-1), "negative"),
        (wanted("k1", "a2", memory=3), "not one of application 'a2'"),
        (wanted("k1", "", memory=3), "not one of application ''"),
        (Ask("k1", "a1", resource=Resource({"x" * 2000: 1})), "characters"),
        (running("k1", "n2", memory=3), "is on node 'n1'"),
        (running("k1", "nowhere", memory=3), "no node 'nowhere'"),
        (running("k1", "n1", memory=0), "no resource"),
    ],
    ids=str,
)
def test_refused_update_changes_nothing(rm: Keyed, update: Entry, change: str) -> None:
    rm.creates("n2", memory=10)
    rm.drains("n2")
    rm.wants("k1", memory=4)

    effects = rm.lists(update)

    assert refused_entries(effects) == ["k1"]
    assert change in reason(effects)
    assert rm.node().allocated == Resource({"memory": 4})
    assert rm.node("n2").allocated == Resource()
    assert released(rm.ends("k1")) == [("k1", STOPPED)]


def test_only_the_amount_of_a_live_allocation_changes(rm: Keyed) -> None:
    rm.wants("k1", memory=1, more={"priority": 1, "tags": {"app": "x"}})

    rm.wants("k1", memory=2, more={"priority": 9, "tags": {}, **PLACEHOLDER})

    ask = rm.partition.allocations.all["k1"].record.ask
    assert (ask.priority, ask.tags, ask.task_group) == (1, {"app": "x"}, "")
    assert ask.resource == Resource({"memory": 2})


# requirement: SI-ASK-027
def test_repeated_key_has_one_allocation_with_the_last_values(rm: Keyed) -> None:
    effects = rm.lists(wanted("k1", memory=1), wanted("k1", memory=2), wanted("k1", memory=3))

    (new,) = of(effects, NewAllocation)
    assert new.allocation.ask.resource == Resource({"memory": 3})
    assert rm.lists(wanted("k1", memory=4), wanted("k1", memory=5)) == []
    assert rm.node().allocated == Resource({"memory": 5})


# requirement: SI-ASK-028
def test_key_can_be_reused_after_its_allocation_has_ended(rm: Keyed) -> None:
    rm.wants("k1", memory=1)
    rm.ends("k1")

    assert placed(rm.wants("k1", memory=2)) == [("k1", "n1")]
    assert rm.node().allocated == Resource({"memory": 2})


# Allocations being released


# requirement: SI-ALLOC-016
def test_resized_placeholder_stays_one_and_frees_all_of_its_amount(rm: Keyed) -> None:
    rm.submits("g1", placeholder_ask=Resource({"memory": 2}))
    rm.wants("p1", "g1", memory=2, more=PLACEHOLDER)
    rm.runs("p1", "n1", "g1", memory=3)
    (view,) = [one for one in rm.scheduler.snapshot("rm").applications if one.allocations]
    assert (view.allocated_placeholder, view.allocated_real) == ({"memory": 3}, {})

    assert released(rm.wants("r1", "g1", memory=2, more=MEMBER)) == [("p1", REPLACED)]
    rm.runs("p1", "n1", "g1", memory=4)
    assert rm.wants("r1", "g1", memory=5, more=MEMBER) == []
    makes_sense(rm.partition)

    assert placed(rm.ends("p1", "g1", REPLACED)) == [("r1", "n1")]
    (view,) = [one for one in rm.scheduler.snapshot("rm").applications if one.allocations]
    assert (view.allocated_placeholder, view.allocated_real) == ({}, {"memory": 5})
    assert rm.partition.root.used == rm.node().allocated == Resource({"memory": 5})


def test_timed_out_allocation_can_be_updated_until_it_ends(rm: Keyed) -> None:
    rm.submits("g1", placeholder_ask=Resource({"memory": 20}))
    rm.wants("p1", "g1", memory=2, more=PLACEHOLDER)
    rm.wants("p2", "g1", memory=18, more=PLACEHOLDER)
    assert ("p1", TIMEOUT) in released(rm.waits(1000.0))

    assert rm.runs("p1", "n1", "g1", memory=6) == []
    assert rm.node().allocated == Resource({"memory": 6})
    rm.ends("p1", "g1", TIMEOUT)

    assert rm.node().allocated == Resource()
    makes_sense(rm.partition)


def preempting() -> Keyed:
    """Let victim v (memory 8) of 10 on n1 be preempted for k1 (memory 5)."""
    rm = Keyed(queues=GUARANTEED)
    rm.creates("n1", memory=10)
    rm.submits("a1")
    rm.submits("a2", "root.other")
    rm.wants("v", "a2", memory=8, more=MAY_GO)
    effects = rm.wants("k1", memory=5, more=MAY_PREEMPT)
    assert released(effects + rm.waits(60.0)) == [("v", PREEMPTED)]
    return rm


@pytest.mark.parametrize("memory", [1, 6, 9, 30])
def test_resized_victim_frees_its_current_amount(memory: int) -> None:
    rm = preempting()

    effects = rm.runs("v", "n1", "a2", memory=memory)

    assert keys(effects) == (["k1"] if memory <= 5 else [])
    makes_sense(rm.partition)
    effects += rm.ends("v", "a2", PREEMPTED)
    assert keys(effects) == ["k1"]
    assert rm.node().allocated == Resource({"memory": 5})
    assert rm.node().yielding == rm.node().reserved == Resource()
    makes_sense(rm.partition)


def test_capacity_freed_by_another_serves_an_ask_with_victims() -> None:
    rm = Keyed(queues=GUARANTEED)
    rm.creates("n1", memory=10)
    rm.submits("a1")
    rm.submits("a2", "root.other")
    rm.wants("stays", "a2", memory=5)
    rm.wants("v", "a2", memory=5, more=MAY_GO)
    effects = rm.wants("k1", memory=5, more=MAY_PREEMPT)
    assert released(effects + rm.waits(60.0)) == [("v", PREEMPTED)]

    assert keys(rm.runs("stays", "n1", "a2", memory=1)) == []
    assert keys(rm.runs("v", "n1", "a2", memory=4)) == ["k1"]
    makes_sense(rm.partition)


def test_allocation_grown_beyond_the_guarantee_may_become_a_victim() -> None:
    guaranteed = "{name: other, resources: {guaranteed: {memory: 10}}}"
    rm = Keyed(queues=GUARANTEED.replace("{name: other}", guaranteed))
    rm.creates("n1", memory=10)
    rm.submits("a1")
    rm.submits("a2", "root.other")
    rm.wants("v1", "a2", memory=8, more=MAY_GO)
    rm.creates("n2", memory=2)
    rm.wants("v2", "a2", memory=2)
    assert released(rm.wants("k1", memory=4, more=MAY_PREEMPT) + rm.waits(120.0)) == []

    effects = rm.runs("v2", "n2", "a2", memory=12) + rm.waits(120.0)

    assert released(effects) == [("v1", PREEMPTED)]
    makes_sense(rm.partition)


# Pending asks


# requirement: SI-ASK-029, SI-ASK-032
def test_pending_request_is_replaced_as_a_whole(rm: Keyed) -> None:
    rm.wants("fills", memory=10)
    rm.wants("k1", memory=10, more={"priority": 1, "required_node": "elsewhere"})
    rm.wants("k2", memory=10, more={"priority": 5})

    rm.wants("k1", memory=9, more={"priority": 9})

    (new,) = of(rm.ends("fills"), NewAllocation)
    assert new.allocation.ask == wanted("k1", memory=9, more={"priority": 9})


# requirement: SI-ASK-030
@pytest.mark.parametrize(
    "update",
    [
        wanted("k1", memory=0),
        wanted("k1", memory=-1),
        running("k1", "nowhere", memory=1),
        running("k1", memory=0),
        running("k1", memory=-1),
        running("k1", "n1", "a2", memory=1),
        wanted("k1", "a2", memory=1),
    ],
    ids=str,
)
def test_refused_update_keeps_the_earlier_pending_request(rm: Keyed, update: Entry) -> None:
    rm.wants("fills", memory=10)
    rm.wants("k1", memory=8)

    assert refused_entries(rm.lists(update)) == ["k1"]

    (new,) = of(rm.ends("fills"), NewAllocation)
    assert new.allocation.ask == wanted("k1", memory=8)


# requirement: SI-ASK-031
def test_pending_request_sent_again_with_a_node_is_placed_by_the_rm(rm: Keyed) -> None:
    rm.wants("fills", memory=10)
    rm.wants("k1", memory=8)

    (new,) = rm.runs("k1", memory=4)

    assert isinstance(new, NewAllocation)
    assert (new.allocation.identity, new.allocation.node_id) == ("k1", "n1")
    assert new.allocation.ask.resource == Resource({"memory": 4})
    assert rm.node().free == Resource({"memory": -4})
    assert rm.wants("k2", memory=1) == []
    assert released(rm.ends("k1")) == [("k1", STOPPED)]
    makes_sense(rm.partition)


def test_rm_can_place_its_ask_on_a_draining_node(rm: Keyed) -> None:
    rm.wants("k1", memory=80)
    rm.drains("n1")

    assert placed(rm.runs("k1", memory=4)) == [("k1", "n1")]
    makes_sense(rm.partition)


def test_application_runs_with_an_allocation_placed_by_the_rm(rm: Keyed) -> None:
    rm.wants("k1", memory=80)

    assert states(rm.runs("k1", memory=4)) == ["Running"]


def test_rm_can_place_an_ask_that_waits_for_a_placeholder(rm: Keyed) -> None:
    rm.creates("n2", memory=10)
    rm.submits("g1", placeholder_ask=Resource({"memory": 2}))
    rm.wants("p1", "g1", memory=2, more=PLACEHOLDER)
    rm.wants("r1", "g1", memory=2, more=MEMBER)

    assert placed(rm.runs("r1", "n2", "g1", memory=3, more=MEMBER)) == [("r1", "n2")]
    makes_sense(rm.partition)

    assert keys(rm.ends("p1", "g1", REPLACED)) == []
    assert rm.partition.root.used == Resource({"memory": 3})
    makes_sense(rm.partition)


def test_rm_can_place_an_ask_that_waits_for_victims() -> None:
    rm = preempting()
    rm.creates("n2", memory=1)

    assert placed(rm.runs("k1", "n2", memory=5)) == [("k1", "n2")]
    makes_sense(rm.partition)
    assert rm.node().reserved == Resource()

    assert keys(rm.ends("v", "a2", PREEMPTED)) == []
    makes_sense(rm.partition)


@pytest.mark.parametrize("suits", [True, False])
def test_predicate_answer_is_ignored_once_the_rm_has_placed_the_ask(
    rm: Keyed, *, suits: bool
) -> None:
    rm.creates("n2", memory=10)
    rm.offers(Callback.PREDICATES)
    (question,) = of(rm.wants("k1", memory=2), PredicatesQuestion)

    assert placed(rm.runs("k1", "n2", memory=2)) == [("k1", "n2")]

    effects = rm.scheduler.handle(Answered("rm", question.number, suits), rm.now)
    assert keys(effects) == []
    assert rm.partition.root.used == Resource({"memory": 2})
    makes_sense(rm.partition)


def test_placeholder_placed_by_the_rm_can_be_replaced(rm: Keyed) -> None:
    rm.submits("g1", placeholder_ask=Resource({"memory": 20}))
    rm.wants("p1", "g1", memory=20, more=PLACEHOLDER)
    rm.wants("r1", "g1", memory=2, more=MEMBER)

    effects = rm.runs("p1", "n1", "g1", memory=20, more=PLACEHOLDER)

    assert keys(effects) == ["p1"]
    assert released(effects) == [("p1", REPLACED)]
    assert keys(rm.ends("p1", "g1", REPLACED)) == ["r1"]
    makes_sense(rm.partition)


# Existing allocations


# requirement: SI-REC-025
def test_allocation_reported_twice_counts_once(rm: Keyed) -> None:
    rm.runs("x1", memory=6)
    assert rm.runs("x1", memory=6) == []

    assert placed(rm.wants("k1", memory=4)) == [("k1", "n1")]
    assert released(rm.ends("x1")) == [("x1", STOPPED)]
    assert rm.ends("x1") == []


# requirement: SI-REC-004
def test_allocation_reported_without_key_is_rejected(rm: Keyed) -> None:
    assert refused_entries(rm.runs("", memory=6)) == [""]


# requirement: SI-REC-026
def test_allocation_that_ended_with_its_node_can_be_reported_again(rm: Keyed) -> None:
    rm.runs("x1", memory=6)
    assert released(rm.decommissions("n1")) == [("x1", STOPPED)]
    rm.creates("n1", memory=10)

    assert refused_entries(rm.runs("x1", memory=6)) == []
    assert rm.wants("k1", "a2", memory=10)[1:] == []
    assert keys(rm.ends("x1")) == ["k1"]
