"""Small histories, encoded as bytes, without gangs and with asks that may preempt others."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tests import small_histories
from tests.small_histories import Bytes, Move, World


def preemption_world(data: bytes) -> World:
    """Decode ``data``: applications, mostly in one leaf, then arbitrary moves."""
    return small_histories.spelled(data, _MOVES)


def _asks(sent: Bytes, _: str, __: Iterator[str]) -> object:
    ask = small_histories.member(sent, f"k{sent.number() % 6}")
    return replace(ask, task_group="", placeholder=False)


_MOVES: Final[tuple[Move, ...]] = (
    *[_asks] * 9,
    *[small_histories.creates] * 2,
    *[small_histories.releases] * 3,
    *[small_histories.confirms] * 2,
    *small_histories.OTHERS,
)
