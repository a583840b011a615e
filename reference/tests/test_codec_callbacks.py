"""Callbacks as messages of each revision."""

from typing import Any

import pytest
from sireference.codec import codec_for
from sireference.codec.callbacks import details as details_of
from sireference.core.model import (
    Call,
    Callback,
    ChangeDetail,
    ChangeType,
    ContainerState,
    EventRecord,
    PredicatesQuestion,
    PreemptionQuestion,
    RecordType,
    SchedulingState,
    SentEvents,
    SyncedCache,
)
from sireference.core.resources import Resource
from siwire import REVISIONS, Revision

OLDEST, SPRING, SUMMER, NEWEST, *LATER = REVISIONS.values()
RECORD = EventRecord(
    RecordType.REQUEST,
    "k1",
    1234.5,
    ChangeType.ADD,
    ChangeDetail.REQUEST_ALLOC,
    "allocated",
    "id-1",
    "a1",
    Resource({"memory": 3}),
)
PLAIN = EventRecord(
    RecordType.NODE, "n1", 1.0, ChangeType.NONE, ChangeDetail.DETAILS_NONE, "it is there"
)


def written(revision: Revision, call: Call) -> list[Any]:
    return list(codec_for(revision).callbacks.messages(call))


# requirement: SI-EVT-003
def test_record_of_2021_02_has_group_and_reason() -> None:
    record, plain = written(OLDEST, SentEvents("rm", (RECORD, PLAIN)))

    assert record == OLDEST.si.EventRecord(
        type=OLDEST.si.EventRecord.REQUEST,
        objectID="k1",
        groupID="a1",
        reason="REQUEST_ALLOC",
        message="allocated",
        timestampNano=1_234_500_000_000,
    )
    assert (plain.reason, plain.groupID) == ("NODE_NONE", "")


# requirement: SI-EVT-005
def test_record_of_2023_04_has_a_change_type() -> None:
    (record,) = written(SPRING, SentEvents("rm", (RECORD,)))

    assert record == SPRING.si.EventRecord(
        type=SPRING.si.EventRecord.REQUEST,
        objectID="k1",
        message="allocated",
        timestampNano=1_234_500_000_000,
        eventChangeType=SPRING.si.EventRecord.ADD,
    )


# requirement: SI-EVT-011
@pytest.mark.parametrize("revision", [SUMMER, NEWEST, *LATER], ids=str)
def test_record_since_2023_08_has_all_fields(revision: Revision) -> None:
    kinds = revision.si.EventRecord
    record, plain = written(revision, SentEvents("rm", (RECORD, PLAIN)))

    expected = kinds(
        type=kinds.REQUEST,
        objectID="k1",
        message="allocated",
        timestampNano=1_234_500_000_000,
        eventChangeType=kinds.ADD,
        eventChangeDetail=kinds.REQUEST_ALLOC,
        referenceID="id-1",
    )
    expected.resource.resources["memory"].value = 3
    assert record == expected
    assert not plain.HasField("resource")


# requirement: SI-EVT-004
@pytest.mark.parametrize("revision", [SUMMER, NEWEST, *LATER], ids=str)
def test_every_detail_has_its_number(revision: Revision) -> None:
    details = revision.si.EventRecord.ChangeDetail

    received = codec_for(revision).rules.event_details

    assert {detail.name: detail.value for detail in received} == dict(details.items())
    assert received == details_of(details.keys())


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_predicate_question_about_a_node(revision: Revision) -> None:
    (args,) = written(revision, PredicatesQuestion("rm", 7, "k1", "n1", allocate=True))

    expected = revision.si.PredicatesArgs(allocationKey="k1", nodeID="n1", allocate=True)
    assert args == expected


@pytest.mark.parametrize("revision", [SPRING, SUMMER, NEWEST, *LATER], ids=str)
def test_preemption_question_and_its_answer(revision: Revision) -> None:
    codec = codec_for(revision).callbacks
    (args,) = codec.messages(PreemptionQuestion("rm", 7, "k1", "n1", ("v1", "v2"), 1))
    response = revision.si.PreemptionPredicatesResponse(success=True, index=1)

    assert args == revision.si.PreemptionPredicatesArgs(
        allocationKey="k1", nodeID="n1", preemptAllocationKeys=["v1", "v2"], startIndex=1
    )
    assert codec.preemption_answer(response.SerializeToString()) == (True, 1)
    assert codec.preemption_answer(b"") == (False, 0)


# requirement: SI-CB-009
@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_container_state(revision: Revision) -> None:
    kind = revision.si.UpdateContainerSchedulingStateRequest
    for state in SchedulingState:
        (sent,) = written(revision, ContainerState("rm", "a1", "k1", state, "why"))

        is_misspelled = revision in (OLDEST, SPRING, SUMMER)
        name = "applicartionID" if is_misspelled else "applicationID"
        assert (getattr(sent, name), sent.allocationKey, sent.reason) == ("a1", "k1", "why")
        assert kind.SchedulingState.Name(sent.state) == state.name


# requirement: SI-CB-011
def test_cache_synchronisation_of_2021_02() -> None:
    (sent,) = written(OLDEST, SyncedCache("rm", (("k1", "n1"),), ("k0",)))

    si = OLDEST.si
    assert sent == si.ReSyncSchedulerCacheArgs(
        assumedAllocations=[si.AssumedAllocation(allocationKey="k1", nodeID="n1")],
        forgetAllocations=[si.ForgotAllocation(allocationKey="k0")],
    )


def test_callbacks_of_each_revision() -> None:
    always = {Callback.PREDICATES, Callback.EVENTS, Callback.CONTAINER_STATE}

    assert codec_for(OLDEST).callbacks.callbacks == always | {Callback.CACHE_SYNC}
    for revision in (SPRING, SUMMER, NEWEST, *LATER):
        assert codec_for(revision).callbacks.callbacks == always | {Callback.PREEMPTION_PREDICATES}
