"""When a stream is fenced before an RM speaks on another: where something may be under way."""

import threading
from collections.abc import Sequence
from typing import Any, cast

import pytest
from siconform.expecting.fencing import Fencing
from siconform.expecting.link import Link
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    Fact,
    NodeAccepted,
    NodeRejected,
    Released,
    UpdateKind,
)
from siconform.protocol.requests import Action, ApplicationRequest, NodeRequest, Request
from siconform.transport.connection import FENCE_PREFIX, is_fence

from .resource_managers import FakeConnection


def node(name: str, action: Action = Action.CREATE) -> NodeRequest:
    """A request about this node."""
    return NodeRequest(name, action, {"memory": 1})


class Rm:
    """An RM that notes which streams it fences."""

    def __init__(self) -> None:
        self.connection = _connection()
        self.fenced: list[UpdateKind] = []
        self.fencing = Fencing(Link(self.connection, cast("Any", self)), alive=lambda: True)

    def raise_on(self, kind: UpdateKind) -> None:
        """As ``Fences`` does."""
        self.fenced.append(kind)

    def says(self, *requests: Request, told: Sequence[Fact] = ()) -> None:
        """Say these, and be told this afterwards."""
        since = len(self.connection.history)
        self.fencing.has_said(requests, since)
        if told:
            self.connection.receives(*told)


@pytest.fixture
def rm() -> Rm:
    """An RM that has said nothing yet."""
    return Rm()


def test_a_node_that_was_accepted_needs_no_fence(rm: Rm) -> None:
    rm.says(node("a"), node("b"), told=[NodeAccepted("a"), NodeAccepted("b")])
    assert not rm.fencing.needs_fence(UpdateKind.NODES)
    rm.fencing.fences_all()
    assert rm.fenced == []


def test_an_application_that_was_accepted_needs_no_fence(rm: Rm) -> None:
    rm.says(
        ApplicationRequest("a", "root.q", "default", "somebody"), told=[ApplicationAccepted("a")]
    )
    rm.fencing.fences_all_but()
    assert rm.fenced == []


@pytest.mark.parametrize(
    ("requests", "told"),
    [
        ([node("a")], []),
        ([node("a")], [NodeRejected("a", "full")]),
        ([node("a"), node("b")], [NodeAccepted("a")]),
        ([node("a"), node("a")], [NodeAccepted("a")]),
        ([node("a"), node("a", Action.UPDATE)], [NodeAccepted("a")]),
        ([node("a"), node("a", Action.DRAIN)], [NodeAccepted("a")]),
    ],
    ids=["no answer", "rejected", "one of two", "said twice", "updated", "drained"],
)
def test_whatever_else_was_said_needs_one(
    rm: Rm, requests: list[Request], told: list[Fact]
) -> None:
    rm.says(*requests, told=told)
    assert rm.fencing.needs_fence(UpdateKind.NODES)
    rm.fencing.fences_all()
    assert rm.fenced == [UpdateKind.NODES]


def test_an_acceptance_of_before_says_nothing_of_the_same_name(rm: Rm) -> None:
    rm.says(node("a"), told=[NodeAccepted("a")])
    rm.says(node("a", Action.DECOMMISSION))
    rm.fencing.fences_all()
    rm.says(node("a"), told=[NodeAccepted("a")])
    rm.fencing.fences_all()
    assert rm.fenced == [UpdateKind.NODES, UpdateKind.NODES]


def test_an_acceptance_that_another_rm_is_told_is_none(rm: Rm) -> None:
    rm.says(node("a"))
    rm.connection.history.add("another", [NodeAccepted("a")], said_by_rm=False)
    assert rm.fencing.needs_fence(UpdateKind.NODES)


def test_what_the_rm_confirmed_by_itself_needs_one(rm: Rm) -> None:
    rm.fencing.has_confirmed()
    rm.fencing.fences_all()
    assert rm.fenced == [UpdateKind.ALLOCATIONS]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (Allocated(f"{FENCE_PREFIX}ask", "a", node="n"), True),
        (Allocated("ask", "a", node=f"{FENCE_PREFIX}node"), False),
        (Allocated("ask", "a", node="n"), False),
        (NodeAccepted(f"{FENCE_PREFIX}node"), True),
        (NodeAccepted("n"), False),
        (Released("", f"{FENCE_PREFIX}application", "identity"), True),
    ],
)
def test_an_allocation_on_the_node_of_a_fence_is_no_part_of_it(told: Fact, expected: bool) -> None:  # noqa: FBT001  # a row
    assert is_fence(told) is expected


def _connection() -> Any:
    connection: Any = cast("Any", FakeConnection())
    connection.hearing = threading.Lock()
    return connection
