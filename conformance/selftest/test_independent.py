"""The independent scheduler: it starts, serves, takes strategies, and ends."""

from collections.abc import Iterator

import grpc
import pytest
from mutation.independent import nodes, outbox
from mutation.independent.amounts import fits, keeps
from mutation.independent.queues import BadConfigurationError, partitions
from mutation.independent.state import RMState
from mutation.independent.strategies import STRATEGIES, chosen
from siwire import REVISIONS
from siwire.r2023_12 import si_pb2

from .small_schedulers import QUEUES, assert_allocates, assert_unregistered_rm_is_unserved, served

REVISION = REVISIONS["2023-12"]
TEN = si_pb2.Resource(resources={"memory": si_pb2.Quantity(value=10)})


@pytest.fixture
def channel() -> Iterator[grpc.Channel]:
    """A channel to a separate scheduler."""
    with served("mutation.independent") as channel:
        yield channel


def test_an_ask_is_allocated(channel: grpc.Channel) -> None:
    ask = {"allocationKey": "k", "applicationID": "a", "resourceAsk": TEN, "maxAllocations": 1}

    assert_allocates(channel, REVISION, asks=[ask])


def test_stream_of_unregistered_rm_ends(channel: grpc.Channel) -> None:
    assert_unregistered_rm_is_unserved(channel, REVISION)


def test_strategies_are_added_and_taken_away() -> None:
    usual = {name for name, strategy in STRATEGIES.items() if strategy.usual}

    assert chosen(["silent", "no-keyless"]) == usual - {"keyless"} | {"silent"}
    with pytest.raises(ValueError, match="unknown strategy 'loud'"):
        chosen(["loud"])


def test_quotas_of_parent_queues_apply() -> None:
    default = partitions(QUEUES.read_text(), "")["default"]
    left = default.place("root.parent.left", {})
    assert left is not None

    left.take({"memory": 8, "vcore": 100})

    right = default.place("root.parent.right", {})
    assert right is not None
    assert right.has_capacity({"memory": 2})
    assert not right.has_capacity({"memory": 3})
    assert right.could_hold({"memory": 10})
    assert default.place("root.nowhere", {}) is None
    assert default.place("", {"namespace": "here"}) is default.find("root.namespaces.here")
    with pytest.raises(BadConfigurationError):
        partitions("partitions: 5", "")


def test_missing_type_is_zero_on_node_and_unlimited_in_queue() -> None:
    assert not fits({"gpu": 1}, {"memory": 10})
    assert keeps({"gpu": 1}, {"memory": 10})


def test_invalid_node_action_is_rejected_without_effect() -> None:
    received = outbox.Outbox()
    rm = RMState("rm", partitions("", ""), chosen(()), {}, received)
    undrain = si_pb2.NodeInfo(nodeID="n", action=si_pb2.NodeInfo.DRAIN_TO_SCHEDULABLE)
    create = si_pb2.NodeInfo(nodeID="n", action=si_pb2.NodeInfo.CREATE)

    nodes.take(rm, si_pb2.NodeRequest(nodes=[create, undrain]))

    accepted, rejected = received.collect(outbox.NODE)
    assert isinstance(accepted, si_pb2.NodeResponse)
    assert accepted.accepted[0].nodeID == "n"
    assert isinstance(rejected, si_pb2.NodeResponse)
    assert rejected.rejected[0].reason == "n is not draining"
