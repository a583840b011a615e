"""Bytes that are not a message of the revision: the stream ends, everything else continues."""

from typing import Any

import grpc
import pytest
from sireference.clock import VirtualClock
from sireference.core.model import Settings
from siwire import REVISIONS, Revision, rpc
from siwire.r2021_02 import si_pb2 as si
from tests.sessions import Speaker
from tests.wire import TIMEOUT, Stream, Wire, served

REVISED = list(REVISIONS.values())
every_revision = pytest.mark.parametrize("revision", REVISED, ids=str)
BAD = {
    "cut short": b"\x0a\xff",
    "no field": b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    "a group": b"\x0b",
    "no UTF-8": b"\x1a\x02\xff\xfe\x12\x02\xff\xfe\x32\x02\xff\xfe",  # rmID in every revision
}


async def ending_of(wire: Wire, name: str, raw: bytes) -> grpc.StatusCode:
    """Return how a stream ends that receives these bytes after its opening message."""
    method = rpc.methods(wire.revision)[name]
    call = rpc.callable_for(wire.channel, method, serializer=lambda sent: sent)()
    await call.write(method.request(rmID="rm").SerializeToString())
    await call.write(raw)
    stream = Stream(call, method.request, "rm")
    return (await stream.ends())[0]


async def goes_on(wire: Wire, streams: dict[str, Stream], number: int) -> None:
    """Assert that the RM is served as before."""
    method, fields = Speaker(wire.revision).node(f"n{number}", 5)
    await streams[method].send(**fields)
    received: Any = await streams[method].receives()
    accepted = getattr(received, "acceptedNodes", None) or received.accepted
    assert [node.nodeID for node in accepted] == [f"n{number}"]


@every_revision
async def test_bad_bytes_end_only_their_own_stream(revision: Revision) -> None:
    async with served(revision, Settings(connection_loss_timeout=TIMEOUT)) as wire:
        names = [name for name, m in rpc.methods(revision).items() if m.client_streaming]
        await wire.registers("other")
        streams = {name: await wire.opens(name, "other") for name in names}
        for number, raw in enumerate(BAD.values()):
            for name in names:
                await wire.registers("rm")
                assert await ending_of(wire, name, raw) is not grpc.StatusCode.OK
            await goes_on(wire, streams, number)


@every_revision
async def test_undecodable_registration_is_an_error(revision: Revision) -> None:
    async with served(revision) as wire:
        method = rpc.methods(revision)["RegisterResourceManager"]
        call = rpc.callable_for(wire.channel, method, serializer=lambda sent: sent)
        for raw in BAD.values():
            with pytest.raises(grpc.aio.AioRpcError):
                await call(raw, timeout=TIMEOUT)
        await wire.registers()


async def test_infinitely_nested_message_is_invalid() -> None:
    """In 2021-02, field 1 of an expression contains an expression, as specified."""
    deep = b""
    for _ in range(5000):
        deep = b"\x0a" + _varint(len(deep)) + deep
    for field in (2, 1, 1, 9, 1):  # targetExpressions .. asks
        deep = bytes([field << 3 | 2]) + _varint(len(deep)) + deep
    revision = REVISIONS["2021-02"]

    async with served(revision) as wire:
        await wire.registers()
        assert await ending_of(wire, "Update", deep) is not grpc.StatusCode.OK
        await wire.registers()
        streams = {"Update": await wire.opens("Update")}
        await goes_on(wire, streams, 1)


def _varint(number: int) -> bytes:
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


async def test_immediate_deadlines_fire_while_time_stands_still() -> None:
    """An example is the rest of a pass that was too long."""
    settings = Settings(completing_timeout=0.0)
    revision = REVISIONS["2021-02"]
    async with served(revision, settings, VirtualClock()) as wire:
        await wire.registers()
        stream = await wire.opens("Update")
        rm = Speaker(revision)
        wants = si.AllocationReleasesRequest(
            allocationAsksToRelease=[si.AllocationAskRelease(applicationID="a1")]
        )
        for _, fields in (
            ("", {"newApplications": [wire.application()]}),
            rm.asks("a1", "k1", placeholder=False),
            ("", {"releases": wants}),
        ):
            await stream.send(**fields)
        received: list[str] = []
        while "Completed" not in received:
            received += [one.state for one in (await stream.receives()).updatedApplications]
        assert received == ["Accepted", "Completing", "Completed"]
