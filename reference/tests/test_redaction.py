"""Logged messages: all fields except those the SI marks as secret."""

from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from sireference.shell.redaction import is_secret, loggable
from siwire import REVISIONS, Revision
from siwire.ext import extension_pb2 as ext

FIELD = descriptor_pb2.FieldDescriptorProto
PACKAGE = "made.up"


@pytest.fixture(params=REVISIONS.values(), ids=str)
def login(request: pytest.FixtureRequest) -> Any:
    """Return a made-up message type with secrets, next to a copy of a revision's file.

    It has ``user``, the secret ``pin``, and itself as ``inner``, ``several`` and in the map
    ``by_name``.
    """
    revision: Revision = request.param
    file = descriptor_pb2.FileDescriptorProto(
        name="made_up.proto", package=PACKAGE, syntax="proto3", dependency=["si.proto"]
    )
    kind = file.message_type.add(name="Login")
    kind.field.add(name="user", number=1, type=FIELD.TYPE_STRING, label=FIELD.LABEL_OPTIONAL)
    secret = kind.field.add(
        name="pin", number=2, type=FIELD.TYPE_STRING, label=FIELD.LABEL_OPTIONAL
    )
    secret.options.MergeFromString(_marked(revision))
    own = {"type": FIELD.TYPE_MESSAGE, "type_name": f".{PACKAGE}.Login"}
    kind.field.add(name="inner", number=3, label=FIELD.LABEL_OPTIONAL, **own)
    kind.field.add(name="several", number=4, label=FIELD.LABEL_REPEATED, **own)
    entry = kind.nested_type.add(name="ByNameEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=FIELD.TYPE_STRING, label=FIELD.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, label=FIELD.LABEL_OPTIONAL, **own)
    kind.field.add(
        name="by_name",
        number=5,
        label=FIELD.LABEL_REPEATED,
        type=FIELD.TYPE_MESSAGE,
        type_name=f".{PACKAGE}.Login.ByNameEntry",
    )
    pool = descriptor_pool.DescriptorPool()
    for needed in (*revision.si.DESCRIPTOR.dependencies, revision.si.DESCRIPTOR):
        copy = descriptor_pb2.FileDescriptorProto()
        needed.CopyToProto(copy)
        pool.Add(copy)
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.Login"))


def _marked(revision: Revision) -> bytes:
    pool = revision.si.POOL
    options: Any = message_factory.GetMessageClass(
        pool.FindMessageTypeByName("google.protobuf.FieldOptions")
    )()
    options.Extensions[revision.si.si_secret] = True
    marked: bytes = options.SerializeToString()
    return marked


# requirement: SI-WIRE-013
def test_secret_is_left_out(login: Any) -> None:
    assert loggable(login(user="me", pin="hush")) == {"user": "me"}


# requirement: SI-WIRE-013
def test_secret_is_left_out_at_every_depth(login: Any) -> None:
    message = login(user="outer", inner=login(pin="hush"))
    message.inner.several.append(login(user="one", pin="hush"))
    message.by_name["two"].CopyFrom(login(user="two", pin="hush"))
    before = message.SerializeToString(deterministic=True)

    shown = loggable(message)

    assert "hush" not in str(shown)
    assert shown["inner"] == {"several": [{"user": "one"}]}
    assert shown["by_name"] == {"two": {"user": "two"}}
    assert message.SerializeToString(deterministic=True) == before


def test_only_marked_fields_are_secret(login: Any) -> None:
    fields = login.DESCRIPTOR.fields_by_name

    assert [name for name, field in fields.items() if is_secret(field)] == ["pin"]


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_no_revision_marks_a_field_so_all_is_shown(revision: Revision) -> None:
    request = revision.si.RegisterResourceManagerRequest(rmID="rm", version="1")

    assert loggable(request) == {"rmID": "rm", "version": "1"}


def test_pool_without_the_option_has_no_secrets() -> None:
    assert loggable(ext.SnapshotQuery(rm_id="rm")) == {"rm_id": "rm"}
