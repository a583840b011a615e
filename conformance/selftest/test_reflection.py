"""What the kit reads in a scheduler's reflection, and what it concludes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from grpc_reflection.v1alpha import reflection, reflection_pb2  # type: ignore[import-untyped]  # it has no types
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.probed_behaviour import ProbedBehaviour
from siconform.outcomes import ConformanceFailure, NotForThisTarget, TargetLost
from siconform.policy import ExitCode
from siconform.rm.session import Session
from siconform.targets.attached import AttachedTarget
from siconform.targets.terms import Terms
from siconform.transport.reflection import Description, Shape, _description, describe
from siwire import DEFAULT_REVISION, REVISIONS, Revision, rpc

from .commands import siconform
from .serving import served

IMPLEMENTED = REVISIONS["2023-12"]
TIMEOUT = 5.0
BOTH_WAYS = Shape(client_streams=True, server_streams=True)
METHODS = {
    "RegisterResourceManager": Shape(client_streams=False, server_streams=False),
    "UpdateAllocation": BOTH_WAYS,
    "UpdateApplication": BOTH_WAYS,
    "UpdateNode": BOTH_WAYS,
}
Serve = Callable[..., grpc.Channel]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server that reflects these services from this pool."""
    with ExitStack() as opened:

        def start(*names: str, pool: Any = IMPLEMENTED.si.POOL) -> grpc.Channel:
            def prepare(server: grpc.Server) -> None:
                if names:
                    reflection.enable_server_reflection(names, server, pool=pool)

            channel = grpc.insecure_channel(opened.enter_context(served(prepare)))
            return opened.enter_context(channel)

        yield start


STATE_UPDATE = "UpdateContainerSchedulingStateRequest"


def described(change: Callable[[FileDescriptorProto], None] = lambda _: None) -> Description:
    """Return the revision as described by a scheduler that changed something."""
    file = FileDescriptorProto()
    IMPLEMENTED.si.DESCRIPTOR.CopyToProto(file)
    change(file)
    return _description(IMPLEMENTED, rpc.SERVICE, [file])


def message(file: FileDescriptorProto, name: str) -> DescriptorProto:
    return next(m for m in file.message_type if m.name == name)


def reflecting(package: str, *, works: bool = True) -> Callable[[grpc.Server], None]:
    """Serve reflection in this version; the library only has v1alpha."""
    answering = reflection.ReflectionServicer([rpc.SERVICE], pool=IMPLEMENTED.si.POOL)

    def fails(_requests: Any, context: grpc.ServicerContext) -> None:
        context.abort(grpc.StatusCode.INTERNAL, "this version must not be used")

    method = grpc.stream_stream_rpc_method_handler(
        answering.ServerReflectionInfo if works else fails,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    handler = grpc.method_handlers_generic_handler(
        f"{package}.ServerReflection", {"ServerReflectionInfo": method}
    )
    return lambda server: server.add_generic_rpc_handlers((handler,))


def test_reflection_v1_is_preferred() -> None:
    def prepare(server: grpc.Server) -> None:
        reflecting("grpc.reflection.v1")(server)
        reflecting("grpc.reflection.v1alpha", works=False)(server)

    with served(prepare) as address, grpc.insecure_channel(address) as channel:
        found = describe(channel, IMPLEMENTED, rpc.SERVICE, TIMEOUT)

    assert found is not None
    assert found.methods == METHODS


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_description_is_read_by_either_reflection_version(version: str) -> None:
    prepare = reflecting(f"grpc.reflection.{version}")

    with served(prepare) as address, grpc.insecure_channel(address) as channel:
        found = describe(channel, IMPLEMENTED, rpc.SERVICE, TIMEOUT)

    assert found is not None
    assert found.methods == METHODS
    assert {"NodeInfo", "Allocation", "Resource.ResourcesEntry"} <= set(found.messages)
    assert {"TerminationType", "NodeInfo.ActionFromRM"} <= set(found.enums)


def test_missing_reflection_gives_no_description(serve: Serve) -> None:
    assert describe(serve(), IMPLEMENTED, rpc.SERVICE, TIMEOUT) is None


def test_reflection_of_something_else_leaves_the_target_out(serve: Serve) -> None:
    with pytest.raises(NotForThisTarget, match="does not know"):
        describe(serve("another.Service"), IMPLEMENTED, "another.Service", TIMEOUT)


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_every_revision_matches_itself(revision: Revision, serve: Serve) -> None:
    channel = serve(rpc.SERVICE, pool=revision.si.POOL)
    found = describe(channel, revision, rpc.SERVICE, TIMEOUT)

    assert found is not None
    found.names_fields_as_the_text_does()
    found.uses_nothing_reserved()
    found.places_enums_where_the_text_does()


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_description_identifies_revision(revision: Revision, serve: Serve) -> None:
    channel = serve(rpc.SERVICE, pool=revision.si.POOL)
    found = describe(channel, IMPLEMENTED, rpc.SERVICE, TIMEOUT)

    assert found is not None
    assert revision.name in found.implemented()
    assert found.implemented() <= {
        revision.name,
        "2024-10",
        "2026-04",
    }  # which differ in events only


def test_unknown_description_has_no_revision() -> None:
    def more(file: FileDescriptorProto) -> None:
        message(file, "NodeInfo").field.add(name="mine", number=90, type=9, label=1)

    assert described(more).implemented() == frozenset()


@pytest.fixture
def older() -> Iterator[str]:
    """The address of a scheduler that implements SI 2023-08 and describes it."""
    si = REVISIONS["2023-08"].si

    def prepare(server: grpc.Server) -> None:
        behaviours = {"RegisterResourceManager": lambda *_: si.RegisterResourceManagerResponse()}
        behaviours |= {name: lambda *_: iter(()) for name in METHODS if name.startswith("Update")}
        server.add_generic_rpc_handlers((rpc.scheduler_handlers(REVISIONS["2023-08"], behaviours),))
        reflection.enable_server_reflection([rpc.SERVICE], server, pool=si.POOL)

    with served(prepare, workers=8) as address:
        yield address


@pytest.mark.parametrize("given", [True, False])
def test_default_revision_is_checked_against_description(older: str, *, given: bool) -> None:
    target = AttachedTarget(older, IMPLEMENTED, 1.0, terms=Terms(revision_given=given))
    session = Session(target, Deadlines(connect=2.0, ack=1.0), "w", ProbedBehaviour(probed=True))
    lost = f"implements SI 2023-08, not {IMPLEMENTED}: give --revision 2023-08"
    for test in ("one", "and every one after it"):
        with nullcontext() if given else pytest.raises(TargetLost, match=lost):
            session.resource_manager(test)
    session.discard()


def test_wrong_revision_suggests_right_one(older: str, tmp_path: Path) -> None:
    done = siconform("run", "--target", older, "-k", "SI-NODE-001", cwd=tmp_path)

    assert f"implements SI 2023-08, not {DEFAULT_REVISION}: give --revision 2023-08" in done.stdout
    assert done.returncode == ExitCode.NOTHING_RAN


def test_scheduler_extensions_are_ignored() -> None:
    def more(file: FileDescriptorProto) -> None:
        file.message_type.add(name="Mine").field.add(name="x", number=7, type=9, label=1)
        message(file, "NodeInfo").field.add(name="mine", number=90, type=9, label=1)

    found = described(more)

    found.names_fields_as_the_text_does()
    found.uses_nothing_reserved()
    found.places_enums_where_the_text_does()


def test_missing_or_changed_method_is_seen() -> None:
    found = described()
    found.has_the_methods(METHODS)

    with pytest.raises(ConformanceFailure, match="no method Update"):
        found.has_the_methods({**METHODS, "Update": BOTH_WAYS})
    with pytest.raises(ConformanceFailure, match="RegisterResourceManager streams differently"):
        found.has_the_methods(dict.fromkeys(METHODS, BOTH_WAYS))


def test_service_may_have_more_methods() -> None:
    def leave_out(file: FileDescriptorProto) -> None:
        kept = [m for m in file.message_type if m.name not in ("EventRecord", STATE_UPDATE)]
        del file.message_type[:]
        file.message_type.extend(kept)

    found = described(leave_out)

    found.has_the_methods({n: s for n, s in METHODS.items() if n != "UpdateNode"})
    found.places_enums_where_the_text_does()


@pytest.mark.parametrize(
    ("name", "number"), [("queueName", 70), ("mine", 7), ("UUID", 71), ("gap", 4)]
)
def test_reserved_name_or_number_is_seen(name: str, number: int) -> None:
    def add(file: FileDescriptorProto) -> None:
        message(file, "Allocation").field.add(name=name, number=number, type=9, label=1)

    with pytest.raises(ConformanceFailure, match=f"Allocation: {name} = {number}"):
        described(add).uses_nothing_reserved()


@pytest.mark.parametrize(
    ("name", "json"), [("Originator", "Originator"), ("originator", "Originator")]
)
def test_renamed_field_is_seen(name: str, json: str) -> None:
    def rename(file: FileDescriptorProto) -> None:
        field = next(f for f in message(file, "Allocation").field if f.number == 14)
        field.name, field.json_name = name, json

    with pytest.raises(ConformanceFailure, match=f"Allocation: 14 is {name}, in JSON {json}"):
        described(rename).names_fields_as_the_text_does()


def test_omitted_json_name_follows_rule() -> None:
    def leave_out(file: FileDescriptorProto) -> None:
        for one in file.message_type:
            for field in one.field:
                field.ClearField("json_name")

    described(leave_out).names_fields_as_the_text_does()


def test_moved_enum_is_seen() -> None:
    def move(file: FileDescriptorProto) -> None:
        enum = next(e for e in file.enum_type if e.name == "TerminationType")
        message(file, "AllocationRelease").enum_type.add().CopyFrom(enum)
        field = next(f for f in message(file, "AllocationRelease").field if f.number == 4)
        field.type_name = ".si.v1.AllocationRelease.TerminationType"

    with pytest.raises(ConformanceFailure, match=r"AllocationRelease\.terminationType is"):
        described(move).places_enums_where_the_text_does()


def test_missing_enum_is_seen() -> None:
    def drop(file: FileDescriptorProto) -> None:
        del message(file, "NodeInfo").enum_type[:]

    with pytest.raises(ConformanceFailure, match=r"there is no enum NodeInfo\.ActionFromRM"):
        described(drop).places_enums_where_the_text_does()
