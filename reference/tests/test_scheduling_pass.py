"""Work of a scheduling pass: only awake groups and nodes that gained capacity are examined."""

import pytest
from sireference.core import scheduling_pass
from sireference.core.model import Effect
from sireference.core.resources import Resource
from sireference.core.state.application import Application, AskGroup
from sireference.core.state.node import Node
from sireference.core.state.node_index import SortedNodes
from sireference.core.state.partition import Partition
from tests.driving import RM, identities, keys, placed


class Looks:
    """Counts how often an amount is compared with available capacity."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        fits = Resource.fits

        def counted(need: Resource, capacity: Resource) -> bool:
            self.count += 1
            return fits(need, capacity)

        monkeypatch.setattr(Resource, "fits", counted)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    return Looks(monkeypatch)


def cluster(nodes: int) -> RM:
    rm = RM()
    rm.submits("a1")
    for number in range(nodes):
        rm.creates(f"n{number}", memory=10)
    return rm


def test_size_that_fits_nowhere_is_searched_once(looks: Looks) -> None:
    rm = cluster(200)
    rm.asks("k0", memory=11)
    first = looks.count

    for number in range(1, 50):
        rm.asks(f"k{number}", memory=11)

    assert first > 0
    assert looks.count == first


def test_full_nodes_are_not_examined_one_by_one(looks: Looks) -> None:
    rm = cluster(2000)
    rm.asks("fill", memory=10, most=2000)
    rm.waits(0)  # a pass has a bound on its work
    rm.asks("k0", memory=2)
    looks.count = rm.partition.node_index.looked_at = 0

    rm.asks("k1", memory=1)

    assert rm.partition.node_index.looked_at == 0
    assert looks.count < 20


def test_only_the_required_node_is_examined() -> None:
    rm = cluster(200)

    rm.asks("k", memory=1, more={"required_node": "n150"})

    assert rm.partition.node_index.looked_at == 1


def test_failed_search_is_shared_among_applications(looks: Looks) -> None:
    rm = cluster(200)
    rm.asks("k0", memory=11)
    first = looks.count

    rm.submits("a2")
    rm.asks("k1", "a2", memory=11)

    assert looks.count == first


def test_only_the_node_that_gained_capacity_is_examined_again(looks: Looks) -> None:
    rm = cluster(200)
    made = identities(rm.asks("fill", memory=10, most=200))
    rm.asks("k", memory=10, most=5)
    rm.asks("big", memory=11, most=5)
    looks.count = 0

    assert keys(rm.releases(made[7])) == ["k"]

    assert looks.count < 20


def test_size_without_asks_is_forgotten() -> None:
    rm = cluster(3)
    capacity = rm.partition.node_index
    for number in range(50):
        rm.asks(f"k{number}", memory=100 + number)
        rm.withdraws(f"k{number}")
        rm.submits("a1")

    assert not capacity._unplaced
    assert list(capacity.waiting) == []


def test_asks_of_one_shape_cost_one_search_per_pass(looks: Looks) -> None:
    rm = cluster(100)
    rm.asks("fill", memory=10, most=100)
    for number in range(100):
        rm.asks(f"k{number}", memory=1)
    looks.count = 0

    assert placed(rm.creates("more", memory=1)) == [("k0", "more")]

    assert looks.count < 20


def test_index_keeps_its_order_through_changes() -> None:
    index = SortedNodes(lambda node: node.free.amounts["memory"])
    nodes = [
        Node(f"n{i}", i, {}, Resource({"memory": amount}), Resource(), state=None)  # type: ignore[arg-type]
        for i, amount in enumerate((5, 3, 9, 3))
    ]
    for node in nodes:
        index.add(node)
    assert [node.number for node in index] == [1, 3, 0, 2]

    nodes[0].resize(Resource({"memory": 1}), Resource())
    index.changed(nodes[0])
    index.remove(nodes[3])

    assert [node.number for node in index] == [0, 1, 2]
    assert nodes[3] not in index


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[AskGroup]:
    """Return the waiting lines that were examined, in order."""
    lines: list[AskGroup] = []
    awakens = Application.awakens

    def noted(application: Application, group: AskGroup) -> None:
        lines.append(group)
        awakens(application, group)

    monkeypatch.setattr(Application, "awakens", noted)
    return lines


BACKLOG = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {{name: leaf, properties: {{application.sort.policy: {policy}}}{more}}}
"""
QUOTA = ", resources: {max: {memory: 3}}"
SLOTS = ", maxapplications: 3"


@pytest.mark.parametrize("policy", ["fifo", "fair"])
@pytest.mark.parametrize(("more", "capacity"), [("", 3), (QUOTA, 100), (SLOTS, 100)])
def test_freed_capacity_wakes_exactly_the_asks_it_fits(
    policy: str, more: str, capacity: int, woken: list[AskGroup]
) -> None:
    rm = RM(queues=BACKLOG.format(policy=policy, more=more))
    rm.creates("n1", memory=capacity)
    names = [f"a{number}" for number in range(50)]
    made = {}
    for name in names:
        rm.submits(name, "root.leaf")
        made[name] = identities(rm.asks(f"of-{name}", name, memory=1))
    woken.clear()

    assert keys(rm.releases(made["a0"][0], "a0")) == ["of-a3"]
    assert keys(rm.removes("a1")) == ["of-a4"]

    assert len(woken) < 10


def test_pass_takes_the_steps_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the example of docs/scheduling-pass.md."""
    steps: list[tuple[str, bool]] = []
    step = scheduling_pass.step

    def noted(partition: Partition, group: AskGroup, now: float) -> list[Effect]:
        first = group.first()
        assert first is not None
        effects = step(partition, group, now)
        steps.append((first.ask.key, group.waits_in is partition.node_index.waiting))
        return effects

    monkeypatch.setattr(scheduling_pass, "step", noted)
    rm = RM(queues=BACKLOG.format(policy="fifo", more=""))
    rm.creates("n1", memory=4)
    rm.submits("a1", "root.leaf")
    rm.submits("a2", "root.leaf")

    made = identities(rm.asks("k1", "a1", memory=2, most=3))
    assert steps == [("k1", False), ("k1", False), ("k1", True)]
    steps.clear()
    rm.asks("k2", "a2", memory=1)
    assert steps == [("k2", True)]
    steps.clear()
    rm.releases(made[0], "a1")
    assert steps == [("k1", False)]


def test_pass_ends_after_very_many_steps_and_another_one_continues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduling_pass, "_MOST_LOOKS", 1)
    rm = cluster(1)

    made = keys(rm.asks("k1", memory=1, most=5))
    assert len(made) == 2
    assert len(keys(rm.waits(0))) == 3
