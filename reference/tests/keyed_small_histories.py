"""Small histories, encoded as bytes, in which the key is the identity."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from sireference.core.model import (
    AllocationRecord,
    AskedAndHeld,
    ForeignAllocation,
    OneOfKey,
    ReleaseRequest,
)
from sireference.core.states import TerminationType
from tests import small_histories
from tests.keyed_moves import Again, of_its_application
from tests.small_histories import Bytes, World

_FOREIGN: Final = ("f1", "f2", "f3")
_STOPPED: Final = TerminationType.STOPPED_BY_RM


def keyed_world(data: bytes) -> World:
    """Decode ``data``: applications, mostly in one leaf, then arbitrary moves."""
    return small_histories.spelled(data, _MOVES)


def _asks(sent: Bytes, _: str, __: Iterator[str]) -> object:
    return of_its_application(small_histories.member(sent, f"k{sent.number() % 6}"))


def _reports(sent: Bytes, _: str, __: Iterator[str]) -> object:
    """Decode a new item or a known one."""
    ask = of_its_application(small_histories.member(sent, f"k{sent.number() % 9}"))
    return AllocationRecord(ask.key, ask, sent.of(small_histories.NODES))


def _states_again(sent: Bytes, _: str, __: Iterator[str]) -> object:
    traits = sent.number()
    node = traits // 8 if traits % 2 else None
    return Again(sent.number(), sent.amount(6), node, is_live=traits // 2 % 4 > 0)


def _sees(sent: Bytes, _: str, __: Iterator[str]) -> object:
    node = sent.of(small_histories.NODES)
    return ForeignAllocation(sent.of(_FOREIGN), node, resource=sent.amount(8))


def _sees_no_more(sent: Bytes, _: str, __: Iterator[str]) -> object:
    return ReleaseRequest("default", OneOfKey("", sent.of(_FOREIGN)), _STOPPED)


def _releases(sent: Bytes, _: str, __: Iterator[str]) -> object:
    application_id, number = sent.of(small_histories.APPLICATIONS), sent.number()
    if number % 8 == 7:
        return ReleaseRequest("default", AskedAndHeld(application_id), _STOPPED)
    key = f"{application_id}-k{number % 9}"
    return ReleaseRequest("default", OneOfKey(application_id, key), _STOPPED)


def _creates(sent: Bytes, leaf: str, identities: Iterator[str]) -> object:
    return replace(small_histories.creates(sent, leaf, identities), allocations=())


_MOVES: Final[tuple[Any, ...]] = (
    *[_asks] * 9,
    *[_states_again] * 5,
    *[_creates] * 4,
    *[_reports] * 2,
    *[_sees] * 3,
    _sees_no_more,
    *[_releases] * 3,
    *[small_histories.confirms] * 3,
    *small_histories.OTHERS,
)
