"""Queues: limits on the whole path, usage accounting, and order of service."""

from sireference.core.model import AllocationRecord, Ask
from sireference.core.resources import Resource
from tests.configuring import tree
from tests.driving import RM, identities, keys, states

TREE = tree(
    "{name: quota, resources: {max: {memory: 10}}}",
    "{name: parent, resources: {max: {memory: 10}}, queues: [{name: left}, {name: right}]}",
    "{name: few, maxapplications: 2,"
    " queues: [{name: one, maxapplications: 1}, {name: two, maxapplications: 2}]}",
    "{name: free}",
    "{name: closed, resources: {max: {memory: 0, vcore: 1}}}",
)


def in_queues(**applications: str) -> RM:
    rm = RM(queues=TREE)
    rm.creates("n1", memory=100)
    for application_id, queue in applications.items():
        rm.submits(application_id, queue.replace("_", "."))
    return rm


def test_queue_allocates_no_more_than_its_maximum() -> None:
    rm = in_queues(a1="root_quota", a2="root_free")

    made = identities(rm.asks("k1", memory=3, most=9))
    assert len(made) == 3
    assert keys(rm.asks("k2", memory=1)) == ["k2"]
    assert keys(rm.asks("k3", "a2", memory=50)) == ["k3"]
    assert keys(rm.releases(made[0])) == ["k1"]


def test_types_not_named_in_the_maximum_are_unlimited() -> None:
    rm = in_queues(a1="root_quota")
    rm.creates("n2", vcore=1000)

    assert keys(rm.asks("k1", vcore=1000)) == ["k1"]


def test_zero_maximum_allows_nothing() -> None:
    rm = in_queues(a1="root_closed")

    assert keys(rm.asks("k1", memory=1)) == []


# requirement: SI-CFG-008, SI-CONST-009
def test_parent_maximum_applies_to_its_children_together() -> None:
    rm = in_queues(a1="root_parent_left", a2="root_parent_right")
    rm.updates("n1", memory=100, gpu=20)
    (left,) = identities(rm.asks("k1", memory=6))
    assert keys(rm.asks("k2", "a2", memory=5)) == []
    assert keys(rm.asks("k3", "a2", memory=4, gpu=20)) == ["k3"]

    assert keys(rm.releases(left)) == ["k2"]


def test_application_limits_apply_on_the_whole_path() -> None:
    rm = in_queues(a1="root_few_one", a2="root_few_one", a3="root_few_two", a4="root_few_two")
    for application in ("a1", "a2", "a3", "a4"):
        rm.asks(f"k-{application}", application, memory=1)

    running = [a for a in ("a1", "a2", "a3", "a4") if keys(rm.asks(f"more-{a}", a, memory=1))]
    assert running == ["a1", "a3"]

    effects = rm.releases()
    assert states(effects)[:2] == ["Completing", "Starting"]
    assert sorted(keys(effects)) == ["k-a2", "more-a2"]


def test_application_without_allocation_takes_no_slot() -> None:
    rm = in_queues(a1="root_few_one", a2="root_few_one")
    rm.asks("k1", memory=1000)

    assert keys(rm.asks("k2", "a2", memory=1)) == ["k2"]


def test_leaf_is_first_come_first_served(rm: RM) -> None:
    for application in ("a1", "a2", "a3"):
        rm.submits(application)
    for application in ("a3", "a1", "a2"):
        rm.asks(f"k-{application}", application, memory=1, most=2)

    assert keys(rm.creates("n1", memory=5)) == ["k-a1", "k-a1", "k-a2", "k-a2", "k-a3"]


def test_waiting_application_does_not_block_the_next() -> None:
    rm = in_queues(a1="root_quota", a2="root_quota")
    rm.asks("k1", memory=11)

    assert keys(rm.asks("k2", "a2", memory=10)) == ["k2"]


def test_running_application_needs_no_other_slot() -> None:
    rm = in_queues(a1="root_few_one", a2="root_few_one")
    rm.asks("k1", memory=1)
    assert keys(rm.asks("k2", "a2", memory=1)) == []

    ask = Ask("old", "a2", resource=Resource({"memory": 1}))
    assert keys(rm.reports(AllocationRecord("old-1", ask, "n1"))) == ["k2"]
