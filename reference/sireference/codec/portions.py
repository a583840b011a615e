"""Large requests as several events, so that nobody else waits for all of one to be read."""

from collections.abc import Callable, Iterable, Iterator
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
    messages: Iterable[Any]


def in_portions(make: Callable[..., Made], rm_id: str, *lists: Elements) -> Iterator[Made]:
    """Events that ``make`` makes of these lists in their order, each of a limited size."""
    portion: dict[str, list[Any]] = {}
    size = 0
    for field, read, messages in lists:
        for message in messages:
            if size == MOST:
                yield make(rm_id, **_tuples(portion), more_follows=True)
                portion, size = {}, 0
            portion.setdefault(field, []).append(read(message))
            size += 1
    yield make(rm_id, **_tuples(portion))


def _tuples(portion: dict[str, list[Any]]) -> dict[str, tuple[Any, ...]]:
    return {field: tuple(elements) for field, elements in portion.items()}
