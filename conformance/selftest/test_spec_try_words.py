"""Real bytes that an RM sends and reads with an edited specification."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from siconform.outcomes import NotExpressible
from siconform.protocol.notifications import (
    Fact,
    NodeAccepted,
    NodeRejected,
    NotInSpec,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import (
    Action,
    AskRequest,
    NodeRequest,
    Registration,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf
from siconform.transport.dialects import Dialect, dialect_for
from siconform.transport.dialects.dialect import lost_in
from sispec.compiling import with_imports
from sispec.model import Spec
from sispec.sources import from_revision
from siwire import DEFAULT_REVISION, REVISIONS
from siwire.r2024_10 import si_pb2 as si

from .spec_edits import INTO_A_ONEOF, ONE_IN_FRONT, UNARY, VALUE_IN_FRONT, edited

Edit = tuple[str, str]
NODES, ALLOCATIONS = UpdateKind.NODES, UpdateKind.ALLOCATIONS
NODE_ID = """New for the two creating actions, known for all others.
  string nodeID"""
NODE = NodeRequest("n1", Action.CREATE, {"memory": 5}, attributes={"si/zone": "a"})


def descriptor_set(spec: Spec) -> bytes:
    return with_imports(spec.file).SerializeToString()


@cache
def dialect(*edits: Edit) -> Dialect:
    return dialect_for(DEFAULT_REVISION, descriptor_set(edited(*edits)))


def node(*edits: Edit) -> bytes:
    """Return what the RM of the specification sends about a node."""
    return dialect(*edits).request(NODES, "rm", [NODE]).SerializeToString()


def as_it_is() -> bytes:
    return dialect_for(DEFAULT_REVISION).request(NODES, "rm", [NODE]).SerializeToString()


def observed(message: Any, *edits: Edit, kind: UpdateKind = NODES) -> list[Fact]:
    """Return what the RM of the specification reads in bytes of an unaware scheduler."""
    implements = dialect(*edits)
    return implements.facts(kind, implements.response(kind, message.SerializeToString()))


def lost(send_all: Callable[[], object]) -> dict[str, str]:
    with pytest.raises(NotExpressible) as raised:
        send_all()
    return raised.value.elements


def test_unchanged_text_has_same_bytes() -> None:
    assert node() == as_it_is()


@pytest.mark.parametrize("name", REVISIONS)
def test_every_revision_has_words_for_all_that_it_can_state(name: str) -> None:
    revision = REVISIONS[name]

    assert not lost_in(revision, descriptor_set(from_revision(revision)))


def test_renumbered_field_is_sent_with_its_number_and_not_understood() -> None:
    sent = node((f"{NODE_ID} = 1;", f"{NODE_ID} = 14;"))

    (read,) = si.NodeRequest.FromString(sent).nodes
    assert read.nodeID == ""
    assert read.attributes == {"si/zone": "a"}


def test_another_coding_of_an_integer_can_be_sent_and_means_something_else() -> None:
    ask = AskRequest("key", "app", "default", {"memory": 1}, priority=3)
    implements = dialect(("  int32 priority = 6;", "  sint32 priority = 6;"))

    sent = implements.request(ALLOCATIONS, "rm", [ask]).SerializeToString()

    (read,) = si.AllocationRequest.FromString(sent).allocations
    assert read.priority == 6


def test_renamed_field_with_value_cannot_be_sent() -> None:
    renamed = ("map<string, string> attributes = 3", "map<string, string> labels = 3")
    bare = NodeRequest("n1", Action.CREATE, {"memory": 5})
    implements = dialect(renamed)

    assert lost(lambda: implements.request(NODES, "rm", [NODE])) == {
        "si.v1.NodeInfo.attributes": "there is no such field"
    }
    assert implements.request(NODES, "rm", [bare]).ByteSize()


def test_a_field_of_another_shape_cannot_be_sent() -> None:
    as_bytes = (NODE_ID, NODE_ID.replace("string", "bytes"))

    assert lost(lambda: node(as_bytes)) == {
        "si.v1.NodeInfo.nodeID": "it is bytes there, not string"
    }


def test_a_number_that_is_too_large_cannot_be_sent() -> None:
    smaller = ("message Quantity {\n  int64 value = 1;", "message Quantity {\n  int32 value = 1;")
    large = NodeRequest("n1", Action.CREATE, {"memory": 2**40})

    assert [*lost(lambda: dialect(smaller).request(NODES, "rm", [large]))] == [
        "si.v1.Quantity.value"
    ]
    assert node(smaller) == as_it_is()


def test_two_members_of_a_new_oneof_cannot_be_sent_together() -> None:
    implements = dialect(*INTO_A_ONEOF)
    gang = AskRequest("key", "app", "default", {"memory": 1}, task_group="tg")
    both = AskRequest("key", "app", "default", {"memory": 1}, task_group="tg", placeholder=True)

    assert implements.request(ALLOCATIONS, "rm", [gang]).ByteSize()
    assert lost(lambda: implements.request(ALLOCATIONS, "rm", [both])) == {
        "si.v1.Allocation.placeholder": "it cannot be set together with taskGroupName there"
    }


def test_a_renamed_value_cannot_be_sent() -> None:
    implements = dialect((" TIMEOUT = 2;", " RAN_OUT = 2;"))
    release = ReleaseRequest(AllOf("app"), Termination.TIMEOUT)

    assert lost(lambda: implements.request(ALLOCATIONS, "rm", [release])) == {
        "si.v1.TerminationType.TIMEOUT": "there is no such value"
    }


def test_inserted_enum_value_shifts_others() -> None:
    received = si.AllocationResponse()
    received.released.add(applicationID="app", terminationType=si.TIMEOUT)

    (fact,) = observed(received, *VALUE_IN_FRONT, kind=ALLOCATIONS)

    assert getattr(fact, "termination", None) is Termination.STOPPED_BY_RM


def test_unset_enum_is_sent_by_name() -> None:
    implements = dialect(*VALUE_IN_FRONT)
    release = ReleaseRequest(AllOf("app"), Termination.UNKNOWN)

    sent = implements.request(ALLOCATIONS, "rm", [release]).SerializeToString()

    (read,) = si.AllocationRequest.FromString(sent).releases.allocationsToRelease
    assert read.terminationType == si.STOPPED_BY_RM


def test_inserted_field_shows_accepted_node_as_rejected() -> None:
    received = si.NodeResponse(accepted=[si.AcceptedNode(nodeID="n1")])

    assert observed(received, *ONE_IN_FRONT) == [NodeRejected("n1", "")]
    assert observed(received) == [NodeAccepted("n1")]


def test_renamed_field_is_read_as_missing() -> None:
    received = si.NodeResponse(rejected=[si.RejectedNode(nodeID="n1", reason="no")])
    renamed = ("string nodeID = 1;\n  string reason = 2;", "string nodeID = 1;\n  string why = 2;")

    assert observed(received, renamed) == [
        NodeRejected("n1", ""),
        NotInSpec(NODES, "si.v1.RejectedNode.reason", "there is no such field"),
    ]


def test_unknown_fields_are_sent() -> None:
    strange = NodeRequest("n1", Action.CREATE, {"memory": 5}, unknown_field=True)

    plain = dialect_for(DEFAULT_REVISION).request(NODES, "rm", [strange])

    assert dialect().request(NODES, "rm", [strange]).SerializeToString() == (
        plain.SerializeToString()
    )


def test_a_method_of_another_kind_cannot_be_called() -> None:
    implements = dialect(*UNARY)

    assert lost(lambda: implements.schema.method("UpdateNode")) == {
        "si.v1.Scheduler.UpdateNode": "it is one message each way there, not a stream each way"
    }
    assert implements.schema.method("UpdateApplication").client_streaming


def test_a_method_with_other_messages_cannot_be_called() -> None:
    renamed = (
        ("UpdateNode (stream NodeRequest)", "UpdateNode (stream NodesRequest)"),
        ("message NodeRequest {", "message NodesRequest {"),
    )
    implements = dialect(*renamed)

    assert lost(lambda: implements.schema.method("UpdateNode")) == {
        "si.v1.Scheduler.UpdateNode": "it takes NodesRequest there, not NodeRequest"
    }
    assert "si.v1.NodeRequest" in lost_in(DEFAULT_REVISION, descriptor_set(edited(*renamed)))


def test_a_registration_without_its_field_cannot_be_sent() -> None:
    implements = dialect(("string policyGroup", "string queueGroup"))

    assert [*lost(lambda: implements.registration(Registration("rm", "1", "queues", "")))] == [
        "si.v1.RegisterResourceManagerRequest.policyGroup"
    ]
