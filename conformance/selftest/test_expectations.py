"""Expectations: presence in time, absence only after a barrier, nothing from dead targets."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from siconform.expecting.barriers import BarrierBehaviour, Barriers
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import CameLate, ConformanceFailure, PreconditionFailed, TargetLost
from siconform.protocol.callbacks import EvictionCheck, PlacementCheck
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
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    ReleaseRequest,
    Request,
)
from siconform.protocol.subjects import OneAllocation, OneAsk
from siconform.transport.connection import BARRIER_PREFIX

from .resource_managers import Answer, FakeConnection, nothing, rm_on

BRIEF = Deadlines(ack=0.05, place=0.05, release=0.05, timer=0.1, quiet=0.05)
TIMED_OUT = Released("k", "a", "k", Termination.TIMEOUT)
PATIENT = replace(BRIEF, ack=2.0, place=2.0, release=2.0, quiet=1.0)


def answers(sent: Request) -> Sequence[Fact]:
    """Answer barriers as a scheduler does."""
    match sent:
        case NodeRequest():
            return [NodeRejected(sent.node, "known")]
        case ApplicationRequest():
            return [ApplicationRejected(sent.application, "known")]
        case AskRequest() if sent.application.startswith(f"{BARRIER_PREFIX}unknown"):
            return [AskRejected(sent.key, sent.application, "unknown application")]
        case AskRequest():
            return [Allocated(sent.key, sent.application, identity=f"{BARRIER_PREFIX}identity")]
        case ReleaseRequest(subject=OneAllocation(application, identity, key)):
            return [Released(key, application, identity)]
        case _:
            return []


def only_live_allocations(sent: Request) -> Sequence[Fact]:
    """Answer like a scheduler that ignores asks for unknown applications."""
    received = answers(sent)
    return [fact for fact in received if not isinstance(fact, AskRejected)]


class Rm:
    """An RM with such a connection."""

    def __init__(self, answer: Answer = answers, deadlines: Deadlines = BRIEF) -> None:
        self.connection = FakeConnection(answer)
        self.is_alive = True
        self.rm = rm_on(self.connection, deadlines, alive=lambda: self.is_alive)


def test_message_in_time_is_returned() -> None:
    rm = Rm(deadlines=PATIENT)
    rm.connection.receives_in(0.05, NodeAccepted("n"))

    assert rm.rm.expect(NodeAccepted("n")) == NodeAccepted("n")


@pytest.mark.parametrize("pattern", [Allocated("k1"), PlacementCheck("k1"), EvictionCheck("k1")])
def test_checks_have_the_deadline_of_a_placement(pattern: Fact) -> None:
    assert Deadlines().of((pattern,)) == Deadlines().place


def test_message_within_grace_is_late() -> None:
    rm = Rm(deadlines=replace(BRIEF, grace=100.0))
    rm.connection.receives_in(0.4, NodeAccepted("n"))

    with pytest.raises(CameLate, match=r"allowed 0\.1 s"):
        rm.rm.expect(NodeAccepted("n"))


def test_missing_message_fails() -> None:
    with pytest.raises(ConformanceFailure, match="never received: node accepted") as failure:
        Rm().rm.expect(NodeAccepted("n"))
    assert not isinstance(failure.value, CameLate)


def test_element_matches_one_expectation() -> None:
    rm = Rm()
    rm.connection.receives(NodeAccepted("n"))

    rm.rm.expect(NodeAccepted("n"))
    with pytest.raises(ConformanceFailure):
        rm.rm.expect(NodeAccepted("n"))


def test_repeated_release_matches_no_further_expectation() -> None:
    rm = Rm()
    rm.connection.receives(TIMED_OUT)
    rm.rm.expect(TIMED_OUT)
    rm.connection.receives(TIMED_OUT)

    with pytest.raises(ConformanceFailure, match="received instead: released k"):
        rm.rm.expect(TIMED_OUT)


@pytest.mark.parametrize(
    "named_again",
    [
        AskRequest("k", "a", "default", {"memory": 1}),
        ExistingAllocationRequest(Allocated("k", "a", identity="k")),
        NodeRequest("n", Action.CREATE, existing=(Allocated("k", "a", identity="k"),)),
    ],
    ids=["ask", "existing allocation", "existing allocation of a node"],
)
def test_release_of_a_key_in_use_again_is_no_repetition(named_again: Request) -> None:
    rm = Rm()
    rm.connection.receives(TIMED_OUT)
    rm.rm.expect(TIMED_OUT)
    rm.connection.history.add("rm", [named_again], sent_by_rm=True)
    rm.connection.receives(TIMED_OUT)

    assert rm.rm.expect(TIMED_OUT) == TIMED_OUT


def test_ended_stream_is_not_waited_for() -> None:
    rm = Rm(deadlines=PATIENT)
    rm.connection.receives(StreamEnded(UpdateKind.NODES, "INTERNAL", "oops"))
    rm.connection.open = False

    with pytest.raises(ConformanceFailure, match="the nodes stream ended: INTERNAL oops"):
        rm.rm.expect(NodeAccepted("n"))


def test_dead_target_raises_target_lost() -> None:
    rm = Rm(nothing)
    rm.is_alive = False

    with pytest.raises(TargetLost):
        rm.rm.expect(NodeAccepted("n"))
    with pytest.raises(TargetLost):
        rm.rm.expect_none(NodeAccepted("n"))


@pytest.mark.parametrize("pattern", [NodeAccepted("n"), ApplicationRejected("a"), Allocated("k")])
def test_silence_after_answered_barrier_passes(pattern: Fact) -> None:
    rm = Rm()

    rm.rm.expect_none(pattern)
    assert rm.connection.requests


@pytest.mark.parametrize("pattern", [NodeAccepted("n"), ApplicationRejected("a"), Allocated("k")])
def test_silence_without_barrier_answer_is_inconclusive(pattern: Fact) -> None:
    with pytest.raises(PreconditionFailed, match=r"the barrier on the .* stream was not answered"):
        Rm(nothing).rm.expect_none(pattern)


def test_message_before_barrier_answer_is_seen() -> None:
    rm = Rm(lambda sent: [NodeAccepted("n"), *answers(sent)])

    with pytest.raises(ConformanceFailure, match="received: node accepted node n"):
        rm.rm.expect_none(NodeAccepted("n"))


def test_message_in_quiet_window_is_seen() -> None:
    rm = Rm(deadlines=PATIENT)
    rm.connection.receives_in(0.1, NodeAccepted("n"))

    with pytest.raises(ConformanceFailure, match="received: node accepted node n"):
        rm.rm.expect_none(NodeAccepted("n"))


def test_barrier_answer_matches_no_expectation() -> None:
    rm = Rm(lambda sent: [NodeAccepted(sent.node)] if isinstance(sent, NodeRequest) else [])

    rm.rm.expect_none(NodeAccepted())


def test_barrier_ask_is_repeated_after_stream_end() -> None:
    waiting: set[str] = set()
    streams = iter([StreamEnded(UpdateKind.ALLOCATIONS)])

    def served(sent: Request) -> Sequence[Fact]:
        """Answer like a scheduler that keeps asks for their application; its stream ends once."""
        match sent:
            case AskRequest():
                waiting.add(sent.key)
            case AskReleaseRequest(subject=OneAsk(application, key)):
                for ended in streams:
                    waiting.clear()
                    return [ended]
                if key in waiting:
                    waiting.remove(key)
                    return [AskReleased(key, application)]
        return []

    behaviour = BarrierBehaviour(rejects={UpdateKind.ALLOCATIONS: False}, confirms_withdrawals=True)
    connection: Any = FakeConnection(served)

    Barriers(connection, BRIEF, behaviour).raise_on(UpdateKind.ALLOCATIONS)

    assert not waiting
    assert next(streams, None) is None
    assert behaviour.confirms_withdrawals


def test_barrier_falls_back_to_live_allocation() -> None:
    rm = Rm(only_live_allocations)
    rm.rm.barriers(UpdateKind.ALLOCATIONS)  # probes the order first
    before = len(rm.connection.requests)

    rm.rm.expect_none(Allocated("k"))

    later = rm.connection.requests[before:]
    (released,) = [sent.subject for sent in later if isinstance(sent, ReleaseRequest)]
    assert isinstance(released, OneAllocation)
    assert released.identity == f"{BARRIER_PREFIX}identity"


def test_working_barrier_kind_is_required_later() -> None:
    rm = Rm()
    rm.rm.barriers(UpdateKind.ALLOCATIONS)
    rm.connection.answer = only_live_allocations

    with pytest.raises(PreconditionFailed, match="allocations stream was not answered"):
        rm.rm.barriers(UpdateKind.ALLOCATIONS)


class RejectsFirst:
    """Processes nodes in a loop, after rejecting those without a known partition."""

    def __init__(self) -> None:
        self.waiting: list[str] = []

    def __call__(self, sent: Request) -> Sequence[Fact]:
        if not isinstance(sent, NodeRequest) or sent.action is Action.DECOMMISSION:
            return []
        if not sent.attributes:
            self.waiting.append(sent.node)
            return []
        taken, self.waiting = self.waiting, []
        return [NodeRejected(sent.node), *map(NodeAccepted, taken)]


def test_out_of_order_rejection_is_not_a_barrier() -> None:
    behaviour = BarrierBehaviour()
    connection: Any = FakeConnection(RejectsFirst())
    barriers = Barriers(connection, BRIEF, behaviour)

    with pytest.raises(PreconditionFailed, match="nodes stream was not answered"):
        barriers.raise_on(UpdateKind.NODES)  # nothing after it is rejected, so nothing is accepted

    assert behaviour.keeps_turn == {UpdateKind.NODES: False}
    connection.answer = accepts_everything
    before = len(connection.requests)
    barriers.raise_on(UpdateKind.NODES)
    assert [sent.action for sent in connection.requests[before:]] == [
        Action.CREATE_DRAINING,
        Action.DECOMMISSION,
    ]


def test_rejection_before_a_release_is_not_a_barrier() -> None:
    confirmed: list[Fact] = []

    def rejects_first(sent: Request) -> Sequence[Fact]:
        """Confirm releases in a loop, after rejecting asks of unknown applications."""
        received = answers(sent)
        if isinstance(sent, ReleaseRequest):
            confirmed.extend(received)
            return []
        is_next = isinstance(sent, AskRequest) and bool(confirmed)
        taken = [confirmed.pop()] if is_next else []
        return [*received, *taken]

    behaviour = BarrierBehaviour()
    connection: Any = FakeConnection(rejects_first)
    barriers = Barriers(connection, BRIEF, behaviour)

    with pytest.raises(PreconditionFailed, match="allocations stream was not answered"):
        barriers.raise_on(UpdateKind.ALLOCATIONS)  # nothing follows its release

    assert behaviour.keeps_turn == {UpdateKind.ALLOCATIONS: False}
    assert isinstance(connection.requests[-1], ApplicationRemoval | NodeRequest)


def test_rejection_order_is_probed_once() -> None:
    behaviour = BarrierBehaviour()
    connection: Any = FakeConnection(in_turn)
    barriers = Barriers(connection, BRIEF, behaviour)
    for kind in (UpdateKind.NODES, UpdateKind.APPLICATIONS):
        barriers.raise_on(kind)
        before = len(connection.requests)
        barriers.raise_on(kind)
        assert len(connection.requests) == before + 1

    assert behaviour.keeps_turn == {UpdateKind.NODES: True, UpdateKind.APPLICATIONS: True}


def in_turn(sent: Request) -> Sequence[Fact]:
    """Reject unknown partitions and accept the rest, in order."""
    match sent:
        case NodeRequest(attributes={"si/node-partition": _}):
            return [NodeRejected(sent.node)]
        case ApplicationRequest(partition="default"):
            return [ApplicationAccepted(sent.application)]
        case ApplicationRequest():
            return [ApplicationRejected(sent.application)]
        case NodeRequest(action=Action.CREATE | Action.CREATE_DRAINING):
            return [NodeAccepted(sent.node)]
    return []


def accepts_everything(sent: Request) -> Sequence[Fact]:
    """Ignore partitions and serve asks without application."""
    match sent:
        case NodeRequest(action=Action.CREATE | Action.CREATE_DRAINING):
            return [NodeAccepted(sent.node)]
        case ApplicationRequest():
            return [ApplicationAccepted(sent.application)]
        case AskRequest() | ReleaseRequest():
            return only_live_allocations(sent)
        case _:
            return []


@pytest.mark.parametrize("answer", [answers, accepts_everything])
@pytest.mark.parametrize("kind", list(UpdateKind))
def test_barrier_cleans_up(kind: UpdateKind, answer: Answer) -> None:
    rm = Rm(answer)

    rm.rm.barriers(kind)
    rm.rm.barriers(kind)

    received = [entry.content for entry in rm.connection.history.since(0)]
    nodes = {one.node for one in received if isinstance(one, NodeAccepted)}
    applications = {one.application for one in received if isinstance(one, ApplicationAccepted)}
    for sent in rm.connection.requests:
        match sent:
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                nodes.discard(node)
            case ApplicationRemoval(application=application):
                applications.discard(application)
    assert not nodes
    assert not applications


def test_barrier_application_is_like_one_of_the_rm() -> None:
    """The RM's own configuration places applications of user "u" in queue "root.own" only."""
    accepted: set[str] = set()

    def answer(sent: Request) -> Sequence[Fact]:
        match sent:
            case ApplicationRequest(application=name, queue="root.own", user="u"):
                accepted.add(name)
                return [ApplicationAccepted(name)]
            case AskRequest() if sent.application not in accepted:
                return []
        return answers(sent)

    rm = Rm(answer)
    own = ApplicationRequest("a", "root.own", "default", user="u")
    rm.connection.history.add("rm", [own], sent_by_rm=True)

    rm.rm.barriers(UpdateKind.ALLOCATIONS)
    rm.rm.barriers(UpdateKind.ALLOCATIONS)

    sent = rm.connection.requests
    barriers = [one for one in sent if isinstance(one, ApplicationRequest)]
    assert any(isinstance(one, ReleaseRequest) for one in sent)
    probe_and_barriers = 1 + 2
    tried = [("root.plain", "barrier"), ("root.own", "barrier"), ("root.own", "u")]
    assert [(one.queue, one.user) for one in barriers] == tried * probe_and_barriers


def test_barrier_is_repeated_on_new_stream() -> None:
    ends = iter(
        [StreamEnded(UpdateKind.NODES, "INTERNAL"), StreamEnded(UpdateKind.NODES, "INTERNAL")]
    )
    rm = Rm(lambda sent: [end] if (end := next(ends, None)) else answers(sent))

    rm.rm.barriers(UpdateKind.NODES)

    to_be_rejected = [sent for sent in rm.connection.requests if getattr(sent, "attributes", None)]
    assert (
        len(to_be_rejected) == 3
    )  # one ended with its stream; was it rejected in turn? the barrier


@pytest.mark.parametrize("happens", ["control", "precondition"])
def test_failed_control_or_precondition_is_inconclusive(happens: str) -> None:
    rm = Rm()

    with (
        pytest.raises(PreconditionFailed, match="a node is accepted"),
        getattr(rm.rm, happens)("a node is accepted"),
    ):
        rm.rm.expect(NodeAccepted("n"))


@pytest.mark.parametrize("happens", ["control", "precondition"])
def test_kit_error_in_control_stays_kit_error(happens: str) -> None:
    with pytest.raises(KeyError), getattr(Rm().rm, happens)("a node is accepted"):
        raise KeyError


def test_rejection_without_reason_fails() -> None:
    Rm().rm.states_reason(NodeRejected("n", "known"))
    with pytest.raises(ConformanceFailure, match="gives no reason"):
        Rm().rm.states_reason(NodeRejected("n", "  "))


def test_agrees_compares_reported_facts() -> None:
    Rm().rm.agrees(NodeRejected("n", "known"), NodeRejected("n"))
    with pytest.raises(ConformanceFailure, match="received: node rejected"):
        Rm().rm.agrees(NodeRejected("n", "known"), NodeRejected("m"))
