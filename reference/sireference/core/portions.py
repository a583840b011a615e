"""Portions: a sentence that ends very many asks or allocations is handled bit by bit.

One sentence can withdraw a million asks. It means the same as a million sentences that withdraw one
each; as such it is handled in portions, with time for other resource managers between them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from sireference.core import asks, releases
from sireference.core.books.resource_manager import ResourceManager
from sireference.core.model import AskRelease, Event, Release, UpdateAllocations, partition_name

MOST: Final = 200  # elements of one portion; to handle one takes some ten microseconds

Element = TypeVar("Element")


def portions(rm: ResourceManager, event: Event) -> Iterator[Event]:
    """Events that together mean ``event``; what each means is found out when its turn has come."""
    if not isinstance(event, UpdateAllocations) or not _is_wide(rm, event):
        yield event
        return
    yield replace(event, ask_releases=(), releases=(), more_follows=True)
    for withdrawal in event.ask_releases:
        for some in _in_portions(_withdrawals(rm, withdrawal)):
            yield UpdateAllocations(event.rm_id, ask_releases=some, more_follows=True)
    for release in event.releases:
        for these in _in_portions(_releases(rm, release)):
            yield UpdateAllocations(event.rm_id, releases=these, more_follows=True)
    yield UpdateAllocations(event.rm_id, more_follows=event.more_follows)


def _is_wide(rm: ResourceManager, event: UpdateAllocations) -> bool:
    """Whether one of its sentences may end very many, with what ``event`` itself brings."""
    news = len(event.asks) + len(event.allocations)
    return any(
        len(_withdrawals(rm, withdrawal)) + news > MOST
        for withdrawal in event.ask_releases
        if not withdrawal.key
    ) or any(
        len(_releases(rm, release)) + news > MOST
        for release in event.releases
        if not release.identity
    )


def _withdrawals(rm: ResourceManager, withdrawal: AskRelease) -> Sequence[AskRelease]:
    """``withdrawal``, ask by ask if it means very many."""
    partition = rm.partitions.get(partition_name(withdrawal.partition))
    if withdrawal.key or partition is None:
        return [withdrawal]
    meant = list(asks.meant(partition, withdrawal))
    if len(meant) <= MOST:
        return [withdrawal]
    return [
        replace(withdrawal, application_id=application.application_id, key=pending.ask.key)
        for application, pending in meant
    ]


def _releases(rm: ResourceManager, release: Release) -> Sequence[Release]:
    """``release``, allocation by allocation if it means very many."""
    partition = rm.partitions.get(partition_name(release.partition))
    if release.identity or partition is None:
        return [release]
    meant = releases.meant(partition, release)
    if len(meant) <= MOST:
        return [release]
    return [replace(release, identity=live.allocation.identity, key="") for live in meant]


def _in_portions(elements: Sequence[Element]) -> Iterator[tuple[Element, ...]]:
    for first in range(0, len(elements), MOST):
        yield tuple(elements[first : first + MOST])
