"""A trace is read as a run reads its history; a gap or forgetting never makes a violation."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selftest.sample_histories import APP, ASK, NODE, allocated, by_key
from selftest.trace_samples import (
    MONITORS,
    Sample,
    as_run_reads,
    begun,
    counts,
    legal_samples,
    read,
    samples,
    violations,
    whole,
)
from siconform.monitors import trace_memory, trace_reading
from siconform.protocol.notifications import ApplicationAccepted
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry

EVERY = pytest.mark.parametrize("sample", samples(), ids=str)
LEGAL = pytest.mark.parametrize("sample", legal_samples(), ids=str)
COMMON = begun(Identity.KEY_OF_THE_ASK, is_whole=True).monitors

ABOUT_REGISTRATIONS = ("registering_", "registrations_", "refused_rms_")


@EVERY
def test_declared_content_changes_no_result(sample: Sample) -> None:
    observing_all = [replace(monitor, observes=()) for monitor in MONITORS]

    assert as_run_reads(sample, MONITORS) == as_run_reads(sample, observing_all)


@EVERY
def test_trace_is_read_as_a_run_reads_it(sample: Sample) -> None:
    found = whole(sample)

    assert counts(found) == as_run_reads(sample, found.monitors)


@EVERY
def test_monitors_begun_again_find_the_same(
    sample: Sample, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if request.node.callspec.id.startswith(ABOUT_REGISTRATIONS):
        pytest.xfail("what a registration ended is forgotten")
    once = counts(whole(sample))
    monkeypatch.setattr(trace_reading, "_AFRESH", 1)
    monkeypatch.setattr(trace_reading, "_AGAIN", 0)

    assert counts(whole(sample)) == once


@LEGAL
def test_forgetting_what_ended_makes_no_violation(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_reading, "_AFRESH", 1)
    monkeypatch.setattr(trace_reading, "_AGAIN", 0)
    monkeypatch.setattr(trace_memory, "LIVES_ON", -1)

    assert violations(whole(sample)) == []


@LEGAL
def test_no_cut_makes_a_violation(sample: Sample) -> None:
    for start in range(len(sample.entries)):
        reading = begun(sample.identity, is_whole=False)
        read(reading, sample.entries[start:])

        assert violations(reading) == [], start


@given(st.lists(st.sampled_from(range(len(legal_samples()))), min_size=1, max_size=4), st.data())
@settings(max_examples=200, deadline=None)
def test_no_drop_makes_a_violation(chosen: list[int], data: st.DataObject) -> None:
    first = legal_samples()[chosen[0]]
    entries: Sequence[Entry] = [
        entry
        for number in chosen
        for entry in legal_samples()[number].entries
        if legal_samples()[number].identity is first.identity
    ]
    begin = data.draw(st.integers(0, len(entries)))
    end = data.draw(st.integers(begin, len(entries)))
    reading = begun(first.identity, is_whole=True)

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
