"""Small histories, spelled by bytes, in which the key is the identity."""

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
    """The history that ``data`` spells: applications that are mostly in one leaf, then anything."""
    return small_histories.spelled(data, _MOVES)


def _asks(said: Bytes, _: str, __: Iterator[str]) -> object:
    return of_its_application(small_histories.member(said, f"k{said.number() % 6}"))


def _reports(said: Bytes, _: str, __: Iterator[str]) -> object:
    """Something new, or something that is known."""
    ask = of_its_application(small_histories.member(said, f"k{said.number() % 9}"))
    return AllocationRecord(ask.key, ask, said.of(small_histories.NODES))


def _says_again(said: Bytes, _: str, __: Iterator[str]) -> object:
    traits = said.number()
    node = traits // 8 if traits % 2 else None
    return Again(said.number(), said.amount(6), node, lives=traits // 2 % 4 > 0)


def _sees(said: Bytes, _: str, __: Iterator[str]) -> object:
    node = said.of(small_histories.NODES)
    return ForeignAllocation(said.of(_FOREIGN), node, resource=said.amount(8))


def _sees_no_more(said: Bytes, _: str, __: Iterator[str]) -> object:
    return ReleaseRequest("default", OneOfKey("", said.of(_FOREIGN)), _STOPPED)


def _releases(said: Bytes, _: str, __: Iterator[str]) -> object:
    application_id, number = said.of(small_histories.APPLICATIONS), said.number()
    if number % 8 == 7:
        return ReleaseRequest("default", AskedAndHeld(application_id), _STOPPED)
    key = f"{application_id}-k{number % 9}"
    return ReleaseRequest("default", OneOfKey(application_id, key), _STOPPED)


def _creates(said: Bytes, leaf: str, identities: Iterator[str]) -> object:
    return replace(small_histories.creates(said, leaf, identities), allocations=())


_MOVES: Final[tuple[Any, ...]] = (
    *[_asks] * 9,
    *[_says_again] * 5,
    *[_creates] * 4,
    *[_reports] * 2,
    *[_sees] * 3,
    _sees_no_more,
    *[_releases] * 3,
    *[small_histories.confirms] * 3,
    *small_histories.OTHERS,
)
