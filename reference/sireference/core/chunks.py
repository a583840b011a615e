"""Chunks: an element that ends very many asks or allocations is handled in parts.

One element can withdraw a million asks. It is handled in chunks, as if it were a million elements
with one ask each, so that other resource managers are served in between. A large application, or a
node with many allocations, is emptied chunk by chunk before it is removed.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final, TypeVar

from sireference.core.model import (
    AllocationSubject,
    AllOfApplication,
    AskedAndHeld,
    AskReleaseRequest,
    EachOfKey,
    Event,
    Everything,
    NodeInfo,
    OneAllocation,
    OneOfKey,
    ReleaseRequest,
    UpdateAllocations,
    UpdateApplications,
    UpdateNodes,
    partition_name,
)
from sireference.core.state.application import Application
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import NodeAction

MOST: Final = 200  # elements of one chunk; each takes about ten microseconds

Sentence = TypeVar("Sentence")


def chunks(rm: ResourceManager, event: Event) -> Iterator[Event]:
    """Yield events that together are equivalent to ``event``, each computed when its turn comes."""
    match event:
        case UpdateAllocations() if _is_wide(rm, event):
            yield from _narrowed(rm, event)
        case UpdateApplications() if event.remove:
            yield from _removals(rm, event)
        case UpdateNodes() if sum(_held(rm, info) for info in event.nodes) > MOST:
            for some in _in_chunks(_decommissions(rm, event)):
                yield UpdateNodes(event.rm_id, some, more_follows=True)
            yield UpdateNodes(event.rm_id, more_follows=event.more_follows)
        case _:
            yield event


def _narrowed(rm: ResourceManager, event: UpdateAllocations) -> Iterator[Event]:
    yield replace(event, ask_releases=(), releases=(), more_follows=True)
    for withdrawal in event.ask_releases:
        for some in _in_chunks(_withdrawals(rm, withdrawal)):
            yield UpdateAllocations(event.rm_id, ask_releases=some, more_follows=True)
    for release in event.releases:
        for these in _in_chunks(_releases(rm, release)):
            yield UpdateAllocations(event.rm_id, releases=these, more_follows=True)
    yield UpdateAllocations(event.rm_id, more_follows=event.more_follows)


def _removals(rm: ResourceManager, event: UpdateApplications) -> Iterator[Event]:
    """Yield ``event`` after the largest applications have been emptied."""
    for removal in event.remove:
        partition = rm.partitions.get(partition_name(removal.partition))
        applications = partition.applications if partition is not None else {}
        application = applications.get(removal.application_id)
        if application is None:
            continue
        some = replace(removal, at_most=MOST)
        for _ in range((len(application.pending) + application.held) // MOST):
            yield UpdateApplications(event.rm_id, remove=(some,), more_follows=True)
    yield event


def _held(rm: ResourceManager, info: NodeInfo) -> int:
    """Return how many allocations end with a node that is decommissioned."""
    known = rm.node(info.node_id) if info.action is NodeAction.DECOMMISSION else None
    return 0 if known is None else len(known[0].allocations.on(known[1]))


def _decommissions(rm: ResourceManager, event: UpdateNodes) -> Iterator[tuple[int, NodeInfo]]:
    """Yield the updates of each node, repeated for large nodes, with how many allocations end."""
    for info in event.nodes:
        held = _held(rm, info)
        for _ in range(held // MOST):
            yield MOST, replace(info, at_most=MOST)
        yield 1 + held % MOST, info


def _is_wide(rm: ResourceManager, event: UpdateAllocations) -> bool:
    """Return whether one element of ``event`` may end very many, counting those it adds."""
    most = MOST - len(event.asks) - len(event.allocations) - len(event.entries)
    return any(
        sum(len(application.pending) for application in _withdrawn(rm, withdrawal)) > most
        for withdrawal in event.ask_releases
        if not isinstance(withdrawal.subject, OneOfKey)
    ) or any(
        len(_released(rm, release)) > most
        for release in event.releases
        if isinstance(release.subject, AllOfApplication | AskedAndHeld)
    )


def _withdrawn(rm: ResourceManager, withdrawal: AskReleaseRequest) -> Collection[Application]:
    """Return the applications that may lose all their asks."""
    partition = rm.partitions.get(partition_name(withdrawal.partition))
    match withdrawal.subject:
        case Everything() if partition is not None:
            return partition.applications.values()
        case AllOfApplication(application_id) if partition is not None:
            named = partition.applications.get(application_id)
            return (named,) if named is not None else ()
    return ()


def _released(rm: ResourceManager, release: ReleaseRequest) -> Collection[AllocationSubject]:
    """Yield what an application loses if it may lose everything, one by one."""
    partition = rm.partitions.get(partition_name(release.partition))
    applications = partition.applications if partition is not None else {}
    named = applications.get(release.subject.application_id)
    if partition is None or named is None:
        return ()
    application_id = named.application_id
    held = [OneAllocation(application_id, one) for one in partition.allocations.of(named)]
    match release.subject:
        case AllOfApplication():
            return held
        case AskedAndHeld():
            return [*(OneOfKey(application_id, key) for key in named.pending), *held]
    return ()


def _withdrawals(
    rm: ResourceManager, withdrawal: AskReleaseRequest
) -> Iterator[tuple[int, AskReleaseRequest]]:
    """Split ``withdrawal`` by application and size; yield each with its number of asks."""
    if isinstance(withdrawal.subject, OneOfKey | EachOfKey):
        yield 1, withdrawal
        return
    for application in list(_withdrawn(rm, withdrawal)):
        its_asks = AllOfApplication(application.application_id)
        some = replace(withdrawal, subject=its_asks, at_most=MOST)
        for _ in range(0, len(application.pending), MOST):
            yield min(MOST, len(application.pending)), some


def _releases(rm: ResourceManager, release: ReleaseRequest) -> Iterator[tuple[int, ReleaseRequest]]:
    """Split ``release`` by request and allocation."""
    if not isinstance(release.subject, AllOfApplication | AskedAndHeld):
        yield 1, release
        return
    for subject in _released(rm, release):
        yield 1, replace(release, subject=subject)


def _in_chunks(sentences: Iterable[tuple[int, Sentence]]) -> Iterator[tuple[Sentence, ...]]:
    """Group elements up to the size of a chunk."""
    chunk: list[Sentence] = []
    size = 0
    for count, sentence in sentences:
        if chunk and size + count > MOST:
            yield tuple(chunk)
            chunk, size = [], 0
        chunk.append(sentence)
        size += count
    if chunk:
        yield tuple(chunk)
