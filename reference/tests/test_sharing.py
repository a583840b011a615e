"""Sharing: concurrent requests for the same work run it once."""

import asyncio

from sireference.shell.sharing import Sharing


class Making:
    """Work that is in progress until ``go_on`` is set."""

    def __init__(self) -> None:
        self.begun = 0
        self.go_on = asyncio.Event()

    async def __call__(self) -> int:
        self.begun += 1
        made = self.begun
        await self.go_on.wait()
        return made


def test_who_asks_while_it_is_made_gets_the_same_and_who_asks_later_another() -> None:
    async def play() -> None:
        sharing: Sharing[str, int] = Sharing()
        making = Making()
        first, second = (asyncio.ensure_future(sharing.get("a", making)) for _ in range(2))
        other = asyncio.ensure_future(sharing.get("b", making))
        await asyncio.sleep(0)
        making.go_on.set()

        assert list(await asyncio.gather(first, second, other)) == [1, 1, 2]
        assert await sharing.get("a", making) == 3

    asyncio.run(play())


def test_it_goes_on_without_the_one_who_asked_first() -> None:
    async def play() -> None:
        sharing: Sharing[str, int] = Sharing()
        making = Making()
        first, second = (asyncio.ensure_future(sharing.get("a", making)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        making.go_on.set()

        assert await second == 1

    asyncio.run(play())


def test_an_error_is_for_all_who_wait_and_is_not_remembered() -> None:
    async def fails() -> int:
        await asyncio.sleep(0)
        raise RuntimeError("not made")

    async def play() -> None:
        sharing: Sharing[str, int] = Sharing()
        waiting = [asyncio.ensure_future(sharing.get("a", fails)) for _ in range(2)]
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert [str(outcome) for outcome in outcomes] == ["not made", "not made"]
        making = Making()
        making.go_on.set()
        assert await sharing.get("a", making) == 1

    asyncio.run(play())
