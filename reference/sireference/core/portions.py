"""Portions: a sentence that ends very many asks or allocations is handled bit by bit.

One sentence can withdraw a million asks. It means the same as a million sentences that withdraw one
each; as such it is handled in portions, with time for other resource managers between them. What a
large application has is taken from it bit by bit before it goes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from sireference.core import asks, releases
from sireference.core.books.resource_manager import ResourceManager
from sireference.core.model import (
    AskRelease,
    Event,
    Release,
    UpdateAllocations,
    UpdateApplications,
    partition_name,
)

MOST: Final = 200  # elements of one portion; to handle one takes some ten microseconds

Element = TypeVar("Element")


def portions(rm: ResourceManager, event: Event) -> Iterator[Event]:
    """Events that together mean ``event``; what each means is found out when its turn has come."""
    match event:
        case UpdateAllocations() if _is_wide(rm, event):
            yield from _narrowed(rm, event)
        case UpdateApplications() if event.remove:
            yield from _removals(rm, event)
        case _:
            yield event


def _narrowed(rm: ResourceManager, event: UpdateAllocations) -> Iterator[Event]:
    yield replace(event, ask_releases=(), releases=(), more_follows=True)
    for withdrawal in event.ask_releases:
        for some in _in_portions(_withdrawals(rm, withdrawal)):
            yield UpdateAllocations(event.rm_id, ask_releases=some, more_follows=True)
    for release in event.releases:
        for these in _in_portions(_releases(rm, release)):
            yield UpdateAllocations(event.rm_id, releases=these, more_follows=True)
    yield UpdateAllocations(event.rm_id, more_follows=event.more_follows)


def _removals(rm: ResourceManager, event: UpdateApplications) -> Iterator[Event]:
    """``event``, after what the largest of the applications have has been taken from them."""
    for removal in event.remove:
        partition = rm.partitions.get(partition_name(removal.partition))
        applications = partition.applications if partition is not None else {}
        application = applications.get(removal.application_id)
        if application is None:
            continue
        some = replace(removal, at_most=MOST)
        for _ in range((len(application.pending) + len(application.allocations)) // MOST):
            yield UpdateApplications(event.rm_id, remove=(some,), more_follows=True)
    yield event


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
