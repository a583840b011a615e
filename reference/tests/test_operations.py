"""Operator options: configuration, encryption, sockets, HTTP, logs."""

import json
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import grpc
import pytest
import trustme
from click.testing import CliRunner
from patience import patient
from sireference.cli import main
from siwire import DEFAULT_REVISION, rpc
from tests.configuring import tree
from tests.test_cli import serving as started

TIMEOUT = patient()  # seconds
QUEUES = tree("{name: mine}")
UPDATES = rpc.methods(DEFAULT_REVISION)


class Serving:
    """A process that serves; ``lines`` is its output when it was ready."""

    def __init__(self, process: "subprocess.Popen[str]", count: int) -> None:
        assert process.stdout is not None
        self.process = process
        self.lines = [process.stdout.readline().rstrip("\n") for _ in range(count)]
        assert self.lines[0].startswith("listening on "), (self.lines, process.stderr)
        self.address = self.lines[0].removeprefix("listening on ")

    def ends(self) -> tuple[int, str]:
        """Exit status and standard error."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, errors


@contextmanager
def serving(*options: str, listen: str = "127.0.0.1:0", lines: int = 1) -> Iterator[Serving]:
    with started("--listen", listen, *options) as process:
        yield Serving(process, lines)


def registers(channel: grpc.Channel, **fields: Any) -> None:
    method = UPDATES["RegisterResourceManager"]
    rpc.callable_for(channel, method)(method.request(rmID="rm", **fields), timeout=TIMEOUT)


@contextmanager
def submits(channel: grpc.Channel, queue: str) -> Iterator[Any]:
    """Return the answer to an application ``a1`` for ``queue``, keeping the stream open."""
    method = UPDATES["UpdateApplication"]
    new = DEFAULT_REVISION.si.AddApplicationRequest(applicationID="a1", queueName=queue)
    requests: SimpleQueue[Any] = SimpleQueue()
    requests.put(method.request(rmID="rm", new=[new]))
    answers = rpc.callable_for(channel, method)(iter(requests.get, None), timeout=TIMEOUT)
    yield next(answers)
    requests.put(None)


def test_configured_queues_are_the_default(tmp_path: Path) -> None:
    file = tmp_path / "queues.yaml"
    file.write_text(QUEUES)

    with serving("--config", str(file)) as server:
        with grpc.insecure_channel(server.address) as channel:
            registers(channel)
            with submits(channel, "root.mine") as answer:
                assert answer.accepted
        with grpc.insecure_channel(server.address) as channel:
            registers(channel, config=QUEUES.replace("mine", "yours"))
            with submits(channel, "root.mine") as answer:
                assert answer.rejected


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def tls(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return options with certificate and key of 127.0.0.1."""
    folder = tmp_path_factory.mktemp("tls")
    certificate = authority.issue_cert("127.0.0.1")
    certificate.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    return ["--tls-cert", str(folder / "cert.pem"), "--tls-key", str(folder / "key.pem")]


def test_tls_is_used_with_a_certificate(authority: trustme.CA, tls: list[str]) -> None:
    trusting = grpc.ssl_channel_credentials(authority.cert_pem.bytes())

    with serving(*tls) as server:
        with grpc.secure_channel(server.address, trusting) as channel:
            registers(channel)
            with submits(channel, "root.default") as answer:
                assert answer.accepted
        with grpc.insecure_channel(server.address) as channel, pytest.raises(grpc.RpcError):
            registers(channel)


def test_client_certificates_are_required_with_a_client_authority(
    authority: trustme.CA, tls: list[str], tmp_path: Path
) -> None:
    clients = trustme.CA()
    clients.cert_pem.write_to_path(tmp_path / "clients.pem")
    root = authority.cert_pem.bytes()

    def channel_of(issuer: trustme.CA) -> grpc.Channel:
        own = issuer.issue_cert("somebody")
        chain = own.cert_chain_pems[0].bytes()
        secure = grpc.ssl_channel_credentials(root, own.private_key_pem.bytes(), chain)
        return grpc.secure_channel(server.address, secure)

    with serving(*tls, "--tls-client-ca", str(tmp_path / "clients.pem")) as server:
        with channel_of(clients) as channel:
            registers(channel)
        with channel_of(authority) as channel, pytest.raises(grpc.RpcError):
            registers(channel)
        anonymous = grpc.ssl_channel_credentials(root)
        with (
            grpc.secure_channel(server.address, anonymous) as channel,
            pytest.raises(grpc.RpcError),
        ):
            registers(channel)


def test_incomplete_tls_options_are_a_usage_error(tls: list[str]) -> None:
    for options in (tls[:2], tls[2:], ["--tls-client-ca", tls[1]]):
        result = CliRunner().invoke(main, ["serve", *options])

        assert result.exit_code == 4
        assert "--tls-key" in result.output


def test_unix_socket_serves_and_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "si.sock"

    with serving(listen=f"unix:{path}") as server:
        assert server.address == f"unix:{path}"
        with grpc.insecure_channel(server.address) as channel:
            registers(channel)
        assert server.ends() == (0, "")
        assert not path.exists()


def get(url: str) -> tuple[str, bytes]:
    with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:  # noqa: S310  # our own server
        return answer.headers["Content-Type"], answer.read()


@contextmanager
def ends_badly(code: grpc.StatusCode) -> Iterator[list[str]]:
    """Expect the call inside to end with ``code``; the list has its message afterwards."""
    message: list[str] = []
    with pytest.raises(grpc.RpcError) as caught:
        yield message
    ended: Any = caught.value
    message.append(ended.details())
    assert ended.code() is code


def test_message_size_is_an_option() -> None:
    with (
        serving("--max-message-bytes", "1000") as server,
        grpc.insecure_channel(server.address) as channel,
    ):
        with ends_badly(grpc.StatusCode.RESOURCE_EXHAUSTED):
            registers(channel, version="v" * 1000)
        registers(channel, version="v" * 900)


def test_open_streams_are_notified_of_shutdown() -> None:
    with serving() as server, grpc.insecure_channel(server.address) as channel:
        registers(channel)
        method = UPDATES["UpdateApplication"]
        new = DEFAULT_REVISION.si.AddApplicationRequest(applicationID="a1")
        requests: SimpleQueue[Any] = SimpleQueue()
        requests.put(method.request(rmID="rm", new=[new]))
        answers = rpc.callable_for(channel, method)(iter(requests.get, None), timeout=TIMEOUT)
        assert next(answers).accepted

        assert server.ends() == (0, "")

        with ends_badly(grpc.StatusCode.UNAVAILABLE) as message:
            next(answers)
        requests.put(None)
    assert "shutting down" in message[0]


def test_metrics_and_state_are_served_over_http() -> None:
    with serving("--http", "127.0.0.1:0", lines=2) as server:
        prefix = "metrics and state on "
        assert server.lines[1].startswith(f"{prefix}http://127.0.0.1:")
        page = server.lines[1].removeprefix(prefix)
        with grpc.insecure_channel(server.address) as channel:
            registers(channel)
            with submits(channel, "root.default") as answer:
                assert answer.accepted
                kind, metrics = get(f"{page}/metrics")
                json_kind, state = get(f"{page}/state")
                _, index = get(page)
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(f"{page}/nowhere")
        assert server.ends() == (0, "")

    assert kind.startswith("text/plain")
    lines = metrics.decode().splitlines()
    assert 'sireference_applications{rm="rm",state="New"} 1.0' in lines
    assert 'sireference_resource_manager{rm="rm",state="Running"} 1.0' in lines
    assert 'sireference_received_total{what="AcceptedApplication"} 1.0' in lines
    assert 'sireference_observed_total{method="UpdateApplication"} 1.0' in lines
    assert 'sireference_pending_asks{rm="rm"} 0.0' in lines
    assert json_kind == "application/json"
    shown = json.loads(state)
    assert shown["revision"] == DEFAULT_REVISION.name
    (rm,) = shown["resource_managers"]
    assert (rm["rm_id"], rm["state"]) == ("rm", "Running")
    assert rm["applications"][0]["queue"] == "root.default"
    assert b"/state" in index


def test_http_address_cannot_be_a_path() -> None:
    result = CliRunner().invoke(main, ["serve", "--http", "unix:/tmp/x"])

    assert result.exit_code == 4
    assert "HOST:PORT" in result.output


def test_logs_can_be_json() -> None:
    with serving("--log-level", "debug", "--log-format", "json") as server:
        with grpc.insecure_channel(server.address) as channel:
            registers(channel, policyGroup="pg")
        code, errors = server.ends()

    assert code == 0
    logged = [json.loads(line) for line in errors.splitlines()]
    received = next(one for one in logged if one["says"] == "received")
    assert (received["level"], received["method"]) == ("debug", "RegisterResourceManager")
    assert received["message"] == {"rmID": "rm", "policyGroup": "pg"}
    assert any((one["level"], one.get("rm")) == ("info", "rm") for one in logged)
