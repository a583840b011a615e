"""Updates by key: a live allocation is resized, a pending request is replaced or placed.

Only where the key is the identity.
"""

from typing import Any

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
from tests.driving import STOPPED, TIMEOUT, keys, of, placed, released, states
from tests.gangs import PREEMPTED, REPLACED
from tests.keyed import Keyed, refused_entries, running, wanted
from tests.test_histories import accounting_balances, gangs_make_sense, preemptions_make_sense

MEMBER = {"task_group": "tg"}
PLACEHOLDER = {"task_group": "tg", "placeholder": True}
LIMITED = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: default}
          - {name: small, resources: {max: {memory: 10}}}
          - name: limited
            limits: [{users: ["*"], maxresources: {memory: 10}}]
"""
GUARANTEED = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: default, resources: {guaranteed: {memory: 10}}}
          - {name: other}
"""
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
def test_another_amount_under_the_key_of_what_lives_is_what_it_holds(
    rm: Keyed, *, with_node: bool
) -> None:
    rm.wants("k1", memory=2)
    change = rm.runs if with_node else rm.wants

    assert change("k1", memory=8) == []
    assert rm.node().allocated == Resource({"memory": 8})
    assert rm.wants("k2", "a2", memory=4)[1:] == []
    assert placed(change("k1", memory=1)) == [("k2", "n1")]
    assert rm.node().allocated == Resource({"memory": 5})
    assert released(rm.ends("k1")) == [("k1", STOPPED)]
    makes_sense(rm.partition)


def test_an_update_takes_types_of_resource_along_and_leaves_others_out(rm: Keyed) -> None:
    rm.wants("k1", memory=2)

    rm.runs("k1", vcore=3)

    assert rm.partition.root.used == Resource({"vcore": 3})
    assert rm.node().free == Resource({"memory": 10, "vcore": -3})


# requirement: SI-ALLOC-014
@pytest.mark.parametrize("queue", ["default", "small", "limited"])
def test_an_update_needs_no_capacity(queue: str) -> None:
    rm = Keyed(queues=LIMITED)
    rm.creates("n1", memory=10)
    rm.submits("a1", f"root.{queue}", user="bob")
    rm.wants("k1", memory=2)

    assert rm.runs("k1", memory=25) == []
    assert rm.wants("k2", memory=1) == []
    assert keys(rm.runs("k1", memory=2)) == ["k2"]
    makes_sense(rm.partition)


def test_what_waits_for_its_queue_goes_when_something_in_it_shrinks() -> None:
    rm = Keyed(queues=LIMITED)
    rm.creates("n1", memory=100)
    rm.submits("a1", "root.small")
    rm.wants("k1", memory=9)
    assert rm.wants("k2", memory=5) == []

    assert keys(rm.wants("k1", memory=5)) == ["k2"]


def test_the_amount_it_has_already_changes_nothing(rm: Keyed) -> None:
    rm.wants("k1", memory=2)
    rm.offers(*Callback)
    record = rm.partition.allocations.all["k1"].record
    changes = rm.partition.node_index.changes

    assert rm.lists(Ask("k1", "a1", resource=Resource({"memory": 2, "vcore": 0}))) == []

    assert rm.partition.allocations.all["k1"].record is record
    assert rm.partition.node_index.changes == changes


def test_what_grows_wakes_no_one(rm: Keyed) -> None:
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
def test_an_update_that_is_refused_changes_nothing(rm: Keyed, update: Entry, change: str) -> None:
    rm.creates("n2", memory=10)
    rm.drains("n2")
    rm.wants("k1", memory=4)

    effects = rm.lists(update)

    assert refused_entries(effects) == ["k1"]
    assert change in reason(effects)
    assert rm.node().allocated == Resource({"memory": 4})
    assert rm.node("n2").allocated == Resource()
    assert released(rm.ends("k1")) == [("k1", STOPPED)]


def test_of_what_lives_only_the_amount_changes(rm: Keyed) -> None:
    rm.wants("k1", memory=1, more={"priority": 1, "tags": {"app": "x"}})

    rm.wants("k1", memory=2, more={"priority": 9, "tags": {}, **PLACEHOLDER})

    ask = rm.partition.allocations.all["k1"].record.ask
    assert (ask.priority, ask.tags, ask.task_group) == (1, {"app": "x"}, "")
    assert ask.resource == Resource({"memory": 2})


# requirement: SI-ASK-027
def test_a_key_that_is_named_several_times_has_one_allocation_of_the_last_values(
    rm: Keyed,
) -> None:
    effects = rm.lists(wanted("k1", memory=1), wanted("k1", memory=2), wanted("k1", memory=3))

    (new,) = of(effects, NewAllocation)
    assert new.allocation.ask.resource == Resource({"memory": 3})
    assert rm.lists(wanted("k1", memory=4), wanted("k1", memory=5)) == []
    assert rm.node().allocated == Resource({"memory": 5})


# requirement: SI-ASK-028
def test_a_key_whose_allocation_has_ended_serves_again(rm: Keyed) -> None:
    rm.wants("k1", memory=1)
    rm.ends("k1")

    assert placed(rm.wants("k1", memory=2)) == [("k1", "n1")]
    assert rm.node().allocated == Resource({"memory": 2})


# Allocations with an open release


# requirement: SI-ALLOC-016
def test_a_placeholder_that_grew_stays_one_and_gives_back_all_of_it(rm: Keyed) -> None:
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


def test_what_times_out_is_updated_until_it_ends(rm: Keyed) -> None:
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
def test_a_victim_of_another_size_gives_back_what_it_has_then(memory: int) -> None:
    rm = preempting()

    effects = rm.runs("v", "n1", "a2", memory=memory)

    assert keys(effects) == (["k1"] if memory <= 5 else [])
    makes_sense(rm.partition)
    effects += rm.ends("v", "a2", PREEMPTED)
    assert keys(effects) == ["k1"]
    assert rm.node().allocated == Resource({"memory": 5})
    assert rm.node().yielding == rm.node().reserved == Resource()
    makes_sense(rm.partition)


def test_capacity_that_another_gives_back_serves_who_waits_for_victims() -> None:
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


def test_who_grew_beyond_its_guarantee_may_become_a_victim() -> None:
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


# Pending requests


# requirement: SI-ASK-029, SI-ASK-032
def test_a_pending_request_is_replaced_as_a_whole(rm: Keyed) -> None:
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
def test_an_update_of_a_pending_request_that_is_refused_leaves_the_earlier(
    rm: Keyed, update: Entry
) -> None:
    rm.wants("fills", memory=10)
    rm.wants("k1", memory=8)

    assert refused_entries(rm.lists(update)) == ["k1"]

    (new,) = of(rm.ends("fills"), NewAllocation)
    assert new.allocation.ask == wanted("k1", memory=8)


# requirement: SI-ASK-031
def test_a_pending_request_that_comes_again_with_a_node_is_placed_there_by_the_rm(
    rm: Keyed,
) -> None:
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


def test_the_rm_places_what_it_asked_for_on_a_draining_node(rm: Keyed) -> None:
    rm.wants("k1", memory=80)
    rm.drains("n1")

    assert placed(rm.runs("k1", memory=4)) == [("k1", "n1")]
    makes_sense(rm.partition)


def test_an_application_runs_with_what_the_rm_placed(rm: Keyed) -> None:
    rm.wants("k1", memory=80)

    assert states(rm.runs("k1", memory=4)) == ["Running"]


def test_who_waits_for_the_end_of_a_placeholder_is_placed_without_it(rm: Keyed) -> None:
    rm.creates("n2", memory=10)
    rm.submits("g1", placeholder_ask=Resource({"memory": 2}))
    rm.wants("p1", "g1", memory=2, more=PLACEHOLDER)
    rm.wants("r1", "g1", memory=2, more=MEMBER)

    assert placed(rm.runs("r1", "n2", "g1", memory=3, more=MEMBER)) == [("r1", "n2")]
    makes_sense(rm.partition)

    assert keys(rm.ends("p1", "g1", REPLACED)) == []
    assert rm.partition.root.used == Resource({"memory": 3})
    makes_sense(rm.partition)


def test_who_waits_for_victims_is_placed_without_them() -> None:
    rm = preempting()
    rm.creates("n2", memory=1)

    assert placed(rm.runs("k1", "n2", memory=5)) == [("k1", "n2")]
    makes_sense(rm.partition)
    assert rm.node().reserved == Resource()

    assert keys(rm.ends("v", "a2", PREEMPTED)) == []
    makes_sense(rm.partition)


@pytest.mark.parametrize("suits", [True, False])
def test_an_answer_about_what_the_rm_has_placed_itself_comes_too_late(
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


def test_a_placeholder_that_the_rm_placed_can_be_replaced(rm: Keyed) -> None:
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
def test_what_is_reported_twice_counts_once(rm: Keyed) -> None:
    rm.runs("x1", memory=6)
    assert rm.runs("x1", memory=6) == []

    assert placed(rm.wants("k1", memory=4)) == [("k1", "n1")]
    assert released(rm.ends("x1")) == [("x1", STOPPED)]
    assert rm.ends("x1") == []


# requirement: SI-REC-004
def test_what_is_reported_without_key_is_rejected(rm: Keyed) -> None:
    assert refused_entries(rm.runs("", memory=6)) == [""]


# requirement: SI-REC-026
def test_what_ended_with_its_node_can_be_reported_again(rm: Keyed) -> None:
    rm.runs("x1", memory=6)
    assert released(rm.decommissions("n1")) == [("x1", STOPPED)]
    rm.creates("n1", memory=10)

    assert refused_entries(rm.runs("x1", memory=6)) == []
    assert rm.wants("k1", "a2", memory=10)[1:] == []
    assert keys(rm.ends("x1")) == ["k1"]


def test_keys_do_not_identify_allocations_with_scheduler_identities(busy: Any) -> None:
    first = busy.asks("k1", memory=1)

    assert keys(first) == keys(busy.asks("k1", memory=2)) == ["k1"]
