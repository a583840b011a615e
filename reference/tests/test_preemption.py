"""Preemption: preemptors and victims."""

import pytest
from sireference.core.model import (
    AllocationRecord,
    Ask,
    NodeInfo,
    PreemptionPolicy,
    ReleasedAllocation,
    UpdateNodes,
)
from sireference.core.resources import Resource
from sireference.core.states import NodeAction
from tests.driving import RM, keys, of, placed, released
from tests.preempting import (
    ALLOWED,
    DELAY,
    OPTED_OUT,
    PREEMPTED,
    VICTIM,
    Preempting,
    of_two_types,
    preempted,
)


@pytest.fixture
def rm() -> Preempting:
    """One node of 10, used entirely by t1."""
    rm = Preempting()
    rm.creates("n1", memory=10)
    return rm


# requirement: SI-PRE-001, SI-PRE-002, SI-REL-009, SI-REL-011
def test_victim_is_named_and_the_ask_waits_until_it_has_ended(rm: Preempting) -> None:
    made = rm.takes("v", most=10)

    effects = rm.claims()

    (effect,) = of(effects, ReleasedAllocation)
    assert (effect.release.identity, effect.release.termination) == (made[-1], PREEMPTED)
    assert (effect.release.application_id, effect.release.key) == ("t1", "v")
    assert "ask 'claim' of application 'a1'" in effect.release.message
    assert keys(effects) == []
    assert keys(rm.waits(10 * DELAY)) == []
    effects = rm.confirms(made[-1])
    assert placed(effects) == [("claim", "n1")]
    assert released(effects) == []
    assert rm.confirms(made[-1]) == []


def test_preemption_waits_for_the_delay_of_the_queue(rm: Preempting) -> None:
    rm.takes("v", most=10)
    rm.asks("claim", memory=1, more={"preemption_policy": ALLOWED})

    assert preempted(rm.waits(0.99 * DELAY)) == []

    assert len(preempted(rm.waits(0.02 * DELAY))) == 1


def test_delay_of_an_ask_starts_when_it_is_first_sent(rm: Preempting) -> None:
    rm.takes("v", most=10)
    rm.asks("claim", memory=1, more={"preemption_policy": VICTIM})
    rm.waits(2 * DELAY)

    effects = rm.asks("claim", memory=1, more={"preemption_policy": ALLOWED})

    assert len(preempted(effects)) == 1


# requirement: SI-PRE-004, SI-PRE-006
@pytest.mark.parametrize("policy", [None, VICTIM, OPTED_OUT])
def test_ask_must_allow_preemption(rm: Preempting, policy: PreemptionPolicy | None) -> None:
    rm.takes("v", most=10)

    assert preempted(rm.claims(policy=policy)) == []

    assert len(preempted(rm.claims(policy=ALLOWED))) == 1


# requirement: SI-PRE-003, SI-PRE-006
def test_allocation_that_opted_out_is_not_a_victim(rm: Preempting) -> None:
    (undecided,) = rm.takes("undecided")
    (willing,) = rm.takes("willing", preemption_policy=VICTIM)
    rm.takes("v", most=8, preemption_policy=OPTED_OUT)

    assert preempted(rm.claims("k1")) == [willing]
    assert preempted(rm.claims("k2")) == [undecided]
    assert preempted(rm.claims("k3")) == []


# requirement: SI-PRE-005
def test_higher_priority_is_not_a_victim(rm: Preempting) -> None:
    rm.takes("higher", most=8, priority=6)
    (equal,) = rm.takes("equal", priority=5)
    (lower,) = rm.takes("lower", priority=4)

    assert preempted(rm.claims("k1", priority=5)) == [lower]
    assert preempted(rm.claims("k2", priority=5)) == [equal]
    assert preempted(rm.claims("k3", priority=5)) == []


# requirement: SI-PRE-007
def test_policy_of_a_recovered_allocation_counts(rm: Preempting) -> None:
    def existing(identity: str, policy: PreemptionPolicy | None) -> AllocationRecord:
        resource = Resource({"memory": 5})
        return AllocationRecord(
            identity, Ask("k", "t1", resource=resource, preemption_policy=policy), "n2"
        )

    capacity = Resource({"memory": 10})
    old = (existing("spared", OPTED_OUT), existing("victim", VICTIM))
    info = NodeInfo("n2", NodeAction.CREATE, capacity=capacity, allocations=old)
    rm.decommissions("n1")
    rm.scheduler.handle(UpdateNodes("rm", (info,)), rm.now)

    assert preempted(rm.claims("k1", memory=3)) == ["victim"]
    assert preempted(rm.claims("k2", memory=2)) == []


# requirement: SI-PRE-008
def test_several_victims_end_before_the_ask_is_served(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.submits("t2", "root.parent.greedy")
    rm.asks("waiting", "t2", memory=1)

    victims = preempted(rm.claims(memory=3))

    assert victims == made[:-4:-1]
    assert rm.confirms(victims[0]) == []
    assert rm.confirms(victims[2]) == []
    assert placed(rm.confirms(victims[1])) == [("claim", "n1")]


# Choice of victims


def test_lower_priority_goes_first_then_the_latest(rm: Preempting) -> None:
    rm.takes("a", priority=0)
    (low,) = rm.takes("b", priority=-1)
    (last,) = rm.takes("c", priority=0)
    rm.takes("rest", most=7, priority=0, originator=True)

    assert preempted(rm.claims("k1")) == [low]
    assert preempted(rm.claims("k2")) == [last]


def test_several_asks_take_the_cheapest_victims_in_turn() -> None:
    rm = Preempting()
    rm.submits("g", "root.outside")
    rm.creates("n1", memory=2)
    (zero, five) = rm.takes("a", "g", priority=0) + rm.takes("b", "g", priority=5)
    rm.creates("n2", memory=1)
    (three,) = rm.takes("c", "g", priority=3)
    need = Resource({"memory": 1})

    rm.send(
        asks=tuple(
            Ask(f"k{n}", "a1", resource=need, preemption_policy=ALLOWED, priority=9)
            for n in range(4)
        )
    )

    assert preempted(rm.waits(DELAY)) == [zero, three, five]


def test_several_asks_free_a_full_queue_with_a_victim_each() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=20)
    made = rm.takes("v", most=8)
    need = Resource({"memory": 1})

    rm.send(
        asks=tuple(Ask(f"k{n}", "a1", resource=need, preemption_policy=ALLOWED) for n in range(2))
    )

    assert preempted(rm.waits(DELAY)) == [made[7], made[6]]
    assert [key for v in made[6:] for key in keys(rm.confirms(v))] == ["k1", "k0"]


def test_victims_that_are_not_needed_are_dropped(rm: Preempting) -> None:
    rm.submits("g", "root.outside")
    rm.takes("small", "g", memory=1, priority=-1)
    (large,) = rm.takes("large", "g", memory=4)
    rm.takes("spared", "g", memory=5, preemption_policy=OPTED_OUT)

    # the small one comes first, but is not needed with the large one
    assert preempted(rm.claims(memory=4)) == [large]


def test_cheapest_node_is_chosen() -> None:
    rm = Preempting()
    rm.creates("n1", memory=2)
    rm.takes("a", memory=2, priority=0)
    rm.creates("n2", memory=2)
    rm.takes("b", most=2, priority=-1)
    rm.creates("n3", memory=2)
    (c,) = rm.takes("c", memory=2, priority=-1)

    # on n1 the priority is higher, on n2 there are more
    effects = rm.claims(memory=2)

    assert preempted(effects) == [c]
    assert placed(rm.confirms(c)) == [("claim", "n3")]


def test_full_queue_is_freed_on_any_node() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=8)
    victims = rm.takes("v", most=8)
    rm.creates("n2", memory=10)

    effects = rm.claims(memory=2)

    assert preempted(effects) == [victims[7], victims[6]]
    rm.confirms(victims[7])
    assert placed(rm.confirms(victims[6])) == [("claim", "n2")]


def test_full_queue_and_full_node_are_freed_together() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=6)
    v = rm.takes("v", memory=1, most=6)
    rm.creates("n2", memory=3)
    w = rm.takes("w", memory=1, most=2)
    rm.submits("o1", "root.outside")
    (other,) = rm.takes("o", "o1", memory=1, priority=-1)

    # on n2 two must end for the node, the other one first, and one more for the queue
    victims = preempted(rm.claims(memory=2, required_node=""))
    assert victims == [v[5], v[4]]
    assert not {other, *w} & set(victims)
    rm.confirms(v[5])
    assert placed(rm.confirms(v[4])) == [("claim", "n1")]


def test_no_preemption_where_enough_is_being_freed_elsewhere() -> None:
    rm = Preempting()
    rm.creates("n1", memory=5)
    rm.creates("n2", memory=5)
    rm.takes("v", most=10)
    (victim,) = preempted(rm.claims("k1"))
    rm.withdraws("k1", "a1")

    assert preempted(rm.claims("k2")) == []

    assert keys(rm.confirms(victim)) == ["k2"]


def test_no_preemption_where_enough_is_being_freed_below_the_maximum() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=20)
    rm.takes("v", most=8)
    (victim,) = preempted(rm.claims("k1"))
    rm.withdraws("k1", "a1")

    assert preempted(rm.claims("k2")) == []

    assert keys(rm.confirms(victim)) == ["k2"]


def test_victim_counts_for_both_node_and_queue() -> None:
    rm = Preempting(parent="resources: {max: {memory: 100, vcore: 2m}}")
    rm.creates("n1", memory=8, vcore=100)
    of_two_types(rm, a=(4, 1), b=(4, 1))

    effects = rm.asks(
        "claim", resource={"memory": 1, "vcore": 2}, more={"preemption_policy": ALLOWED}
    )

    assert len(preempted(effects + rm.waits(DELAY))) == 2


def test_allocation_spared_for_the_node_may_be_a_victim_for_the_queue() -> None:
    rm = Preempting(parent="resources: {max: {memory: 100, vcore: 2m}}")
    rm.creates("n1", memory=8, vcore=100)
    made = of_two_types(rm, idle=(1, 0), large=(5, 0), small=(2, 2))

    effects = rm.asks(
        "claim", resource={"memory": 4, "vcore": 1}, more={"preemption_policy": ALLOWED}
    )

    assert preempted(effects + rm.waits(DELAY)) == [made["large"], made["small"]]


# Queues


@pytest.mark.parametrize("queue", ["root.parent.greedy", "root.outside"])
def test_queue_without_guarantee_may_lose_everything(rm: Preempting, queue: str) -> None:
    rm.submits("g", queue)
    (one,) = rm.takes("all", "g", memory=10)

    assert preempted(rm.claims()) == [one]


def test_queue_is_not_pushed_below_its_guarantee(rm: Preempting) -> None:
    rm.takes("v", most=5)
    rm.submits("g", "root.outside")
    rm.takes("spared", "g", memory=5, preemption_policy=OPTED_OUT)

    assert len(preempted(rm.claims(most=3))) == 1
    assert len(preempted(rm.claims("k2"))) == 1
    assert preempted(rm.claims("k3")) == []


def test_queue_is_not_pushed_below_its_guarantee_by_several_asks(rm: Preempting) -> None:
    rm.takes("v", most=4)
    rm.submits("g", "root.outside")
    rm.takes("spared", "g", memory=6, preemption_policy=OPTED_OUT)

    assert preempted(rm.claims(memory=2)) == []


def test_claim_beyond_the_guarantee_waits(rm: Preempting) -> None:
    rm.takes("own", "a1", memory=3)
    rm.takes("v", most=7)

    assert preempted(rm.claims("k3", memory=3)) == []
    assert len(preempted(rm.claims("k2", memory=2))) == 2
    assert preempted(rm.claims("k1", memory=1)) == []  # promised capacity counts


def test_queue_without_guarantee_has_no_claim(rm: Preempting) -> None:
    rm.takes("v", most=10)
    rm.submits("g", "root.parent.greedy")

    assert preempted(rm.claims(application_id="g")) == []


def test_guarantee_of_another_resource_does_not_count(rm: Preempting) -> None:
    rm.updates("n1", memory=10, gpu=1)
    rm.asks("v", "t1", gpu=1)

    more = {"preemption_policy": ALLOWED}
    effects = rm.asks("claim", gpu=1, more=more) + rm.waits(2 * DELAY)

    assert preempted(effects) == []


def test_own_queue_has_no_victims(rm: Preempting) -> None:
    rm.submits("a2", "root.parent.entitled")
    rm.takes("own", "a2", memory=4)
    rm.submits("g", "root.outside")
    rm.takes("spared", "g", memory=6, preemption_policy=OPTED_OUT)

    assert preempted(rm.claims()) == []


def test_queue_with_preemption_disabled_neither_loses_nor_preempts(rm: Preempting) -> None:
    rm.submits("s", "root.spared")
    rm.takes("all", "s", memory=10)

    assert preempted(rm.claims()) == []

    rm = Preempting(entitled="preemption.policy: disabled")
    rm.creates("n1", memory=10)
    rm.takes("v", most=10)
    assert preempted(rm.claims()) == []


def test_barrier_limits_preemption_to_its_inside() -> None:
    rm = Preempting(parent="properties: {preemption.policy: fence}")
    rm.creates("n1", memory=10)
    rm.submits("i", "root.parent.greedy")
    (inside,) = rm.takes("in", "i", memory=5)
    rm.submits("o", "root.outside")
    rm.takes("out", "o", memory=5)

    assert preempted(rm.claims("k1")) == [inside]
    assert preempted(rm.claims("k2", memory=4)) == []


def test_barrier_around_the_victims_does_not_protect_them() -> None:
    rm = Preempting(taking="preemption.policy: fence")
    rm.creates("n1", memory=10)
    made = rm.takes("v", most=10)

    assert preempted(rm.claims()) == [made[-1]]


def test_preemption_can_be_disabled_for_a_partition() -> None:
    rm = Preempting(partition="preemption: {enabled: false}")
    rm.creates("n1", memory=10)
    rm.takes("v", most=10)

    assert preempted(rm.claims()) == []
    assert preempted(rm.claims("k", required_node="n1")) == []


def test_no_preemption_for_a_user_at_its_limit() -> None:
    limit = "[{limit: x, users: [u], maxresources: {memory: 2}}]"
    full = "resources: {max: {memory: 8}}\n            "
    rm = Preempting(parent=f"{full}limits: {limit}")
    rm.creates("n1", memory=10)
    rm.takes("v", most=8)
    rm.submits("u1", "root.parent.entitled", user="u")
    rm.submits("w1", "root.parent.entitled", user="w")
    assert preempted(rm.claims(application_id="u1", memory=3)) == []
    assert len(preempted(rm.claims(application_id="w1", memory=3))) == 3


def test_no_preemption_for_an_application_that_may_not_run_yet() -> None:
    rm = Preempting(parent='limits: [{limit: x, users: ["*"], maxapplications: 1}]')
    rm.creates("n1", memory=10)
    rm.takes("v", most=10)

    assert preempted(rm.claims()) == []


def test_priorities_are_compared_with_queue_offsets() -> None:
    rm = Preempting(entitled="priority.offset: 10")
    rm.creates("n1", memory=10)
    rm.takes("v", most=9, priority=11)
    (ten,) = rm.takes("ten", priority=10)
    assert preempted(rm.claims(priority=0)) == [ten]

    rm = Preempting(taking="priority.policy: fence, priority.offset: -1")
    rm.creates("n1", memory=10)
    rm.takes("v", most=10, priority=100)
    assert preempted(rm.claims("k1", priority=-2)) == []
    assert len(preempted(rm.claims("k2", priority=-1))) == 1

    rm = Preempting(entitled="priority.policy: fence")
    rm.creates("n1", memory=10)
    rm.takes("v", most=10, priority=1)
    assert preempted(rm.claims(priority=100)) == []


def test_below_a_barrier_priorities_are_compared_unchanged() -> None:
    rm = Preempting(parent="properties: {priority.policy: fence}")
    rm.creates("n1", memory=10)
    rm.takes("v", most=10, priority=6)

    assert preempted(rm.claims(priority=5)) == []


def test_barrier_hides_offsets_too() -> None:
    rm = RM(
        queues="""
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        properties: {preemption.delay: 10s}
        queues:
          - {name: entitled, resources: {guaranteed: {memory: 5}}}
          - name: barrier
            properties: {priority.policy: fence}
            queues: [{name: leaf, properties: {priority.offset: "100"}}]
"""
    )
    rm.creates("n1", memory=10)
    rm.submits("v1", "root.barrier.leaf")
    rm.asks("v", "v1", memory=1, most=10)
    rm.submits("a1", "root.entitled")

    rm.asks("low", memory=1, more={"preemption_policy": ALLOWED, "priority": -1})
    assert preempted(rm.waits(DELAY)) == []
    rm.asks("equal", memory=1, more={"preemption_policy": ALLOWED})
    assert len(preempted(rm.waits(DELAY))) == 1
