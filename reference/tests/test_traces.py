"""Replay of the recorded session of every revision (fixtures/traces)."""

import asyncio
import copy
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf import json_format
from patience import patient
from siwire import REVISIONS, Capability, Revision, rpc
from tests.fields import recovers_by_allocations
from tests.traces import Replayer, read

REVISED = list(REVISIONS.values())
every_revision = pytest.mark.parametrize("revision", REVISED, ids=str)
Lines = list[dict[str, Any]]


def replay(revision: Revision, lines: Lines) -> None:
    asyncio.run(asyncio.wait_for(Replayer(revision).replays(lines), patient()))


# requirement: SI-CONN-018, SI-REC-001, SI-REC-003, SI-GANG-020, SI-GANG-021
@every_revision
def test_session_matches_its_recording(revision: Revision) -> None:
    replay(revision, read(revision))


@every_revision
def test_session_covers_its_subject(revision: Revision) -> None:
    lines = read(revision)
    received = [json.dumps(line["json"]) for line in lines if line.get("from") == "scheduler"]

    assert [line["do"] for line in lines if "do" in line] == ["start", "wait", "start", "wait"]
    assert sum(one.count("PLACEHOLDER_REPLACED") for one in received) == 4
    assert sum(one.count('"Completed"') for one in received) == 2
    second = lines[[number for number, line in enumerate(lines) if "do" in line][2] :]
    recovered = json.dumps([line for line in second if line.get("from") == "rm"])
    with_nodes = revision.can(Capability.EXISTING_ALLOCATIONS_WITH_NODE)
    assert ("existingAllocations" in recovered) is with_nodes
    by_itself = any("allocations" in line.get("json", {}) for line in second)
    assert by_itself is recovers_by_allocations(revision)
    assert '"Completed"' in json.dumps(second)


@every_revision
def test_bytes_and_json_of_a_trace_agree(revision: Revision) -> None:
    methods = rpc.methods(revision)
    for line in read(revision):
        if "do" in line:
            continue
        method = methods[line["call"]]
        kind: Any = method.request if line["from"] == "rm" else method.response
        message = kind.FromString(bytes.fromhex(line["hex"]))
        assert line["message"] == message.DESCRIPTOR.full_name
        assert json_format.ParseDict(line["json"], kind()) == message


def without_a_line(lines: Lines) -> None:
    received = [line for line in lines if line.get("from") == "scheduler" and line["hex"]]
    lines.remove(received[-1])


def with_another_node(lines: Lines) -> None:
    for line in lines:
        if line.get("from") == "scheduler" and "accepted" in line["json"]:
            line["json"]["accepted"][0] = {"nodeID": "n9"}
            return


def with_one_identity_for_two(lines: Lines) -> None:
    news = [new for line in lines for new in line.get("json", {}).get("new", [])]
    first, second = [new for new in news if "allocationID" in new][:2]
    second["allocationID"] = first["allocationID"]


def with_more_than_there_was(lines: Lines) -> None:
    (line,) = [line for line in lines if len(line.get("json", {}).get("released", [])) > 1][:1]
    line["json"]["released"].pop()


def with_an_identity_from_nowhere(lines: Lines) -> None:
    lists = (line.get("json", {}).get("released", []) for line in lines)
    next(received for received in lists if received)[0]["allocationID"] = "9-9"


def at_another_time(lines: Lines) -> None:
    lists = (line.get("json", {}).get("updated", []) for line in lines)
    next(received for received in lists if received)[0]["stateTransitionTimestamp"] = (
        "1700000001000000000"
    )


def without_a_reason(lines: Lines) -> None:
    lists = (line.get("json", {}).get("rejected", []) for line in lines)
    del next(received for received in lists if received)[0]["reason"]


def with_an_answer_that_came_later(lines: Lines) -> None:
    pairs = enumerate(itertools.pairwise(lines))
    where = next(at for at, (one, _) in pairs if "accepted" in one.get("json", {}))
    lines[where], lines[where + 1] = lines[where + 1], lines[where]


def with_another_answer_to_the_registration(lines: Lines) -> None:
    answers = [one for one in lines if one.get("message", "").endswith("ManagerResponse")]
    answers[0]["json"]["more"] = "than there is"


@pytest.mark.parametrize(
    "spoil",
    [
        without_a_line,
        with_another_node,
        with_one_identity_for_two,
        with_more_than_there_was,
        with_an_identity_from_nowhere,
        at_another_time,
        without_a_reason,
        with_an_answer_that_came_later,
        with_another_answer_to_the_registration,
    ],
)
def test_deviating_session_is_detected(spoil: Callable[[Lines], None]) -> None:
    revision = REVISIONS["2023-12"]
    lines = copy.deepcopy(read(revision))
    spoil(lines)

    with pytest.raises(AssertionError):
        replay(revision, lines)
