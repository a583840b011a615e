"""Jobs in chunks: in order for each RM, alternating between RMs."""

import asyncio
from collections.abc import Generator

import pytest
from sireference.shell.jobs import PAUSE, Jobs


class Log:
    """Records which RMs are busy, and the order of work."""

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


def test_what_is_one_chunk_is_done_at_once() -> None:
    async def play() -> None:
        log = Log()

        result = log.jobs.begin("rm", log.job("a", 1))

        assert result.done()
        assert result.result() == "a"
        assert log.busy == set()

    asyncio.run(play())


def test_the_jobs_of_one_rm_are_done_in_order_and_those_of_others_in_turns() -> None:
    async def play() -> None:
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

    asyncio.run(play())


def test_jobs_of_several_rms_go_on_once_at_a_time() -> None:
    async def play() -> None:
        wrong: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, received: wrong.append(received))
        log = Log()
        for rm in ("one", "other", "third"):
            log.jobs.begin(rm, log.job(rm, 3))

        await log.jobs.all_done()
        await asyncio.sleep(5 * PAUSE)

        assert wrong == []
        assert log.busy == set()

    asyncio.run(play())


def test_the_loop_goes_on_between_two_chunks() -> None:
    async def play() -> None:
        log = Log()
        result = log.jobs.begin("rm", log.job("a", 50))
        turns = 0
        while not result.done():
            await asyncio.sleep(0)
            turns += 1

        assert turns >= 49

    asyncio.run(play())


def test_a_job_goes_on_when_no_one_waits_for_it_any_more() -> None:
    async def play() -> None:
        log = Log()
        log.jobs.begin("rm", log.job("a", 3)).cancel()

        assert await log.jobs.begin("rm", log.job("b", 1)) == "b"

        assert log.done == ["a0", "a1", "a2", "b0"]

    asyncio.run(play())


def test_failing_job_reports_and_does_not_block_others() -> None:
    async def play() -> None:
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

    asyncio.run(play())
