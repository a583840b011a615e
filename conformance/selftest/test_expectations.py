"""What a test may believe: presence in time, absence only behind a fence, nothing of the dead."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.fences import FenceHabits, Fences
from siconform.outcomes import CameLate, NotAsTheTextSays, PremiseLost, TargetLost
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    AskReleased,
    Fact,
    NodeAccepted,
    NodeRejected,
    Released,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    NodeRequest,
    ReleaseRequest,
    Request,
)
from siconform.protocol.subjects import OneAllocation, OneAsk
from siconform.transport.connection import FENCE_PREFIX

from .resource_managers import Answer, FakeConnection, nothing, rm_on

BRIEF = Deadlines(ack=0.05, place=0.05, release=0.05, timer=0.1, quiet=0.05)
PATIENT = replace(BRIEF, ack=2.0, place=2.0, release=2.0, quiet=1.0)


def answers(said: Request) -> Sequence[Fact]:
    """As a scheduler does: what the kit's fences ask for has a certain answer."""
    match said:
        case NodeRequest():
            return [NodeRejected(said.node, "known")]
        case ApplicationRequest():
            return [ApplicationRejected(said.application, "known")]
        case AskRequest() if said.application.startswith(f"{FENCE_PREFIX}nobody"):
            return [AskRejected(said.key, said.application, "unknown application")]
        case AskRequest():
            return [Allocated(said.key, said.application, identity=f"{FENCE_PREFIX}identity")]
        case ReleaseRequest(subject=OneAllocation(application, identity, key)):
            return [Released(key, application, identity)]
        case _:
            return []


def only_live_allocations(said: Request) -> Sequence[Fact]:
    """As one that says nothing of asks for an application it does not know."""
    told = answers(said)
    return [fact for fact in told if not isinstance(fact, AskRejected)]


class Rm:
    """An RM with such a connection."""

    def __init__(self, answer: Answer = answers, deadlines: Deadlines = BRIEF) -> None:
        self.connection = FakeConnection(answer)
        self.lives = True
        self.rm = rm_on(self.connection, deadlines, alive=lambda: self.lives)


def test_what_comes_in_time_is_told() -> None:
    rm = Rm(deadlines=PATIENT)
    rm.connection.receives_in(0.05, NodeAccepted("n"))

    assert rm.rm.is_told(NodeAccepted("n")) == NodeAccepted("n")


def test_what_comes_within_the_grace_is_late() -> None:
    rm = Rm(deadlines=replace(BRIEF, grace=100.0))
    rm.connection.receives_in(0.15, NodeAccepted("n"))

    with pytest.raises(CameLate, match=r"allowed 0\.1 s"):
        rm.rm.is_told(NodeAccepted("n"))


def test_what_never_comes_fails_and_is_not_late() -> None:
    with pytest.raises(NotAsTheTextSays, match="never told: node accepted") as failure:
        Rm().rm.is_told(NodeAccepted("n"))
    assert not isinstance(failure.value, CameLate)


def test_one_element_answers_one_expectation() -> None:
    rm = Rm()
    rm.connection.receives(NodeAccepted("n"))

    rm.rm.is_told(NodeAccepted("n"))
    with pytest.raises(NotAsTheTextSays):
        rm.rm.is_told(NodeAccepted("n"))


def test_a_stream_that_ended_is_not_waited_for() -> None:
    rm = Rm(deadlines=PATIENT)
    rm.connection.receives(StreamEnded(UpdateKind.NODES, "INTERNAL", "oops"))
    rm.connection.open = False

    with pytest.raises(NotAsTheTextSays, match="the nodes stream ended: INTERNAL oops"):
        rm.rm.is_told(NodeAccepted("n"))


def test_of_the_dead_nothing_is_said() -> None:
    rm = Rm(nothing)
    rm.lives = False

    with pytest.raises(TargetLost):
        rm.rm.is_told(NodeAccepted("n"))
    with pytest.raises(TargetLost):
        rm.rm.is_not_told(NodeAccepted("n"))


@pytest.mark.parametrize("pattern", [NodeAccepted("n"), ApplicationRejected("a"), Allocated("k")])
def test_silence_behind_an_answered_fence_is_believed(pattern: Fact) -> None:
    rm = Rm()

    rm.rm.is_not_told(pattern)
    assert rm.connection.requests


@pytest.mark.parametrize("pattern", [NodeAccepted("n"), ApplicationRejected("a"), Allocated("k")])
def test_silence_without_an_answer_to_the_fence_is_not(pattern: Fact) -> None:
    with pytest.raises(PremiseLost, match=r"the fence on the .* stream was not answered"):
        Rm(nothing).rm.is_not_told(pattern)


def test_what_comes_before_the_answer_to_the_fence_is_seen() -> None:
    rm = Rm(lambda said: [NodeAccepted("n"), *answers(said)])

    with pytest.raises(NotAsTheTextSays, match="came: node accepted node n"):
        rm.rm.is_not_told(NodeAccepted("n"))


def test_what_comes_in_the_quiet_window_is_seen() -> None:
    rm = Rm(deadlines=PATIENT)
    rm.connection.receives_in(0.1, NodeAccepted("n"))

    with pytest.raises(NotAsTheTextSays, match="came: node accepted node n"):
        rm.rm.is_not_told(NodeAccepted("n"))


def test_the_answer_to_a_fence_answers_no_expectation() -> None:
    rm = Rm(lambda said: [NodeAccepted(said.node)] if isinstance(said, NodeRequest) else [])

    rm.rm.is_not_told(NodeAccepted())


def test_an_ask_that_went_with_its_stream_is_asked_and_withdrawn_on_the_next() -> None:
    waiting: set[str] = set()
    streams = iter([StreamEnded(UpdateKind.ALLOCATIONS)])

    def served(said: Request) -> Sequence[Fact]:
        """As one whose asks wait for their application, and whose stream ends once."""
        match said:
            case AskRequest():
                waiting.add(said.key)
            case AskReleaseRequest(subject=OneAsk(application, key)):
                for ended in streams:
                    waiting.clear()
                    return [ended]
                if key in waiting:
                    waiting.remove(key)
                    return [AskReleased(key, application)]
        return []

    habits = FenceHabits(rejects={UpdateKind.ALLOCATIONS: False}, confirms_withdrawals=True)
    connection: Any = FakeConnection(served)

    Fences(connection, BRIEF, habits).raise_on(UpdateKind.ALLOCATIONS)

    assert not waiting
    assert next(streams, None) is None
    assert habits.confirms_withdrawals


def test_a_live_allocation_is_the_fence_where_the_sharper_one_does_not_work() -> None:
    rm = Rm(only_live_allocations)

    rm.rm.is_not_told(Allocated("k"))

    (released,) = [
        said.subject for said in rm.connection.requests if isinstance(said, ReleaseRequest)
    ]
    assert isinstance(released, OneAllocation)
    assert released.identity == f"{FENCE_PREFIX}identity"


def test_the_sharper_way_once_seen_is_counted_on() -> None:
    rm = Rm()
    rm.rm.fences(UpdateKind.ALLOCATIONS)
    rm.connection.answer = only_live_allocations

    with pytest.raises(PremiseLost, match="allocations stream was not answered"):
        rm.rm.fences(UpdateKind.ALLOCATIONS)


class RejectsFirst:
    """One that takes nodes in a loop, and rejects before that what has no partition."""

    def __init__(self) -> None:
        self.waiting: list[str] = []

    def __call__(self, said: Request) -> Sequence[Fact]:
        if not isinstance(said, NodeRequest) or said.action is Action.DECOMMISSION:
            return []
        if not said.attributes:
            self.waiting.append(said.node)
            return []
        taken, self.waiting = self.waiting, []
        return [NodeRejected(said.node), *map(NodeAccepted, taken)]


def test_a_rejection_that_does_not_wait_its_turn_is_no_fence() -> None:
    habits = FenceHabits()
    connection: Any = FakeConnection(RejectsFirst())
    fences = Fences(connection, BRIEF, habits)

    with pytest.raises(PremiseLost, match="nodes stream was not answered"):
        fences.raise_on(UpdateKind.NODES)  # nobody is rejected behind it, so nobody is taken

    assert habits.keeps_turn == {UpdateKind.NODES: False}
    connection.answer = accepts_everything
    before = len(connection.requests)
    fences.raise_on(UpdateKind.NODES)
    assert [said.action for said in connection.requests[before:]] == [
        Action.CREATE_DRAINING,
        Action.DECOMMISSION,
    ]


def test_rejections_that_keep_their_turn_are_looked_at_once() -> None:
    habits = FenceHabits()
    connection: Any = FakeConnection(in_turn)
    fences = Fences(connection, BRIEF, habits)
    for kind in (UpdateKind.NODES, UpdateKind.APPLICATIONS):
        fences.raise_on(kind)
        before = len(connection.requests)
        fences.raise_on(kind)
        assert len(connection.requests) == before + 1

    assert habits.keeps_turn == {UpdateKind.NODES: True, UpdateKind.APPLICATIONS: True}


def in_turn(said: Request) -> Sequence[Fact]:
    """As one that rejects what has no partition and accepts the rest, one after the other."""
    match said:
        case NodeRequest(attributes={"si/node-partition": _}):
            return [NodeRejected(said.node)]
        case ApplicationRequest(partition="default"):
            return [ApplicationAccepted(said.application)]
        case ApplicationRequest():
            return [ApplicationRejected(said.application)]
        case NodeRequest(action=Action.CREATE | Action.CREATE_DRAINING):
            return [NodeAccepted(said.node)]
    return []


def accepts_everything(said: Request) -> Sequence[Fact]:
    """As one that looks at no partition and serves asks without application."""
    match said:
        case NodeRequest(action=Action.CREATE | Action.CREATE_DRAINING):
            return [NodeAccepted(said.node)]
        case ApplicationRequest():
            return [ApplicationAccepted(said.application)]
        case AskRequest() | ReleaseRequest():
            return only_live_allocations(said)
        case _:
            return []


@pytest.mark.parametrize("answer", [answers, accepts_everything])
@pytest.mark.parametrize("kind", list(UpdateKind))
def test_a_fence_leaves_nothing_behind(kind: UpdateKind, answer: Answer) -> None:
    rm = Rm(answer)

    rm.rm.fences(kind)
    rm.rm.fences(kind)

    told = [entry.content for entry in rm.connection.history.since(0)]
    nodes = {one.node for one in told if isinstance(one, NodeAccepted)}
    applications = {one.application for one in told if isinstance(one, ApplicationAccepted)}
    for said in rm.connection.requests:
        match said:
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                nodes.discard(node)
            case ApplicationRemoval(application=application):
                applications.discard(application)
    assert not nodes
    assert not applications


def test_a_fence_on_a_stream_that_ends_is_raised_again_on_the_next() -> None:
    ends = iter(
        [StreamEnded(UpdateKind.NODES, "INTERNAL"), StreamEnded(UpdateKind.NODES, "INTERNAL")]
    )
    rm = Rm(lambda said: [end] if (end := next(ends, None)) else answers(said))

    rm.rm.fences(UpdateKind.NODES)

    to_be_rejected = [said for said in rm.connection.requests if getattr(said, "attributes", None)]
    assert len(to_be_rejected) == 3  # one went with its stream; was it rejected in turn? the fence


@pytest.mark.parametrize("happens", ["control", "premise"])
def test_a_control_or_premise_that_fails_costs_the_judgement(happens: str) -> None:
    rm = Rm()

    with (
        pytest.raises(PremiseLost, match="a node is accepted"),
        getattr(rm.rm, happens)("a node is accepted"),
    ):
        rm.rm.is_told(NodeAccepted("n"))


@pytest.mark.parametrize("happens", ["control", "premise"])
def test_what_goes_wrong_with_us_in_a_control_stays_our_fault(happens: str) -> None:
    with pytest.raises(KeyError), getattr(Rm().rm, happens)("a node is accepted"):
        raise KeyError


def test_a_rejection_without_a_reason_fails() -> None:
    Rm().rm.says_why(NodeRejected("n", "known"))
    with pytest.raises(NotAsTheTextSays, match="gives no reason"):
        Rm().rm.says_why(NodeRejected("n", "  "))


def test_what_was_told_in_any_case_is_compared() -> None:
    Rm().rm.agrees(NodeRejected("n", "known"), NodeRejected("n"))
    with pytest.raises(NotAsTheTextSays, match="told node rejected"):
        Rm().rm.agrees(NodeRejected("n", "known"), NodeRejected("m"))
