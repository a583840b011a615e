"""Unexpected errors: logged once with a traceback; the client gets no details."""

import asyncio
import gc
import json
import logging
import socket
import struct
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest
from sireference.core.model import Settings
from sireference.core.scheduler import Scheduler
from sireference.shell.outbox import Outbox
from sireference.shell.service import SchedulerService
from sireference.shell.unexpected import in_event_loop
from siwire import DEFAULT_REVISION, rpc
from siwire.ext import extension_pb2 as ext
from tests.fields import refused_keys, withdrawal
from tests.wire import (
    TIMEOUT,
    Stream,
    Wire,
    accepted_application,
    accepted_node,
    http_page,
    served,
    until,
)

INTERNAL = grpc.StatusCode.INTERNAL
INSIDE = "a detail of the inside"
Received = Callable[[], list[logging.LogRecord]]


def fails(*_: Any, **__: Any) -> Any:
    raise RuntimeError(INSIDE)


def fails_once(original: Callable[..., Any]) -> Callable[..., Any]:
    """Raise an error, then behave as ``original``."""
    outcomes = iter([fails])

    def call(*arguments: Any) -> Any:
        return next(outcomes, original)(*arguments)

    return call


@pytest.fixture
def received(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Received:
    """Return all warnings and errors logged."""
    for name in ("sireference", "grpc", "asyncio"):
        monkeypatch.setattr(logging.getLogger(name), "propagate", True)
    return lambda: [one for one in caplog.records if one.levelno >= logging.WARNING]


def play(scenario: Callable[[Wire], Awaitable[None]]) -> None:
    """Run it against its own server; unretrieved task exceptions are collected as well."""

    async def with_server() -> None:
        async with served(settings=Settings(completing_timeout=0.0)) as wire:
            await scenario(wire)
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(with_server())


def only(received: Received) -> logging.LogRecord:
    (record,) = received()
    assert (record.name, record.levelname) == ("sireference", "ERROR")
    assert record.exc_info is not None
    assert INSIDE in str(record.exc_info[1])
    return record


def about(record: logging.LogRecord) -> dict[str, Any]:
    sent: dict[str, Any] = vars(record)["fields"]
    return sent


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:  # noqa: S310  # our own server
        page: bytes = answer.read()
        return page


def test_registration_fails_internally(monkeypatch: pytest.MonkeyPatch, received: Received) -> None:
    monkeypatch.setattr(Scheduler, "handle", fails)

    async def scenario(wire: Wire) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await wire.registers("mine")
        assert caught.value.code() is INTERNAL
        assert INSIDE not in (caught.value.details() or "")
        assert "internal error" in (caught.value.details() or "")

    play(scenario)

    assert about(only(received)) == {"method": "RegisterResourceManager", "rm": "mine"}


@pytest.mark.parametrize(("owner", "name"), [(Scheduler, "handle"), (Outbox, "first")])
def test_request_or_its_answer_fails_internally(
    owner: type, name: str, monkeypatch: pytest.MonkeyPatch, received: Received
) -> None:
    async def scenario(wire: Wire) -> None:
        await wire.registers("mine")
        nodes = await wire.opens("UpdateNode", "mine")
        monkeypatch.setattr(owner, name, fails)
        await nodes.send(nodes=[wire.node(memory=1)])
        code, message = await nodes.ends()
        assert code is INTERNAL
        assert INSIDE not in message

    play(scenario)

    assert about(only(received)) == {"method": "UpdateNode", "rm": "mine"}


def test_callbacks_cannot_be_written(monkeypatch: pytest.MonkeyPatch, received: Received) -> None:
    async def scenario(wire: Wire) -> None:
        await wire.registers("mine")
        callbacks = await wire.offers(ext.EVENT_BATCH, rm_id="mine")
        monkeypatch.setattr(Outbox, "first", fails)
        nodes = await wire.opens("UpdateNode", "mine", greets=False)
        del nodes
        wire.server.engine.callbacks._streams["mine"].put([b""])
        code, message = await callbacks.ends()
        assert code is INTERNAL
        assert INSIDE not in message

    play(scenario)

    assert about(only(received)) == {"method": "Callbacks", "rm": "mine"}


def test_deadline_fails_internally(monkeypatch: pytest.MonkeyPatch, received: Received) -> None:
    async def scenario(wire: Wire) -> None:
        await wire.registers("mine")
        applications = await wire.opens("UpdateApplication", "mine")
        allocations = await wire.opens("UpdateAllocation", "mine")
        await accepted_application(wire, applications)
        once = fails_once(Scheduler.handle_timeout)
        monkeypatch.setattr(Scheduler, "handle_timeout", once)
        await allocations.asks(wire.ask("k1", memory=1))
        await allocations.send(releases=withdrawal(wire.revision, "a1", "k1"))
        await until(lambda: bool(received()))
        await allocations.asks(wire.ask("k2", "unknown", memory=1))
        while not refused_keys(await allocations.receives()):
            pass

    play(scenario)

    assert "deadline" in only(received).getMessage()


def test_connection_loss_fails_internally(
    monkeypatch: pytest.MonkeyPatch, received: Received
) -> None:
    async def scenario(wire: Wire) -> None:
        await wire.registers("mine")
        nodes = await wire.opens("UpdateNode", "mine")
        await accepted_node(wire, nodes)
        monkeypatch.setattr(Scheduler, "handle", fails)
        nodes.call.cancel()
        await until(lambda: bool(received()))

    play(scenario)

    assert about(only(received)) == {"method": "UpdateNode", "rm": "mine"}


def test_extension_call_fails_internally(
    monkeypatch: pytest.MonkeyPatch, received: Received
) -> None:
    monkeypatch.setattr(Scheduler, "taking_snapshot", fails)

    async def scenario(wire: Wire) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await wire.calls("Snapshot", rm_id="mine")
        assert caught.value.code() is INTERNAL

    play(scenario)

    assert about(only(received)) == {"method": "Snapshot", "rm": "mine"}


def test_warning_of_the_event_loop_without_an_error_is_logged(received: Received) -> None:
    loop = asyncio.new_event_loop()
    in_event_loop(loop, {"message": "Task was destroyed but it is pending!"})
    loop.close()

    (record,) = received()
    assert record.getMessage() == "asyncio: Task was destroyed but it is pending!"


def test_disconnecting_client_is_not_an_error(received: Received) -> None:
    async def scenario(wire: Wire) -> None:
        await wire.registers("mine")
        async with grpc.aio.insecure_channel(wire.server.address) as second:
            doomed = Wire(second, wire.revision, wire.server)
            nodes = await doomed.opens("UpdateNode", "mine")
            for number in range(2000):
                await nodes.send(nodes=[wire.node(f"n{number}" + "x" * 2000, memory=1)])
            await nodes.receives()
        await wire.has_streams(0, "mine")

    play(scenario)

    assert received() == []


def test_write_to_a_client_that_has_just_gone_is_not_an_error(
    monkeypatch: pytest.MonkeyPatch, received: Received
) -> None:
    def breaks(*_: Any) -> bytes:
        raise grpc.aio.InternalError(INSIDE)  # as gRPC does until it notices the cancellation

    async def scenario(wire: Wire) -> None:
        await wire.registers("mine")
        nodes = await wire.opens("UpdateNode", "mine")
        await wire.has_streams(1, "mine")
        monkeypatch.setattr(Outbox, "first", breaks)
        await nodes.send(nodes=[wire.node(memory=1)])
        await wire.has_streams(0, "mine")

    play(scenario)

    assert received() == []


def test_stopping_waits_for_slow_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = asyncio.Event()
    ended: list[str] = []

    async def ends_slowly(method: str, *_: Any) -> None:
        begun.set()
        try:
            await asyncio.sleep(TIMEOUT)
        finally:
            await asyncio.sleep(0.1)
            ended.append(method)

    monkeypatch.setattr(SchedulerService, "update", staticmethod(ends_slowly))

    async def scenario(wire: Wire) -> None:
        await wire.opens("UpdateNode", "mine")
        async with asyncio.timeout(TIMEOUT):
            await begun.wait()

    play(scenario)

    assert ended == ["UpdateNode"]


@pytest.mark.parametrize("raw", [b"\x0a\xff", b"\x1a\x02\xff\xfe\x12\x02\xff\xfe\x32\x02\xff\xfe"])
def test_undecodable_bytes_are_the_clients_error(raw: bytes, received: Received) -> None:
    async def scenario(wire: Wire) -> None:
        methods = rpc.methods(wire.revision)
        register = rpc.callable_for(
            wire.channel, methods["RegisterResourceManager"], serializer=lambda sent: sent
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await register(raw, timeout=TIMEOUT)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "RegisterResourceManagerRequest" in (caught.value.details() or "")
        update = rpc.callable_for(
            wire.channel, methods["UpdateNode"], serializer=lambda sent: sent
        )()
        await update.write(raw)
        code, _ = await Stream(update, None, "").ends()
        assert code is grpc.StatusCode.INVALID_ARGUMENT

    play(scenario)

    assert received() == []


def test_page_fails_internally(monkeypatch: pytest.MonkeyPatch, received: Received) -> None:
    monkeypatch.setattr(Scheduler, "taking_snapshot", fails)

    async def scenario(wire: Wire) -> None:
        await wire.registers("mine")
        async with http_page(wire) as page:
            with pytest.raises(urllib.error.HTTPError, match="500") as caught:
                await asyncio.to_thread(get, f"http://{page.address}/state")
            assert INSIDE not in caught.value.read().decode()

    play(scenario)

    assert about(only(received)) == {"method": "GET /state"}


def test_disconnecting_page_reader_is_not_an_error(
    received: Received, capfd: pytest.CaptureFixture[str]
) -> None:
    async def scenario(wire: Wire) -> None:
        async with http_page(wire) as page:
            host, _, port = page.address.rpartition(":")
            with socket.create_connection((host, int(port))) as connection:
                cut_off = struct.pack("ii", 1, 0)  # closed by a reset
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, cut_off)
                connection.sendall(b"GET /metrics HTTP/1.1\r\n")
            await asyncio.to_thread(get, f"http://{page.address}/")

    play(scenario)

    assert received() == []
    assert capfd.readouterr().err == ""


SERVES_AND_FAILS = f"""
from sireference.cli import main
from sireference.core.scheduler import Scheduler

def fails(*_):
    raise RuntimeError({INSIDE!r})

Scheduler.handle = fails
main(["serve", "--listen", "127.0.0.1:0", "--log-format", "FORMAT"])
"""


@pytest.mark.parametrize("form", ["text", "json"])
def test_only_our_own_lines_are_written(form: str) -> None:
    process = subprocess.Popen(  # noqa: S603  # our own command
        [sys.executable, "-c", SERVES_AND_FAILS.replace("FORMAT", form)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        method = rpc.methods(DEFAULT_REVISION)["RegisterResourceManager"]
        with grpc.insecure_channel(address) as channel:
            register = rpc.callable_for(channel, method)
            with pytest.raises(grpc.RpcError):
                register(method.request(rmID="mine"), timeout=TIMEOUT)
        process.terminate()
        _, errors = process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
        process.communicate()

    assert errors.count(f"RuntimeError: {INSIDE}") == 1
    assert errors.count("Traceback") == 1
    if form == "json":
        (line,) = errors.splitlines()
        record = json.loads(line)
        assert (record["level"], record["method"]) == ("error", "RegisterResourceManager")
        assert record["rm"] == "mine"
    else:
        assert " ERROR " in errors.splitlines()[0]
        assert errors.splitlines()[0].endswith('method="RegisterResourceManager" rm="mine"')


def test_only_errors_about_a_closed_loop_are_kept_from_the_log(received: Received) -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        poller = "Exception in callback PollerCompletionQueue._handle_events(<...>)()"
        for error, where in (
            (RuntimeError("Event loop is closed"), poller),
            (RuntimeError("Event loop is closed"), "Exception in callback due()"),
            (RuntimeError("oh"), poller),
        ):
            in_event_loop(loop, {"message": where, "exception": error})

    asyncio.run(scenario())

    assert [one.exc_info and str(one.exc_info[1]) for one in received()] == [
        "Event loop is closed",
        "oh",
    ]
