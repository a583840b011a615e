"""RPC methods of a revision: paths, kinds, clients and servers."""

from collections.abc import Callable, Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from patience import patient
from siwire import REVISIONS, Revision, rpc

PATIENCE = patient()  # seconds; a call on the same machine that takes longer hangs
STREAMS = [
    (revision, name)
    for revision in REVISIONS.values()
    for name in rpc.methods(revision)
    if name != "RegisterResourceManager"
]

each_revision = pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)


def echo_nothing(_request: Any, _context: grpc.ServicerContext) -> bytes:
    raise AssertionError  # never called


@contextmanager
def serving(
    revision: Revision, behaviours: Mapping[str, Callable[..., Any]]
) -> Iterator[grpc.Channel]:
    """A channel to a server of this revision that has only these behaviours."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=2))
    server.add_generic_rpc_handlers((rpc.scheduler_handlers(revision, behaviours),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        server.stop(grace=None).wait()


# requirement: SI-WIRE-001
@each_revision
def test_methods_have_the_specified_paths_and_order(revision: Revision) -> None:
    streams = ["Update"] if revision.name == "2021-02" else []
    streams = streams or ["UpdateAllocation", "UpdateApplication", "UpdateNode"]

    paths = {name: method.path for name, method in rpc.methods(revision).items()}

    names = ["RegisterResourceManager", *streams]
    assert list(paths) == names
    assert paths == {name: f"/si.v1.Scheduler/{name}" for name in names}


# requirement: SI-WIRE-003
@each_revision
def test_registration_is_unary_and_all_other_methods_are_bidirectional_streams(
    revision: Revision,
) -> None:
    kinds = {name: method.kind for name, method in rpc.methods(revision).items()}

    assert kinds.pop("RegisterResourceManager") == "unary_unary"
    assert set(kinds.values()) == {"stream_stream"}


@each_revision
def test_requests_and_responses_are_the_classes_of_the_revision(revision: Revision) -> None:
    method = rpc.methods(revision)["RegisterResourceManager"]

    assert method.request is revision.si.RegisterResourceManagerRequest
    assert method.response is revision.si.RegisterResourceManagerResponse


@each_revision
def test_registration_reaches_its_behaviour_and_is_answered(revision: Revision) -> None:
    seen: list[Any] = []

    def register(request: Any, _context: grpc.ServicerContext) -> Any:
        seen.append(request)
        return revision.si.RegisterResourceManagerResponse()

    with serving(revision, {"RegisterResourceManager": register}) as channel:
        call = rpc.callable_for(channel, rpc.methods(revision)["RegisterResourceManager"])
        sent = revision.si.RegisterResourceManagerRequest(rmID="rm-1")
        answer = call(sent, timeout=PATIENCE)

    assert seen == [sent]
    assert answer == revision.si.RegisterResourceManagerResponse()


@pytest.mark.parametrize(("revision", "name"), STREAMS)
def test_stream_carries_messages_both_ways(revision: Revision, name: str) -> None:
    method = rpc.methods(revision)[name]

    def answer_each(requests: Iterator[Any], _context: grpc.ServicerContext) -> Iterator[Any]:
        for request in requests:
            assert request.rmID == "rm-1"
            yield method.response()

    with serving(revision, {name: answer_each}) as channel:
        call = rpc.callable_for(channel, method)
        answers = list(call(iter([method.request(rmID="rm-1")] * 2), timeout=PATIENCE))

    assert answers == [method.response()] * 2


@pytest.mark.parametrize(("revision", "name"), STREAMS)
def test_method_without_behaviour_is_unimplemented(revision: Revision, name: str) -> None:
    with serving(revision, {"RegisterResourceManager": echo_nothing}) as channel:
        call = rpc.callable_for(channel, rpc.methods(revision)[name])
        with pytest.raises(grpc.RpcError) as ended:
            list(call(iter([]), timeout=PATIENCE))

    assert ended.value.code() is grpc.StatusCode.UNIMPLEMENTED


@each_revision
def test_behaviour_for_an_unknown_method_is_refused(revision: Revision) -> None:
    with pytest.raises(LookupError, match=r"si\.v1\.Scheduler has no method UpdateConfig\."):
        rpc.scheduler_handlers(revision, {"UpdateConfig": echo_nothing})


def test_raw_bytes_pass_through_a_callable_unchanged() -> None:
    revision = REVISIONS["2023-12"]
    method = rpc.methods(revision)["UpdateNode"]
    with_unknown_field = bytes.fromhex("1204726d2d31 a21f0178")  # rmID "rm-1", and a field 500
    seen: list[Any] = []

    def answer(requests: Iterator[Any], _context: grpc.ServicerContext) -> Iterator[Any]:
        seen.extend(request.SerializeToString() for request in requests)
        yield revision.si.NodeResponse(accepted=[revision.si.AcceptedNode(nodeID="n")])

    with serving(revision, {"UpdateNode": answer}) as channel:
        call = rpc.callable_for(channel, method, serializer=bytes, deserializer=bytes)
        answers = list(call(iter([with_unknown_field]), timeout=PATIENCE))

    assert seen == [with_unknown_field]
    assert answers == [bytes.fromhex("12030a016e")]


@each_revision
def test_scheduler_is_the_service_for_reflection(revision: Revision) -> None:
    assert rpc.full_names(revision) == [rpc.SERVICE] == ["si.v1.Scheduler"]
