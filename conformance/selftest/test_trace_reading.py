"""A trace is read as a run reads its history; a gap or forgetting never makes a violation."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selftest.monitor_cases import BY_KEY_SUBJECTS, SUBJECTS
from selftest.sample_histories import (
    APP,
    ASK,
    DECOMMISSION,
    IN_THE_CLUSTER,
    NODE,
    UNDRAIN,
    Part,
    allocated,
    by_key,
    released,
)
from selftest.trace_samples import (
    LEGAL_BY_KEY,
    as_run_reads,
    begun,
    counts,
    legal_samples,
    observing_all,
    read,
    samples,
    violated,
    violations,
    whole,
)
from siconform.monitors import trace_memory, trace_reading
from siconform.monitors.monitor import Monitor
from siconform.monitors.trace_reading import TraceReading
from siconform.monitors.trace_result import MOST_VIOLATIONS
from siconform.protocol.notifications import ApplicationAccepted, NodeAccepted, Termination
from siconform.protocol.requests import Action, NodeRequest, ReleaseRequest
from siconform.protocol.subjects import Identity, OneAllocation

EVERY = pytest.mark.parametrize("subject", [*SUBJECTS, *BY_KEY_SUBJECTS, LEGAL_BY_KEY])
ACCEPTED = NodeAccepted("n")
SMALL = replace(NODE, capacity={"memory": 1})
HEARTBEAT = NodeRequest("n", Action.UPDATE, attributes={"a": "b"})


@pytest.fixture
def begun_again_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_reading, "_RESTART_AFTER", 1)
    monkeypatch.setattr(trace_reading, "_AGAIN", 0)


@EVERY
def test_trace_is_read_as_a_run_reads_it(subject: str) -> None:
    """Which content monitors declare to observe changes nothing either."""
    for sample in samples(subject):
        found = as_run_reads(sample)

        assert found == observing_all(sample), sample.name
        assert counts(whole(sample)).items() <= found.items(), sample.name


@EVERY
@pytest.mark.usefixtures("begun_again_always")
def test_monitors_begun_again_find_the_same(subject: str) -> None:
    for sample in samples(subject):
        found = as_run_reads(sample)

        assert counts(whole(sample)).items() <= found.items(), sample.name


@EVERY
@pytest.mark.usefixtures("begun_again_always")
def test_forgetting_what_ended_makes_no_violation(
    subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_memory, "RETENTION", -1)
    for sample in legal_samples(subject):
        assert violations(whole(sample)) == [], sample.name


@EVERY
def test_no_cut_makes_a_violation(subject: str) -> None:
    for sample in samples(subject):
        known = violated(as_run_reads(sample))
        reading = begun(sample.identity, is_whole=False)
        for start in range(len(sample.entries)):
            reading.begin(is_whole=False)
            read(reading, sample.entries[start:])

            assert violated(counts(reading)) <= known, (sample.name, start)


@pytest.mark.parametrize("subjects", [tuple(SUBJECTS), (*BY_KEY_SUBJECTS, LEGAL_BY_KEY)])
@given(st.data())
def test_no_drop_makes_a_violation(subjects: Sequence[str], data: st.DataObject) -> None:
    legal = [sample for subject in subjects for sample in legal_samples(subject)]
    chosen = data.draw(st.lists(st.integers(0, len(legal) - 1), min_size=1, max_size=4))
    entries = [entry for number in chosen for entry in legal[number].entries]
    begin = data.draw(st.integers(0, len(entries)))
    end = data.draw(st.integers(begin, len(entries)))
    reading = begun(legal[0].identity, is_whole=True)

    read(reading, entries[:begin])
    reading.begin(is_whole=False)
    read(reading, entries[end:])

    assert violations(reading) == []


def test_violation_after_a_gap_is_found() -> None:
    twice = allocated("k", "k"), allocated("k", "k", node="other")
    history = by_key([NODE, APP, ApplicationAccepted("a"), ASK, *twice]).entries()
    reading = begun(Identity.KEY_OF_THE_ASK, is_whole=False)

    read(reading, history)

    assert "identities_are_unique: allocation k was announced twice" in violations(reading)


def test_what_may_have_begun_before_the_gap_is_counted() -> None:
    history = by_key([ASK, allocated("k", "k"), allocated("k", "k")]).entries()
    reading = begun(Identity.KEY_OF_THE_ASK, is_whole=False)

    read(reading, history)

    assert violations(reading) == []
    assert reading.unknown == {"rm": 3}


def test_monitors_are_begun_again_in_a_long_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_reading, "_RESTART_AFTER", 50)
    monkeypatch.setattr(trace_memory, "RETENTION", 50)
    pods = [part for number in range(200) for part in _pod(f"k{number}")]
    forgotten: list[str] = []
    monitors = begun(Identity.KEY_OF_THE_ASK, is_whole=True).monitors
    reading = TraceReading(
        Identity.KEY_OF_THE_ASK, monitors, lambda _rm, key: forgotten.append(key)
    )
    reading.begin(is_whole=True)

    read(reading, by_key([*IN_THE_CLUSTER, NODE, APP, ApplicationAccepted("a"), *pods]).entries())

    assert len(forgotten) >= 150


@pytest.mark.usefixtures("begun_again_always")
@pytest.mark.parametrize(
    "changes",
    [
        [replace(NODE, action=Action.CREATE_DRAINING), ACCEPTED, HEARTBEAT, HEARTBEAT, UNDRAIN],
        [SMALL, ACCEPTED, HEARTBEAT, HEARTBEAT, replace(NODE, action=Action.UPDATE)],
        [SMALL, ACCEPTED, HEARTBEAT, HEARTBEAT, DECOMMISSION, NODE, ACCEPTED],
    ],
    ids=["undrained", "resized", "larger again"],
)
def test_what_a_node_was_changed_by_last_is_remembered(changes: Sequence[Part]) -> None:
    parts = [*IN_THE_CLUSTER, *changes, *[HEARTBEAT] * 70, APP, ApplicationAccepted("a")]
    reading = begun(Identity.KEY_OF_THE_ASK, is_whole=True)

    read(reading, by_key([*parts, replace(ASK, key="k1"), allocated("k1", "k1")]).entries())

    assert violations(reading) == []


def _pod(key: str) -> Sequence[Part]:
    """Return the elements about a request that is allocated and stopped."""
    stops = ReleaseRequest(OneAllocation("a", key, key), Termination.STOPPED_BY_RM)
    return [replace(ASK, key=key), allocated(key, key), stops, released(key, key=key)]


def test_the_first_violations_and_one_of_each_kind_are_kept() -> None:
    kinds = [f"node n{number} is full" for number in range(20)], ["node n1 is gone"] * 2
    messages = iter([message for kind in kinds for message in kind])
    rule = Monitor(lambda: lambda _: next(messages), ("SI-NODE-001",), about_one_message=True)
    reading = TraceReading(Identity.KEY_OF_THE_ASK, [rule], lambda _rm, _key: None)
    reading.begin(is_whole=False)

    read(reading, by_key([ASK] * 22).entries())

    (found,) = reading.found
    assert found.violated == 22
    kept = [violation.message for violation in found.violations]
    assert kept == [*kinds[0][:MOST_VIOLATIONS], "node n1 is gone"]
