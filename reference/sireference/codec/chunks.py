"""Chunks: a large request becomes several events, so that reading it does not block others."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from sireference.core.model import (
    ReportUtilisation,
    UpdateAllocations,
    UpdateApplications,
    UpdateNodes,
)

MOST: Final = 200  # elements of one event

Made = UpdateNodes | UpdateApplications | UpdateAllocations | ReportUtilisation


class Elements(NamedTuple):
    """A list of a request: the field of the event, the reading function and the elements."""

    field: str
    read: Callable[[Any], Any]
    messages: Sequence[Any]


def in_chunks(make: Callable[..., Made], rm_id: str, *lists: Elements) -> Iterator[Made]:
    """Yield events that ``make`` makes of these lists in order, each of a limited size."""
    chunk: dict[str, tuple[Any, ...]] = {}
    size = 0
    for field, read, messages in lists:
        done = 0
        while done < len(messages):
            if size == MOST:
                yield make(rm_id, **chunk, more_follows=True)
                chunk, size = {}, 0
            some = messages[done : done + MOST - size]
            chunk[field] = chunk.get(field, ()) + tuple(map(read, some))
            done += len(some)
            size += len(some)
    yield make(rm_id, **chunk)
