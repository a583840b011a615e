"""The six revisions in order have the changes and classes that were worked out by hand."""

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from sispec.changes import Kind
from sispec.classes import Class, Evaluation, evaluate
from sispec.misreading import Decoding, Form
from sispec.sources import read_spec
from siwire import REVISIONS

_LETTERS = {
    Class.MISREAD: "W",
    Class.WIRE_BREAKING: "W",
    Class.JSON_BREAKING: "J",
    Class.SOURCE_BREAKING: "S",
    Class.COMPATIBLE: "C",
}
_CHAIN = {
    ("2021-02", "2023-04"): {
        "S": "go_package TerminationType NodeInfo.ActionFromRM "
        "AffinityTargetExpression.AffinityTargetOperator "
        # the interface is respelled, and it and its callbacks have other methods
        "SchedulerAPI SchedulerAPI.RegisterResourceManager SchedulerApi.Update "
        "SchedulerAPI.UpdateAllocation SchedulerAPI.UpdateApplication SchedulerAPI.UpdateNode "
        "SchedulerAPI.UpdateConfiguration "
        "ResourceManagerCallback.RecvUpdateResponse ResourceManagerCallback.UpdateAllocation "
        "ResourceManagerCallback.UpdateApplication ResourceManagerCallback.UpdateNode "
        "ResourceManagerCallback.Predicates ResourceManagerCallback.PreemptionPredicates "
        "ResourceManagerCallback.SendEvent "
        "ResourceManagerCallback.UpdateContainerSchedulingState",
        "WS": "Scheduler.Update",
        "WJS": "UpdateRequest UpdateResponse UpdateResponse.ActionFromScheduler Priority "
        "AllocationAsk.priority Allocation.priority AllocationAsk.placementConstraint "
        "PlacementConstraint SimplePlacementConstraint NodeAffinityConstraints "
        "AllocationAffinityConstraints AffinityTargetExpression Allocation.queueName "
        "NewNodeInfo UpdateNodeInfo UtilizationReport NodeRecommendation "
        "UpdateConfigurationRequest.configs EventRecord.groupID EventRecord.reason",
        "W": "AllocationAsk.taskGroupName AllocationAsk.placeholder AllocationAsk.Originator "
        "AllocationAskRelease.message "
        "TerminationType.UNKNOWN_TERMINATION_TYPE TerminationType.STOPPED_BY_RM "
        "TerminationType.TIMEOUT TerminationType.PREEMPTED_BY_SCHEDULER "
        "TerminationType.PLACEHOLDER_REPLACED "
        "NodeInfo.ActionFromRM.UPDATE NodeInfo.ActionFromRM.DRAIN_NODE "
        "NodeInfo.ActionFromRM.DECOMISSION NodeInfo.ActionFromRM.DRAIN_TO_SCHEDULABLE "
        "UpdateContainerSchedulingStateRequest.SchedulingState.UNKNOWN_SCHEDULING_STATE "
        "UpdateContainerSchedulingStateRequest.SchedulingState.SKIPPED "
        "UpdateContainerSchedulingStateRequest.SchedulingState.SCHEDULED "
        "UpdateContainerSchedulingStateRequest.SchedulingState.RESERVED "
        "UpdateContainerSchedulingStateRequest.SchedulingState.FAILED "
        "EventRecord.Type.UNKNOWN_EVENTRECORD_TYPE EventRecord.Type.REQUEST "
        "EventRecord.Type.APP EventRecord.Type.NODE EventRecord.Type.QUEUE",
        "JS": "AllocationAskRelease.allocationKey AutoScalingMetrics OutstandingResourceRequest "
        "UpdateConfigurationResponse "
        # by hand these three were S only; they are in JSON what AutoScalingMetrics is
        "ReSyncSchedulerCacheArgs AssumedAllocation ForgotAllocation",
    },
    ("2023-04", "2023-08"): {},
    ("2023-08", "2023-12"): {
        "WJS": "Allocation.UUID AllocationRelease.UUID",
        "JS": "UpdateContainerSchedulingStateRequest.applicationID",
        "S": "KeyAllowPreemption",
    },
    ("2023-12", "2024-10"): {
        "WJS": "AllocationRequest.asks AllocationAsk AllocationResponse.releasedAsks "
        "AllocationResponse.rejected RejectedAllocationAsk "
        "AllocationReleasesRequest.allocationAsksToRelease AllocationAskRelease "
        "Allocation.allocationID AllocationRelease.allocationID NodeInfo.existingAllocations "
        "NodeInfo.occupiedResource EventRecord.ChangeDetail.APP_STARTING "
        "EventRecord.ChangeDetail.NODE_READY",
        "S": "AppTagStateAwareDisable NodeReadyAttribute SchedulerAPI.Stop",
    },
    ("2024-10", "2026-04"): {},
}
# new messages, rpcs, values, enums and constants, counted in the same tables, and the methods of
# interfaces of the Go API without implementation yet; new fields are compared with the tables
_ADDED = {
    ("2021-02", "2023-04"): 24 + 1,
    ("2023-04", "2023-08"): 5,
    ("2023-08", "2023-12"): 0,
    ("2023-12", "2024-10"): 15,
    ("2024-10", "2026-04"): 1,
}
_TABLES = Path(__file__).parents[2] / "fixtures" / "golden" / "schema"


@cache
def _evaluated(old: str, new: str) -> tuple[Evaluation, ...]:
    return tuple(evaluate(read_spec(old), read_spec(new)))


def _letters(evaluation: Evaluation) -> str:
    return "".join(dict.fromkeys(_LETTERS[c] for c in evaluation.classes))


def test_chain_has_every_step() -> None:
    assert list(_CHAIN) == list(pairwise(REVISIONS))


@pytest.mark.parametrize("step", _CHAIN, ids=" to ".join)
def test_step_breaks_expected_elements(step: tuple[str, str]) -> None:
    expected = {name: letters for letters, names in _CHAIN[step].items() for name in names.split()}
    breaking = {j.change.where: _letters(j) for j in _evaluated(*step) if j.breaks}
    assert breaking == expected


@pytest.mark.parametrize("step", _CHAIN, ids=" to ".join)
def test_step_adds_expected_counts(step: tuple[str, str]) -> None:
    compatible = [j.change for j in _evaluated(*step) if not j.breaks]
    added = [change for change in compatible if change.kind is not Kind.RESERVED_ADDED]
    assert all(change.kind.value.endswith("added") for change in added)
    assert len([one for one in added if one.kind is not Kind.FIELD_ADDED]) == _ADDED[step]


@pytest.mark.parametrize("step", _CHAIN, ids=" to ".join)
def test_step_adds_the_fields_that_the_older_table_lacks(step: tuple[str, str]) -> None:
    old, new = map(_messages, step)
    lacking = {
        f"{message}.{field}"
        for message in new.keys() & old.keys()
        for field in new[message].keys() - old[message].keys()
    }
    breaking = {j.change.where for j in _evaluated(*step) if j.breaks}
    added = {
        j.change.where
        for j in _evaluated(*step)
        if j.change.kind is Kind.FIELD_ADDED and not j.breaks
    }
    assert added == lacking - breaking


def _messages(revision: str) -> dict[str, dict[str, str]]:
    table = yaml.safe_load((_TABLES / f"{revision}.yaml").read_text("utf-8"))
    messages: dict[str, dict[str, str]] = table["messages"]
    return messages


def _by_place(old: str, new: str) -> dict[str, Evaluation]:
    return {evaluation.change.where: evaluation for evaluation in _evaluated(old, new)}


@pytest.mark.parametrize(
    ("step", "place", "writer", "outcome", "read_as"),
    [
        (0, "AllocationAsk.placeholder", "old", Decoding.MISREAD, "Originator"),
        (0, "AllocationAsk.placementConstraint", "old", Decoding.MISREAD, "taskGroupName"),
        (0, "AllocationAsk.taskGroupName", "old", Decoding.LOST, ""),
        (0, "AllocationAsk.taskGroupName", "new", Decoding.REFUSED, ""),
        (0, "AllocationAsk.priority", "old", Decoding.LOST, ""),
        (0, "AllocationAsk.priority", "new", Decoding.LOST, ""),
        (0, "TerminationType.TIMEOUT", "old", Decoding.MISREAD, "STOPPED_BY_RM"),
        (0, "TerminationType.STOPPED_BY_RM", "old", Decoding.MISREAD, "UNKNOWN_TERMINATION_TYPE"),
        (
            *(0, "TerminationType.PLACEHOLDER_REPLACED", "old"),
            *(Decoding.MISREAD, "PREEMPTED_BY_SCHEDULER"),
        ),
        (0, "AllocationAskRelease.message", "old", Decoding.LOST, ""),
        (1, "NodeInfo.ActionFromRM.CREATE_DRAIN", "new", Decoding.UNNAMED, ""),
        (2, "AllocationRelease.UUID", "old", Decoding.LOST, ""),
        (2, "AllocationRelease.allocationID", "new", Decoding.LOST, ""),
        (3, "AllocationRelease.allocationID", "old", Decoding.LOST, ""),
        (3, "AllocationRequest.asks", "old", Decoding.LOST, ""),
        (3, "NodeInfo.occupiedResource", "old", Decoding.LOST, ""),
    ],
)
def test_misreadings_match_manual_decoding(
    step: int, place: str, writer: str, outcome: Decoding, read_as: str
) -> None:
    evaluated = _by_place(*list(_CHAIN)[step])[place]
    (reading,) = (r for r in evaluated.readings if r.writer == writer and r.form is Form.BYTES)
    assert (reading.outcome, reading.read_as) == (outcome, read_as)


def test_dangerous_changes_are_in_terms_of_the_si() -> None:
    first = _by_place("2021-02", "2023-04")
    assert first["AllocationAsk.placeholder"].new_peer == (
        "A new scheduler reads AllocationAsk.placeholder = true as Originator = true."
    )
    assert first["AllocationAsk.placeholder"].old_peer == (
        "An old scheduler does not see AllocationAsk.placeholder: "
        "a placeholder is taken for a real allocation."
    )
    assert "ends every allocation of the application" in (
        _by_place("2023-08", "2023-12")["AllocationRelease.UUID"].new_peer
    )
    last = _by_place("2023-12", "2024-10")
    assert "unless its allocationKey is sent" in last["AllocationRelease.allocationID"].new_peer
    assert "neither an allocation nor a rejection" in last["AllocationRequest.asks"].new_peer
    assert "over-committed" in last["NodeInfo.occupiedResource"].new_peer
