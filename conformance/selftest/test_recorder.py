"""The recording proxy: forwards every byte and every end, and writes what passes."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from patience import wait_for
from selftest.serving import served
from siconform.recording.trace_outputs import Rotation
from siconform.transport import forwarding
from siconform.transport.access import Tls
from siconform.transport.callback_records import CALLBACKS_PATH
from siconform.transport.channels import OPTIONS
from siconform.transport.recorder import PLAIN, Encryption, Recorder, Target
from siconform.transport.server_tls import ServerTls
from siwire import DEFAULT_REVISION
from siwire.ext import extension_pb2 as ext

from .certificates import HERE, Authority, secured

NODES = "/si.v1.Scheduler/UpdateNode"
REGISTER = "/si.v1.Scheduler/RegisterResourceManager"
OPENING = b"\x12\x01a"  # rmID = "a"
ODD = b"\xa2\x1f\x03new\x12\x01a"  # an unknown field first, which no encoder writes so
ANSWER = b"\xa2\x1f\x03old\x12\x04\x0a\x02n1"

Behave = Callable[[Iterator[bytes], Any], Iterator[bytes]]


class Scheduler(grpc.GenericRpcHandler):
    """Serves every method with one behaviour on raw bytes, and notes what it received."""

    def __init__(self, behave: Behave) -> None:
        self.received: list[bytes] = []
        self.metadata: dict[str, Any] = {}
        self.peers: set[str] = set()
        self.was_cancelled = threading.Event()
        self.was_half_closed = threading.Event()
        self._behave = behave

    def serve_on(self, server: grpc.Server) -> None:
        server.add_generic_rpc_handlers((self,))

    def service(self, handler_call_details: Any) -> Any:
        self.metadata |= dict(handler_call_details.invocation_metadata)
        return grpc.stream_stream_rpc_method_handler(self._serve)

    def _serve(self, requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        self.peers.add(context.peer())
        context.add_callback(self._end)
        yield from self._behave(self._noting(requests), context)

    def _end(self) -> None:
        if not self.was_half_closed.is_set():
            self.was_cancelled.set()

    def _noting(self, requests: Iterator[bytes]) -> Iterator[bytes]:
        for data in requests:
            self.received.append(data)
            yield data
        if not self.was_cancelled.wait(0.1):  # gRPC reports a cancellation a moment later
            self.was_half_closed.set()


def answers_each(requests: Iterator[bytes], _: Any) -> Iterator[bytes]:
    for _ in requests:
        yield ANSWER


class Open:
    """The requests of an RM that keeps its stream open until ``end``."""

    def __init__(self) -> None:
        self.end = threading.Event()
        self._is_opened = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._is_opened:
            self.end.wait(10)
            raise StopIteration
        self._is_opened = True
        return OPENING


def channel(address: str) -> Any:
    return grpc.insecure_channel(address, options=OPTIONS)


@contextmanager
def recorded(
    output: Path, behave: Behave = answers_each, salt: bytes | None = None
) -> Iterator[Any]:
    """Yield a scheduler, an RM's channel to it, the recorder between them, and its reports."""
    scheduler = Scheduler(behave)
    with (
        served(scheduler.serve_on, workers=8) as address,
        recording(Target(output, salt=salt), address) as (recorder, reports),
        channel(recorder.address) as rm,
    ):
        yield scheduler, rm, recorder, reports


@contextmanager
def recording(
    target: Target, to: str, encryption: Encryption = PLAIN
) -> Iterator[tuple[Recorder, list[str]]]:
    """Yield a recorder before this address, and its reports."""
    reports: list[str] = []
    recorder = Recorder(
        "127.0.0.1:0", to, DEFAULT_REVISION, target, reports.append, encryption=encryption
    )
    try:
        yield recorder, reports
    finally:
        recorder.close()


def records(output: Path) -> list[dict[str, Any]]:
    """Return the lines of a file after its header."""
    header, *lines = map(json.loads, output.read_text("utf-8").splitlines())
    assert header["revision"] == DEFAULT_REVISION.name
    return lines


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


def test_messages_are_forwarded_and_recorded_byte_for_byte(output: Path) -> None:
    with recorded(output) as (scheduler, rm, _, _reports):
        assert list(rm.stream_stream(NODES)(iter([OPENING, ODD]))) == [ANSWER, ANSWER]

    assert scheduler.received == [OPENING, ODD]
    written = [(r["from"], r["rm"], r["hex"]) for r in records(output) if r["hex"] is not None]
    assert sorted(written) == sorted(
        [
            ("rm", "a", OPENING.hex()),
            ("rm", "a", ODD.hex()),
            *[("scheduler", "a", ANSWER.hex())] * 2,
        ]
    )
    assert {r["stream"] for r in records(output)} == {"nodes"}
    first = records(output)[0]
    assert first["says"] == "opens the nodes stream"
    assert first["message"] == "si.v1.NodeRequest"
    assert {r["message"] for r in records(output) if "element" not in r} == {
        "si.v1.NodeRequest",
        "si.v1.NodeResponse",
    }


def test_half_close_reaches_the_scheduler_which_may_send_on(output: Path) -> None:
    def answers_at_the_end(requests: Iterator[bytes], _: Any) -> Iterator[bytes]:
        list(requests)
        yield ANSWER

    with recorded(output, answers_at_the_end) as (scheduler, rm, _, _reports):
        assert list(rm.stream_stream(NODES)(iter([OPENING]))) == [ANSWER]

    assert scheduler.was_half_closed.is_set()
    assert [r["says"] for r in records(output) if r["hex"] is None] == [
        "half-closes the nodes stream",
        "stream ended nodes, status OK",
    ]


def test_aborted_stream_is_aborted_at_the_scheduler(output: Path) -> None:
    with recorded(output) as (scheduler, rm, _, _reports):
        call = rm.stream_stream(NODES)(kept_open := Open())
        assert next(call) == ANSWER
        call.cancel()
        wait_for(scheduler.was_cancelled.is_set, 10)
        kept_open.end.set()

    assert not scheduler.was_half_closed.is_set()
    assert records(output)[-1]["says"] == "cancels the nodes stream"


def test_status_details_and_metadata_are_forwarded(output: Path) -> None:
    def refuses(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        next(requests)
        context.set_trailing_metadata((("why", "full"),))
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "no more RMs")
        yield b""

    with (
        recorded(output, refuses) as (scheduler, rm, _, _reports),
        pytest.raises(grpc.RpcError) as refused,
    ):
        rm.unary_unary(REGISTER)(b"\x0a\x01a", metadata=(("shard", "3"),))

    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert refused.value.details() == "no more RMs"
    assert ("why", "full") in list[object](refused.value.trailing_metadata())
    assert scheduler.metadata["shard"] == "3"
    last = records(output)[-1]
    assert (last["message"], last["hex"]) == ("si.v1.RegisterResourceManagerResponse", None)
    assert last["error"] == "RESOURCE_EXHAUSTED no more RMs"


def test_each_rm_has_its_own_connection(output: Path) -> None:
    with recorded(output) as (scheduler, rm, recorder, _reports):
        list(rm.stream_stream(NODES)(iter([OPENING])))
        with channel(recorder.address) as other:
            list(other.stream_stream(NODES)(iter([b"\x12\x01b"])))

    assert len(scheduler.peers) == 2
    assert {r["rm"] for r in records(output) if r["hex"] is not None} == {"a", "b"}


def test_connections_of_rms_that_left_are_closed(
    output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[grpc.Channel] = []
    monkeypatch.setattr(forwarding, "_IDLE", 0.0)
    monkeypatch.setattr(forwarding, "close", closed.append)

    with recorded(output) as (scheduler, rm, recorder, _):
        open_call = rm.stream_stream(NODES)(kept_open := Open())
        next(open_call)
        for _ in range(2):
            with channel(recorder.address) as other:
                list(other.stream_stream(NODES)(iter([OPENING])))
        wait_for(lambda: len(scheduler.peers) == 3, 10)

        assert len(closed) == 1  # of the second; the first is in use, the last may be used again
        kept_open.end.set()
        assert list(open_call) == []


def test_other_services_are_forwarded_and_not_recorded(output: Path) -> None:
    with recorded(output) as (_, rm, _recorder, _reports):
        assert rm.unary_unary("/grpc.health.v1.Health/Check")(b"") == ANSWER

    assert records(output) == []


def test_full_disk_does_not_stop_the_exchange() -> None:
    with recorded(Path("/dev/full")) as (_, rm, recorder, reports):
        list(rm.stream_stream(NODES)(iter([OPENING])))
        wait_for(lambda: bool(recorder.problem), 10)
        assert list(rm.stream_stream(NODES)(iter([OPENING]))) == [ANSWER]

    why = "/dev/full cannot be written: No space left on device"
    assert reports == [f"{why}; the exchange continues and is not recorded"]


def test_dead_scheduler_is_reported_once(output: Path) -> None:
    with (
        recording(Target(output), "127.0.0.1:1") as (recorder, reports),
        channel(recorder.address) as rm,
    ):
        for _ in range(2):
            with pytest.raises(grpc.RpcError) as refused:
                rm.unary_unary(REGISTER)(b"\x0a\x01a")
            assert refused.value.code() is grpc.StatusCode.UNAVAILABLE

    wait_for(lambda: bool(reports), 10)
    assert len(reports) == 1
    assert reports[0].startswith("the scheduler at 127.0.0.1:1 cannot be reached: ")


def test_used_port_leaves_the_file_alone(output: Path) -> None:
    output.write_text("kept")
    with (
        recorded(output.with_name("first")) as (_, _rm, recorder, _reports),
        pytest.raises(OSError, match="nothing can listen on"),
    ):
        Recorder(recorder.address, "127.0.0.1:1", DEFAULT_REVISION, Target(output), print)

    assert output.read_text() == "kept"


def test_large_messages_are_forwarded_and_recorded(output: Path) -> None:
    request = OPENING + b"\xa2\x1f\x80\x80\x80\x01" + bytes(1 << 21)
    response = bytes(8 << 20)  # more than gRPC accepts by default

    def answers(requests: Iterator[bytes], _: Any) -> Iterator[bytes]:
        list(requests)
        yield response

    with recorded(output, answers) as (scheduler, rm, _, _reports):
        assert list(rm.stream_stream(NODES)(iter([request]))) == [response]

    assert scheduler.received == [request]
    assert {r["hex"] for r in records(output)} == {request.hex(), response.hex(), None}


def test_end_of_the_recording_is_no_end_of_the_rm(output: Path) -> None:
    with recorded(output) as (scheduler, rm, recorder, _):
        call = rm.stream_stream(NODES)(kept_open := Open())
        assert next(call) == ANSWER
        recorder.close()
        wait_for(scheduler.was_cancelled.is_set, 10)
        kept_open.end.set()

    assert [r["hex"] for r in records(output)] == [OPENING.hex(), ANSWER.hex()]


def test_record_is_whole_only_if_it_begins_with_a_registration(tmp_path: Path) -> None:
    def first_number(path: Path, method: str, rotation: Rotation | None = None) -> int:
        with (
            served(Scheduler(answers_each).serve_on) as address,
            recording(Target(path, rotation), address) as (recorder, _),
            channel(recorder.address) as rm,
        ):
            list(rm.stream_stream(NODES)(iter([])))  # of which nothing is recorded
            list(rm.stream_stream(method)(iter([OPENING])))
        last = max(path.iterdir()) if rotation else path
        number: int = records(last)[0]["number"]
        return number

    folder, rotation = tmp_path / "trace", Rotation(10**6)
    assert first_number(tmp_path / "whole", REGISTER) == 1
    assert first_number(tmp_path / "later", NODES) == 2
    assert first_number(folder, REGISTER, rotation) == 1
    assert first_number(folder, REGISTER, rotation) == 2  # continues what was recorded before


def test_restarted_scheduler_is_found_again(output: Path) -> None:
    with served(lambda _: None, workers=1) as address:
        pass  # the port is free again

    def prepare(server: grpc.Server) -> None:
        Scheduler(answers_each).serve_on(server)
        server.add_insecure_port(address)

    with recording(Target(output), address) as (recorder, _), channel(recorder.address) as rm:

        def answers() -> bool:
            try:
                return list(rm.stream_stream(NODES)(iter([OPENING]))) == [ANSWER]
            except grpc.RpcError:
                return False

        assert not answers()
        with served(prepare):
            wait_for(answers, 20)

    ends = [r["says"] for r in records(output) if r["from"] == "scheduler" and "says" in r]
    assert ends[-1] == "stream ended nodes, status OK"


def test_callbacks_are_recorded(output: Path) -> None:
    si: Any = DEFAULT_REVISION.si
    check = si.PredicatesArgs(allocationKey="k", nodeID="n", allocate=True)

    def asks(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        next(requests)
        context.send_initial_metadata(())
        call = ext.ToRm(call_id=7, kind=ext.PLACEMENT_CHECK, answer_expected=True)
        call.payloads.add(full_name="si.v1.PredicatesArgs", data=check.SerializeToString())
        yield call.SerializeToString()
        next(requests)

    def takes() -> Iterator[bytes]:
        offer = ext.FromRm.Offer(rm_id="a", kinds=[ext.PLACEMENT_CHECK])
        yield ext.FromRm(offer=offer).SerializeToString()
        wait_for(received.is_set, 10)
        answer = ext.FromRm.Answer(call_id=7, ok=False, text="no room")
        yield ext.FromRm(answer=answer).SerializeToString()

    received = threading.Event()
    with recorded(output, asks) as (_, rm, _recorder, _reports):
        calls = rm.stream_stream(CALLBACKS_PATH)(takes())
        next(calls)
        received.set()
        assert list(calls) == []

    seen = [(r["from"], r["rm"], r["stream"], r["element"]) for r in records(output)]
    asked = {"is": "PlacementCheck", "key": "k", "node": "n", "allocate": True, "offer": 1}
    ended = {"is": "CallbacksEnded", "status": "OK", "details": "", "offer": 1}
    assert seen == [
        ("rm", "a", None, {"is": "CallbacksOffered", "kinds": ["placement checks"], "offer": 1}),
        ("scheduler", "a", None, asked),
        ("rm", "a", None, {"is": "Answered", "fits": False, "index": 0, "reason": "no room"}),
        ("scheduler", "a", None, ended),
    ]
    assert records(output)[1]["hex"] == check.SerializeToString().hex()


def test_hashed_record_has_no_name_and_the_exchange_has(output: Path) -> None:
    si: Any = DEFAULT_REVISION.si
    request = si.ApplicationRequest(rmID="a")
    request.new.add(applicationID="app").ugi.user = "alice"
    data = request.SerializeToString()

    def refuses(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        list(requests)
        context.abort(grpc.StatusCode.INTERNAL, "alice is unknown")
        yield b""

    with recorded(output, refuses, salt=b"salt") as (scheduler, rm, _, _reports):
        call = rm.stream_stream("/si.v1.Scheduler/UpdateApplication")(iter([data, b"\xffalice"]))
        with pytest.raises(grpc.RpcError) as refused:
            list(call)

    assert scheduler.received == [data, b"\xffalice"]
    assert refused.value.details() == "alice is unknown"
    text = output.read_text("utf-8")
    assert "alice" not in text
    assert b"alice".hex() not in text
    assert "Unreadable" in text


def test_tls_on_both_sides(tmp_path: Path, output: Path) -> None:
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
    server, client = theirs.issues("scheduler", *HERE), theirs.issues("recorder")
    own, of_rm = ours.issues("own", *HERE), ours.issues("rm")
    scheduler = Scheduler(answers_each)
    credentials = grpc.ssl_server_credentials(
        [(server.key.read_bytes(), server.certificate.read_bytes())],
        theirs.file.read_bytes(),
        require_client_auth=True,
    )
    ports: list[int] = []

    def prepare(serving: grpc.Server) -> None:
        scheduler.serve_on(serving)
        ports.append(serving.add_secure_port("127.0.0.1:0", credentials))

    encryption = Encryption(
        Tls(theirs.file, client.certificate, client.key),
        ServerTls(own.certificate, own.key, ours.file),
    )
    with (
        served(prepare),
        recording(Target(output), f"127.0.0.1:{ports[0]}", encryption) as (recorder, _),
    ):
        known = Tls(ours.file, of_rm.certificate, of_rm.key).credentials()
        rm: Any
        stranger: Any
        with grpc.secure_channel(recorder.address, known) as rm:
            metadata = (("authorization", "Bearer hush"),)
            assert list(rm.stream_stream(NODES)(iter([OPENING]), metadata=metadata)) == [ANSWER]
        with (
            grpc.secure_channel(recorder.address, Tls(ours.file).credentials()) as stranger,
            pytest.raises(grpc.RpcError),
        ):
            list(stranger.stream_stream(NODES)(iter([OPENING]), timeout=10))

    assert scheduler.metadata["authorization"] == "Bearer hush"
    assert scheduler.received == [OPENING]
    assert "hush" not in output.read_text("utf-8")


def test_missing_tls_is_explained(tmp_path: Path, output: Path) -> None:
    own = Authority(tmp_path).issues("own", *HERE)
    with secured(own, {}) as address, recording(Target(output), address) as (recorder, reports):
        with channel(recorder.address) as rm, pytest.raises(grpc.RpcError):
            list(rm.stream_stream(NODES)(iter([OPENING])))
        wait_for(lambda: bool(reports), 10)

    assert reports[0].endswith(
        "uses TLS: give --tls (--tls-ca FILE for the authority it is signed by)"
    )
