"""Configuration updates that add, remove or restore partitions."""

from sireference.core.model import (
    AcceptedNode,
    Configured,
    NodeInfo,
    RejectedNode,
    Settings,
    UpdateNodes,
)
from sireference.core.resources import Resource
from sireference.core.states import NodeAction
from tests.configuring import TOP, is_taken, takes, tree
from tests.driving import RM, keys, of

TWO = (
    TOP + "          - {name: q1}\n" + TOP.replace("\npartitions:", "").replace("default", "other")
)
TWO += "          - {name: q1}\n"
ONE = tree("{name: q1}")


def adds_node(rm: RM, node_id: str, partition: str) -> bool:
    info = NodeInfo(node_id, NodeAction.CREATE, partition, capacity=Resource({"memory": 9}))
    effects = rm.scheduler.handle(UpdateNodes("rm", (info,)), rm.now)
    assert len(of(effects, AcceptedNode)) + len(of(effects, RejectedNode)) == 1
    return bool(of(effects, AcceptedNode))


def partitions(rm: RM) -> list[str]:
    return list(rm.scheduler.rms.all()[0].partitions)


def test_new_partition_can_be_used_at_once() -> None:
    rm = RM(queues=ONE)
    assert not adds_node(rm, "o1", "other")

    assert is_taken(rm.reconfigures(TWO))
    assert adds_node(rm, "o1", "other")
    assert takes(rm, "a1", "root.q1", partition="other")
    assert keys(rm.asks("k1", more={"partition": "other"}, memory=1)) == ["k1"]


def test_removed_partition_keeps_its_content_and_accepts_nothing_new() -> None:
    rm = RM(queues=TWO)
    adds_node(rm, "o1", "other")
    rm.submits("a1", "root.q1", partition="other")

    assert rm.reconfigures(ONE) == [Configured("rm")]
    assert not adds_node(rm, "o2", "other")
    assert not takes(rm, "a2", "root.q1", partition="other")
    assert keys(rm.asks("k1", more={"partition": "other"}, memory=1)) == ["k1"]
    assert takes(rm, "a3", "root.q1")


def test_draining_partition_is_removed_with_its_last_node_and_application() -> None:
    rm = RM(queues=TWO)
    adds_node(rm, "o1", "other")
    rm.submits("a1", "root.q1", partition="other")
    rm.reconfigures(ONE)

    rm.removes("a1", partition="other")
    assert partitions(rm) == ["default", "other"]
    rm.decommissions("o1")
    assert partitions(rm) == ["default"]
    assert not takes(rm, "a1", "root.q1", partition="other")


def test_draining_partition_is_removed_when_its_last_application_completes() -> None:
    rm = RM(queues=TWO, settings=Settings(completing_timeout=30))
    rm.submits("a1", "root.q1", partition="other")
    rm.reconfigures(ONE)
    more = {"partition": "other"}
    rm.asks("k1", more=more, memory=1)
    rm.withdraws("k1", partition="other")

    rm.waits(29)
    assert partitions(rm) == ["default", "other"]
    rm.waits(1)
    assert partitions(rm) == ["default"]


def test_removed_empty_partition_is_gone_at_once() -> None:
    rm = RM(queues=TWO)
    rm.reconfigures(ONE)

    assert partitions(rm) == ["default"]


def test_restored_partition_is_active_again() -> None:
    rm = RM(queues=TWO)
    adds_node(rm, "o1", "other")
    rm.reconfigures(ONE)
    rm.reconfigures(TWO)

    assert takes(rm, "a1", "root.q1", partition="other")
    assert keys(rm.asks("k1", more={"partition": "other"}, memory=1)) == ["k1"]
