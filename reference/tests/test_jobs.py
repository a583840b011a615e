"""Long jobs run in chunks: in order for each RM, in turns among RMs."""

import asyncio
from collections.abc import Generator

import pytest
from sireference.shell.jobs import PAUSE, Jobs


class Log:
    """Records which RMs are busy, and what was done in which order."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.busy: set[str] = set()
        self.jobs = Jobs(self.busy.add, self.busy.remove)

    def job(self, name: str, chunks: int) -> Generator[None, None, str]:
        for number in range(chunks):
            self.done.append(f"{name}{number}")
            if number < chunks - 1:
                yield
        return name


async def test_single_chunk_is_done_at_once() -> None:
    log = Log()

    result = log.jobs.begin("rm", log.job("a", 1))

    assert result.done()
    assert result.result() == "a"
    assert log.busy == set()


async def test_jobs_of_one_rm_run_in_order_and_those_of_others_in_turns() -> None:
    log = Log()
    first = log.jobs.begin("rm", log.job("a", 3))
    second = log.jobs.begin("rm", log.job("b", 1))
    other = log.jobs.begin("other", log.job("c", 2))
    assert log.busy == {"rm", "other"}
    assert not second.done()

    assert [await one for one in (first, second, other)] == ["a", "b", "c"]
    await log.jobs.all_done()

    assert log.done == ["a0", "c0", "a1", "c1", "a2", "b0"]
    assert log.busy == set()


async def test_jobs_of_several_rms_run_one_chunk_at_a_time() -> None:
    wrong: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, received: wrong.append(received))
    log = Log()
    for rm in ("one", "other", "third"):
        log.jobs.begin(rm, log.job(rm, 3))

    await log.jobs.all_done()
    await asyncio.sleep(5 * PAUSE)

    assert wrong == []
    assert log.busy == set()


async def test_event_loop_runs_between_two_chunks() -> None:
    log = Log()
    result = log.jobs.begin("rm", log.job("a", 50))
    turns = 0
    while not result.done():
        await asyncio.sleep(0)
        turns += 1

    assert turns >= 49


async def test_job_continues_when_its_caller_is_cancelled() -> None:
    log = Log()
    log.jobs.begin("rm", log.job("a", 3)).cancel()

    assert await log.jobs.begin("rm", log.job("b", 1)) == "b"

    assert log.done == ["a0", "a1", "a2", "b0"]


async def test_failing_job_raises_and_blocks_no_other() -> None:
    log = Log()

    def fails() -> Generator[None, None, str]:
        yield
        raise ValueError("no")

    result = log.jobs.begin("rm", fails())
    after = log.jobs.begin("rm", log.job("b", 1))

    with pytest.raises(ValueError, match="no"):
        await result
    assert await after == "b"
    await log.jobs.all_done()
    assert log.busy == set()
