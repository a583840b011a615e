"""When a stream needs a barrier before an RM sends on another: messages may be in transit."""

import threading
from collections.abc import Sequence
from typing import Any, cast

import pytest
from siconform.expecting.link import Link
from siconform.expecting.synchronisation import Synchronisation
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
from siconform.recording.clock import VirtualClock
from siconform.transport.connection import BARRIER_PREFIX, is_barrier

from .resource_managers import FakeConnection


def node(name: str, action: Action = Action.CREATE) -> NodeRequest:
    """Return a request about this node."""
    return NodeRequest(name, action, {"memory": 1})


class Rm:
    """An RM that records the streams of its barriers."""

    def __init__(self) -> None:
        self.connection = _connection()
        self.synchronised: list[UpdateKind] = []
        self.late: list[Fact] = []  # what follows the answer to a barrier
        self.synchronisation = Synchronisation(
            Link(self.connection, cast("Any", self)), alive=lambda: True
        )

    def raise_on(self, kind: UpdateKind) -> None:
        """Record the streams and the answer, as ``Barriers`` does."""
        self.synchronised.append(kind)
        self.connection.history.add(
            self.connection.rm_id,
            [NodeRejected(f"{BARRIER_PREFIX}node"), *self.late],
            sent_by_rm=False,
            barrier=is_barrier,
        )

    def send(self, *requests: Request, received: Sequence[Fact] = ()) -> None:
        """Send these requests, and receive these facts afterwards."""
        since = len(self.connection.history)
        self.synchronisation.has_sent(requests, since)
        if received:
            self.connection.receives(*received)


@pytest.fixture
def rm() -> Rm:
    """An RM that has sent nothing yet."""
    return Rm()


def test_accepted_node_needs_no_barrier(rm: Rm) -> None:
    rm.send(node("a"), node("b"), received=[NodeAccepted("a"), NodeAccepted("b")])
    assert not rm.synchronisation.needs_barrier(UpdateKind.NODES)
    rm.synchronisation.synchronise_all()
    assert rm.synchronised == []


def test_accepted_application_needs_no_barrier(rm: Rm) -> None:
    rm.send(
        ApplicationRequest("a", "root.q", "default", "somebody"),
        received=[ApplicationAccepted("a")],
    )
    rm.synchronisation.synchronise_all_but()
    assert rm.synchronised == []


@pytest.mark.parametrize(
    ("requests", "received"),
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
def test_other_requests_need_a_barrier(
    rm: Rm, requests: list[Request], received: list[Fact]
) -> None:
    rm.send(*requests, received=received)
    assert rm.synchronisation.needs_barrier(UpdateKind.NODES)
    rm.synchronisation.synchronise_all()
    assert rm.synchronised == [UpdateKind.NODES]


def test_earlier_acceptance_does_not_count_for_reused_name(rm: Rm) -> None:
    rm.send(node("a"), received=[NodeAccepted("a")])
    rm.send(node("a", Action.DECOMMISSION))
    rm.synchronisation.synchronise_all()
    rm.send(node("a"), received=[NodeAccepted("a")])
    rm.synchronisation.synchronise_all()
    assert rm.synchronised == [UpdateKind.NODES, UpdateKind.NODES]


def test_acceptance_of_other_rm_does_not_count(rm: Rm) -> None:
    rm.send(node("a"))
    rm.connection.history.add("another", [NodeAccepted("a")], sent_by_rm=False)
    assert rm.synchronisation.needs_barrier(UpdateKind.NODES)


def test_confirmation_needs_a_barrier(rm: Rm) -> None:
    rm.synchronisation.has_confirmed()
    rm.synchronisation.synchronise_all()
    assert rm.synchronised == [UpdateKind.ALLOCATIONS]


class Standing:
    """A target whose virtual time stands still unless it is advanced."""

    def advances(self, seconds: float) -> None:
        """Accept the step."""


def test_barrier_is_raised_again_once_something_happened_or_time_passed(rm: Rm) -> None:
    clock = rm.connection.history.clock = VirtualClock(Standing())
    for _ in range(2):
        rm.synchronisation.raise_barrier(UpdateKind.NODES)
    assert len(rm.synchronised) == 1
    rm.connection.receives(NodeAccepted("a"))
    for _ in range(2):
        rm.synchronisation.raise_barrier(UpdateKind.NODES)
    assert len(rm.synchronised) == 2
    clock.advance_and_look(lambda _: None, 0.1)
    rm.synchronisation.raise_barrier(UpdateKind.NODES)
    rm.synchronisation.raise_barrier(UpdateKind.ALLOCATIONS)
    assert rm.synchronised[2:] == [UpdateKind.NODES, UpdateKind.ALLOCATIONS]


def test_barrier_is_raised_again_if_something_followed_its_answer(rm: Rm) -> None:
    rm.connection.history.clock = VirtualClock(Standing())
    rm.late = [NodeAccepted("a")]
    for _ in range(2):
        rm.synchronisation.raise_barrier(UpdateKind.NODES)
    assert len(rm.synchronised) == 2


def test_every_barrier_is_raised_in_real_time(rm: Rm) -> None:
    for _ in range(2):
        rm.synchronisation.raise_barrier(UpdateKind.NODES)
    assert len(rm.synchronised) == 2


@pytest.mark.parametrize(
    ("received", "expected"),
    [
        (Allocated(f"{BARRIER_PREFIX}ask", "a", node="n"), True),
        (Allocated("ask", "a", node=f"{BARRIER_PREFIX}node"), False),
        (Allocated("ask", "a", node="n"), False),
        (NodeAccepted(f"{BARRIER_PREFIX}node"), True),
        (NodeAccepted("n"), False),
        (Released("", f"{BARRIER_PREFIX}application", "identity"), True),
    ],
)
def test_an_allocation_on_the_node_of_a_barrier_is_no_part_of_it(
    received: Fact,
    expected: bool,  # noqa: FBT001  # parametrised
) -> None:  # a row
    assert is_barrier(received) is expected


def _connection() -> Any:
    connection: Any = cast("Any", FakeConnection())
    connection.receive_lock = threading.Lock()
    return connection
