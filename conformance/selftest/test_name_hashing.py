"""Names of users and groups and values of tags are hashed; what the SI interprets is readable."""

from typing import Any

import pytest
from google.protobuf.message import DecodeError
from siconform.transport.name_hashing import NameHashing
from siwire import REVISIONS, find_revision

ALICE = "h-dc663a1de92b83cd"  # HMAC-SHA256 of "alice" with the key "salt"
REVISION = find_revision("2024-10")


@pytest.fixture
def hashing() -> NameHashing:
    return NameHashing(REVISION, b"salt")


def passed(hashing: NameHashing, message: Any) -> Any:
    return type(message).FromString(
        hashing.hashed(message.DESCRIPTOR.name, message.SerializeToString())
    )


def application(si: Any, **tags: str) -> Any:
    request = si.ApplicationRequest(rmID="a")
    added = request.new.add(applicationID="app", queueName="root.q", tags=tags)
    added.ugi.user = "alice"
    added.ugi.groups.extend(["staff", "alice"])
    return request


@pytest.mark.parametrize("name", REVISIONS)
def test_users_groups_and_tags(name: str) -> None:
    revision = find_revision(name)
    si = revision.si
    method = "UpdateRequest" if not hasattr(si, "ApplicationRequest") else "ApplicationRequest"
    request = getattr(si, method)(rmID="a")
    field = request.newApplications if method == "UpdateRequest" else request.new
    added = field.add(applicationID="app", queueName="root.q")
    added.ugi.user = "alice"
    added.ugi.groups.append("alice")
    added.tags.update({str(number): "alice" for number in range(20)})
    added.tags["namespace.resourcequota"] = "4"

    [hashed] = getattr(
        passed(NameHashing(revision, b"salt"), request),
        "newApplications" if method == "UpdateRequest" else "new",
    )

    assert (hashed.applicationID, hashed.queueName) == ("app", "root.q")
    assert hashed.ugi.user == ALICE
    assert list(hashed.ugi.groups) == [ALICE]
    readable = {"namespace.resourcequota": "4"}
    assert dict(hashed.tags) == {str(number): ALICE for number in range(20)} | readable


def test_names_are_found_in_texts_and_events(hashing: NameHashing) -> None:
    si = REVISION.si
    passed(hashing, application(si))
    response = si.ApplicationResponse()
    response.rejected.add(applicationID="app", reason="user alice: alice, not malice, has no quota")
    event = si.EventRecord(type=si.EventRecord.USERGROUP, objectID="alice", message="for alice.")

    [rejected] = passed(hashing, response).rejected
    hashed = passed(hashing, event)

    assert rejected.reason == f"user {ALICE}: {ALICE}, not malice, has no quota"
    assert (hashed.objectID, hashed.message) == (ALICE, f"for {ALICE}.")


def test_configuration_is_left_out(hashing: NameHashing) -> None:
    request = REVISION.si.RegisterResourceManagerRequest(rmID="a", config="submitacl: alice")
    request.extraConfig["admin"] = "alice"

    hashed = passed(hashing, request)

    assert (hashed.rmID, hashed.config, dict(hashed.extraConfig)) == ("a", "", {})


def test_unknown_fields_are_left_out(hashing: NameHashing) -> None:
    opening = b"\x12\x01a"  # rmID = "a"

    assert hashing.hashed("NodeRequest", b"\xa2\x1f\x03new" + opening) == opening


def test_other_messages_keep_their_contents(hashing: NameHashing) -> None:
    request = REVISION.si.NodeRequest(rmID="a")
    node = request.nodes.add(nodeID="n", attributes={"zone": "z"})
    node.schedulableResource.resources["memory"].value = 4

    assert passed(hashing, request) == request


def test_salt_decides() -> None:
    request = application(REVISION.si)
    [other] = passed(NameHashing(REVISION, b"other"), request).new

    assert other.ugi.user.startswith("h-")
    assert other.ugi.user != ALICE
    assert other.ugi.groups[1] == other.ugi.user


def test_unreadable_message_is_an_error(hashing: NameHashing) -> None:
    with pytest.raises(DecodeError):
        hashing.hashed("NodeRequest", b"\xff")
