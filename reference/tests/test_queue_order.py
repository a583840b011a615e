"""Order of queues and of applications in a leaf: policy, priority, guaranteed resources."""

import pytest
from tests.configuring import tree
from tests.driving import RM, identities, keys

LEAVES = tree(
    "{name: fifo}",
    "{name: unsorted, properties: {application.sort.priority: disabled}}",
    "{name: fair, properties: {application.sort.policy: fair}}",
    "{name: fairest,"
    " properties: {application.sort.policy: fair, application.sort.priority: disabled}}",
    "{name: weighed, resources: {guaranteed: {memory: 10, vcore: 1}},"
    " properties: {application.sort.policy: fair}}",
)


def with_asks(queue: str, *asks: tuple[str, str, int], queues: str = LEAVES) -> RM:
    """Send asks that wait for a node: application, key and priority; each of memory 1."""
    rm = RM(queues=queues)
    for application in sorted({application for application, _, _ in asks}):
        rm.submits(application, queue)
    for application, key, priority in asks:
        rm.asks(key, application, memory=1, more={"priority": priority})
    return rm


def order(rm: RM, capacity: int = 100) -> list[str]:
    """Return the keys in the order they are placed once there is capacity."""
    return keys(rm.creates("n1", memory=capacity, vcore=capacity))


def test_fair_leaf_serves_the_smallest_usage_first() -> None:
    rm = with_asks("root.fair", *((a, f"{a}-{n}", 0) for a in ("a1", "a2") for n in range(3)))

    assert order(rm) == ["a1-0", "a2-0", "a1-1", "a2-1", "a1-2", "a2-2"]


def test_existing_allocations_count_in_a_fair_leaf() -> None:
    rm = with_asks("root.fair")
    rm.creates("full", memory=3)
    rm.submits("a1", "root.fair")
    rm.submits("a2", "root.fair")
    made = identities(rm.asks("old", "a1", memory=1, most=3))
    for application in ("a1", "a2"):
        rm.asks(f"new-{application}", application, memory=1, most=3)
    assert len(made) == 3

    rm.releases(made[0])
    assert order(rm, 3) == ["new-a2", "new-a1", "new-a2"]


def test_fair_leaf_weighs_usage_by_its_guarantee() -> None:
    rm = RM(queues=LEAVES)
    for application in ("a1", "a2"):
        rm.submits(application, "root.weighed")
    rm.asks("m", "a1", memory=4, most=3)  # 0.4 of its guarantee each time
    rm.asks("v", "a2", vcore=300, most=3)  # 0.3 of it

    assert keys(rm.creates("n1", memory=100, vcore=10_000)) == ["m", "v", "v", "m", "v", "m"]


def test_share_falls_after_a_release() -> None:
    rm = with_asks("root.fair")
    rm.creates("full", memory=4)
    for application in ("a1", "a2"):
        rm.submits(application, "root.fair")
    of_a1 = identities(rm.asks("k1", "a1", memory=1, most=2))
    rm.asks("k2", "a2", memory=1, most=2)
    for application in ("a2", "a1"):
        rm.asks(f"more-{application}", application, memory=2)

    rm.releases(of_a1[0], "a1")
    assert keys(rm.releases(of_a1[1], "a1")) == ["more-a1"]


def test_served_application_goes_behind_the_others() -> None:
    rm = with_asks("root.fair")
    rm.creates("full", memory=100)
    for application in ("a1", "a2", "full"):
        rm.submits(application, "root.fair")
    held = identities(rm.asks("large", "full", memory=3))
    rm.asks("rest", "full", memory=95)
    for application in ("a1", "a2"):
        rm.asks("small", application, memory=1)
    rm.asks("more", "a1", memory=1)
    rm.asks("two-a1", "a1", memory=2)
    rm.asks("two-a2", "a2", memory=2)

    assert keys(rm.releases(held[0], "full")) == ["more", "two-a2"]


def test_waiting_application_moves_up_with_an_ask_of_higher_priority() -> None:
    rm = with_asks("root.fifo")
    rm.creates("full", memory=2)
    for application in ("full", "a1", "a2", "a3"):
        rm.submits(application, "root.fifo")
    held = identities(rm.asks("old", "full", memory=1, most=2))
    for application in ("a1", "a2", "a3"):
        rm.asks(f"of-{application}", application, memory=1)
    assert keys(rm.releases(held[0], "full")) == ["of-a1"]

    rm.asks("urgent", "a3", memory=1, more={"priority": 1})

    assert keys(rm.releases(held[1], "full")) == ["urgent"]


def test_waiting_application_in_a_fair_leaf_moves_up_when_it_has_less() -> None:
    rm = with_asks("root.fair")
    rm.creates("full", memory=6)
    held = {}
    for number in (1, 2, 3):
        rm.submits(f"a{number}", "root.fair")
        held[number] = identities(rm.asks("old", f"a{number}", memory=1, most=number))
    for number in (1, 2, 3):
        rm.asks(f"of-a{number}", f"a{number}", memory=1)
    assert keys(rm.releases(held[1][0], "a1")) == ["of-a1"]

    effects = rm.releases("", "a3")

    assert keys(effects) == ["of-a3", "of-a2"]


def test_waiting_application_in_a_fair_leaf_moves_up_when_the_cluster_grows() -> None:
    rm = with_asks("root.fair")
    rm.creates("full", memory=10, vcore=10)
    for application in ("a0", "a1", "a2"):
        rm.submits(application, "root.fair")
    held = identities(rm.asks("old", "a0", memory=8))
    rm.asks("old", "a1", memory=2)
    rm.asks("old", "a2", vcore=3)
    for application in ("a0", "a1", "a2"):
        rm.asks(f"of-{application}", application, memory=8)
    assert keys(rm.releases(held[0], "a0")) == ["of-a0"]

    assert keys(rm.creates("more", memory=8, vcore=90)) == ["of-a2"]


@pytest.mark.parametrize("queue", ["root.fifo", "root.fair"])
def test_application_with_the_highest_priority_comes_first(queue: str) -> None:
    rm = with_asks(queue, ("a1", "low", 1), ("a2", "high", 5), ("a3", "mid", 3), ("a2", "last", 0))

    assert order(rm) == ["high", "mid", "low", "last"]


def test_negative_priority_comes_after_none() -> None:
    rm = with_asks("root.fifo", ("a1", "below", -1), ("a2", "none", 0))

    assert order(rm) == ["none", "below"]


def test_without_priority_sorting_applications_are_first_come_first_served() -> None:
    rm = with_asks("root.unsorted", ("a1", "low", 1), ("a2", "high", 5), ("a1", "lower", 0))

    assert order(rm) == ["low", "lower", "high"]


def test_without_priority_sorting_asks_of_one_application_are_still_sorted() -> None:
    rm = with_asks("root.unsorted", ("a1", "low", 1), ("a1", "high", 5))

    assert order(rm) == ["high", "low"]


def test_without_priority_sorting_priority_breaks_ties_of_shares() -> None:
    asks = (("a1", "low", 0), ("a2", "high", 1), ("a2", "higher", 9))
    rm = with_asks("root.fairest", *asks)

    assert order(rm) == ["higher", "low", "high"]


def test_ask_that_cannot_be_served_does_not_raise_its_application() -> None:
    rm = with_asks("root.fifo", ("a1", "k1", 0), ("a2", "k2", 0))
    rm.asks("large", "a2", memory=1000, more={"priority": 9})

    assert order(rm, 1) == ["k1"]


# Queues

TREE = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        properties: {%s}
        queues:
          - {name: plain}
          - {name: other}
          - {name: offset, properties: {priority.offset: "10"}}
          - {name: barrier, properties: {priority.policy: fence}}
          - {name: low, properties: {priority.policy: fence, priority.offset: "-10"}}
          - name: parent
            properties: {priority.offset: "2"}
            queues:
              - {name: one, properties: {priority.offset: "2"}}
              - {name: two}
          - name: wall
            properties: {priority.policy: fence, priority.offset: "3"}
            queues: [{name: in, properties: {priority.policy: default, priority.offset: "50"}}]
"""
BY_PRIORITY = TREE % "application.sort.priority: enabled"
BY_SHARE = TREE % "application.sort.priority: disabled"


def in_queues(queues: str, **priorities: int) -> list[str]:
    """Return the application served first; each queue has one with an ask of that priority."""
    rm = RM(queues=queues)
    for number, (queue, priority) in enumerate(priorities.items()):
        rm.submits(f"a{number}", f"root.{queue.replace('_', '.')}")
        rm.asks(queue, f"a{number}", memory=1, more={"priority": priority})
    return order(rm)


def test_queue_with_the_highest_priority_comes_first() -> None:
    assert in_queues(BY_PRIORITY, plain=1, other=2) == ["other", "plain"]
    assert in_queues(BY_PRIORITY, plain=2, other=1) == ["plain", "other"]


def test_offset_is_added_to_the_priorities_in_a_queue() -> None:
    assert in_queues(BY_PRIORITY, plain=9, offset=0, other=10) == ["other", "offset", "plain"]
    assert in_queues(BY_PRIORITY, plain=9, offset=-2) == ["plain", "offset"]


def test_priorities_are_hidden_outside_a_barrier() -> None:
    assert in_queues(BY_PRIORITY, barrier=100, plain=1) == ["plain", "barrier"]
    assert in_queues(BY_PRIORITY, barrier=-5, plain=-1) == ["barrier", "plain"]
    assert in_queues(BY_PRIORITY, low=5, plain=-9) == ["plain", "low"]


def test_offsets_add_up_to_the_common_parent() -> None:
    assert in_queues(BY_PRIORITY, plain=3, parent_one=0) == ["parent_one", "plain"]
    assert in_queues(BY_PRIORITY, plain=3, parent_two=0) == ["plain", "parent_two"]
    assert in_queues(BY_PRIORITY, plain=2, wall_in=0, other=4) == ["other", "wall_in", "plain"]


def test_priorities_count_inside_a_barrier() -> None:
    rm = RM(queues=BY_PRIORITY)
    for application in ("a1", "a2"):
        rm.submits(application, "root.barrier")
    rm.asks("low", "a1", memory=1, more={"priority": 1})
    rm.asks("high", "a2", memory=1, more={"priority": 2})

    assert order(rm) == ["high", "low"]


def test_queues_without_priority_sorting_are_sorted_by_share_then_priority() -> None:
    assert in_queues(BY_SHARE, plain=1, other=2) == ["other", "plain"]
    rm = RM(queues=BY_SHARE)
    rm.creates("full", memory=1)
    rm.submits("a1", "root.plain")
    rm.asks("had", "a1", memory=1)
    rm.asks("urgent", "a1", memory=1, more={"priority": 9})
    rm.submits("a2", "root.other")
    rm.asks("patient", "a2", memory=1)

    assert order(rm) == ["patient", "urgent"]


def test_equal_queues_take_turns_in_the_order_of_the_configuration() -> None:
    rm = RM(queues=BY_PRIORITY)
    for queue in ("other", "plain"):
        rm.submits(queue, f"root.{queue}")
        rm.asks(queue, queue, memory=1, most=3)

    assert order(rm) == ["plain", "other", "plain", "other", "plain", "other"]


GUARANTEED = tree(
    "{name: free}",
    "{name: small, resources: {guaranteed: {memory: 2}}}",
    "{name: large, resources: {guaranteed: {memory: 4}}}",
)


def test_queues_share_in_proportion_to_their_guarantees() -> None:
    rm = RM(queues=GUARANTEED)
    for queue in ("large", "small", "free"):
        rm.submits(queue, f"root.{queue}")
        rm.asks(queue, queue, memory=1, most=9)

    served = order(rm, 7)

    assert sorted(served[1:]) == ["large"] * 4 + ["small"] * 2
    assert served[0] == "free"  # it has nothing yet, and so is not above its guarantee


def test_queue_below_its_guarantee_comes_before_one_without() -> None:
    rm = RM(queues=GUARANTEED)
    rm.creates("full", memory=4)
    for queue in ("free", "large"):
        rm.submits(queue, f"root.{queue}")
    rm.asks("f", "free", memory=1)
    rm.asks("l", "large", memory=3)
    for queue in ("free", "large"):
        rm.asks(f"more-{queue}", queue, memory=1)

    assert order(rm, 100) == ["more-large", "more-free"]


def test_share_of_a_parent_includes_all_its_children() -> None:
    rm = RM(queues=BY_PRIORITY.replace("priority.offset", "x.offset"))
    for number, queue in enumerate(("plain", "parent.one", "parent.two")):
        rm.submits(f"a{number}", f"root.{queue}")
        rm.asks(queue, f"a{number}", memory=1, most=2)

    served = ["plain", "parent.one", "plain", "parent.two", "parent.one", "parent.two"]
    assert order(rm) == served
