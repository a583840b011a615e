"""Mutants of what only 2021-02 has: utilisation, auto-scaling metrics, its single stream."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.codec import Codec
from sireference.core import asks, auto_scaling, scheduler, utilisation
from sireference.core.model import Effect, RejectedNode, UpdateNodes, UtilisationReport
from sireference.core.state.cache_sync import CacheSync

from mutation.inside import Patch
from mutation.inside.node_actions import merges_attributes
from mutation.inside.releasing import key_of
from mutation.mutant import mutant, variant
from mutation.patching import instead_of

_mutant: Final = partial(mutant, revision="2021-02")


@_mutant(
    "reports-rejected",
    "A utilisation report is answered by the rejection of its node.",
    breaks=("SI-UTIL-001",),
)
@instead_of(utilisation.report)
def _(patch: Patch, _: Any, rm: Any, sent: UtilisationReport) -> list[Effect]:
    patch.fires()
    return [RejectedNode(rm.rm_id, sent.object_id, "utilisation is not supported")]


@_mutant("use-is-capacity", "Actual utilisation is treated as occupied.", breaks=("SI-UTIL-002",))
@instead_of(utilisation.report)
def _(patch: Patch, original: Callable[..., Any], rm: Any, sent: UtilisationReport) -> Any:
    known = rm.node(sent.object_id)
    if known is not None:
        patch.fires()
        _, node = known
        node.resize(node.capacity, sent.used)
    return original(rm, sent)


@_mutant("nothing-outstanding", "The metrics are empty.", breaks=("SI-AUTO-001",))
@instead_of(auto_scaling.outstanding)
def _(patch: Patch, _: Any, _rm: Any) -> Iterator[Any]:
    patch.fires()
    return iter(())


@_mutant(
    "outstanding-for-ever",
    "Entries are never removed from the metrics.",
    breaks=("SI-AUTO-001",),
)
def _(patch: Patch) -> None:
    listed: dict[str, Any] = {}

    def outstanding(original: Callable[..., Any], rm: Any) -> Iterator[Any]:
        for one in original(rm):
            listed[one.request_id] = one
        patch.fires()
        return iter(listed.values())

    patch.instead_of(auto_scaling.outstanding, outstanding)


@_mutant(
    "all-that-waits-is-outstanding",
    "The metrics list all pending asks, regardless of what blocks them.",
    breaks=("SI-AUTO-002",),
)
@instead_of(auto_scaling.outstanding)
def _(patch: Patch, _: Any, rm: Any) -> Iterator[Any]:
    patch.fires()
    for one in rm.partitions.values():
        for application in one.applications.values():
            for pending in application.pending.values():
                ask = pending.ask
                yield auto_scaling.OutstandingRequest(ask.key, ask.resource, ask.tags)


@_mutant(
    "one-kind-a-message",
    "Of a message with several kinds of entries only the first kind counts.",
    breaks=("SI-CONN-016",),
)
@instead_of(Codec.events)
def _(patch: Patch, original: Callable[..., Any], codec: Codec, method: str, message: Any) -> Any:
    found = list(original(codec, method, message))
    if len(found) > 1:
        patch.fires()
    return found[:1]


@variant(
    "never-forgotten",
    "The end of a released allocation is not synchronised (2021-02).",
    once_failed_by=("SI-CB-011",),
    areas=("CB", "ALLOC", "REL"),
    revision="2021-02",
)
@instead_of(CacheSync.allocation_removed)
def _(patch: Patch, _: Any, _cache: Any, _live: Any) -> None:
    patch.fires()


@_mutant(
    "forgotten-at-once",
    "The scheduler sends forget for an allocation as soon as it sends assume.",
    breaks=("SI-CB-011",),
)
@instead_of(CacheSync.allocation_added)
def _(patch: Patch, original: Callable[..., Any], cache: Any, live: Any) -> None:
    original(cache, live)
    patch.fires()
    cache.allocation_removed(live)


@_mutant("never-assumed", "A new allocation is not synchronised.", breaks=("SI-CB-011",))
@instead_of(CacheSync.allocation_added)
def _(patch: Patch, _: Any, _cache: Any, _live: Any) -> None:
    patch.fires()


@_mutant(
    "attributes-stay",
    "Updated node attributes are ignored (one stream).",
    breaks=("SI-NODE-020", "SI-NODE-038"),
)
@instead_of(scheduler.apply)
def _(patch: Patch, original: Callable[..., Any], rm: Any, event: Any, now: float) -> Any:
    if isinstance(event, UpdateNodes):
        kept = {info.node_id: rm.node(info.node_id) for info in event.nodes}
        before = {key: one[1].attributes for key, one in kept.items() if one is not None}
        effects = original(rm, event, now)
        for key, attributes in before.items():
            known = rm.node(key)
            if known is not None and known[1].attributes != attributes:
                patch.fires()
                known[1].attributes = attributes
                known[0].node_index.regrouped()
        return effects
    return original(rm, event, now)


@_mutant(
    "recommendations-are-followed",
    "The recommended capacity of a node becomes its capacity.",
    breaks=("SI-NREC-002",),
)
@instead_of(utilisation.report)
def _(patch: Patch, original: Callable[..., Any], rm: Any, sent: UtilisationReport) -> Any:
    effects = original(rm, sent)
    known = rm.node(sent.object_id)
    if effects and known is not None:
        patch.fires()
        partition, node = known
        partition.total = partition.total - node.capacity + node.advised
        node.resize(node.advised, node.occupied)
    return effects


@_mutant(
    "outstanding-twice",
    "The metrics list each request twice, with different ids.",
    breaks=("SI-AUTO-001",),
)
@instead_of(auto_scaling.outstanding)
def _(patch: Patch, original: Callable[..., Any], rm: Any) -> Iterator[Any]:
    for one in original(rm):
        patch.fires()
        yield one
        yield replace(one, request_id=f"{one.request_id} once more")


@_mutant(
    "withdrawn-is-outstanding",
    "Withdrawn asks stay in the metrics.",
    breaks=("SI-AUTO-001",),
)
def _(patch: Patch) -> None:
    withdrawn: list[Any] = []

    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        before = {one.request_id: one for one in original_outstanding(rm)}
        key = key_of(request)
        if key in before:
            patch.fires()
            withdrawn.append(before[key])
        return original(rm, request, now)

    def outstanding(original: Callable[..., Any], rm: Any) -> Iterator[Any]:
        yield from original(rm)
        yield from withdrawn

    original_outstanding = auto_scaling.outstanding
    patch.instead_of(auto_scaling.outstanding, outstanding)
    patch.instead_of(asks.release, release)


@_mutant(
    "limits-are-no-matter-for-metrics",
    "The metrics list asks blocked by user and application limits.",
    breaks=("SI-AUTO-002",),
)
@instead_of(auto_scaling.outstanding)
def _(patch: Patch, original: Callable[..., Any], rm: Any) -> Iterator[Any]:
    yield from original(rm)
    for partition in rm.partitions.values():
        for application in partition.applications.values():
            leaf = application.leaf.config
            if leaf.limits or leaf.max_applications:
                for pending in application.pending.values():
                    patch.fires()
                    ask = pending.ask
                    yield auto_scaling.OutstandingRequest(ask.key, ask.resource, ask.tags)


@_mutant(
    "attributes-are-merged-on-one-stream",
    "Updated attributes are merged with earlier ones: a key left out stays (2021-02).",
    breaks=("SI-NODE-038",),
)
def _(patch: Patch) -> None:
    merges_attributes(patch)
