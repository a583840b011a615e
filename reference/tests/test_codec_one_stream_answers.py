"""Codec of 2021-02: every field of every response."""

from typing import Any

import pytest
from sireference.codec import codec_for
from sireference.core import model
from sireference.core.resources import Resource
from sireference.core.states import ApplicationState, TerminationType
from siwire import REVISIONS
from siwire.r2021_02 import si_pb2 as si
from tests.coding import resource

REVISION = REVISIONS["2021-02"]
CODEC = codec_for(REVISION)


def write(*answers: model.Answer) -> list[Any]:
    assert {CODEC.method_of(answer) for answer in answers} == {"Update"}
    return list(CODEC.responses("Update", answers))


# requirement: SI-ALLOC-003, SI-ALLOC-006
@pytest.mark.parametrize("name", ["", "high"])
def test_new_allocation_fields_are_written(name: str) -> None:
    ask = model.Ask(
        "k",
        "a",
        "p",
        resource=Resource({"memory": 2, "gpu": 0}),
        priority=7,
        priority_class=name,
        tags={"t": "v"},
        task_group="tg",
        placeholder=True,
    )

    (response,) = write(model.NewAllocation("rm", model.AllocationRecord("id", ask, "n"), "root.q"))

    assert response == si.UpdateResponse(
        newAllocations=[
            si.Allocation(
                allocationKey="k",
                allocationTags={"t": "v"},
                UUID="id",
                resourcePerAlloc=resource(si, memory=2, gpu=0),
                priority=(
                    si.Priority(priorityClassName="high") if name else si.Priority(priorityValue=7)
                ),
                queueName="root.q",
                nodeID="n",
                applicationID="a",
                partitionName="p",
                taskGroupName="tg",
                placeholder=True,
            )
        ]
    )


def release_of(termination: TerminationType) -> model.ReleasedAllocation:
    return model.ReleasedAllocation("rm", model.Release("p", "a", "id", termination, "k", "m"))


@pytest.mark.parametrize(
    ("termination", "number"),
    [
        (TerminationType.STOPPED_BY_RM, 0),
        (TerminationType.TIMEOUT, 1),
        (TerminationType.PREEMPTED_BY_SCHEDULER, 2),
        (TerminationType.PLACEHOLDER_REPLACED, 3),
    ],
)
def test_release_fields_are_written(termination: TerminationType, number: Any) -> None:
    (response,) = write(release_of(termination))

    assert response == si.UpdateResponse(
        releasedAllocations=[
            si.AllocationRelease(
                partitionName="p",
                applicationID="a",
                UUID="id",
                terminationType=number,
                message="m",
            )
        ]
    )


def test_only_asks_given_up_by_the_scheduler_are_written() -> None:
    given_up, withdrawn = (
        model.ReleasedAsk("rm", model.AskRelease("p", "a", "k", termination, "m"))
        for termination in (TerminationType.TIMEOUT, TerminationType.STOPPED_BY_RM)
    )

    assert write(withdrawn) == []
    assert write(withdrawn, given_up) == [
        si.UpdateResponse(
            releasedAllocationAsks=[
                si.AllocationAskRelease(
                    partitionName="p", applicationID="a", allocationkey="k", message="m"
                )
            ]
        )
    ]


def test_verdicts_share_a_message_and_decisions_keep_their_order() -> None:
    update = model.UpdatedApplication("rm", "a", ApplicationState.FAILING, 1.5, "m")
    given_up = model.ReleasedAsk(
        "rm", model.AskRelease("p", "a", "k", TerminationType.TIMEOUT, "m")
    )
    new = model.NewAllocation("rm", model.AllocationRecord("id", model.Ask("k", "a"), "n"))

    responses = write(
        model.AcceptedNode("rm", "n"),
        model.AcceptedApplication("rm", "a"),
        model.RejectedNode("rm", "n", "why"),
        model.RejectedApplication("rm", "a", "why"),
        model.RejectedAsk("rm", "k", "a", "why"),
        update,
        release_of(TerminationType.TIMEOUT),
        given_up,
        new,
        release_of(TerminationType.STOPPED_BY_RM),
        model.RecommendedNode("rm", "n", Resource({"memory": 3}), "m"),
    )

    filled = [[field.name for field, _ in response.ListFields()] for response in responses]
    assert filled == [
        ["acceptedApplications", "acceptedNodes"],
        ["rejectedAllocations", "rejectedApplications", "rejectedNodes"],
        ["releasedAllocations", "releasedAllocationAsks", "updatedApplications"],
        ["newAllocations"],
        ["releasedAllocations"],
        ["nodeRecommendations"],
    ]
    assert responses[2].updatedApplications == [
        si.UpdatedApplication(
            applicationID="a",
            state="Failing",
            stateTransitionTimestamp=1_500_000_000,
            message="m",
        )
    ]
    (advice,) = responses[-1].nodeRecommendations
    assert advice == si.NodeRecommendation(
        recommendedSchedulableResource=resource(si, memory=3), message="m"
    )


# requirement: SI-CONN-012
def test_resync_is_sent_only_to_rms_that_can_register() -> None:
    (message,) = CODEC.refusal_messages(model.Refused("rm", "why"))

    assert message == si.UpdateResponse(action=si.UpdateResponse.RESYNC)
    assert not CODEC.refusal_messages(model.Refused("", "why"))
