"""All revisions of one package coexist in one process and are never mixed up."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module, resources
from itertools import permutations
from typing import Any

import pytest
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.message import Message
from siwire import REVISIONS, Revision

PAIRS = list(permutations(REVISIONS.values(), 2))

each_revision = pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
each_pair = pytest.mark.parametrize(("one", "other"), PAIRS, ids=str)


@each_revision
def test_all_revisions_have_the_same_package_and_file_name(revision: Revision) -> None:
    sent = (revision.si.DESCRIPTOR.package, revision.si.DESCRIPTOR.name)

    assert sent == ("si.v1", "si.proto")


@each_pair
def test_two_revisions_share_neither_pool_nor_classes(one: Revision, other: Revision) -> None:
    assert one.si.POOL is not other.si.POOL
    assert one.si.Allocation is not other.si.Allocation


@each_revision
def test_no_revision_is_in_the_default_pool(revision: Revision) -> None:
    name = revision.si.Allocation.DESCRIPTOR.full_name

    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName(name)


@each_revision
def test_pool_of_a_revision_finds_its_service_for_reflection(revision: Revision) -> None:
    service = revision.si.POOL.FindServiceByName("si.v1.Scheduler")

    assert service is revision.si.DESCRIPTOR.services_by_name["Scheduler"]


@each_pair
def test_message_of_one_revision_is_refused_by_another(one: Revision, other: Revision) -> None:
    asked = one.si.Resource(resources={"memory": one.si.Quantity(value=1)})

    with pytest.raises(TypeError):
        other.si.AddApplicationRequest(placeholderAsk=asked)
    with pytest.raises(TypeError):
        other.si.AddApplicationRequest().placeholderAsk.CopyFrom(asked)
    with pytest.raises(TypeError):
        other.si.AllocationReleasesRequest().allocationsToRelease.append(one.si.AllocationRelease())
    with pytest.raises(TypeError):
        other.si.Resource().MergeFrom(asked)


@each_pair
def test_messages_of_two_revisions_are_never_equal(one: Revision, other: Revision) -> None:
    assert one.si.AcceptedNode(nodeID="n") != other.si.AcceptedNode(nodeID="n")


@each_revision
def test_message_is_accepted_by_its_own_revision(revision: Revision) -> None:
    asked = revision.si.Resource(resources={"memory": revision.si.Quantity(value=1)})

    application = revision.si.AddApplicationRequest(placeholderAsk=asked)

    assert application.placeholderAsk.resources["memory"].value == 1


@each_pair
def test_unknown_fields_of_another_revision_are_preserved(one: Revision, other: Revision) -> None:
    sent = one.si.Allocation(
        allocationKey="key-1", nodeID="node-1", taskGroupName="tg", placeholder=True
    )
    for field in ("UUID", "allocationID", "queueName", "originator"):
        if field in one.si.Allocation.DESCRIPTOR.fields_by_name:
            setattr(sent, field, True if field == "originator" else f"some {field}")

    passed_on = other.si.Allocation.FromString(sent.SerializeToString()).SerializeToString()

    assert one.si.Allocation.FromString(passed_on) == sent


@each_revision
def test_unknown_field_number_is_preserved(revision: Revision) -> None:
    from_the_future = bytes.fromhex("0a026e31 a21f06667574757265")  # 500: "future"

    read = revision.si.AcceptedNode.FromString(from_the_future)

    assert read.nodeID == "n1"
    assert read.SerializeToString() == from_the_future


@each_revision
def test_unknown_enum_number_is_preserved(revision: Revision) -> None:
    event = revision.si.EventRecord.FromString(bytes.fromhex("0863"))

    assert event.type == 99
    assert event.SerializeToString() == bytes.fromhex("0863")


@each_revision
def test_si_secret_option_is_readable_through_the_pool_of_the_revision(revision: Revision) -> None:
    descriptor = revision.si.POOL.FindMessageTypeByName("google.protobuf.FieldOptions")
    options = message_factory.GetMessageClass(descriptor)

    marked: Any = options.FromString(bytes.fromhex("9842 01"))

    assert marked.Extensions[revision.si.si_secret] is True


def stub_names(body: list[ast.stmt], scope: str = "") -> Iterator[str]:
    """Return the dotted names in a stub, without protobuf's own and type-checking helpers."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield f"{scope}{node.name}"
            yield from stub_names(node.body, f"{scope}{node.name}.")
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
            if not name.startswith(("_", "Global___")):
                yield f"{scope}{name}"


MODULES = [f"{revision.package}.si_pb2" for revision in REVISIONS.values()]


@pytest.mark.parametrize("module", [*MODULES, "siwire.ext.extension_pb2"])
def test_names_in_the_typed_stub_exist_at_run_time(module: str) -> None:
    package, _, name = module.rpartition(".")
    stub = resources.files(package).joinpath(f"{name}.pyi").read_text(encoding="utf-8")

    promised = list(stub_names(ast.parse(stub).body))

    assert len(promised) > 100
    for dotted in promised:
        value: Any = import_module(module)
        for part in dotted.split("."):
            is_message = isinstance(value, type) and issubclass(value, Message)
            holder = value() if is_message and not hasattr(value, part) else value
            assert hasattr(holder, part), dotted
            value = getattr(holder, part)


def test_pure_python_implementation_of_protobuf_is_refused() -> None:
    environment = os.environ | {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}

    ended = subprocess.run(
        [sys.executable, "-c", "from siwire.r2023_12 import si_pb2"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 1
    assert "RuntimeError: protobuf runs in its pure-Python implementation" in ended.stderr
