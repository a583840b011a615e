"""Preemption for asks with a required node, and of placeholders."""

import pytest
from sireference.core.model import Ask
from sireference.core.resources import Resource
from sireference.core.states import TerminationType
from tests.driving import keys, placed, released, states
from tests.preempting import OPTED_OUT, VICTIM, Preempting, preempted


@pytest.fixture
def rm() -> Preempting:
    """One node of 10, used entirely by t1."""
    rm = Preempting()
    rm.creates("n1", memory=10)
    return rm


def test_ask_bound_to_a_node_preempts_there_at_once(rm: Preempting) -> None:
    rm.creates("n2", memory=1)
    made = rm.takes("v", most=11)
    rm.submits("d", "root.outside")

    effects = rm.asks("daemon", "d", memory=1, more={"required_node": "n2"})

    (victim,) = preempted(effects)
    live = rm.partition.allocations.all[victim]
    assert live.node.node_id == "n2"
    assert victim in made
    assert placed(rm.confirms(victim)) == [("daemon", "n2")]


def test_guarantees_do_not_matter(rm: Preempting) -> None:
    (own,) = rm.takes("own", "a1", memory=5)
    (victim,) = rm.takes("v", memory=3)
    rm.takes("w", memory=2, priority=1)
    rm.submits("d", "root.outside")

    effects = rm.asks("daemon", "d", memory=3, more={"required_node": "n1"})

    assert preempted(effects) == [victim]
    assert own not in preempted(effects)


# requirement: SI-PRE-004, SI-PRE-005, SI-PRE-003
def test_other_rules_for_victims_apply(rm: Preempting) -> None:
    rm.takes("higher", most=4, priority=1)
    rm.takes("out", most=2, preemption_policy=OPTED_OUT)
    rm.takes("bound", most=2, required_node="n1")
    rm.submits("s", "root.spared")
    rm.takes("spared", "s", most=2)
    rm.submits("d", "root.outside")

    assert preempted(rm.asks("k1", "d", memory=1, more={"required_node": "n1"})) == []

    rm.removes("s")
    rm.takes("v", most=1)
    more = {"required_node": "n1", "preemption_policy": VICTIM}
    assert preempted(rm.asks("k2", "d", memory=1, more=more)) == []


def test_ask_that_cannot_preempt_its_own_application_blocks_no_other(rm: Preempting) -> None:
    rm.submits("d1", "root.outside")
    rm.submits("d2", "root.outside")
    (own,) = rm.takes("own", "d1", memory=10)
    need = Resource({"memory": 1})

    effects = rm.send(
        asks=(
            Ask("k1", "d1", resource=need, required_node="n1"),
            Ask("k2", "d2", resource=need, required_node="n1"),
        )
    )

    assert preempted(effects) == [own]
    assert keys(rm.confirms(own, "d1")) == ["k2", "k1"]


def test_ask_that_a_long_pass_does_not_come_to_preempts_afterwards(rm: Preempting) -> None:
    (own,) = rm.takes("own", memory=10)
    rm.submits("d", "root.outside")
    others = [Ask(f"k{n}", "d", resource=Resource({"memory": 20 + n})) for n in range(300)]
    last = Ask("daemon", "d", resource=Resource({"memory": 1}), required_node="n1")

    effects = rm.send(asks=(*others, last)) + rm.waits(1)

    assert preempted(effects) == [own]


def test_no_preemption_on_a_draining_node(rm: Preempting) -> None:
    rm.takes("v", most=10)
    rm.drains("n1")
    rm.submits("d", "root.outside")

    assert preempted(rm.asks("daemon", "d", memory=1, more={"required_node": "n1"})) == []

    assert len(preempted(rm.undrains("n1") + rm.waits(1))) == 1


def test_unknown_node_leads_to_no_preemption(rm: Preempting) -> None:
    rm.takes("v", most=10)

    assert preempted(rm.claims(required_node="nX")) == []


# Placeholders


# requirement: SI-GANG-067
def test_placeholder_may_be_a_victim(rm: Preempting) -> None:
    rm.submits("g", "root.outside")
    (p0,) = rm.takes("p0", "g", memory=10, task_group="tg", placeholder=True)

    assert preempted(rm.claims(memory=5)) == [p0]

    real = {"task_group": "tg"}
    assert released(rm.asks("r0", "g", memory=5, more=real)) == []
    assert sorted(placed(rm.confirms(p0, "g"))) == [("claim", "n1"), ("r0", "n1")]


# requirement: SI-GANG-066, SI-REL-011
def test_placeholder_being_replaced_is_not_a_victim(rm: Preempting) -> None:
    rm.submits("g", "root.outside")
    rm.takes("p0", "g", memory=10, task_group="tg", placeholder=True)
    rm.asks("r0", "g", memory=10, more={"task_group": "tg"})

    assert preempted(rm.claims(memory=5)) == []


def test_application_state_follows_the_loss_of_the_last_allocation(rm: Preempting) -> None:
    rm.submits("g", "root.outside")
    (one,) = rm.takes("all", "g", memory=10)
    rm.claims()

    effects = rm.confirms(one, "g")

    assert states(effects) == ["Starting", "Completing"]


def test_replacement_continues_alongside_a_preemption(rm: Preempting) -> None:
    rm.submits("g", "root.outside")
    (p0,) = rm.takes("p0", "g", memory=5, priority=1, task_group="tg", placeholder=True)
    (victim,) = rm.takes("v", "g", memory=5, preemption_policy=VICTIM)
    assert preempted(rm.claims(memory=5)) == [victim]

    replaced = rm.asks("r0", "g", memory=5, more={"task_group": "tg"})
    assert [identity for identity, _ in released(replaced)] == [p0]

    assert placed(rm.releases(p0, "g", TerminationType.PLACEHOLDER_REPLACED)) == [("r0", "n1")]
    assert placed(rm.confirms(victim, "g")) == [("claim", "n1")]
