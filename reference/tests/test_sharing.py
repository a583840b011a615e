"""Concurrent requests share one computation."""

import asyncio

from sireference.shell.sharing import Sharing


class Making:
    """A computation that runs until ``go_on`` is set."""

    def __init__(self) -> None:
        self.begun = 0
        self.go_on = asyncio.Event()

    async def __call__(self) -> int:
        self.begun += 1
        made = self.begun
        await self.go_on.wait()
        return made


async def test_concurrent_callers_share_a_result_and_later_ones_get_a_new_one() -> None:
    sharing: Sharing[str, int] = Sharing()
    making = Making()
    first, second = (asyncio.ensure_future(sharing.get("a", making)) for _ in range(2))
    other = asyncio.ensure_future(sharing.get("b", making))
    await asyncio.sleep(0)
    making.go_on.set()

    assert list(await asyncio.gather(first, second, other)) == [1, 1, 2]
    assert await sharing.get("a", making) == 3


async def test_computation_continues_without_its_first_caller() -> None:
    sharing: Sharing[str, int] = Sharing()
    making = Making()
    first, second = (asyncio.ensure_future(sharing.get("a", making)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    making.go_on.set()

    assert await second == 1


async def test_error_goes_to_all_waiting_callers_and_is_not_cached() -> None:
    async def fails() -> int:
        await asyncio.sleep(0)
        raise RuntimeError("not made")

    sharing: Sharing[str, int] = Sharing()
    waiting = [asyncio.ensure_future(sharing.get("a", fails)) for _ in range(2)]
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [str(outcome) for outcome in outcomes] == ["not made", "not made"]
    making = Making()
    making.go_on.set()
    assert await sharing.get("a", making) == 1
