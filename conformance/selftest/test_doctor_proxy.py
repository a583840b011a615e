"""The proxy before the reference: added messages are written in turn with forwarded ones."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator

import pytest
from siconform.doctor.proxy import _Call, main
from siconform.doctor.revision import si


class _CallOfGrpc:
    """A call that fails on concurrent writes, as those of grpc do."""

    def __init__(self, received: list[bytes]) -> None:
        self.written: list[bytes] = []
        self._received = received
        self._is_busy = False

    async def write(self, data: bytes) -> None:
        assert not self._is_busy
        self._is_busy = True
        await asyncio.sleep(0)
        self.written.append(data)
        self._is_busy = False

    async def done_writing(self) -> None: ...

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for data in self._received:
            yield data


async def _asked() -> AsyncIterator[bytes]:
    for data in (b"1", b"2", b"3"):
        yield data


def test_added_messages_are_not_written_concurrently() -> None:
    of = _CallOfGrpc([b"released", b"released"])
    call = _Call(of, defaultdict(set), lambda: None)
    confirmation = si.AllocationRequest(rmID="rm")

    async def passes(data: bytes) -> list[bytes]:
        return [data]

    async def confirms(data: bytes) -> list[bytes]:
        call.wire.to_scheduler(confirmation)
        return [data]

    async def both_ways() -> None:
        await asyncio.gather(call.up(_asked(), passes), call.down(confirms))

    asyncio.run(both_ways())
    added = confirmation.SerializeToString()
    assert sorted(of.written) == sorted([b"1", b"2", b"3", added, added])


@pytest.mark.parametrize("arguments", [[], ["--help"], ["no-such-change"]])
def test_without_name_the_mutants_are_listed(arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match=r"give the name of a mutant: .*drain-ignored"):
        main(arguments)
