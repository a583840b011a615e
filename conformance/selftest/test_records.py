"""Elements of a history survive the round trip to a file."""

import json
from dataclasses import replace
from typing import Any

import pytest
from siconform.protocol import notifications
from siconform.protocol.application_states import WAITING
from siconform.protocol.constraints import Affinity, Constraint, Operator, where
from siconform.protocol.handles import Application, Ask, Node
from siconform.protocol.matchers import ANY, UNSUPPORTED
from siconform.protocol.notifications import (
    CONNECTION_FACTS,
    CONVERSATIONS,
    Allocated,
    ApplicationUpdated,
    Fact,
    NodeAccepted,
    PreemptionPolicy,
    Released,
    StreamEnded,
    Termination,
    Unreadable,
    UpdateKind,
)
from siconform.protocol.registration import RegistrationRequested
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
    Request,
    StreamOpening,
)
from siconform.protocol.subjects import AllOf, AllThereIs, OneAllocation, OneAsk
from siconform.recording.elements import Unreplayable, element, fact_of, request_of
from siconform.recording.history import History

ALLOCATION = Allocated(
    key="ask-1",
    application="app-1",
    node=Node("node-1", {"memory": 1}),
    identity="ä-1",
    resource={"memory": 2**62},
    task_group="",
    placeholder=False,
    priority=-1,
    tags={"a": "b"},
    partition="default",
    originator=False,
    preemption_policy=PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=False),
    queue="",
    priority_class="",
)
ASK = AskRequest(
    "ask-1",
    "app-1",
    "default",
    None,
    constraint=Constraint(
        (where("rack", "r1", operator=Operator.NOT_IN),), Affinity("rack", (where("a", "b"),))
    ),
)


@pytest.mark.parametrize(
    "sent",
    [
        StreamOpening(UpdateKind.NODES),
        NodeRequest(Node("node-1", {}), Action.CREATE, {"memory": 0}, None, {"a": "b"}),
        NodeRequest("node-1", Action.UNDRAIN, existing=(ALLOCATION,)),
        ApplicationRequest("app-1", "root.plain", "default", None, ("g",)),
        ASK,
        ReleaseRequest(AllOf("app-1"), Termination.TIMEOUT),
        ReleaseRequest(OneAllocation("app-1", "id", "k"), Termination.STOPPED_BY_RM),
        AskReleaseRequest(OneAsk("", "k"), "default"),
        AskReleaseRequest(AllOf(Application("app-1", "root.plain")), "default"),
        AskReleaseRequest(AllThereIs(), "default"),
        ExistingAllocationRequest(ALLOCATION),
        AllocationUpdate(ALLOCATION),
        AllocationUpdate(replace(ALLOCATION, queue=ANY, priority_class=ANY)),  # has no such field
        ForeignAllocationRequest("k", "n", "default", {"memory": 1}, {"foreign": "static"}),
    ],
)
def test_requests_round_trip(sent: Request) -> None:
    assert request_of(through_a_file(element(sent))) == sent


@pytest.mark.parametrize(
    "received",
    [
        ALLOCATION,
        NodeAccepted("node-1"),
        ApplicationUpdated("app-1", "Running", 12, ""),
        StreamEnded(UpdateKind.ALLOCATIONS, "UNKNOWN", ""),
        Unreadable(UpdateKind.NODES, "x"),
    ],
)
def test_facts_round_trip(received: Fact) -> None:
    assert fact_of(through_a_file(element(received))) == received


def test_every_fact_round_trips_with_conversation() -> None:
    kinds = {kind for kind in vars(notifications).values() if isinstance(kind, type)}
    facts = {kind for kind in kinds if issubclass(kind, Fact)} - {Fact}

    assert facts == {*CONVERSATIONS, *CONNECTION_FACTS}


def test_pattern_round_trips() -> None:
    pattern = Released(identity="x", termination=Termination.TIMEOUT)

    back = fact_of(through_a_file(element(pattern)))

    assert back == pattern
    assert element(Allocated(Ask(ASK))) == {"is": "Allocated", "key": "ask-1"}


def test_missing_field_matches_any_pattern_after_round_trip() -> None:
    received = Released(UNSUPPORTED, "a", "id", Termination.TIMEOUT, "", "")

    back = fact_of(through_a_file(element(received)))

    for fact in (received, back):
        assert Released(key="k", identity="id").matches(fact)
        assert not Released(key="k", identity="other").matches(fact)


def test_pattern_is_written_as_its_text() -> None:
    assert element(ApplicationUpdated("app-1", state=WAITING))["state"] == "Completing or Waiting"


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({}, '"nothing" is not one of StreamOpening, NodeRequest'),
        ({"is": "NodeAccepted", "node": "n"}, '"NodeAccepted" is not one of'),
        (
            {"is": "StreamOpening", "kind": "gossip"},
            "not a valid StreamOpening: Invalid enum value 'gossip'",
        ),
        ({"is": "AskRequest", "key": "k"}, "not a valid AskRequest: Object missing required field"),
    ],
)
def test_other_values_are_rejected(record: dict[str, Any], message: str) -> None:
    with pytest.raises(Unreplayable, match=message):
        request_of(record)


def test_entries_have_elements_and_message_number() -> None:
    history = History()
    history.add("rm", [RegistrationRequested("rm")], sent_by_rm=True)
    history.add("rm", [NodeAccepted("n"), NodeAccepted("m")], sent_by_rm=False)

    registered, *received = [through_a_file(entry.record()) for entry in history.since(0)]

    assert registered["element"] is None
    assert [fact_of(record["element"]) for record in received] == [
        NodeAccepted("n"),
        NodeAccepted("m"),
    ]
    assert [record["number"] for record in received] == [2, 2]


def through_a_file(record: dict[str, Any]) -> dict[str, Any]:
    back: dict[str, Any] = json.loads(json.dumps(record))
    return back
