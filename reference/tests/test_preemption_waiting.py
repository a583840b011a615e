"""Preemption until the last victim has ended."""

import pytest
from sireference.core.model import AllocationRecord, Ask, Effect, PreemptionPolicy
from sireference.core.resources import Resource
from sireference.core.states import TerminationType
from tests.driving import RM, STOPPED, TIMEOUT, keys, placed, released
from tests.preempting import ALLOWED, DELAY, OPTED_OUT, QUEUES, VICTIM, Preempting, preempted

_NAMESPACES = """
partitions:
  - name: default
    placementrules: [{name: tag, value: namespace, create: true}]
    queues: [{name: root, submitacl: "*"}]
"""


@pytest.fixture
def rm() -> Preempting:
    """One node of 10, used entirely by t1."""
    rm = Preempting()
    rm.creates("n1", memory=10)
    return rm


def test_allocation_bound_to_its_node_is_not_a_victim(rm: Preempting) -> None:
    rm.takes("bound", memory=10, required_node="n1")

    assert preempted(rm.claims()) == []


# The handshake


def test_promised_capacity_goes_to_no_other_ask(rm: Preempting) -> None:
    made = rm.takes("v", most=9)
    rm.submits("t2", "root.outside")
    victims = preempted(rm.claims(memory=2))
    assert victims == [made[-1]]

    assert keys(rm.asks("small", "t2", memory=1)) == []

    assert keys(rm.confirms(victims[0])) == ["claim"]
    assert keys(rm.releases(made[0], "t1")) == ["small"]


def test_other_capacity_on_the_node_serves_the_ask_as_well(rm: Preempting) -> None:
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
def test_confirmation_of_another_type_is_ignored(rm: Preempting, kind: TerminationType) -> None:
    made = rm.takes("v", most=10)
    rm.claims()

    assert rm.releases(made[-1], "t1", kind) == []

    assert keys(rm.confirms(made[-1])) == ["claim"]


def test_stop_by_the_rm_frees_the_capacity_too(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()

    effects = rm.releases(made[-1], "t1")

    assert released(effects) == [(made[-1], STOPPED)]
    assert keys(effects) == ["claim"]
    assert rm.confirms(made[-1]) == []


def test_removal_of_the_victims_application_frees_the_capacity_too(rm: Preempting) -> None:
    rm.takes("v", most=10)
    rm.claims(memory=2)

    assert keys(rm.removes("t1")) == ["claim"]


@pytest.mark.parametrize("end", ["node", "application", "release"])
def test_claim_is_placed_elsewhere_only_once_the_victims_have_ended(end: str) -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=8)
    rm.takes("v", most=8)
    rm.creates("n2", memory=10)
    assert len(preempted(rm.claims(memory=2))) == 2

    effects = {
        "node": lambda: rm.decommissions("n1"),
        "application": lambda: rm.removes("t1"),
        "release": lambda: rm.releases("", "t1"),
    }[end]()

    received = [type(effect).__name__ for effect in effects]
    capacity_comes_free = [
        place for place, kind in enumerate(received) if kind == "ReleasedAllocation"
    ][1]
    assert keys(effects) == ["claim"]
    assert capacity_comes_free < received.index("NewAllocation")


def test_ask_has_one_preemption_at_a_time(rm: Preempting) -> None:
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


def test_several_asks_have_separate_victims(rm: Preempting) -> None:
    rm.takes("v", most=10)
    rm.asks("k1", memory=1, more={"preemption_policy": ALLOWED})
    rm.asks("k2", memory=1, more={"preemption_policy": ALLOWED, "priority": 1})

    first, second = preempted(rm.waits(DELAY))

    assert keys(rm.confirms(second)) == ["k1"]
    assert keys(rm.confirms(first)) == ["k2"]


# Changes of the preemptor


def test_withdrawal_of_the_ask_frees_the_victims_capacity_for_all(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.submits("t2", "root.outside")
    rm.asks("k", "t2", memory=1)

    assert keys(rm.withdraws("claim", "a1")) == []

    assert keys(rm.confirms(made[-1])) == ["k"]
    assert list(rm.partition.preemptions.open) == []


def test_ask_placed_elsewhere_ends_its_promise(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.submits("t2", "root.outside")

    assert placed(rm.creates("n2", memory=1)) == [("claim", "n2")]

    rm.asks("k", "t2", memory=1)
    assert placed(rm.confirms(made[-1])) == [("k", "n1")]


def test_ask_is_placed_elsewhere_when_its_queue_has_capacity() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=4)
    rm.creates("n2", memory=4)
    (other,) = rm.takes("other", memory=4, required_node="n2")
    (victim,) = rm.takes("victim", memory=4)
    assert preempted(rm.claims(memory=4)) == [victim]

    effects = rm.releases(other, "t1") + rm.waits(1)

    assert placed(effects) == [("claim", "n2")]
    assert list(rm.partition.preemptions.open) == []


def test_ask_is_served_at_once_when_only_promises_fill_its_queue() -> None:
    rm = Preempting(parent="resources: {max: {memory: 9}}")
    rm.creates("n1", memory=20)
    rm.takes("small", most=5)
    rm.takes("large", memory=2, most=2)
    first, second = preempted(rm.claims("promised", memory=3))
    rm.claims("urgent", memory=4, priority=2)  # more than it is entitled to
    rm.confirms(first)

    effects = rm.claims("urgent", memory=2, priority=2)

    assert len(preempted(effects)) == 1  # so that the promise can be kept
    assert keys(effects) == ["urgent"]
    assert keys(rm.confirms(preempted(effects)[0])) == []
    assert keys(rm.confirms(second)) == ["promised"]


def test_replaced_ask_keeps_its_victims(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()

    assert preempted(rm.claims()) == []

    assert keys(rm.confirms(made[-1])) == ["claim"]


def test_replaced_ask_keeps_its_claim_to_the_capacity(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.asks("first", memory=1, more={"priority": 5})

    rm.claims()

    assert keys(rm.confirms(made[-1])) == ["claim"]


def test_replaced_ask_of_a_larger_size_needs_new_victims(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()

    assert preempted(rm.claims(memory=2)) == [made[-2]]

    assert keys(rm.confirms(made[-1])) == []
    assert keys(rm.confirms(made[-2])) == ["claim"]


def test_replaced_ask_without_permission_keeps_its_promise(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()

    rm.claims(policy=VICTIM)

    assert keys(rm.confirms(made[-1])) == ["claim"]


# Changes of nodes


def test_other_victims_are_found_when_the_node_is_removed() -> None:
    rm = Preempting()
    rm.creates("n1", memory=5)
    rm.creates("n2", memory=5)
    rm.takes("v", most=10)
    (first,) = preempted(rm.claims())
    (reserved,) = rm.partition.preemptions.open
    remaining = {"n1": "n2", "n2": "n1"}[reserved.node.node_id]

    (second,) = preempted(rm.decommissions(reserved.node.node_id))

    assert rm.confirms(first) == []
    assert placed(rm.confirms(second)) == [("claim", remaining)]


def test_ask_waits_when_the_node_is_drained(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.drains("n1")

    assert rm.confirms(made[-1]) == []

    assert placed(rm.undrains("n1")) == [("claim", "n1")]


def test_ask_waits_when_the_node_shrinks(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.updates("n1", memory=9)

    effects = rm.confirms(made[-1])
    assert keys(effects) == []
    assert preempted(effects) == [made[-2]]

    assert keys(rm.updates("n1", memory=10)) == ["claim"]
    assert rm.confirms(made[-2]) == []


def test_ask_waits_when_its_queue_is_full() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=20)
    made = rm.takes("v", most=8)
    rm.claims()
    old = Ask("old", "t1", resource=Resource({"memory": 1}), preemption_policy=OPTED_OUT)
    rm.reports(AllocationRecord("old", old, "n1"))

    effects = rm.confirms(made[-1])

    assert keys(effects) == []
    assert preempted(effects) == [made[-2]]
    assert keys(rm.confirms(made[-2])) == ["claim"]


@pytest.fixture
def bound() -> tuple[Preempting, dict[str, str]]:
    """Claim n2, which has capacity as soon as its queue has; a victim there is being released."""
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=4)
    rm.creates("n2", memory=8)
    made = {
        key: rm.takes(key, memory=4, required_node=node, preemption_policy=policy)[0]
        for key, node, policy in (("other", "n1", OPTED_OUT), ("victim", "", VICTIM))
    }
    assert preempted(rm.claims(memory=4, required_node="n2")) == [made["victim"]]
    return rm, made


# requirement: SI-CONST-003
def test_capacity_in_its_queue_serves_the_ask_as_well(
    bound: tuple[Preempting, dict[str, str]],
) -> None:
    rm, made = bound

    effects = rm.releases(made["other"], "t1") + rm.waits(1)

    assert placed(effects) == [("claim", "n2")]
    assert keys(rm.confirms(made["victim"])) == []


# requirement: SI-CONST-003, SI-CFG-005
@pytest.mark.parametrize("again", [ALLOWED, OPTED_OUT])
def test_higher_maximum_serves_the_ask_as_well(
    bound: tuple[Preempting, dict[str, str]], again: PreemptionPolicy
) -> None:
    rm, _ = bound
    rm.claims(memory=4, required_node="n2", policy=again)

    parent = "resources: {max: {memory: 12}}"
    higher = QUEUES.format(partition="", parent=parent, entitled="", taking="")
    effects = rm.reconfigures(higher) + rm.waits(1)

    assert placed(effects) == [("claim", "n2")]


# requirement: SI-CONST-003, SI-CONST-005
def test_higher_namespace_quota_serves_the_ask_as_well() -> None:
    rm = RM(queues=_NAMESPACES)

    def submits(application_id: str, memory: int) -> list[Effect]:
        quota = f'{{"resources": {{"memory": {{"value": {memory}}}}}}}'
        return rm.submits(application_id, tags={"namespace": "x", "namespace.resourcequota": quota})

    submits("a1", memory=8)
    submits("t1", memory=8)
    rm.creates("n1", memory=4)
    rm.creates("n2", memory=8)
    rm.asks("other", "t1", memory=4, more={"required_node": "n1"})
    rm.asks("victim", "t1", memory=4)
    assert preempted(rm.asks("claim", memory=4, more={"required_node": "n2"})) != []
    rm.waits(10)

    effects = submits("a2", memory=12)

    assert placed(effects) == [("claim", "n2")]


# requirement: SI-PRE-004
def test_replaced_ask_without_permission_finds_no_new_victims(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.claims(policy=VICTIM)
    rm.updates("n1", memory=9)

    effects = rm.confirms(made[-1]) + rm.waits(5)

    assert keys(effects) == preempted(effects) == []


def test_ask_that_has_to_wait_for_its_gang_waits(rm: Preempting) -> None:
    made = rm.takes("v", most=10)
    rm.claims()
    rm.asks("p", "a1", memory=100, more={"task_group": "tg", "placeholder": True})

    assert keys(rm.confirms(made[-1])) == []

    assert keys(rm.withdraws("p", "a1")) == ["claim"]


def test_unsuccessful_search_is_repeated_after_changes(rm: Preempting) -> None:
    rm.takes("spared", most=10, preemption_policy=OPTED_OUT)
    assert preempted(rm.claims(memory=2)) == []
    rm.waits(100)
    rm.creates("n2", memory=1)
    (victim,) = rm.takes("v")

    effects = rm.updates("n2", memory=2) + rm.waits(1)

    assert preempted(effects) == [victim]


def test_promise_holds_against_another_on_a_node_that_shrinks(rm: Preempting) -> None:
    rm.takes("spared", most=7, preemption_policy=OPTED_OUT)
    rm.takes("v", most=3)
    older, younger = {"preemption_policy": ALLOWED, "priority": 1}, {"preemption_policy": ALLOWED}
    rm.asks("k2", memory=2, more=older)
    rm.asks("k1", memory=1, more=younger)
    first, second, third = preempted(rm.waits(DELAY))
    rm.updates("n1", memory=9)

    assert keys(rm.confirms(first) + rm.confirms(third)) == []

    assert keys(rm.confirms(second)) == ["k2"]


def test_promise_holds_against_another_in_a_queue_that_fills() -> None:
    rm = Preempting(parent="resources: {max: {memory: 8}}")
    rm.creates("n1", memory=20)
    rm.takes("spared", most=5, preemption_policy=OPTED_OUT)
    rm.takes("v", most=3)
    older, younger = {"preemption_policy": ALLOWED, "priority": 1}, {"preemption_policy": ALLOWED}
    rm.asks("k2", memory=2, more=older)
    rm.asks("k1", memory=1, more=younger)
    first, second, third = preempted(rm.waits(DELAY))
    old = Ask("old", "t1", resource=Resource({"memory": 1}), preemption_policy=OPTED_OUT)
    rm.reports(AllocationRecord("old", old, "n1"))

    assert keys(rm.confirms(first) + rm.confirms(third)) == []

    assert keys(rm.confirms(second)) == ["k2"]
