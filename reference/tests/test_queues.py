"""Queues: limits on the whole path, usage accounting, and order of service."""

from sireference.core.model import AllocationRecord, Ask
from sireference.core.resources import NOTHING, Resource
from tests.driving import RM, identities, keys, placed, states

TREE = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: quota
            resources: {max: {memory: 10}}
          - name: parent
            resources: {max: {memory: 10}}
            queues: [{name: left}, {name: right}]
          - name: few
            maxapplications: 2
            queues:
              - {name: one, maxapplications: 1}
              - {name: two, maxapplications: 2}
          - name: free
          - name: closed
            resources: {max: {memory: 0, vcore: 1}}
          - name: rich
            resources: {guaranteed: {memory: 200}}
"""


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


def test_parent_maximum_applies_to_its_children_together() -> None:
    rm = in_queues(a1="root_parent_left", a2="root_parent_right")
    (left,) = identities(rm.asks("k1", memory=6))
    assert keys(rm.asks("k2", "a2", memory=5)) == []
    assert keys(rm.asks("k3", "a2", memory=4)) == ["k3"]

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


def test_removed_application_frees_its_slot() -> None:
    rm = in_queues(a1="root_few_one", a2="root_few_one")
    rm.asks("k1", memory=1)
    assert keys(rm.asks("k2", "a2", memory=1)) == []

    assert keys(rm.removes("a1")) == ["k2"]


def test_application_without_allocation_takes_no_slot() -> None:
    rm = in_queues(a1="root_few_one", a2="root_few_one")
    rm.asks("k1", memory=1000)

    assert keys(rm.asks("k2", "a2", memory=1)) == ["k2"]


def test_queue_with_the_smaller_share_is_served_next() -> None:
    rm = RM(queues=TREE)
    for application, queue in (("a1", "free"), ("a2", "rich")):
        rm.submits(application, f"root.{queue}")
        rm.asks(f"k-{application}", application, memory=30, most=3)

    assert keys(rm.creates("n1", memory=100)) == ["k-a1", "k-a2", "k-a2"]


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


def test_released_usage_is_subtracted() -> None:
    rm = in_queues(a1="root_parent_left", a2="root_free")
    rm.asks("k1", memory=2, most=5)
    rm.asks("k2", "a2", memory=7)
    root = rm.scheduler.rms.all()[0].partitions["default"].root
    assert {queue.name: queue.used.amounts.get("memory", 0) for queue in root.all()} == {
        "root": 17,
        "root.quota": 0,
        "root.parent": 10,
        "root.parent.left": 10,
        "root.parent.right": 0,
        "root.few": 0,
        "root.few.one": 0,
        "root.few.two": 0,
        "root.free": 7,
        "root.closed": 0,
        "root.rich": 0,
    }
    assert (root.running, root.children["parent"].running) == (2, 1)

    rm.releases()
    rm.removes("a2")

    assert all(queue.used == NOTHING and queue.running == 0 for queue in root.all())


def test_binpacking_fills_the_fuller_node_first() -> None:
    packed = TREE.replace(
        "    queues:\n      - name: root",
        "    nodesortpolicy: {type: binpacking}\n    queues:\n      - name: root",
        1,
    )
    for queues, expected in ((packed, ["n1", "n1", "n2"]), (TREE, ["n1", "n2", "n1"])):
        rm = RM(queues=queues)
        rm.creates("n1", memory=2)
        rm.creates("n2", memory=2)
        rm.submits("a1", "root.free")

        assert [node for _, node in placed(rm.asks("k", memory=1, most=3))] == expected


def test_running_application_needs_no_other_slot() -> None:
    rm = in_queues(a1="root_few_one", a2="root_few_one")
    rm.asks("k1", memory=1)
    assert keys(rm.asks("k2", "a2", memory=1)) == []

    ask = Ask("old", "a2", resource=Resource({"memory": 1}))
    assert keys(rm.reports(AllocationRecord("old-1", ask, "n1"))) == ["k2"]
