"""The extension over gRPC: Describe, Snapshot and virtual time."""

import asyncio
from typing import Any

import grpc
import pytest
from sireference.clock import SystemClock, VirtualClock
from sireference.core.model import Settings
from siwire.ext import extension_pb2 as ext
from tests.configuring import tree
from tests.fields import begun, identified, identity_in, refused_keys
from tests.wire import TIMEOUT, Stream, Wire, against, busy_streams, served

Result = ext.SnapshotResult


on_virtual_time = against(lambda: served(clock=VirtualClock()))
"""The time of the server stands still."""


async def busy(wire: Wire) -> tuple[Stream, Stream, Stream]:
    """Add node n1 with memory 10 and application a1."""
    await wire.registers(extraConfig={"siconform.colour": "blue"})
    return await busy_streams(wire)


async def phase(wire: Wire) -> str:
    snapshot = await wire.calls("Snapshot", rm_id="rm")
    return Result.RmPhase.Name(snapshot.phase)


async def becomes(wire: Wire, name: str) -> None:
    async with asyncio.timeout(TIMEOUT):
        while await phase(wire) != name:  # noqa: ASYNC110  # the end of a stream has no event
            await asyncio.sleep(0.005)


async def test_describe_reports_revision_and_timers() -> None:
    settings = Settings(
        completing_timeout=1.5,
        starting_timeout=0.0,
        placeholder_timeout=2.0,
        placeholder_timeout_from_application=True,
        retention=3.0,
        connection_loss_timeout=0.25,
    )

    async with served(settings=settings) as wire:
        facets = await wire.calls("Describe")
        assert facets.si_profile == wire.revision.name
        assert (facets.metrics, facets.configuration) == (True, True)
        assert (facets.snapshot, facets.several_rms, facets.virtual_clock) == (
            True,
            True,
            False,
        )
        timers = facets.timers
        assert (timers.waiting_to_completed, timers.placeholder_default) == (1500, 2000)
        assert (timers.retention, timers.connection_loss) == (3000, 250)
        assert timers.starting_to_running == 1, "zero would say that it is not known"
        assert timers.placeholder_from_application_timeout


@on_virtual_time
async def test_snapshot_shows_the_state(wire: Wire) -> None:
    _, _, allocations = await busy(wire)
    await allocations.asks(wire.ask("k1", memory=3), wire.ask("k2", memory=2**63 - 1))
    (new,) = (await allocations.receives()).new

    snapshot = await wire.calls("Snapshot", rm_id="rm")

    assert snapshot.phase == Result.RUNNING
    assert dict(snapshot.extra_config) == {"siconform.colour": "blue"}
    (node,) = snapshot.nodes
    assert (node.node_id, node.partition, node.schedulable) == ("n1", "default", True)
    assert (dict(node.capacity), dict(node.allocated)) == ({"memory": 10}, {"memory": 3})
    (application,) = snapshot.applications
    assert (application.application_id, application.queue) == ("a1", "root.default")
    assert (application.state, list(application.pending_keys)) == (begun(wire.revision), ["k2"])
    assert dict(application.allocated_real) == {"memory": 3}
    (allocation,) = application.allocations
    assert allocation.identity == getattr(new, identity_in(wire.revision))
    assert (allocation.allocation_key, allocation.node_id) == ("k1", "n1")
    assert [queue.name for queue in snapshot.queues] == ["root", "root.default"]
    assert dict(snapshot.queues[1].allocated) == {"memory": 3}
    assert snapshot.queues[1].running_applications == 1


@on_virtual_time
async def test_sums_beyond_int64_are_capped(wire: Wire) -> None:
    await wire.registers()
    *_, allocations = await busy_streams(wire)
    most = 2**63 - 1
    running = [
        wire.si.Allocation(
            applicationID="a1",
            nodeID="n1",
            resourcePerAlloc=wire.resource(memory=most),
            **identified(wire.revision, name),
        )
        for name in ("x", "y")
    ]
    await allocations.send(allocations=running)
    await allocations.asks(wire.ask("fence", "unknown"))
    assert refused_keys(await allocations.receives()) == ["fence"]

    snapshot = await wire.calls("Snapshot", rm_id="rm")

    assert dict(snapshot.nodes[0].allocated) == {"memory": most}


@on_virtual_time
async def test_unregistered_rm_is_unknown(wire: Wire) -> None:
    snapshot = await wire.calls("Snapshot", rm_id="rm")

    assert snapshot == Result(phase=Result.UNKNOWN_RM)


# requirement: SI-CONN-006, SI-CONN-007, SI-CONN-009
@on_virtual_time
async def test_lost_connection_pauses_and_its_timeout_stops(wire: Wire) -> None:
    streams = await busy(wire)
    await streams[2].asks(wire.ask("k1", memory=8), wire.ask("k2", memory=8))
    await streams[2].receives()
    for stream in streams:
        stream.call.cancel()

    await becomes(wire, "PAUSED")
    await wire.calls("AdvanceClock", milliseconds=59_999)
    kept = await wire.calls("Snapshot", rm_id="rm")
    await wire.calls("AdvanceClock", milliseconds=1)
    gone = await wire.calls("Snapshot", rm_id="rm")

    assert kept.phase == Result.PAUSED
    assert [a.allocation_key for a in kept.applications[0].allocations] == ["k1"]
    assert list(kept.applications[0].pending_keys) == ["k2"]
    assert gone == Result(phase=Result.STOPPED)


@on_virtual_time
async def test_virtual_time_stands_still_until_it_is_advanced(wire: Wire) -> None:
    first = await wire.calls("AdvanceClock")
    of_the_system = SystemClock()
    began = of_the_system.now()
    while of_the_system.now() < began + 0.002:
        await wire.calls("Describe")
    second = await wire.calls("AdvanceClock")
    third = await wire.calls("AdvanceClock", milliseconds=1234)

    assert (await wire.calls("Describe")).virtual_clock
    assert first == second
    assert third.now_milliseconds == first.now_milliseconds + 1234


@on_virtual_time
async def test_every_deadline_on_the_way_fires_at_its_time(wire: Wire) -> None:
    _, applications, allocations = await busy(wire)
    began = (await wire.calls("AdvanceClock")).now_milliseconds
    await allocations.asks(wire.ask(memory=3))
    (new,) = (await allocations.receives()).new
    release = wire.si.AllocationRelease(
        applicationID="a1",
        partitionName="default",
        terminationType=wire.si.STOPPED_BY_RM,
        **{identity_in(wire.revision): getattr(new, identity_in(wire.revision))},
    )
    request = wire.si.AllocationReleasesRequest(allocationsToRelease=[release])
    await wire.calls("AdvanceClock", milliseconds=500)
    await allocations.send(releases=request)
    await allocations.receives()

    await wire.calls("AdvanceClock", milliseconds=3 * 24 * 3600 * 1000 + 30_000)

    updates: list[Any] = []
    while not updates or updates[-1].state != "Expired":
        updates += (await applications.receives()).updated
    assert [
        (update.state, round(update.stateTransitionTimestamp / 1e6) - began) for update in updates
    ] == [
        ("Accepted", 0),
        (begun(wire.revision), 0),
        ("Completing", 500),
        ("Completed", 30_500),
        ("Expired", 30_500 + 3 * 24 * 3600 * 1000),
    ]


@pytest.mark.parametrize(
    ("milliseconds", "code"),
    [
        (-1, grpc.StatusCode.INVALID_ARGUMENT),
        (2**63 - 1, grpc.StatusCode.OUT_OF_RANGE),
        (-(2**63), grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
async def test_time_advance_is_refused_out_of_range(
    milliseconds: int, code: grpc.StatusCode
) -> None:
    async with served(clock=VirtualClock()) as wire:
        before = await wire.calls("AdvanceClock")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wire.calls("AdvanceClock", milliseconds=milliseconds)
        assert refused.value.code() is code
        assert await wire.calls("AdvanceClock") == before


async def test_real_time_cannot_be_advanced() -> None:
    async with served() as wire:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wire.calls("AdvanceClock", milliseconds=1)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


# requirement: SI-AUTO-001
@on_virtual_time
async def test_metrics_report_outstanding_demand_and_counts(wire: Wire) -> None:
    _, _, allocations = await busy(wire)
    tagged = wire.ask("k2", memory=8, tags={"a": "b"})
    await allocations.asks(wire.ask("k1", memory=8), tagged)
    await allocations.receives()

    metrics = await wire.calls("ReadMetrics", rm_id="rm")

    (one,) = metrics.outstanding
    assert (one.request_id, dict(one.resource), dict(one.tags)) == ("k2", {"memory": 8}, {"a": "b"})
    counters = metrics.counters
    assert (counters["nodes"], counters["allocations"], counters["pending_asks"]) == (1, 1, 1)
    began = counters[f"applications.{begun(wire.revision)}"]
    assert (began, counters["told.NewAllocation"]) == (1, 1)
    assert counters["heard.UpdateAllocation"] == 2, "a greeting and the asks"


@on_virtual_time
async def test_unknown_rm_has_no_metrics(wire: Wire) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wire.calls("ReadMetrics", rm_id="rm")

    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "not registered" in (refused.value.details() or "")


QUEUES = tree("{name: default}", "{name: more}")


# requirement: SI-CFG-001, SI-CFG-002, SI-CFG-006
@on_virtual_time
async def test_configuration_takes_effect_while_running(wire: Wire) -> None:
    _, applications, allocations = await busy(wire)
    await allocations.asks(wire.ask("k1", memory=3))
    await allocations.receives()

    outcome = await wire.calls(
        "ApplyConfiguration", rm_id="rm", config=QUEUES, extra={"siconform.colour": "red"}
    )
    await applications.send(new=[wire.application("a2", "root.more")])

    assert outcome == ext.ConfigurationOutcome(applied=True)
    received: list[str] = []
    while not received:
        received = [one.applicationID for one in (await applications.receives()).accepted]
    assert received == ["a2"]
    snapshot = await wire.calls("Snapshot", rm_id="rm")
    assert dict(snapshot.extra_config) == {"siconform.colour": "red"}
    assert [dict(node.allocated) for node in snapshot.nodes] == [{"memory": 3}]


# requirement: SI-CFG-001
@on_virtual_time
async def test_removed_queue_drains_while_it_is_used(wire: Wire) -> None:
    await busy(wire)

    config = tree("{name: more}")
    assert (await wire.calls("ApplyConfiguration", rm_id="rm", config=config)).applied

    snapshot = await wire.calls("Snapshot", rm_id="rm")
    draining = {queue.name: queue.draining for queue in snapshot.queues}
    assert draining == {"root": False, "root.default": True, "root.more": False}


# requirement: SI-CFG-003, SI-CFG-004
@on_virtual_time
async def test_error_is_reported_and_changes_nothing(wire: Wire) -> None:
    _, applications, _ = await busy(wire)
    bad = QUEUES.replace("queues:", "quues:").replace("submitacl", "submitac")

    malformed = await wire.calls("ApplyConfiguration", rm_id="rm", config=bad)
    foreign = await wire.calls(
        "ApplyConfiguration", rm_id="rm", config=QUEUES, policy_group="another"
    )
    with pytest.raises(grpc.aio.AioRpcError) as unknown:
        await wire.calls("ApplyConfiguration", rm_id="rm9", config=QUEUES)

    assert (malformed.applied, "quues" in malformed.reason) == (False, True)
    assert (foreign.applied, "another" in foreign.reason) == (False, True)
    assert unknown.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    await applications.send(new=[wire.application("a2", "root.more")])
    assert (await applications.receives()).rejected[0].applicationID == "a2"
    snapshot = await wire.calls("Snapshot", rm_id="rm")
    assert [queue.name for queue in snapshot.queues] == ["root", "root.default"]
    assert dict(snapshot.extra_config) == {"siconform.colour": "blue"}
