"""What a key stands for from 2024-10 on, by what this RM sent with it."""

from typing import Any

import pytest
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    AskRejected,
    AskReleased,
    Fact,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import (
    AllocationUpdate,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    ReleaseRequest,
    Request,
)
from siconform.protocol.subjects import AllOf, OneAllocation, OneAsk
from siconform.transport.dialects import Dialect, dialect_for
from siwire import REVISIONS
from siwire.r2024_10 import si_pb2 as si

KIND = UpdateKind.ALLOCATIONS
STOPPED, TIMEOUT = Termination.STOPPED_BY_RM, Termination.TIMEOUT
ASK = AskRequest("k", "a", "default", {"memory": 1})
ALLOCATION = Allocated(
    key="k",
    application="a",
    node="n",
    identity="k",
    resource={"memory": 2},
    task_group="",
    placeholder=False,
    priority=0,
    tags={},
    partition="default",
    originator=False,
    preemption_policy=None,
)
EXISTING = ExistingAllocationRequest(ALLOCATION)
UPDATE = AllocationUpdate(ALLOCATION)
FOREIGN = ForeignAllocationRequest("k", "n", "default", {"memory": 1}, {"foreign": "static"})
RELEASE = ReleaseRequest(OneAllocation("a", "k", "k"), STOPPED)
CONFIRMATION = ReleaseRequest(OneAllocation("a", "k", "k"), TIMEOUT)
WITHDRAWAL = AskReleaseRequest(OneAsk("a", "k"), "default")


def released(**of: Any) -> si.AllocationResponse:
    return si.AllocationResponse(released=[si.AllocationRelease(applicationID="a", **of)])


NEW = si.AllocationResponse(new=[si.Allocation(allocationKey="k", applicationID="a")])
RELEASED = released(allocationKey="k", terminationType=si.STOPPED_BY_RM)
TIMED_OUT = released(allocationKey="k", terminationType=si.TIMEOUT)
ALL_RELEASED = released(terminationType=si.STOPPED_BY_RM)
REJECTED = si.AllocationResponse(
    rejectedAllocations=[si.RejectedAllocation(allocationKey="k", applicationID="a")]
)
ASK_ENDS = AskReleased("k", "a", STOPPED, "", "")
ASK_TIMES_OUT = AskReleased("k", "a", TIMEOUT, "", "")
ENDS = Released("k", "a", "k", STOPPED, "", "")
TIMES_OUT = Released("k", "a", "k", TIMEOUT, "", "")
ASK_REFUSED, REFUSED = AskRejected("k", "a", ""), AllocationRejected("k", "a", "")

Step = Request | si.AllocationResponse


CASES: list[tuple[list[Step], Fact]] = [
    # releases name whatever the key stands for
    ([ASK, RELEASED], ASK_ENDS),
    ([ASK, WITHDRAWAL, RELEASED], ASK_ENDS),
    ([ASK, TIMED_OUT], ASK_TIMES_OUT),
    ([ASK, NEW, RELEASED], ENDS),
    ([ASK, WITHDRAWAL, NEW, RELEASED], ENDS),  # it crossed the announcement
    ([EXISTING, RELEASED], ENDS),
    ([FOREIGN, RELEASED], ENDS),
    ([RELEASED], ENDS),  # never requested
    ([ASK, EXISTING, RELEASED], ENDS),  # placed by the RM
    ([ASK, ALL_RELEASED], Released("", "a", "", STOPPED, "", "")),
    # reported again, unchanged
    ([ASK, NEW, TIMED_OUT, TIMED_OUT], TIMES_OUT),
    ([ASK, NEW, RELEASE, RELEASED, RELEASED], ENDS),
    # a lifecycle after the end
    ([ASK, NEW, RELEASE, RELEASED, ASK, RELEASED], ASK_ENDS),
    ([ASK, NEW, TIMED_OUT, CONFIRMATION, ASK, RELEASED], ASK_ENDS),
    ([ASK, NEW, RELEASED, ASK, RELEASED], ASK_ENDS),  # it ended with its node
    ([ASK, NEW, ALL_RELEASED, ASK, RELEASED], ASK_ENDS),
    ([ASK, WITHDRAWAL, ASK, NEW, RELEASED], ENDS),
    ([ASK, REJECTED, ASK, RELEASED], ASK_ENDS),
    # requested again before the end was reported
    ([ASK, NEW, RELEASE, ASK, RELEASED], ENDS),
    ([ASK, NEW, RELEASE, ASK, RELEASED, RELEASED], ASK_ENDS),
    ([ASK, NEW, RELEASE, ASK, RELEASED, NEW, RELEASED], ENDS),
    ([ASK, NEW, RELEASE, ASK, NEW, TIMED_OUT, TIMED_OUT], TIMES_OUT),
    ([ASK, NEW, ReleaseRequest(AllOf("a"), STOPPED), ASK, RELEASED, RELEASED], ASK_ENDS),
    ([ASK, NEW, ReleaseRequest(AllOf("b"), STOPPED), ASK, RELEASED], ENDS),
    # an update is of the current lifecycle
    ([ASK, NEW, ASK, RELEASED], ENDS),
    ([ASK, NEW, UPDATE, RELEASED], ENDS),
    # a rejection is of the last request; earlier state stays
    ([ASK, REJECTED], ASK_REFUSED),
    ([EXISTING, REJECTED], REFUSED),
    ([FOREIGN, REJECTED], REFUSED),
    ([REJECTED], REFUSED),
    ([ASK, NEW, UPDATE, REJECTED], REFUSED),
    ([ASK, EXISTING, REJECTED], REFUSED),
    ([ASK, EXISTING, REJECTED, RELEASED], ASK_ENDS),
    ([ASK, ASK, REJECTED, RELEASED], ASK_ENDS),
    ([ASK, NEW, UPDATE, REJECTED, RELEASED], ENDS),
]


@pytest.mark.parametrize("revision", ["2024-10", "2026-04"])
@pytest.mark.parametrize(("steps", "received"), CASES)
def test_answer_is_read_by_meaning_of_key(revision: str, steps: list[Step], received: Fact) -> None:
    assert last_received(dialect_for(REVISIONS[revision]), steps) == received


def test_keyed_requests_share_one_ordered_list() -> None:
    request = dialect_for(REVISIONS["2024-10"]).request(
        KIND, "rm", [FOREIGN, ASK, EXISTING, UPDATE]
    )

    assert isinstance(request, si.AllocationRequest)
    assert [
        (entry.nodeID, entry.applicationID, dict(entry.allocationTags))
        for entry in request.allocations
    ] == [("n", "", {"foreign": "static"}), ("", "a", {}), ("n", "a", {}), ("n", "a", {})]


def test_release_names_key_or_whole_application() -> None:
    every = AskReleaseRequest(AllOf("a"), "default", TIMEOUT)
    request = dialect_for(REVISIONS["2024-10"]).request(KIND, "rm", [RELEASE, WITHDRAWAL, every])

    assert isinstance(request, si.AllocationRequest)
    assert [
        (entry.applicationID, entry.allocationKey, entry.terminationType)
        for entry in request.releases.allocationsToRelease
    ] == [("a", "k", 1), ("a", "k", 1), ("a", "", 2)]


def last_received(dialect: Dialect, steps: list[Step]) -> Fact:
    facts: list[Fact] = []
    for step in steps:
        if isinstance(step, si.AllocationResponse):
            facts += dialect.facts(KIND, dialect.response(KIND, step.SerializeToString()))
        else:
            dialect.request(KIND, "rm", [step])
    return facts[-1]
