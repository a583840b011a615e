"""Preemption: who may, at whose cost, and what happens until the last victim is gone."""

from collections.abc import Mapping
from typing import Any

import pytest
from sireference.core.model import (
    Allocation,
    Ask,
    Effect,
    NodeInfo,
    PreemptionPolicy,
    ReleasedAllocation,
    UpdateNodes,
)
from sireference.core.preemption import choice
from sireference.core.resources import Resource
from sireference.core.states import NodeAction, TerminationType
from tests.driving import RM, STOPPED, TIMEOUT, identities, keys, of, placed, released, states

PREEMPTED = TerminationType.PREEMPTED_BY_SCHEDULER
ALLOWED = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True)
OPTED_OUT = PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=False)
VICTIM = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=False)
DELAY = 10.0

QUEUES = """
partitions:
  - name: default
    {partition}
    queues:
      - name: root
        submitacl: "*"
        properties: {{preemption.delay: 10s}}
        queues:
          - name: parent
            {parent}
            queues:
              - name: entitled
                resources: {{guaranteed: {{memory: 5}}}}
                properties: {{{entitled}}}
              - name: taking
                resources: {{guaranteed: {{memory: 3}}}}
                properties: {{{taking}}}
              - name: greedy
          - name: outside
          - name: spared
            properties: {{preemption.policy: disabled}}
"""


class Preempting(RM):
    """An RM whose application a1 is entitled to 5 of memory; the others take what they get."""

    def __init__(
        self,
        *,
        partition: str = "",
        parent: str = "",
        entitled: str = "",
        taking: str = "",
        registers: bool = True,
    ) -> None:
        text = QUEUES.format(partition=partition, parent=parent, entitled=entitled, taking=taking)
        super().__init__(queues=text)
        if registers:
            self.submits("a1", "root.parent.entitled")
            self.submits("t1", "root.parent.taking")

    def takes(
        self,
        key: str,
        application_id: str = "t1",
        *,
        memory: int = 1,
        most: int = 1,
        **more: Any,
    ) -> list[str]:
        """Allocations of somebody who is not the preemptor; their identities."""
        made = identities(self.asks(key, application_id, memory=memory, most=most, more=more))
        assert len(made) == most
        return made

    def claims(
        self,
        key: str = "claim",
        application_id: str = "a1",
        *,
        memory: int = 1,
        most: int = 1,
        policy: PreemptionPolicy | None = ALLOWED,
        **more: Any,
    ) -> list[Effect]:
        """An ask that may preempt, and what comes of it once its delay is over."""
        said: Mapping[str, Any] = {"preemption_policy": policy, **more}
        effects = self.asks(key, application_id, memory=memory, most=most, more=said)
        return effects + self.waits(DELAY)

    def confirms(self, identity: str, application_id: str = "t1") -> list[Effect]:
        return self.releases(identity, application_id, PREEMPTED)

    def books(self) -> Any:
        return self.scheduler.rms.all()[0].partitions["default"]


def preempted(effects: list[Effect]) -> list[str]:
    """The identities of those who have to go."""
    return [identity for identity, kind in released(effects) if kind is PREEMPTED]


@pytest.fixture
def rm() -> Preempting:
    """One node of 10, which t1 has all of."""
    rm = Preempting()
    rm.creates("n1", memory=10)
    return rm


# requirement: SI-PRE-001, SI-PRE-002, SI-REL-009, SI-REL-011
def test_a_victim_is_named_and_the_ask_waits_until_it_is_gone(rm: Preempting) -> None:
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


def test_it_waits_for_as_long_as_its_queue_says_first(rm: Preempting) -> None:
    rm.takes("v", most=10)
    rm.asks("claim", memory=1, more={"preemption_policy": ALLOWED})

    assert preempted(rm.waits(0.99 * DELAY)) == []

    assert len(preempted(rm.waits(0.02 * DELAY))) == 1


def test_the_time_of_an_ask_counts_from_when_it_was_first_sent(rm: Preempting) -> None:
    rm.takes("v", most=10)
    rm.asks("claim", memory=1, more={"preemption_policy": VICTIM})
    rm.waits(2 * DELAY)

    effects = rm.asks("claim", memory=1, more={"preemption_policy": ALLOWED})

    assert len(preempted(effects)) == 1


# requirement: SI-PRE-004, SI-PRE-006
@pytest.mark.parametrize("policy", [None, VICTIM, OPTED_OUT])
def test_an_ask_has_to_be_allowed_to(rm: Preempting, policy: PreemptionPolicy | None) -> None:
    rm.takes("v", most=10)

    assert preempted(rm.claims(policy=policy)) == []

    assert len(preempted(rm.claims(policy=ALLOWED))) == 1


# requirement: SI-PRE-003, SI-PRE-006
def test_who_opted_out_stays(rm: Preempting) -> None:
    (unsaid,) = rm.takes("unsaid")
    (willing,) = rm.takes("willing", preemption_policy=VICTIM)
    rm.takes("v", most=8, preemption_policy=OPTED_OUT)

    assert preempted(rm.claims("k1")) == [willing]
    assert preempted(rm.claims("k2")) == [unsaid]
    assert preempted(rm.claims("k3")) == []


# requirement: SI-PRE-005
def test_who_has_a_higher_priority_stays(rm: Preempting) -> None:
    rm.takes("higher", most=8, priority=6)
    (equal,) = rm.takes("equal", priority=5)
    (lower,) = rm.takes("lower", priority=4)

    assert preempted(rm.claims("k1", priority=5)) == [lower]
    assert preempted(rm.claims("k2", priority=5)) == [equal]
    assert preempted(rm.claims("k3", priority=5)) == []


# requirement: SI-PRE-007
def test_the_policy_of_a_recovered_allocation_counts(rm: Preempting) -> None:
    def existing(identity: str, policy: PreemptionPolicy | None) -> Allocation:
        resource = Resource({"memory": 5})
        return Allocation(
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
def test_several_victims_have_to_go_before_the_ask_is_served(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.submits("t2", "root.parent.greedy")
    rm.asks("waiting", "t2", memory=1)

    victims = preempted(rm.claims(memory=3))

    assert victims == made[:-4:-1]
    assert rm.confirms(victims[0]) == []
    assert rm.confirms(victims[2]) == []
    assert placed(rm.confirms(victims[1])) == [("claim", "n1")]


# the choice


def test_lower_priority_goes_first_then_who_came_last(rm: Preempting) -> None:
    rm.takes("a", priority=0)
    (low,) = rm.takes("b", priority=-1)
    (last,) = rm.takes("c", priority=0)
    rm.takes("rest", most=7, priority=0, originator=True)

    assert preempted(rm.claims("k1")) == [low]
    assert preempted(rm.claims("k2")) == [last]


def test_several_asks_take_in_turn_what_costs_least() -> None:
    rm = Preempting()
    rm.submits("g", "root.outside")
    rm.creates("n1", memory=2)
    (zero, five) = rm.takes("a", "g", priority=0) + rm.takes("b", "g", priority=5)
    rm.creates("n2", memory=1)
    (three,) = rm.takes("c", "g", priority=3)
    need = Resource({"memory": 1})

    rm.says(
        asks=tuple(
            Ask(f"k{n}", "a1", resource=need, preemption_policy=ALLOWED, priority=9)
            for n in range(4)
        )
    )

    assert preempted(rm.waits(DELAY)) == [zero, three, five]


def test_several_asks_relieve_a_full_queue_with_a_victim_each() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=20)
    made = rm.takes("v", most=8)
    need = Resource({"memory": 1})

    rm.says(
        asks=tuple(Ask(f"k{n}", "a1", resource=need, preemption_policy=ALLOWED) for n in range(2))
    )

    assert preempted(rm.waits(DELAY)) == [made[7], made[6]]
    assert [key for v in made[6:] for key in keys(rm.confirms(v))] == ["k1", "k0"]


def test_who_turns_out_to_be_needless_is_spared(rm: Preempting) -> None:
    rm.submits("g", "root.outside")
    rm.takes("small", "g", memory=1, priority=-1)
    (large,) = rm.takes("large", "g", memory=4)
    rm.takes("spared", "g", memory=5, preemption_policy=OPTED_OUT)

    # the small one comes first, but with the large one it is not needed
    assert preempted(rm.claims(memory=4)) == [large]


def test_the_node_where_it_costs_least_is_chosen() -> None:
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


def test_a_full_queue_is_relieved_wherever_its_allocations_are() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=8)
    victims = rm.takes("v", most=8)
    rm.creates("n2", memory=10)

    effects = rm.claims(memory=2)

    assert preempted(effects) == [victims[7], victims[6]]
    rm.confirms(victims[7])
    assert placed(rm.confirms(victims[6])) == [("claim", "n2")]


def test_a_full_queue_and_a_full_node_are_relieved_together() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=6)
    v = rm.takes("v", memory=1, most=6)
    rm.creates("n2", memory=3)
    w = rm.takes("w", memory=1, most=2)
    rm.submits("o1", "root.outside")
    (other,) = rm.takes("o", "o1", memory=1, priority=-1)

    # on n2 two have to go for the node, the other one first, and one more for the queue
    victims = preempted(rm.claims(memory=2, required_node=""))
    assert victims == [v[5], v[4]]
    assert not {other, *w} & set(victims)
    rm.confirms(v[5])
    assert placed(rm.confirms(v[4])) == [("claim", "n1")]


def test_nobody_goes_where_enough_comes_free_elsewhere() -> None:
    rm = Preempting()
    rm.creates("n1", memory=5)
    rm.creates("n2", memory=5)
    rm.takes("v", most=10)
    (victim,) = preempted(rm.claims("k1"))
    rm.withdraws("k1", "a1")

    assert preempted(rm.claims("k2")) == []

    assert keys(rm.confirms(victim)) == ["k2"]


def test_nobody_goes_where_enough_comes_free_below_the_maximum() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=20)
    rm.takes("v", most=8)
    (victim,) = preempted(rm.claims("k1"))
    rm.withdraws("k1", "a1")

    assert preempted(rm.claims("k2")) == []

    assert keys(rm.confirms(victim)) == ["k2"]


def of_two_types(rm: Preempting, **victims: tuple[int, int]) -> dict[str, str]:
    """Victims by key, with memory and vcore; of vcore the parent has no more, the node has."""
    rm.submits("g", "root.parent.greedy")
    made: dict[str, str] = {}
    for key, (memory, vcore) in victims.items():
        (made[key],) = identities(rm.asks(key, "g", resource={"memory": memory, "vcore": vcore}))
    return made


def test_a_victim_counts_once_for_node_and_queue() -> None:
    rm = Preempting(parent="resources: {max: {memory: 100, vcore: 2m}}")
    rm.creates("n1", memory=8, vcore=100)
    of_two_types(rm, a=(4, 1), b=(4, 1))

    effects = rm.asks(
        "claim", resource={"memory": 1, "vcore": 2}, more={"preemption_policy": ALLOWED}
    )

    assert len(preempted(effects + rm.waits(DELAY))) == 2


def test_who_is_spared_for_the_node_may_have_to_go_for_the_queue() -> None:
    rm = Preempting(parent="resources: {max: {memory: 100, vcore: 2m}}")
    rm.creates("n1", memory=8, vcore=100)
    made = of_two_types(rm, idle=(1, 0), large=(5, 0), small=(2, 2))

    effects = rm.asks(
        "claim", resource={"memory": 4, "vcore": 1}, more={"preemption_policy": ALLOWED}
    )

    assert preempted(effects + rm.waits(DELAY)) == [made["large"], made["small"]]


# queues


@pytest.mark.parametrize("queue", ["root.parent.greedy", "root.outside"])
def test_who_has_no_guarantee_may_lose_everything(rm: Preempting, queue: str) -> None:
    rm.submits("g", queue)
    (one,) = rm.takes("all", "g", memory=10)

    assert preempted(rm.claims()) == [one]


def test_nobody_is_pushed_below_its_own_guarantee(rm: Preempting) -> None:
    rm.takes("v", most=5)
    rm.submits("g", "root.outside")
    rm.takes("spared", "g", memory=5, preemption_policy=OPTED_OUT)

    assert len(preempted(rm.claims(most=3))) == 1
    assert len(preempted(rm.claims("k2"))) == 1
    assert preempted(rm.claims("k3")) == []


def test_it_is_not_pushed_below_by_several_at_once_either(rm: Preempting) -> None:
    rm.takes("v", most=4)
    rm.submits("g", "root.outside")
    rm.takes("spared", "g", memory=6, preemption_policy=OPTED_OUT)

    assert preempted(rm.claims(memory=2)) == []


def test_a_claim_beyond_the_guarantee_waits(rm: Preempting) -> None:
    rm.takes("own", "a1", memory=3)
    rm.takes("v", most=7)

    assert preempted(rm.claims("k3", memory=3)) == []
    assert len(preempted(rm.claims("k2", memory=2))) == 2
    assert preempted(rm.claims("k1", memory=1)) == []  # what was promised counts


def test_a_queue_without_guarantee_claims_nothing(rm: Preempting) -> None:
    rm.takes("v", most=10)
    rm.submits("g", "root.parent.greedy")

    assert preempted(rm.claims(application_id="g")) == []


def test_a_guarantee_of_something_else_is_none(rm: Preempting) -> None:
    rm.updates("n1", memory=10, gpu=1)
    rm.asks("v", "t1", gpu=1)

    more = {"preemption_policy": ALLOWED}
    effects = rm.asks("claim", gpu=1, more=more) + rm.waits(2 * DELAY)

    assert preempted(effects) == []


def test_its_own_queue_gives_nothing_back(rm: Preempting) -> None:
    rm.submits("a2", "root.parent.entitled")
    rm.takes("own", "a2", memory=4)
    rm.submits("g", "root.outside")
    rm.takes("spared", "g", memory=6, preemption_policy=OPTED_OUT)

    assert preempted(rm.claims()) == []


def test_a_disabled_queue_is_spared_and_does_not_preempt(rm: Preempting) -> None:
    rm.submits("s", "root.spared")
    rm.takes("all", "s", memory=10)

    assert preempted(rm.claims()) == []

    rm = Preempting(entitled="preemption.policy: disabled")
    rm.creates("n1", memory=10)
    rm.takes("v", most=10)
    assert preempted(rm.claims()) == []


def test_a_fence_holds_what_is_inside() -> None:
    rm = Preempting(parent="properties: {preemption.policy: fence}")
    rm.creates("n1", memory=10)
    rm.submits("i", "root.parent.greedy")
    (inside,) = rm.takes("in", "i", memory=5)
    rm.submits("o", "root.outside")
    rm.takes("out", "o", memory=5)

    assert preempted(rm.claims("k1")) == [inside]
    assert preempted(rm.claims("k2", memory=4)) == []


def test_a_fence_around_the_victims_does_not_keep_others_out() -> None:
    rm = Preempting(taking="preemption.policy: fence")
    rm.creates("n1", memory=10)
    made = rm.takes("v", most=10)

    assert preempted(rm.claims()) == [made[-1]]


def test_preemption_can_be_switched_off_for_a_partition() -> None:
    rm = Preempting(partition="preemption: {enabled: false}")
    rm.creates("n1", memory=10)
    rm.takes("v", most=10)

    assert preempted(rm.claims()) == []
    assert preempted(rm.claims("k", required_node="n1")) == []


def test_nobody_goes_for_a_user_who_has_all_it_may_have() -> None:
    limit = "[{limit: x, users: [u], maxresources: {memory: 2}}]"
    full = "resources: {max: {memory: 8}}\n            "
    rm = Preempting(parent=f"{full}limits: {limit}")
    rm.creates("n1", memory=10)
    rm.takes("v", most=8)
    rm.submits("u1", "root.parent.entitled", user="u")
    rm.submits("w1", "root.parent.entitled", user="w")
    assert preempted(rm.claims(application_id="u1", memory=3)) == []
    assert len(preempted(rm.claims(application_id="w1", memory=3))) == 3


def test_nobody_goes_for_an_application_that_waits_for_its_turn_to_run() -> None:
    rm = Preempting(parent='limits: [{limit: x, users: ["*"], maxapplications: 1}]')
    rm.creates("n1", memory=10)
    rm.takes("v", most=10)

    assert preempted(rm.claims()) == []


def test_priorities_are_compared_as_the_queues_show_them() -> None:
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


def test_below_a_fence_priorities_are_compared_as_they_are() -> None:
    rm = Preempting(parent="properties: {priority.policy: fence}")
    rm.creates("n1", memory=10)
    rm.takes("v", most=10, priority=6)

    assert preempted(rm.claims(priority=5)) == []


def test_a_fence_hides_offsets_too() -> None:
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
          - name: fenced
            properties: {priority.policy: fence}
            queues: [{name: leaf, properties: {priority.offset: "100"}}]
"""
    )
    rm.creates("n1", memory=10)
    rm.submits("v1", "root.fenced.leaf")
    rm.asks("v", "v1", memory=1, most=10)
    rm.submits("a1", "root.entitled")

    rm.asks("low", memory=1, more={"preemption_policy": ALLOWED, "priority": -1})
    assert preempted(rm.waits(DELAY)) == []
    rm.asks("equal", memory=1, more={"preemption_policy": ALLOWED})
    assert len(preempted(rm.waits(DELAY))) == 1


def test_what_is_bound_to_its_node_stays(rm: Preempting) -> None:
    rm.takes("bound", memory=10, required_node="n1")

    assert preempted(rm.claims()) == []


# the handshake


def test_nobody_else_gets_the_room_that_was_promised(rm: Preempting) -> None:
    made = rm.takes("v", most=9)
    rm.submits("t2", "root.outside")
    victims = preempted(rm.claims(memory=2))
    assert victims == [made[-1]]

    assert keys(rm.asks("small", "t2", memory=1)) == []

    assert keys(rm.confirms(victims[0])) == ["claim"]
    assert keys(rm.releases(made[0], "t1")) == ["small"]


def test_other_room_on_the_node_serves_the_ask_as_well(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims(memory=2)

    assert keys(rm.releases(made[0], "t1")) == []
    assert keys(rm.releases(made[1], "t1")) == ["claim"]

    rm.submits("t2", "root.outside")
    rm.asks("k", "t2", memory=2)
    assert keys(rm.confirms(made[9])) == []
    assert keys(rm.confirms(made[8])) == ["k"]


# requirement: SI-REL-026
@pytest.mark.parametrize("kind", [TIMEOUT, TerminationType.PLACEHOLDER_REPLACED])
def test_another_type_is_no_confirmation(rm: Preempting, kind: TerminationType) -> None:
    made = rm.takes("v", most=10)
    rm.claims()

    assert rm.releases(made[-1], "t1", kind) == []

    assert keys(rm.confirms(made[-1])) == ["claim"]


def test_a_stop_by_the_rm_frees_the_room_too(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()

    effects = rm.releases(made[-1], "t1")

    assert released(effects) == [(made[-1], STOPPED)]
    assert keys(effects) == ["claim"]
    assert rm.confirms(made[-1]) == []


def test_the_removal_of_the_victims_application_frees_the_room_too(rm: Preempting) -> None:
    rm.takes("v", most=10)
    rm.claims(memory=2)

    assert keys(rm.removes("t1")) == ["claim"]


def test_an_ask_has_one_preemption_at_a_time(rm: Preempting) -> None:
    made = rm.takes("v", most=10)

    assert preempted(rm.claims(most=3)) == [made[-1]]
    assert preempted(rm.waits(10 * DELAY)) == []

    effects = rm.confirms(made[-1])
    assert keys(effects) == ["claim"]
    assert preempted(effects) == [made[-2]]
    effects = rm.confirms(made[-2])
    assert keys(effects) == ["claim"]
    assert preempted(effects) == [made[-3]]
    assert preempted(rm.confirms(made[-3])) == []


def test_several_asks_have_victims_of_their_own(rm: Preempting) -> None:
    rm.takes("v", most=10)
    rm.asks("k1", memory=1, more={"preemption_policy": ALLOWED})
    rm.asks("k2", memory=1, more={"preemption_policy": ALLOWED, "priority": 1})

    first, second = preempted(rm.waits(DELAY))

    assert keys(rm.confirms(second)) == ["k1"]
    assert keys(rm.confirms(first)) == ["k2"]


# the asker changes its mind


def test_when_the_ask_is_withdrawn_the_victims_go_and_the_room_is_for_all(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.submits("t2", "root.outside")
    rm.asks("k", "t2", memory=1)

    assert keys(rm.withdraws("claim", "a1")) == []

    assert keys(rm.confirms(made[-1])) == ["k"]
    assert list(rm.books().preemptions.open) == []


def test_when_the_ask_finds_room_elsewhere_the_promise_is_over(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.submits("t2", "root.outside")

    assert placed(rm.creates("n2", memory=1)) == [("claim", "n2")]

    rm.asks("k", "t2", memory=1)
    assert placed(rm.confirms(made[-1])) == [("k", "n1")]


def test_the_next_ask_waits_for_what_comes_free_anyway(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims("k1")
    rm.withdraws("k1", "a1")

    assert preempted(rm.claims("k2")) == []

    assert keys(rm.confirms(made[-1])) == ["k2"]


def test_an_ask_sent_again_keeps_its_victims(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()

    assert preempted(rm.claims()) == []

    assert keys(rm.confirms(made[-1])) == ["claim"]


def test_an_ask_sent_again_keeps_its_claim_to_the_room(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.asks("first", memory=1, more={"priority": 5})

    rm.claims()

    assert keys(rm.confirms(made[-1])) == ["claim"]


def test_an_ask_sent_again_for_more_has_to_find_victims_again(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()

    assert preempted(rm.claims(memory=2)) == [made[-2]]

    assert keys(rm.confirms(made[-1])) == []
    assert keys(rm.confirms(made[-2])) == ["claim"]


def test_an_ask_sent_again_without_permission_keeps_what_it_was_promised(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()

    rm.claims(policy=VICTIM)

    assert keys(rm.confirms(made[-1])) == ["claim"]


# nodes change


def test_when_the_node_goes_other_victims_are_found() -> None:
    rm = Preempting()
    rm.creates("n1", memory=5)
    rm.creates("n2", memory=5)
    rm.takes("v", most=10)
    (first,) = preempted(rm.claims())
    (promised,) = rm.books().preemptions.open
    remaining = {"n1": "n2", "n2": "n1"}[promised.node.node_id]

    (second,) = preempted(rm.decommissions(promised.node.node_id))

    assert rm.confirms(first) == []
    assert placed(rm.confirms(second)) == [("claim", remaining)]


def test_when_the_node_is_drained_meanwhile_the_ask_waits(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.drains("n1")

    assert rm.confirms(made[-1]) == []

    assert placed(rm.undrains("n1")) == [("claim", "n1")]


def test_when_the_node_shrinks_meanwhile_the_ask_waits(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.updates("n1", memory=9)

    effects = rm.confirms(made[-1])
    assert keys(effects) == []
    assert preempted(effects) == [made[-2]]

    assert keys(rm.updates("n1", memory=10)) == ["claim"]
    assert rm.confirms(made[-2]) == []


def test_when_the_queue_fills_meanwhile_the_ask_waits() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=20)
    made = rm.takes("v", most=8)
    rm.claims()
    old = Ask("old", "t1", resource=Resource({"memory": 1}), preemption_policy=OPTED_OUT)
    rm.reports(Allocation("old", old, "n1"))

    effects = rm.confirms(made[-1])

    assert keys(effects) == []
    assert preempted(effects) == [made[-2]]
    assert keys(rm.confirms(made[-2])) == ["claim"]


def test_when_the_ask_has_to_wait_for_its_gang_meanwhile_it_waits(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.asks("p", "a1", memory=100, more={"task_group": "tg", "placeholder": True})

    assert keys(rm.confirms(made[-1])) == []

    assert keys(rm.withdraws("p", "a1")) == ["claim"]


def test_an_ask_in_vain_is_looked_at_again_when_things_have_changed(rm: Preempting) -> None:
    rm.takes("spared", most=10, preemption_policy=OPTED_OUT)
    assert preempted(rm.claims(memory=2)) == []
    rm.waits(100)
    rm.creates("n2", memory=1)
    (victim,) = rm.takes("v")

    effects = rm.updates("n2", memory=2) + rm.waits(1)

    assert preempted(effects) == [victim]


def test_an_ask_in_vain_costs_nothing_while_nothing_changes(rm: Preempting) -> None:
    rm.takes("spared", most=10, preemption_policy=OPTED_OUT)
    rm.claims()
    rm.waits(400)  # the application of the others runs by now

    assert rm.scheduler.next_deadline() is None


def test_a_promise_holds_against_another_on_a_node_that_shrinks(rm: Preempting) -> None:
    rm.takes("spared", most=7, preemption_policy=OPTED_OUT)
    rm.takes("v", most=3)
    older, younger = {"preemption_policy": ALLOWED, "priority": 1}, {"preemption_policy": ALLOWED}
    rm.asks("k2", memory=2, more=older)
    rm.asks("k1", memory=1, more=younger)
    first, second, third = preempted(rm.waits(DELAY))
    rm.updates("n1", memory=9)

    assert keys(rm.confirms(first) + rm.confirms(third)) == []

    assert keys(rm.confirms(second)) == ["k2"]


def test_a_promise_holds_against_another_in_a_queue_that_fills() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=20)
    rm.takes("spared", most=5, preemption_policy=OPTED_OUT)
    rm.takes("v", most=3)
    older, younger = {"preemption_policy": ALLOWED, "priority": 1}, {"preemption_policy": ALLOWED}
    rm.asks("k2", memory=2, more=older)
    rm.asks("k1", memory=1, more=younger)
    first, second, third = preempted(rm.waits(DELAY))
    old = Ask("old", "t1", resource=Resource({"memory": 1}), preemption_policy=OPTED_OUT)
    rm.reports(Allocation("old", old, "n1"))

    assert keys(rm.confirms(first) + rm.confirms(third)) == []

    assert keys(rm.confirms(second)) == ["k2"]


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of those for whom victims are looked for."""
    seen: list[str] = []
    choose = choice.Search.choose

    def watched(search: choice.Search) -> choice.Choice | None:
        seen.append(search._ask.key)
        return choose(search)

    monkeypatch.setattr(choice.Search, "choose", watched)
    return seen


def test_more_asks_than_can_be_looked_at_in_one_go_follow_soon(
    rm: Preempting, looks: list[str]
) -> None:
    rm.takes("spared", most=10, preemption_policy=OPTED_OUT)
    asks = []
    for number in range(25):
        rm.submits(f"d{number}", "root.outside")
        need = Resource({"memory": 1})
        asks.append(Ask(f"k{number}", f"d{number}", resource=need, required_node="n1"))

    rm.says(asks=tuple(asks))

    assert looks == [f"k{number}" for number in range(10)]
    rm.waits(1)
    assert looks == [f"k{number}" for number in range(25)]


def test_an_ask_in_vain_is_not_looked_at_with_every_change(
    rm: Preempting, looks: list[str]
) -> None:
    rm.takes("spared", most=10, preemption_policy=OPTED_OUT)
    rm.claims(memory=5)
    looks.clear()

    for number in range(5):
        rm.creates(f"small{number}", memory=1)
    assert looks == ["claim"]
    rm.waits(1)
    assert looks == ["claim", "claim"]

    rm.waits(100)
    rm.submits("another", "root.outside")
    assert looks == ["claim", "claim"]


def test_asks_that_are_alike_are_looked_at_once(rm: Preempting, looks: list[str]) -> None:
    rm.takes("spared", most=10, preemption_policy=OPTED_OUT)
    need = Resource({"memory": 1})

    rm.says(
        asks=tuple(
            Ask(f"k{number}", "a1", resource=need, preemption_policy=ALLOWED, priority=number)
            for number in range(5)
        )
    )
    rm.waits(DELAY)

    assert looks == ["k4"]


# required nodes


def test_an_ask_bound_to_a_node_makes_room_there_at_once(rm: Preempting) -> None:
    rm.creates("n2", memory=1)
    made = rm.takes("v", most=11)
    rm.submits("d", "root.outside")

    effects = rm.asks("daemon", "d", memory=1, more={"required_node": "n2"})

    (victim,) = preempted(effects)
    live = rm.books().allocations[victim]
    assert live.node.node_id == "n2"
    assert victim in made
    assert placed(rm.confirms(victim)) == [("daemon", "n2")]


def test_it_does_not_matter_to_whom_the_room_is_guaranteed(rm: Preempting) -> None:
    (own,) = rm.takes("own", "a1", memory=5)
    (victim,) = rm.takes("v", memory=3)
    rm.takes("w", memory=2, priority=1)
    rm.submits("d", "root.outside")

    effects = rm.asks("daemon", "d", memory=3, more={"required_node": "n1"})

    assert preempted(effects) == [victim]
    assert own not in preempted(effects)


# requirement: SI-PRE-004, SI-PRE-005, SI-PRE-003
def test_the_rules_for_victims_hold_for_it_too(rm: Preempting) -> None:
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


def test_what_one_application_cannot_win_from_itself_another_can(rm: Preempting) -> None:
    rm.submits("d1", "root.outside")
    rm.submits("d2", "root.outside")
    (own,) = rm.takes("own", "d1", memory=10)
    need = Resource({"memory": 1})

    effects = rm.says(
        asks=(
            Ask("k1", "d1", resource=need, required_node="n1"),
            Ask("k2", "d2", resource=need, required_node="n1"),
        )
    )

    assert preempted(effects) == [own]
    assert keys(rm.confirms(own, "d1")) == ["k2", "k1"]


def test_nobody_has_to_go_from_a_node_that_takes_nothing_new(rm: Preempting) -> None:
    rm.takes("v", most=10)
    rm.drains("n1")
    rm.submits("d", "root.outside")

    assert preempted(rm.asks("daemon", "d", memory=1, more={"required_node": "n1"})) == []

    assert len(preempted(rm.undrains("n1") + rm.waits(1))) == 1


def test_an_unknown_node_is_no_reason_to_preempt(rm: Preempting) -> None:
    rm.takes("v", most=10)

    assert preempted(rm.claims(required_node="nX")) == []


# placeholders


# requirement: SI-GANG-067
def test_a_placeholder_may_be_a_victim_and_is_gone_then(rm: Preempting) -> None:
    rm.submits("g", "root.outside")
    (p0,) = rm.takes("p0", "g", memory=10, task_group="tg", placeholder=True)

    assert preempted(rm.claims(memory=5)) == [p0]

    real = {"task_group": "tg"}
    assert released(rm.asks("r0", "g", memory=5, more=real)) == []
    assert sorted(placed(rm.confirms(p0, "g"))) == [("claim", "n1"), ("r0", "n1")]


# requirement: SI-GANG-066, SI-REL-011
def test_a_placeholder_that_is_being_replaced_is_no_victim(rm: Preempting) -> None:
    rm.submits("g", "root.outside")
    rm.takes("p0", "g", memory=10, task_group="tg", placeholder=True)
    rm.asks("r0", "g", memory=10, more={"task_group": "tg"})

    assert preempted(rm.claims(memory=5)) == []


def test_states_follow_the_loss_of_the_last_allocation(rm: Preempting) -> None:
    rm.submits("g", "root.outside")
    (one,) = rm.takes("all", "g", memory=10)
    rm.claims()

    effects = rm.confirms(one, "g")

    assert states(effects) == ["Starting", "Completing"]


def test_a_replacement_goes_on_beside_a_promise(rm: Preempting) -> None:
    rm.submits("g", "root.outside")
    (p0,) = rm.takes("p0", "g", memory=5, priority=1, task_group="tg", placeholder=True)
    (victim,) = rm.takes("v", "g", memory=5, preemption_policy=VICTIM)
    assert preempted(rm.claims(memory=5)) == [victim]

    replaced = rm.asks("r0", "g", memory=5, more={"task_group": "tg"})
    assert [identity for identity, _ in released(replaced)] == [p0]

    assert placed(rm.releases(p0, "g", TerminationType.PLACEHOLDER_REPLACED)) == [("r0", "n1")]
    assert placed(rm.confirms(victim, "g")) == [("claim", "n1")]
