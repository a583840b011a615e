"""Dialects are tables, one for each revision; each connection has one, with memory."""

from dataclasses import replace

import pytest
from siconform.protocol.notifications import (
    Allocated,
    AskReleased,
    Fact,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import (
    Action,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    ReleaseRequest,
    Request,
    UtilisationRequest,
)
from siconform.protocol.subjects import AllOf, AllThereIs, OneAllocation, OneAsk
from siconform.recording.history import History
from siconform.transport.connection import Connection
from siconform.transport.dialects import Dialect, dialect_for
from siconform.transport.dialects.registry import tables_of
from siwire import REVISIONS, Revision
from siwire.r2024_10 import si_pb2

BY_IDENTITY, BY_KEY = REVISIONS["2023-12"], REVISIONS["2024-10"]
ASK = AskRequest("k", "a", "default", {"memory": 1})
EXISTING = ExistingAllocationRequest(Allocated("k", "a", "n", "id"))


def test_dialect_memory_is_per_connection() -> None:
    first = Connection(
        "127.0.0.1:1", BY_IDENTITY, "first", History(), implements=lambda _: dialect_for(BY_KEY)
    )
    second = first.another("second")

    first.dialect.request(UpdateKind.ALLOCATIONS, "first", [ASK])

    assert isinstance(received(first.dialect), AskReleased)
    assert isinstance(received(second.dialect), Released)


def received(dialect: Dialect) -> Fact:
    """Return what a dialect reads in the release of a key."""
    release = si_pb2.AllocationRelease(allocationKey="k", applicationID="a")
    data = si_pb2.AllocationResponse(released=[release]).SerializeToString()
    kind = UpdateKind.ALLOCATIONS
    [fact] = dialect.facts(kind, dialect.response(kind, data))
    return fact


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_each_connection_has_its_own_dialect(revision: Revision) -> None:
    first = Connection("127.0.0.1:1", revision, "first", History())

    assert first.dialect is not first.another("second").dialect


def test_key_as_identity_holds_for_invented_allocations() -> None:
    assert dialect_for(BY_KEY).identity.made_up_for("k") == "k"
    assert dialect_for(BY_IDENTITY).identity.made_up_for("k") != "k"


@pytest.mark.parametrize(
    ("revision", "sent"),
    [
        ("2021-02", NodeRequest("n", Action.UPDATE, existing=(EXISTING.allocation,))),
        ("2021-02", NodeRequest("n", Action.CREATE_DRAINING)),
        ("2021-02", EXISTING),
        ("2023-04", NodeRequest("n", Action.CREATE_DRAINING)),
        ("2023-04", EXISTING),
        ("2023-04", UtilisationRequest("n", {"memory": 1})),
        ("2023-08", UtilisationRequest("n", {"memory": 1})),
        ("2023-12", replace(ASK, priority_class="gold")),
        ("2023-12", AskReleaseRequest(AllThereIs(), "default", Termination.UNDEFINED)),
        ("2024-10", replace(ASK, max_allocations=2)),
        ("2024-10", replace(ASK, timeout_ms=1)),
        ("2024-10", NodeRequest("n", Action.CREATE, occupied={"memory": 1})),
        ("2024-10", NodeRequest("n", Action.CREATE, existing=(EXISTING.allocation,))),
        ("2024-10", AskReleaseRequest(AllThereIs(), "default")),
        ("2024-10", ReleaseRequest(AllOf("a", "k"), Termination.STOPPED_BY_RM)),
    ],
    ids=str,
)
def test_unsupported_request_is_not_sent(revision: str, sent: Request) -> None:
    dialect = dialect_for(REVISIONS[revision])

    with pytest.raises(LookupError) as refused:
        dialect.request(sent.kind, "rm", [sent])

    assert str(refused.value).startswith(f"SI {revision} cannot express ")


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_every_list_in_response_is_read(revision: Revision) -> None:
    dialect = dialect_for(revision)
    readers = tables_of(revision).readers

    for kind in UpdateKind:
        fields = [field.name for field in dialect.response(kind, b"").DESCRIPTOR.fields]
        assert set(readers[kind]) == set(fields)


def test_release_names_identity_or_key() -> None:
    release = Released("k", "a", "id")

    assert release.subject == OneAllocation("a", "id", "k")
    assert replace(release, identity="").subject == AllOf("a", "k")
    assert AskReleased("k", "a").subject == OneAsk("a", "k")
    assert AskReleased("", "a").subject == AllOf("a")
    assert AskReleased("", "").subject == AllThereIs()
