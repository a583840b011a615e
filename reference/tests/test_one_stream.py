"""One stream for everything (2021-02), over gRPC: lifecycle, end, and resync."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import grpc
import pytest
from sireference.clock import Clock, VirtualClock
from sireference.codec import Policies
from sireference.configuration.parsing import parse_configuration
from sireference.core.model import Settings
from siwire import DEFAULT_REVISION, REVISIONS
from siwire.r2021_02 import si_pb2 as si
from tests.wire import Stream, Wire, against, served

REVISION = REVISIONS["2021-02"]
REFUSED = grpc.StatusCode.FAILED_PRECONDITION
RESYNC = si.UpdateResponse(action=si.UpdateResponse.RESYNC)


def _served(clock: Clock | None = None) -> AbstractAsyncContextManager[Wire]:
    return served(REVISION, Settings(connection_loss_timeout=0.05), clock)


over_the_wire = against(_served)
on_virtual_time = against(lambda: _served(VirtualClock()))


def node(node_id: str = "n1", memory: int = 10) -> si.NewNodeInfo:
    quantity = si.Quantity(value=memory)
    capacity = si.Resource(resources={"memory": quantity})
    return si.NewNodeInfo(nodeID=node_id, schedulableResource=capacity)


async def receives_until(stream: Stream, elements: str) -> Any:
    """Return the first element of that list; earlier messages are dropped."""
    while True:
        found = getattr(await stream.receives(), elements)
        if found:
            return found[0]


# requirement: SI-WIRE-002, SI-CONN-016, SI-ALLOC-006, SI-WIRE-009
@over_the_wire
async def test_lifecycle_on_one_stream(wire: Wire) -> None:
    await wire.registers()
    stream = await wire.opens("Update")

    await stream.send(
        asks=[wire.ask(memory=3)],
        newSchedulableNodes=[node()],
        newApplications=[wire.application()],
    )
    new = await receives_until(stream, "newAllocations")
    assert (new.allocationKey, new.nodeID, new.queueName) == ("k1", "n1", "root.default")

    release = si.AllocationRelease(applicationID="a1", UUID=new.UUID)
    await stream.send(releases=si.AllocationReleasesRequest(allocationsToRelease=[release]))
    gone = await receives_until(stream, "releasedAllocations")
    assert (gone.UUID, gone.terminationType) == (new.UUID, si.AllocationRelease.STOPPED_BY_RM)

    await stream.half_closes()
    assert (await stream.ends())[0] is grpc.StatusCode.OK


# requirement: SI-WIRE-004
@over_the_wire
async def test_methods_of_later_revisions_are_not_implemented(wire: Wire) -> None:
    stranger = Wire(wire.channel, DEFAULT_REVISION, wire.server)
    stream = await stranger.opens("UpdateNode", greets=False)

    assert (await stream.ends())[0] is grpc.StatusCode.UNIMPLEMENTED


# requirement: SI-CONN-002, SI-CONN-010
@over_the_wire
async def test_unknown_rm_is_asked_to_resync(wire: Wire) -> None:
    stream = await wire.opens("Update")

    assert await stream.receives() == RESYNC
    code, details = await stream.ends()
    assert code is REFUSED
    assert "not registered" in details

    await wire.registers()
    stream = await wire.opens("Update")
    await stream.send(newSchedulableNodes=[node()])
    assert (await stream.receives()).acceptedNodes[0].nodeID == "n1"


# requirement: SI-CONN-007, SI-CONN-010
@on_virtual_time
async def test_lost_rm_is_asked_to_resync(wire: Wire) -> None:
    await wire.registers()
    stream = await wire.opens("Update")
    await stream.send(newSchedulableNodes=[node()])
    await stream.receives()
    stream.call.cancel()
    await wire.has_streams(0)
    for state in ("Paused", "Stopped"):
        again = await wire.opens("Update")
        assert await again.receives() == RESYNC
        assert state in (await again.ends())[1]
        await wire.calls("AdvanceClock", milliseconds=60)  # more than the connection loss timeout


# requirement: SI-CONN-002
@over_the_wire
async def test_request_without_rm_id_gets_no_resync(wire: Wire) -> None:
    stream = await wire.opens("Update", "")

    with pytest.raises(grpc.aio.AioRpcError):
        await stream.receives()
    assert (await stream.ends())[0] is REFUSED


# requirement: SI-REG-012, SI-REG-002
async def test_policy_group_selects_the_queues() -> None:
    one, two = (
        parse_configuration(
            f"partitions: [{{name: default, queues: [{{name: root, submitacl: '*',"
            f" queues: [{{name: {name}}}]}}]}}]"
        )
        for name in ("q1", "q2")
    )

    policies = Policies(groups={"pg1": one, "pg2": two})
    async with served(REVISION, policies=policies) as wire:
        for group, (good, bad) in {"pg1": ("q1", "q2"), "pg2": ("q2", "q1")}.items():
            await wire.registers(group, policyGroup=group)
            stream = await wire.opens("Update", group)
            await stream.send(newApplications=[wire.application("a1", f"root.{good}")])
            assert (await stream.receives()).acceptedApplications[0].applicationID == "a1"
            await stream.send(newApplications=[wire.application("a2", f"root.{bad}")])
            assert (await stream.receives()).rejectedApplications[0].applicationID == "a2"
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wire.registers(policyGroup="pg3")
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "'pg3' is not configured" in (refused.value.details() or "")
        stream = await wire.opens("Update")
        assert (await stream.ends())[0] is REFUSED


# requirement: SI-GANG-041
async def test_gang_timeout_is_reported_in_full_however_it_is_grouped() -> None:
    async with served(REVISION, Settings(placeholder_timeout=0.05)) as wire:
        await wire.registers()
        stream = await wire.opens("Update")
        placeholders = [wire.ask(key, memory=6) for key in ("p1", "p2")]
        for ask in placeholders:
            ask.placeholder, ask.taskGroupName = True, "tg"
        application = wire.application()
        application.placeholderAsk.CopyFrom(wire.resource(memory=12))
        await stream.send(
            asks=placeholders, newSchedulableNodes=[node()], newApplications=[application]
        )

        received: set[tuple[str, str]] = set()
        while len(received) < 3:
            sent = await stream.receives()
            received |= {("state", update.state) for update in sent.updatedApplications}
            received |= {("stop", gone.applicationID) for gone in sent.releasedAllocations}
            received |= {("withdrawn", ask.allocationkey) for ask in sent.releasedAllocationAsks}
            received -= {("state", "Accepted")}
        assert received == {("state", "Failing"), ("stop", "a1"), ("withdrawn", "p2")}
