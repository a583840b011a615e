"""No optional field of a request is dropped: what a revision cannot express is an error."""

from collections.abc import Iterator
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Final

import pytest
from siconform.protocol.availability import sent_as
from siconform.protocol.constraints import Condition, Constraint
from siconform.protocol.matchers import ANY
from siconform.protocol.notifications import Allocated, PreemptionPolicy, Termination
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    LegacyNodeFields,
    LegacyRequest,
    NodeRequest,
    ReleaseRequest,
    Request,
)
from siconform.protocol.subjects import OneAllocation, OneAsk
from siconform.transport.dialects import dialect_for
from siconform.transport.dialects.scalars import write_scalars
from siconform.transport.dialects.tables import Inexpressible
from siwire import REVISIONS, Revision

from .test_keys import ALLOCATION as BY_KEY

ALLOCATION: Final = replace(BY_KEY, queue="", priority_class="")
REQUESTS: Final[tuple[Request, ...]] = (
    NodeRequest("n", Action.CREATE),
    ApplicationRequest("a", "root.plain", "default", "somebody"),
    AskRequest("k", "a", "default", {"memory": 1}),
    ReleaseRequest(OneAllocation("a", "k", "k"), Termination.STOPPED_BY_RM),
    AskReleaseRequest(OneAsk("a", "k"), "default"),
    ExistingAllocationRequest(ALLOCATION),
    AllocationUpdate(ALLOCATION),
    ForeignAllocationRequest("k", "n", "default", {"memory": 1}),
    LegacyRequest(AskRequest("k", "a", "default", {"memory": 1})),
    LegacyRequest(AskReleaseRequest(OneAsk("a", "k"), "default")),
)
SAMPLES: Final[dict[str, Any]] = {
    "capacity": {"memory": 2},
    "constraint": Constraint(node=(Condition("zone", ("a",)),)),
    "existing": (ALLOCATION,),
    "groups": ("one",),
    "legacy_fields": LegacyNodeFields({"memory": 1}),
    "occupied": {"memory": 1},
    "placeholder_ask": {"memory": 2},
    "preemption_policy": PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True),
    "termination": Termination.TIMEOUT,
}
"""Values of optional fields; those that are text, numbers, flags or maps need none."""
OF_ALLOCATIONS: Final = {
    "originator": True,
    "priority_class": "gold",
    "queue": "root.plain",
    "preemption_policy": SAMPLES["preemption_policy"],
    "priority": 7,
    "tags": {"a": "b"},
    "task_group": "group",
    "placeholder": True,
}


@pytest.mark.parametrize("sent", REQUESTS, ids=lambda sent: type(sent).__name__)
@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_optional_field_is_sent_or_refused(revision: Revision, sent: Request) -> None:
    without = encoded(revision, sent)

    dropped = [name for name, one in with_one_field(sent) if encoded(revision, one) == without]

    assert without is None or not dropped


def test_refusal_names_the_field() -> None:
    sent = AskRequest("k", "a", "default", {"memory": 1}, priority_class="gold")

    with pytest.raises(LookupError) as refused:
        dialect_for(REVISIONS["2024-10"]).request(sent.kind, "rm", [sent])

    assert str(refused.value) == f"SI 2024-10 cannot express priority_class of {sent}"


def test_scalar_without_field_in_the_message_is_refused_even_if_no_revision_is_named() -> None:
    @dataclass
    class Proposed:
        key: str = field(metadata=sent_as("allocationKey"))
        later: int = field(default=0, metadata=sent_as("inNoRevision"))

    message = REVISIONS["2024-10"].si.Allocation()
    write_scalars(message, Proposed("k"))

    assert message.allocationKey == "k"
    with pytest.raises(Inexpressible):
        write_scalars(message, Proposed("k", later=1))


@pytest.mark.parametrize("kind", [NodeRequest, ApplicationRequest, AskRequest])
def test_each_named_scalar_is_in_some_revision(kind: type) -> None:
    messages = [
        message.fields_by_name
        for revision in REVISIONS.values()
        for message in revision.si.DESCRIPTOR.message_types_by_name.values()
    ]

    named = {one.metadata["sent_as"] for one in fields(kind) if "sent_as" in one.metadata}

    assert named
    assert [name for name in named if not any(name in one for one in messages)] == []


def encoded(revision: Revision, sent: Request) -> bytes | None:
    """Return the message of one request, None if it cannot be expressed."""
    try:
        message = dialect_for(revision).request(sent.kind, "rm", [sent])
    except LookupError:
        return None
    return message.SerializeToString(deterministic=True)


def with_one_field(sent: Request) -> Iterator[tuple[str, Any]]:
    """Yield the request with each of its optional fields set."""
    if isinstance(sent, LegacyRequest):
        for name, older in with_one_field(sent.sent):
            yield name, replace(sent, sent=older)
    for one in fields(sent):
        if one.default is not MISSING or one.default_factory is not MISSING:
            yield one.name, replace(sent, **{one.name: sample(one)})
    if isinstance(sent, (ExistingAllocationRequest, AllocationUpdate)):
        for name, value in OF_ALLOCATIONS.items():
            yield name, replace(sent, allocation=replace(sent.allocation, **{name: value}))


def sample(one: Any) -> Any:
    """Return a value that is not the default."""
    if one.name in SAMPLES:
        return SAMPLES[one.name]
    default = one.default if one.default is not MISSING else one.default_factory()
    return {str: "some", bool: not default, int: 7, dict: {"a": "b"}}[type(default)]


def test_each_field_of_allocations_is_tried() -> None:
    limited = {one.name for one in fields(Allocated) if one.metadata and one.default is ANY}

    assert limited <= set(OF_ALLOCATIONS)
