"""Large requests as several events, so that nobody else waits for all of one to be read."""

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
    """A list of a request: the field of the event, how to read an element, and the elements."""

    field: str
    read: Callable[[Any], Any]
    messages: Sequence[Any]


def in_chunks(make: Callable[..., Made], rm_id: str, *lists: Elements) -> Iterator[Made]:
    """Events that ``make`` makes of these lists in their order, each of a limited size."""
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
