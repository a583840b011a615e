"""Quota enforcement: usage above a lowered maximum is preempted after a delay."""

from collections.abc import Mapping

import pytest
from sireference.core.model import ChangeDetail, Effect, PreemptionPolicy, Rules
from sireference.core.resources import Resource
from sireference.core.states import TerminationType
from tests.configuring import tree
from tests.driving import keys, of_allocations, released
from tests.later_records import RULES, Later, sent
from tests.test_event_records import records

PREEMPTED = TerminationType.PREEMPTED_BY_SCHEDULER
ON = "    preemption: {quotapreemptionenabled: true}\n"
DELAY = "properties: {quota.preemption.delay: 5s}"


def queue(most: int | None, more: str = "", *, guaranteed: int = 0) -> str:
    """Return a configuration with the queue q."""
    amounts = f"guaranteed: {{memory: {guaranteed}}}" if guaranteed else ""
    if most is not None:
        amounts += f"{', ' if amounts else ''}max: {{memory: {most}}}"
    return tree(f"{{name: q, resources: {{{amounts}}}, {DELAY}{more}}}", "{name: r}", rest=ON)


def watched(queues: str, rules: Rules = RULES) -> Later:
    rm = Later(queues=queues, rules=rules)
    rm.submits("a1", "root.q")
    return rm


def runs(rm: Later, *sizes: int, of: str = "a1", more: Mapping[str, object] | None = None) -> None:
    """Place allocations k1, k2 and so on of these sizes."""
    for number, size in enumerate(sizes, start=1):
        assert keys(rm.asks(f"{of}-k{number}", of, memory=size, more=more))


def gone(effects: list[Effect]) -> set[str]:
    """Return the preempted allocations."""
    ends = released(effects)
    assert {termination for _, termination in ends} <= {PREEMPTED}
    return {identity.removeprefix("a1-") for identity, _ in ends}


# requirement: SI-PRE-009, SI-EVT-016
def test_excess_over_a_lowered_maximum_is_preempted_after_the_delay() -> None:
    rm = watched(queue(10))
    runs(rm, 4, 3, 3)

    at_once = rm.reconfigures(queue(5))
    before = rm.waits(4.9)
    effects = rm.waits(0.1)

    assert released(at_once + before) == []
    assert gone(effects) == {"k2", "k3"}
    assert sent(effects, ChangeDetail.QUEUE_PREEMPTION) == [
        ("root.q", "SET", "QUEUE_PREEMPTION", "")
    ]
    (record,) = (r for r in records(effects) if r.detail is ChangeDetail.QUEUE_PREEMPTION)
    assert (record.type.name, record.resource) == ("QUEUE", Resource({"memory": 5}))


# requirement: SI-PRE-009
def test_victims_hold_their_capacity_until_the_rm_confirms() -> None:
    rm = watched(queue(10))
    runs(rm, 5, 5)
    rm.reconfigures(queue(5))
    assert gone(rm.waits(5.0)) == {"k2"}
    root = rm.partition.root
    assert keys(rm.asks("more", memory=1)) == []

    confirmed = rm.releases("a1-k2", termination=PREEMPTED)

    assert released(confirmed) == []
    leaf = root.children["q"]
    assert (leaf.used, leaf.yielding) == (Resource({"memory": 5}), Resource())
    assert keys(rm.reconfigures(queue(6))) == ["more"]


# requirement: SI-PRE-009
@pytest.mark.parametrize(
    "after",
    [
        queue(5).replace(ON, ""),
        queue(5).replace(DELAY, "properties: {}"),
        queue(10),
        queue(None),
        queue(20),
    ],
    ids=["switched off", "no delay", "the same", "no maximum", "a higher one"],
)
def test_nothing_is_preempted_otherwise(after: str) -> None:
    rm = watched(queue(10))
    runs(rm, 4, 4)

    effects = rm.reconfigures(after) + rm.waits(1000.0)

    assert released(effects) == []
    assert sent(effects, ChangeDetail.QUEUE_PREEMPTION) == []


# requirement: SI-PRE-009
def test_new_maximum_counts_as_lowered() -> None:
    rm = watched(queue(None))
    runs(rm, 4, 4)

    rm.reconfigures(queue(5))

    assert gone(rm.waits(5.0)) == {"k2"}


# requirement: SI-EVT-016
def test_queue_back_below_its_maximum_loses_nothing() -> None:
    rm = watched(queue(10))
    runs(rm, 4, 4)
    rm.reconfigures(queue(5))
    rm.send(releases=(of_allocations("a1", "a1-k1"),))

    effects = rm.waits(1000.0)

    assert released(effects) == []
    assert sent(effects, ChangeDetail.QUEUE_PREEMPTION) == []


# requirement: SI-PRE-009
def test_maximum_raised_in_time_is_not_enforced() -> None:
    rm = watched(queue(10))
    runs(rm, 4, 4)
    rm.reconfigures(queue(5))
    rm.waits(4.0)

    rm.reconfigures(queue(8))

    assert len(rm.partition.enforcements) == 0
    assert released(rm.waits(1000.0)) == []


# requirement: SI-PRE-009
def test_lowering_it_again_does_not_restart_the_delay() -> None:
    rm = watched(queue(10))
    runs(rm, 4, 4)
    rm.reconfigures(queue(7))
    rm.waits(4.0)

    rm.reconfigures(queue(3))

    assert gone(rm.waits(1.0)) == {"k1", "k2"}


# requirement: SI-PRE-009
def test_queue_does_not_fall_below_its_guarantee() -> None:
    rm = watched(queue(10, guaranteed=4))
    runs(rm, 3, 3, 3)

    rm.reconfigures(queue(4, guaranteed=4))

    assert gone(rm.waits(5.0)) == {"k3"}  # without another one, only 3 would remain


# requirement: SI-PRE-009, SI-PRE-003
@pytest.mark.parametrize(
    "more",
    [
        {"preemption_policy": PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=True)},
        {"required_node": "n1"},
    ],
    ids=["opted out", "bound to its node"],
)
def test_protected_allocations_are_not_preempted(more: Mapping[str, object]) -> None:
    rm = watched(queue(10))
    runs(rm, 5, 5, more=more)
    rm.reconfigures(queue(5))

    effects = rm.waits(1000.0)

    assert released(effects) == []
    assert sent(effects, ChangeDetail.QUEUE_PREEMPTION) == []


# requirement: SI-PRE-009
def test_leaf_with_preemption_disabled_is_spared() -> None:
    disabled = ", queues: [{name: s, properties: {preemption.policy: disabled}}, {name: t}]"
    rm = Later(queues=queue(10, disabled))
    for leaf in ("s", "t"):
        rm.submits(leaf, f"root.q.{leaf}")
        runs(rm, 2, 2, of=leaf)

    rm.reconfigures(queue(1, disabled))

    assert gone(rm.waits(5.0)) == {"t-k1", "t-k2"}


# requirement: SI-PRE-009
def test_lower_priority_goes_first_and_originators_last() -> None:
    rm = watched(queue(10))
    for key, more in (
        ("high", {"priority": 5}),
        ("first", {"originator": True}),
        ("older", {}),
        ("newer", {}),
    ):
        rm.asks(key, memory=2, more=more)

    rm.reconfigures(queue(6))
    assert gone(rm.waits(5.0)) == {"newer"}
    rm.reconfigures(queue(2))
    assert gone(rm.waits(5.0)) == {"older", "first"}


# requirement: SI-PRE-009
def test_victims_that_are_not_needed_are_dropped() -> None:
    rm = watched(queue(10))
    runs(rm, 6, 4)

    rm.reconfigures(queue(5))

    assert gone(rm.waits(5.0)) == {"k1"}


# requirement: SI-PRE-009
def test_only_allocations_with_an_excess_resource_are_preempted() -> None:
    rm = watched(queue(10))
    rm.updates("n1", memory=100, vcore=10)
    rm.asks("k1", memory=8)
    rm.asks("k2", vcore=8)

    rm.reconfigures(queue(5))

    assert gone(rm.waits(5.0)) == {"k1"}


# requirement: SI-PRE-009
def test_open_releases_count() -> None:
    rm = watched(queue(10))
    runs(rm, 4, 3, 3)
    rm.reconfigures(queue(7))
    assert gone(rm.waits(5.0)) == {"k3"}

    rm.reconfigures(queue(4))

    assert gone(rm.waits(5.0)) == {"k2"}


# requirement: SI-PRE-009
def test_quota_enforcement_is_in_every_revision_but_recorded_in_one() -> None:
    rm = watched(queue(10), Rules())
    rm.asks("k1", memory=5)
    rm.asks("k2", memory=5)
    rm.reconfigures(queue(5))

    effects = rm.waits(5.0)

    assert len(released(effects)) == 1
    assert sent(effects, ChangeDetail.QUEUE_PREEMPTION) == []


def test_removed_queue_leaves_nothing() -> None:
    rm = watched(queue(10))
    runs(rm, 4, 4)
    rm.reconfigures(queue(5))
    assert len(rm.partition.enforcements) == 1

    rm.reconfigures(tree("{name: r}", rest=ON))
    rm.removes("a1")

    assert len(rm.partition.enforcements) == 0
    assert released(rm.waits(1000.0)) == []
