"""The scripted session of every revision goes again as it was recorded (fixtures/traces)."""

import asyncio
import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf import json_format
from siwire import REVISIONS, Revision, rpc
from tests.traces import Replayer, read

REVISED = list(REVISIONS.values())
every_revision = pytest.mark.parametrize("revision", REVISED, ids=str)
Lines = list[dict[str, Any]]


def replay(revision: Revision, lines: Lines) -> None:
    asyncio.run(asyncio.wait_for(Replayer(revision).replays(lines), 30))


# requirement: SI-CONN-018, SI-REC-001, SI-REC-003, SI-GANG-020, SI-GANG-021
@every_revision
def test_the_session_goes_as_recorded(revision: Revision) -> None:
    replay(revision, read(revision))


@every_revision
def test_the_session_has_what_it_is_about(revision: Revision) -> None:
    lines = read(revision)
    told = [json.dumps(line["json"]) for line in lines if line.get("from") == "scheduler"]

    assert [line["do"] for line in lines if "do" in line] == ["start", "wait", "start", "wait"]
    assert sum(one.count("PLACEHOLDER_REPLACED") for one in told) == 4
    assert sum(one.count('"Completed"') for one in told) == 2
    assert "existingAllocations" in json.dumps(lines)


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
    heard = [line for line in lines if line.get("from") == "scheduler" and line["hex"]]
    lines.remove(heard[-1])


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


@pytest.mark.parametrize(
    "spoil",
    [without_a_line, with_another_node, with_one_identity_for_two, with_more_than_there_was],
)
def test_a_session_that_goes_otherwise_is_noticed(spoil: Callable[[Lines], None]) -> None:
    revision = REVISIONS["2023-12"]
    lines = copy.deepcopy(read(revision))
    spoil(lines)

    with pytest.raises(AssertionError):
        replay(revision, lines)


def test_another_revision_is_another_session() -> None:
    with pytest.raises((AssertionError, KeyError)):
        replay(REVISIONS["2023-12"], read(REVISIONS["2021-02"]))
