"""The small scheduler with a table by key: it starts, serves and places entries."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from mutation.by_key import handlers, rounds
from mutation.by_key.outbox import ALLOCATION, Outbox
from mutation.by_key.queues import ConfigurationError, read
from mutation.by_key.strategies import STRATEGIES, chosen
from mutation.by_key.table import Table
from mutation.by_key.totals import Totals
from siwire import REVISIONS
from siwire.r2024_10 import si_pb2

from .small_schedulers import QUEUES, assert_allocates, assert_unregistered_rm_is_unserved, served

REVISION = REVISIONS["2024-10"]
TEN = si_pb2.Resource(resources={"memory": si_pb2.Quantity(value=10)})
ASK = {"allocationKey": "k", "applicationID": "a", "resourcePerAlloc": TEN}


def table(*strategies: str) -> Table:
    """A table with one node and one application, neither of them reported."""
    known = Table("rm", read(QUEUES.read_text()), chosen(strategies), {}, Outbox(frozenset()))
    create = si_pb2.NodeInfo(nodeID="n", action=si_pb2.NodeInfo.CREATE, schedulableResource=TEN)
    handlers.observe(known, si_pb2.NodeRequest(nodes=[create]))
    added = si_pb2.AddApplicationRequest(applicationID="a", queueName="root.plain")
    handlers.observe(known, si_pb2.ApplicationRequest(new=[added]))
    return known


def received(known: Table, **sent: Any) -> list[Any]:
    """Return what the RM receives about allocations after sending this."""
    handlers.observe(known, si_pb2.AllocationRequest(**sent))
    return known.news.due(ALLOCATION)


@pytest.fixture
def channel() -> Iterator[grpc.Channel]:
    """A channel to a separate scheduler."""
    with served("mutation.by_key") as channel:
        yield channel


def test_a_request_is_allocated(channel: grpc.Channel) -> None:
    assert_allocates(channel, REVISION, allocations=[ASK])


def test_stream_of_unregistered_rm_ends(channel: grpc.Channel) -> None:
    assert_unregistered_rm_is_unserved(channel, REVISION)


def test_entry_without_node_is_pending() -> None:
    known = table()

    assert (
        received(known, allocations=[ASK, {**ASK, "allocationKey": "there", "nodeID": "n"}]) == []
    )
    rounds.go(known)

    assert known.news.due(ALLOCATION) == []
    assert Totals(known).free(known.nodes["n"]) == {"memory": 0}
    release = {"applicationID": "a", "allocationKey": "there", "terminationType": "STOPPED_BY_RM"}
    assert received(known, releases={"allocationsToRelease": [release]})[0].released
    rounds.go(known)
    placed: Any = known.news.due(ALLOCATION)[0]
    assert placed.new[0].allocationKey == "k"


def test_unknown_strategy_is_rejected() -> None:
    assert chosen(["slow,late", "singly"]) == {"slow", "late", "singly"} < set(STRATEGIES)
    with pytest.raises(ValueError, match="unknown strategy 'loud'"):
        chosen(["loud"])


def test_strategy_changes_report_of_withdrawal() -> None:
    known = table("withdrawn-rejected")
    received(known, allocations=[ASK])

    release = {"applicationID": "a", "allocationKey": "k", "terminationType": "STOPPED_BY_RM"}
    answers = received(known, releases={"allocationsToRelease": [release]})

    assert [len(answer.rejectedAllocations) for answer in answers] == [1]


@pytest.mark.parametrize(
    ("strategy", "moments", "placed"),
    [
        ("by-turns", [0.0, 0.25, 0.5], [1, 1, 1]),
        ("one-a-round", [0.0, 0.2, 0.4], [1, 1, 1]),
        ("warms-up", [0.1, 1.9, 2.1], [0, 0, 3]),
        ("pauses", [0.5, 1.1, 1.3], [0, 0, 3]),
        ("nodes-rest", [0.0, 1.4, 1.6], [0, 0, 3]),
    ],
)
def test_strategy_decides_when_requests_are_placed(
    strategy: str, moments: list[float], placed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: 0.0)
    known = table(strategy)
    known.since = 0.0
    three = si_pb2.Resource(resources={"memory": si_pb2.Quantity(value=3)})
    for name in "abc":
        added = si_pb2.AddApplicationRequest(applicationID=name, queueName="root.plain")
        handlers.observe(known, si_pb2.ApplicationRequest(new=[added]))
        asked = {"allocationKey": name, "applicationID": name, "resourcePerAlloc": three}
        received(known, allocations=[asked])

    def placed_at(moment: float) -> int:
        monkeypatch.setattr("time.time", lambda: moment)
        rounds.go(known)
        answers: list[Any] = [*known.news.due(ALLOCATION)]
        return sum(len(answer.new) for answer in answers)

    assert [placed_at(moment) for moment in moments] == placed


def test_unsteady_messages_stay_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    news = Outbox(chosen(["unsteady", "singly"]))
    for number in range(20):
        news.placed(si_pb2.Allocation(allocationKey=f"k{number}"))

    soon = news.due(ALLOCATION)
    monkeypatch.setattr("time.monotonic", lambda: 11.0)
    answers: list[Any] = [*soon, *news.due(ALLOCATION)]

    assert len(soon) < 20
    assert [answer.new[0].allocationKey for answer in answers] == [f"k{n}" for n in range(20)]


def test_invalid_configuration_is_rejected() -> None:
    with pytest.raises(ConfigurationError):
        read("partitions: 5")
