"""Snapshots decide in time: at once for an answer, at its end for a timer."""

from types import SimpleNamespace

import pytest
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import ConformanceFailure, NotOffered
from siconform.protocol.facets import Facet
from siconform.protocol.matchers import Including, Lacking
from siconform.protocol.snapshot_facts import (
    AllocationSeen,
    ApplicationSeen,
    NodeSeen,
    Phase,
    PhaseSeen,
    QueueSeen,
    SettingSeen,
)
from siconform.recording.clock import VirtualClock
from siconform.recording.history import History
from siconform.rm.resource_manager import ResourceManager
from siconform.transport.extension_messages import read_snapshot
from siwire.ext import extension_pb2 as ext

from .resource_managers import rm_on

DEADLINES = Deadlines(ack=0.1, quiet=0.05, settle=0.02)


class Target:
    """Shows one snapshot after another, the last for ever, or by its clock."""

    rm_id = "rm"

    def __init__(self, *shown: ext.SnapshotResult) -> None:
        self.shown = list(shown)
        self.now = 0.0
        self.stops_at: float | None = None

    def advances(self, seconds: float) -> None:
        self.now += seconds

    def presupposes(self, facet: Facet) -> None:
        assert facet is Facet.SNAPSHOT

    def snapshot(self, rm_id: str) -> ext.SnapshotResult:
        assert rm_id == "rm"
        if self.stops_at is not None and self.now >= self.stops_at:
            return phase(ext.SnapshotResult.STOPPED)
        return self.shown.pop(0) if len(self.shown) > 1 else self.shown[0]


def phase(number: "ext.SnapshotResult.RmPhase.ValueType") -> ext.SnapshotResult:
    return ext.SnapshotResult(phase=number)


RUNNING = phase(ext.SnapshotResult.RUNNING)
PAUSED = phase(ext.SnapshotResult.PAUSED)
STOPPED = phase(ext.SnapshotResult.STOPPED)


def rm_of(target: Target, *, with_extension: bool = True) -> ResourceManager:
    connection = SimpleNamespace(rm_id="rm", history=History(VirtualClock(target)))
    return rm_on(connection, DEADLINES, extension=target if with_extension else None)


def test_every_part_of_snapshot_is_read() -> None:
    shown = read_snapshot(
        ext.SnapshotResult(
            phase=ext.SnapshotResult.PAUSED,
            nodes=[
                ext.NodeView(
                    node_id="n", schedulable=True, attributes={"a": "b"}, capacity={"m": 1}
                )
            ],
            applications=[
                ext.AppView(
                    application_id="a",
                    queue="root.q",
                    state="Running",
                    allocated_real={"m": 1},
                    pending_keys=["k2", "k1"],
                    allocations=[ext.AllocView(identity="i", allocation_key="k", placeholder=True)],
                )
            ],
            extra_config={"x": "y"},
            queues=[ext.QueueView(name="root.q", max={"m": 5}, allocated={"m": 1})],
        )
    )

    assert shown == [
        PhaseSeen(Phase.PAUSED),
        NodeSeen("n", True, {"a": "b"}, {"m": 1}, {}, {}),  # noqa: FBT003  # a record
        ApplicationSeen("a", "root.q", "Running", {"m": 1}, {}, ("k1", "k2")),
        AllocationSeen("a", "k", "i", "", "", True, False, {}),  # noqa: FBT003  # a record
        QueueSeen("root.q", {"m": 5}, {"m": 1}),
        SettingSeen("x", "y"),
    ]
    assert str(shown[0]) == "phase paused"


def test_unset_phase_matches_none() -> None:
    assert read_snapshot(ext.SnapshotResult()) == [PhaseSeen(Phase.UNSET)]


def test_later_snapshot_is_seen() -> None:
    rm = rm_of(Target(RUNNING, RUNNING, PAUSED))

    assert rm.sees(PhaseSeen(Phase.PAUSED)) == PhaseSeen(Phase.PAUSED)


def test_unexpected_snapshot_is_reported() -> None:
    with pytest.raises(ConformanceFailure, match="the snapshot shows: phase running"):
        rm_of(Target(RUNNING)).sees(PhaseSeen(Phase.PAUSED))


def test_missing_object_is_named() -> None:
    with pytest.raises(ConformanceFailure, match="not shown: node node n"):
        rm_of(Target(RUNNING)).sees(NodeSeen("n"))


def test_forbidden_transition_fails_even_if_transient() -> None:
    with pytest.raises(ConformanceFailure, match="phase paused"):
        rm_of(Target(RUNNING, PAUSED, STOPPED)).comes_to(Phase.STOPPED, never=[Phase.PAUSED])


def test_phase_changes_with_clock() -> None:
    target = Target(PAUSED)
    target.stops_at = 60.0

    rm_of(target).sees(PhaseSeen(Phase.STOPPED), timeout=62.0)

    assert 60.0 <= target.now <= 63.0


def test_forbidden_state_fails() -> None:
    rm = rm_of(Target(RUNNING, RUNNING, STOPPED))

    with pytest.raises(ConformanceFailure, match="shows: phase stopped"):
        rm.does_not_see(PhaseSeen(Phase.STOPPED))
    rm_of(Target(RUNNING)).does_not_see(PhaseSeen(Phase.STOPPED))


def test_optional_object_counts_if_similar_is_shown() -> None:
    shown = ext.SnapshotResult(queues=[ext.QueueView(name="root.q", allocated={"m": 1})])
    wanted, like = QueueSeen("root.q", allocated={"m": 2}), QueueSeen("root.q")

    rm_of(Target(ext.SnapshotResult())).sees_where_shown(wanted, like=like)
    with pytest.raises(ConformanceFailure, match="the snapshot shows: queue"):
        rm_of(Target(shown)).sees_where_shown(wanted, like=like)


def test_target_without_snapshots_is_not_applicable() -> None:
    rm = rm_of(Target(RUNNING), with_extension=False)

    with pytest.raises(NotOffered, match="the extension's snapshot"):
        rm.sees(PhaseSeen(Phase.RUNNING))


def test_map_matching() -> None:
    assert NodeSeen(attributes=Including({"a": "b"})).matches(NodeSeen("n", attributes={"a": "b"}))
    assert not NodeSeen(attributes=Including({"a": "c"})).matches(NodeSeen(attributes={"a": "b"}))
    assert NodeSeen(attributes=Lacking("x")).matches(NodeSeen(attributes={"a": "b"}))
    assert not NodeSeen(attributes=Lacking("a")).matches(NodeSeen(attributes={"a": "b"}))
