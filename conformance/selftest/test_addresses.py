"""Running targets: valid addresses, and messages when there is no listener."""

import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # it has no types
from siconform.recording.history import History
from siconform.targets import TargetUnavailable
from siconform.targets.address import is_address, problem
from siconform.targets.attached import AttachedTarget, await_address, check_address
from siconform.transport.access import OPEN
from siconform.transport.connection import Connection
from siconform.transport.extension import Extension
from siwire import DEFAULT_REVISION, REVISIONS, rpc

from .commands import invoke
from .serving import scheduler, served

TEXT = str(Path(__file__).parents[2] / "proto" / "si" / "2024-10" / "si.proto")


@pytest.mark.parametrize(
    "text",
    [
        *("127.0.0.1:9080", "localhost:1", "scheduler.example.org:65535"),
        *("[::1]:9080", "[fe80::1%1]:9080"),
        *("unix:/tmp/x.sock", "unix:///tmp/x.sock", "unix:x.sock"),
    ],
)
def test_valid_address(text: str) -> None:
    assert is_address(text)


def test_name_of_a_target_is_not_an_address() -> None:
    assert not is_address("yunikorn-core@1.5.1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("localhost", "has no port: give localhost:PORT"),
        ("[::1]", "has no port: give [::1]:PORT"),
        ("localhost:", "has no port: give localhost:PORT"),
        ("h:0", "has a port that is not between 1 and 65535: give h:PORT"),
        ("h:65536", "has a port that is not between 1 and 65535: give h:PORT"),
        ("h:http", 'has a port that is not a number, "http": give h:PORT'),
        ("h:٣", 'has a port that is not a number, "٣": give h:PORT'),
        ("h:-1", 'has a port that is not a number, "-1": give h:PORT'),
        ("http://h:80/", "is a URL: give h:80"),
        ("grpcs://h:80", "is a URL: give h:80 and --tls"),
        ("dns:///h:80", "is a URL: give h:80"),
        ("grpc://h", "is a URL: give HOST:PORT, such as 127.0.0.1:9080"),
        ("::1:80", "has an IPv6 address without brackets: give [::1]:80"),
        ("::1", "has an IPv6 address without brackets and no port: give [::1]:PORT"),
        ("[::g]:80", "has no IPv6 address in its brackets: give [IPV6]:PORT"),
        (":80", "has no host: give 127.0.0.1:80"),
        (":", "has no host: give HOST:PORT, such as 127.0.0.1:9080"),
        (" h:80\n", "contains whitespace: give h:80"),
        ("a b:80", "contains whitespace: give HOST:PORT, such as 127.0.0.1:9080"),
        ("a:b:80", 'has an invalid host, "a:b": give HOST:PORT, such as 127.0.0.1:9080'),
        ("unix:", "has no path: give unix:PATH"),
        ("unix://", "has no path: give unix:PATH"),
    ],
)
def test_invalid_address_is_explained(text: str, expected: str) -> None:
    assert problem(text) == expected
    assert not is_address(text)


@pytest.mark.parametrize(
    ("command", "in_file"),
    [
        (["run"], True),  # as an option: test_running.py
        *itertools.product([["explore"], ["replay", "x"], ["spec", "try", TEXT]], [True, False]),
    ],
)
def test_invalid_address_is_usage_error_of_every_command(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, in_file: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "siconform.toml"
    file.write_text('[target]\naddress = "http://h:80"\n' if in_file else "")
    given = [] if in_file else ["--target", "http://h:80"]

    result = invoke(*command, *given)

    where = f"{file}:2: target.address:" if in_file else "--target"
    assert result.stderr == f'siconform: {where} "http://h:80" is a URL: give h:80\n'
    assert result.exit_code == 4
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.parametrize("form", ["unix:{}", "unix://{}"])
def test_address_of_socket(tmp_path: Path, form: str) -> None:
    address = form.format(tmp_path / "s")

    def prepare(server: grpc.Server) -> None:
        server.add_insecure_port(address)
        handlers = rpc.scheduler_handlers(DEFAULT_REVISION, {"UpdateNode": silence})
        server.add_generic_rpc_handlers((handlers,))

    with served(prepare):
        check_address(address, DEFAULT_REVISION)


def test_address_without_listener(closed_address: str) -> None:
    with pytest.raises(TargetUnavailable) as caught:
        check_address(closed_address, DEFAULT_REVISION)
    assert caught.value.message == (
        f"nothing listens on {closed_address}. "
        "Start the scheduler first, or let the kit start it: "
        '--target-command "... {address}".'
    )


def test_address_with_unknown_host() -> None:
    with pytest.raises(TargetUnavailable, match="unknown host in nowhere"):
        check_address("nowhere.invalid:80", DEFAULT_REVISION)


def test_address_with_missing_socket() -> None:
    with pytest.raises(TargetUnavailable, match="nothing listens on unix:/tmp/none"):
        check_address("unix:/tmp/none", DEFAULT_REVISION)


@pytest.mark.slow("waits until an answer is overdue")
def test_address_that_accepts_and_stays_silent(mute: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("siconform.targets.attached.CONNECT_TIMEOUT", 0.3)
    began = time.monotonic()

    with pytest.raises(TargetUnavailable, match="did not answer as a gRPC server"):
        check_address(mute, DEFAULT_REVISION)
    assert time.monotonic() - began < 3.0


def silence(*_: object) -> None:
    time.sleep(2)


@pytest.mark.parametrize(
    ("revision", "method"),
    [("2021-02", "Update"), ("2023-12", "UpdateNode"), ("2023-12", "UpdateAllocation")],
)
def test_address_of_scheduler(revision: str, method: str) -> None:
    with scheduler({method: silence}, REVISIONS[revision]) as address:
        check_address(address, REVISIONS[revision])


@pytest.mark.parametrize(
    ("implemented", "method", "asked", "received"),
    [
        ("2021-02", "Update", "2023-12", "UpdateAllocation or UpdateApplication or UpdateNode"),
        ("2023-12", "UpdateNode", "2021-02", "it has no Update. Give another --revision."),
    ],
)
def test_address_of_scheduler_of_other_revision(
    implemented: str, method: str, asked: str, received: str
) -> None:
    with (
        scheduler({method: silence}, REVISIONS[implemented]) as address,
        pytest.raises(TargetUnavailable, match=f"does not implement SI {asked}") as caught,
    ):
        check_address(address, REVISIONS[asked])
    assert received in caught.value.message


def test_attached_target_is_never_restarted() -> None:
    target = AttachedTarget("127.0.0.1:1", DEFAULT_REVISION, 1.0)

    assert target.alive()
    with pytest.raises(TargetUnavailable, match="was not started by the kit"):
        target.restart()
    target.stop()


@pytest.mark.parametrize("name", ["http_proxy", "https_proxy", "grpc_proxy"])
def test_proxy_variables_are_ignored(
    name: str, closed_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, f"http://{closed_address}")
    monkeypatch.delenv("no_proxy", raising=False)
    with scheduler({"UpdateNode": silence}, DEFAULT_REVISION) as address:
        check_address(address, DEFAULT_REVISION)
        connection = Connection(address, DEFAULT_REVISION, "rm", History())
        connection.connects(2.0)
        connection.close()
        extension = Extension(address, 2.0)
        assert extension.facets.offered == frozenset()
        extension.close()


@pytest.mark.parametrize(
    ("answer", "received"),
    [
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "uses HTTP/1, not gRPC: give the port of its gRPC server",
        ),
        (b"SSH-2.0-OpenSSH\r\n", "does not use HTTP/2, so it is not a gRPC server"),
        (b"", "accepts connections and closes them at once"),
    ],
)
def test_other_protocol_is_named(
    answer: bytes, received: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("siconform.targets.attached.CONNECT_TIMEOUT", 1.0)
    with answering(answer) as address, pytest.raises(TargetUnavailable) as caught:
        check_address(address, DEFAULT_REVISION)
    assert caught.value.message.startswith(f"the scheduler at {address} {received}")


@contextmanager
def running(serve: Callable[[], None], ends: Callable[[], object]) -> Iterator[None]:
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends()
        thread.join(5.0)


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """Yield a port that sends this answer to any request and closes; an empty one is silence."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, suppress(OSError):
                        if answer:
                            connection.recv(1000)
                            connection.sendall(answer)

        with running(serve, lambda: server.shutdown(socket.SHUT_RDWR)):
            yield f"127.0.0.1:{server.getsockname()[1]}"


def test_waits_until_scheduler_is_up(closed_address: str) -> None:
    received: list[str] = []
    server = grpc.server(ThreadPoolExecutor(max_workers=2))

    def comes_up(sentence: str) -> None:
        received.append(sentence)
        server.add_insecure_port(closed_address)
        handlers = rpc.scheduler_handlers(DEFAULT_REVISION, {"UpdateNode": silence})
        server.add_generic_rpc_handlers((handlers,))
        server.start()

    try:
        await_address(closed_address, DEFAULT_REVISION, OPEN, 30.0, comes_up)
    finally:
        server.stop(None).wait(5.0)
    assert received == [f"waits up to 30 s for the scheduler at {closed_address} to answer"]


def test_waits_until_health_is_serving() -> None:
    known = health.HealthServicer()
    known.set("", health_pb2.HealthCheckResponse.NOT_SERVING)

    def prepare(server: grpc.Server) -> None:
        health_pb2_grpc.add_HealthServicer_to_server(known, server)
        handlers = rpc.scheduler_handlers(DEFAULT_REVISION, {"UpdateNode": silence})
        server.add_generic_rpc_handlers((handlers,))

    with served(prepare) as address:
        with pytest.raises(TargetUnavailable, match=r"\(NOT_SERVING\); waited 0.1 s for it\.$"):
            await_address(address, DEFAULT_REVISION, OPEN, 0.1, lambda _: None)
        await_address(
            address,
            DEFAULT_REVISION,
            OPEN,
            30.0,
            lambda _: known.set("", health_pb2.HealthCheckResponse.SERVING),
        )


def test_waiting_for_scheduler_times_out(closed_address: str) -> None:
    with pytest.raises(TargetUnavailable, match=r"nothing listens on .*; waited 0.3 s for it\.$"):
        await_address(closed_address, DEFAULT_REVISION, OPEN, 0.3, lambda _: None)


def test_permanent_error_is_reported_without_waiting() -> None:
    received: list[str] = []
    with (
        answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as address,
        pytest.raises(TargetUnavailable, match="uses HTTP/1"),
    ):
        await_address(address, DEFAULT_REVISION, OPEN, 60.0, received.append)
    assert received == []
