"""Deadlines of the API: driven by the caller's clock, or on a separate thread."""

import threading
from typing import Any

import pytest
from patience import patient
from sireference.api import SchedulerAPI
from sireference.api.deadline_thread import DeadlineThread
from sireference.clock import SystemClock, VirtualClock
from sireference.core.model import Settings
from siwire import DEFAULT_REVISION, REVISIONS
from tests.embedded import EmbeddedRM, Embedding, settled

TIMEOUT = patient()  # seconds, where another thread has to act
QUIET = 0.1  # seconds in which another thread would have failed


@pytest.fixture
def rm() -> Embedding:
    return settled(DEFAULT_REVISION, clock=VirtualClock())


def states(rm: EmbeddedRM) -> list[str]:
    """Return the application states reported, in order."""
    received = rm.messages("update_application")
    return [update.state for sent in received for update in sent.updated]


def test_deadlines_follow_the_callers_clock() -> None:
    clock = VirtualClock()
    rm = settled(DEFAULT_REVISION, clock=clock, settings=Settings(completing_timeout=5))
    rm.asks("k1", memory=3)
    rm.releases(rm.rm.allocations()[0])
    deadline = rm.api.next_deadline()

    clock.move_to(clock.now() + 5)
    rm.api.keep_deadlines()

    assert deadline is not None
    assert states(rm.rm)[-2:] == ["Completing", "Completed"]


def test_without_a_clock_deadlines_run_on_a_thread() -> None:
    with SchedulerAPI(DEFAULT_REVISION, settings=Settings(completing_timeout=0.01)) as api:
        rm = Embedding(api, EmbeddedRM()).settles()
        rm.asks("k1", memory=3)
        rm.releases(rm.rm.allocations()[0])

        with rm.rm.has_news:
            completed = rm.rm.has_news.wait_for(lambda: "Completed" in states(rm.rm), TIMEOUT)

    assert completed
    assert "SI deadlines" in rm.rm.threads
    assert rm.rm.overlaps == 0


def test_far_future_deadline_blocks_no_other_deadline() -> None:
    before = set(threading.enumerate())
    settings = Settings(starting_timeout=0.0, completing_timeout=0.01)
    with SchedulerAPI(REVISIONS["2023-12"], settings=settings) as api:
        rm = Embedding(api, EmbeddedRM()).settles()
        ask = rm.si.AllocationAsk(
            allocationKey="k1",
            applicationID="a1",
            resourceAsk=rm.resource(memory=1),
            maxAllocations=1,
            executionTimeoutMilliSeconds=2**63 - 1,
        )
        api.update_allocation(rm.si.AllocationRequest(rmID="rm", asks=[ask]))
        with rm.rm.has_news:
            assert rm.rm.has_news.wait_for(lambda: "Running" in states(rm.rm), TIMEOUT)
        (thread,) = set(threading.enumerate()) - before
        thread.join(QUIET)  # from here on the only deadline is that of the ask
        rm.submits("a2")
        rm.asks("k2", "a2", memory=3)
        rm.releases(rm.rm.allocations()[-1])

        with rm.rm.has_news:
            completed = rm.rm.has_news.wait_for(lambda: "Completed" in states(rm.rm), TIMEOUT)

    assert completed


def test_no_deadline_fires_after_close() -> None:
    before = set(threading.enumerate())
    api = SchedulerAPI(DEFAULT_REVISION, settings=Settings(completing_timeout=0.01))
    rm = Embedding(api, EmbeddedRM()).settles()
    rm.asks("k1", memory=3)
    (thread,) = set(threading.enumerate()) - before

    api.close()
    thread.join(TIMEOUT)
    rm.releases(rm.rm.allocations()[0])

    assert not thread.is_alive()
    assert set(threading.enumerate()) <= before
    assert states(rm.rm)[-1] == "Completing"
    assert rm.rm.threads == {threading.current_thread().name}


@pytest.mark.parametrize("error", [ZeroDivisionError, SystemExit])
def test_deadline_thread_survives_a_failing_callback(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(response: Any) -> None:
        if any(update.state == "Completed" for update in response.updated):
            raise error

    with SchedulerAPI(DEFAULT_REVISION, settings=Settings(completing_timeout=0.01)) as api:
        rm = Embedding(api, EmbeddedRM()).settles()
        rm.rm.reacts = {"update_application": breaks}
        for count, key in enumerate(("k1", "k2"), start=1):
            rm.submits(key)
            rm.asks(key, key, memory=3)
            rm.releases(rm.rm.allocations()[-1])
            with rm.rm.has_news:
                assert rm.rm.has_news.wait_for(
                    lambda: states(rm.rm).count("Completed") == count,  # noqa: B023  # at once
                    TIMEOUT,
                )

    assert "a callback of the resource manager failed" in caplog.text


def test_deadline_thread_survives_a_deadline_that_cannot_be_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    received: list[str] = []
    has_failed, is_kept = threading.Event(), threading.Event()

    def next_deadline() -> float:
        if not received:
            received.append("failed")
            has_failed.set()
            raise ZeroDivisionError
        return 0.0

    deadlines = DeadlineThread(SystemClock(), threading.RLock(), next_deadline, is_kept.set)
    deadlines.changed()
    assert has_failed.wait(TIMEOUT)
    deadlines.changed()
    was_kept = is_kept.wait(TIMEOUT)
    deadlines.stop()

    assert was_kept
    assert "the next deadline is not known" in caplog.text
