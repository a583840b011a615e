"""The shell over gRPC: registration, streams and their ends, health."""

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # no types
from sireference.core.model import Settings
from siwire import REVISIONS, Capability, Revision
from tests.fields import begun, identity_in, refused_keys
from tests.wire import (
    Stream,
    Wire,
    accepted_application,
    accepted_node,
    all_streams,
    busy_streams,
    over_the_wire,
    served,
)

REFUSED = grpc.StatusCode.FAILED_PRECONDITION
THREE_STREAMS = [one for one in REVISIONS.values() if one.can(Capability.THREE_UPDATE_STREAMS)]


# requirement: SI-WIRE-001, SI-WIRE-003
@pytest.mark.parametrize("revision", THREE_STREAMS, ids=str)
async def test_lifecycle_over_the_wire(revision: Revision) -> None:
    identity = identity_in(revision)

    async with served(revision, Settings(completing_timeout=0.01)) as wire:
        await wire.registers()
        _, applications, allocations = await busy_streams(wire)
        await allocations.asks(wire.ask(memory=3))
        (new,) = (await allocations.receives()).new
        assert (new.allocationKey, new.nodeID) == ("k1", "n1")
        assert new.resourcePerAlloc.resources["memory"].value == 3
        release = wire.si.AllocationRelease(
            applicationID="a1",
            partitionName="default",
            terminationType=wire.si.STOPPED_BY_RM,
            **{identity: getattr(new, identity)},
        )
        request = wire.si.AllocationReleasesRequest(allocationsToRelease=[release])
        await allocations.send(releases=request)
        (gone,) = (await allocations.receives()).released
        assert getattr(gone, identity) == getattr(new, identity) != ""
        assert gone.terminationType == wire.si.STOPPED_BY_RM
        received: list[str] = []
        while "Completed" not in received:
            received += [update.state for update in (await applications.receives()).updated]
        assert received == ["Accepted", begun(revision), "Completing", "Completed"]


# requirement: SI-REG-002, SI-REG-015
@over_the_wire
async def test_invalid_configuration_is_refused_with_all_its_errors(wire: Wire) -> None:
    config = "partitions:\n  - name: default\n    quues: []\n    queues: [{name: q, parnt: true}]\n"
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wire.registers(config=config)

    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    details = refused.value.details() or ""
    assert "quues" in details
    assert "parnt" in details
    nodes = await wire.opens("UpdateNode")
    assert (await nodes.ends())[0] is REFUSED


# requirement: SI-REG-003
@over_the_wire
async def test_registration_without_id_is_an_invalid_argument(wire: Wire) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wire.registers("")

    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "rmID" in (refused.value.details() or "")


# requirement: SI-REG-014, SI-REG-016, SI-REG-017, SI-REG-019
@over_the_wire
async def test_registration_may_have_any_other_fields(wire: Wire) -> None:
    config = (
        "partitions: [{name: default, queues: "
        "[{name: root, submitacl: '*', queues: [{name: cts}]}]}]"
    )
    await wire.registers(
        config=config, extraConfig={"cts.unknown": "x"}, buildInfo={"b": "i"}, version="99.0"
    )

    applications = await wire.opens("UpdateApplication")
    await applications.send(new=[wire.application("a1", "root.cts")])
    assert (await applications.receives()).accepted[0].applicationID == "a1"


# requirement: SI-CONN-002
@pytest.mark.parametrize("rm_id", ["rm1", ""])
@pytest.mark.parametrize("method", ["UpdateNode", "UpdateApplication", "UpdateAllocation"])
async def test_stream_of_an_unregistered_rm_is_refused(method: str, rm_id: str) -> None:
    async with served() as wire:
        stream = await wire.opens(method, rm_id)
        code, message = await stream.ends()
        assert code is REFUSED
        assert "regist" in message or "names no resource manager" in message


@over_the_wire
async def test_stream_that_changes_its_rm_is_refused(wire: Wire) -> None:
    await wire.registers("rm")
    await wire.registers("rm2")
    nodes = await wire.opens("UpdateNode")
    await nodes.send(rmID="rm2", nodes=[wire.node("n1")])

    assert (await nodes.ends())[0] is REFUSED
    again = await wire.opens("UpdateNode", "rm2")
    await accepted_node(wire, again, "n1")


# requirement: SI-CONN-010
@over_the_wire
async def test_half_closing_all_streams_is_a_shutdown(wire: Wire) -> None:
    await wire.registers()
    streams = await all_streams(wire)
    await accepted_node(wire, streams[0])
    for stream in streams:
        await stream.half_closes()
    for stream in streams:
        assert await stream.ends() == (grpc.StatusCode.OK, "")

    refused = await wire.opens("UpdateNode")
    code, message = await refused.ends()
    assert code is REFUSED
    assert "Stopped" in message
    await wire.registers()
    await accepted_node(wire, await wire.opens("UpdateNode"))


@over_the_wire
async def test_half_closed_stream_still_receives(wire: Wire) -> None:
    await wire.registers()
    nodes, applications, allocations = await all_streams(wire)
    await accepted_application(wire, applications)
    await allocations.asks(wire.ask(memory=3))
    await allocations.half_closes()

    await accepted_node(wire, nodes)

    assert (await allocations.receives()).new[0].nodeID == "n1"


# requirement: SI-CONN-006, SI-CONN-010
@over_the_wire
async def test_losing_all_streams_pauses_the_rm(wire: Wire) -> None:
    await wire.registers()
    streams = await all_streams(wire)
    await accepted_node(wire, streams[0])
    await accepted_by(wire, streams[2])  # the server has it before the others end
    await streams[1].half_closes()
    streams[0].call.cancel()
    await accepted_by(wire, streams[2])
    streams[2].call.cancel()

    assert await streams[1].ends() == (grpc.StatusCode.OK, "")
    refused = await wire.opens("UpdateNode")
    code, message = await refused.ends()
    assert code is REFUSED
    assert "Paused" in message


async def accepted_by(wire: Wire, allocations: Stream) -> None:
    """Assert that the RM is still served: it gets a rejection."""
    await allocations.asks(wire.ask("sentinel", "unknown", memory=1))
    assert refused_keys(await allocations.receives()) == ["sentinel"]


async def test_broken_transport_pauses_the_rm() -> None:
    async with served() as wire:
        await wire.registers()
        async with grpc.aio.insecure_channel(wire.server.address) as second:
            doomed = Wire(second, wire.revision, wire.server)
            nodes = await doomed.opens("UpdateNode")
            await accepted_node(doomed, nodes)
        await wire.has_streams(0)
        refused = await wire.opens("UpdateNode")
        code, message = await refused.ends()
        assert code is REFUSED
        assert "Paused" in message


# requirement: SI-CONN-004
@over_the_wire
async def test_answers_go_to_their_own_rm(wire: Wire) -> None:
    for rm_id in ("rm", "other"):
        await wire.registers(rm_id)
    nodes, applications, allocations = await all_streams(wire)
    others = await all_streams(wire, "other")
    await accepted_node(wire, nodes)
    await accepted_application(wire, applications)
    await allocations.asks(wire.ask(memory=3))
    assert (await allocations.receives()).new

    for stream in others:
        await stream.receives_nothing()


@over_the_wire
async def test_messages_wait_for_their_stream(wire: Wire) -> None:
    await wire.registers()
    nodes = await wire.opens("UpdateNode")
    applications = await wire.opens("UpdateApplication")
    await accepted_node(wire, nodes)
    await accepted_application(wire, applications)
    allocations = await wire.opens("UpdateAllocation")
    await allocations.asks(wire.ask(memory=3))
    await allocations.receives()
    allocations.call.cancel()
    await wire.has_streams(2)
    drain = wire.node("n1", "DRAIN_NODE")
    await nodes.send(nodes=[drain, wire.node("n1", "DECOMISSION"), wire.node("n9", "UPDATE")])
    assert (await nodes.receives()).rejected[0].nodeID == "n9"

    again = await wire.opens("UpdateAllocation")

    assert (await again.receives()).released[0].allocationKey == "k1"


@over_the_wire
async def test_stream_without_messages_ends_cleanly(wire: Wire) -> None:
    silent = await wire.opens("UpdateNode", greets=False)
    await silent.half_closes()

    assert await silent.ends() == (grpc.StatusCode.OK, "")


@over_the_wire
async def test_ten_thousand_asks_in_one_message(wire: Wire) -> None:
    await wire.registers()
    *_, allocations = await busy_streams(wire, memory=10_000)

    await allocations.asks(*[wire.ask(f"k{i}", memory=1) for i in range(10_000)])

    made: list[str] = []
    while len(made) < 10_000:
        made += [new.allocationKey for new in (await allocations.receives()).new]
    assert made == [f"k{i}" for i in range(10_000)]


@over_the_wire
async def test_id_of_a_megabyte_is_answered(wire: Wire) -> None:
    await wire.registers()
    nodes = await wire.opens("UpdateNode")
    huge = "ä" * 500_000

    await nodes.send(nodes=[wire.node(huge)])

    assert (await nodes.receives()).rejected[0].nodeID == huge


@over_the_wire
async def test_health_is_serving(wire: Wire) -> None:
    stub = health_pb2_grpc.HealthStub(wire.channel)
    for service in ("", "si.v1.Scheduler"):
        answer = await stub.Check(health_pb2.HealthCheckRequest(service=service))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_server_shutdown_ends_streams_with_a_message() -> None:
    async with served() as wire:
        await wire.registers()
        nodes = await wire.opens("UpdateNode")
        await accepted_node(wire, nodes)
        await wire.server.stop()
        code, message = await nodes.ends()
        assert code is grpc.StatusCode.UNAVAILABLE
        assert "shutting down" in message


# requirement: SI-WIRE-005
@over_the_wire
async def test_response_needs_no_request(wire: Wire) -> None:
    await wire.registers()
    nodes, applications, allocations = await all_streams(wire)
    await accepted_application(wire, applications)
    await allocations.asks(wire.ask("k1", memory=3), wire.ask("k2", memory=3))
    await allocations.asks(wire.ask("barrier", "unknown"))
    assert refused_keys(await allocations.receives()) == ["barrier"]

    await accepted_node(wire, nodes)

    made: list[str] = []
    while len(made) < 2:
        made += [new.allocationKey for new in (await allocations.receives()).new]
    assert made == ["k1", "k2"]


# requirement: SI-WIRE-007
@over_the_wire
async def test_unknown_field_changes_nothing(wire: Wire) -> None:
    await wire.registers()
    nodes = await wire.opens("UpdateNode")
    field_500 = b"\xa2\x1f\x01x"  # of one byte
    known = wire.node("n1", memory=10).SerializeToString()

    await nodes.send(nodes=[wire.si.NodeInfo.FromString(known + field_500)])

    assert [node.nodeID for node in (await nodes.receives()).accepted] == ["n1"]
