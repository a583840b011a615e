"""Mutants of recovery: which existing allocations are accepted, where, and how they count."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import allocations, applications, nodes, recovery
from sireference.core.gang import placeholders, replacement, timeout
from sireference.core.model import (
    AllocationRecord,
    Effect,
    NodeInfo,
    RejectedAllocation,
    RejectedNode,
    partition_name,
)
from sireference.core.resources import Resource
from sireference.core.state.quota import Quota, Quotas
from sireference.core.state.user_quota import UserQuota
from sireference.core.states import NodeAction, NodeState

from mutation.inside import Original, Patch, tracking
from mutation.mutant import mutant
from mutation.patching import instead_of

Objections = Callable[..., Iterator[str]]
_TOO_OFTEN: Final = 3


@mutant(
    "existing-once-a-key",
    "Of the existing allocations of a node that have the same key only the first is taken over.",
    breaks=("SI-REC-001",),
    revision="2023-12",
)
@instead_of(nodes.create)
def _(patch: Patch, original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
    first_of_each = {one.ask.key: one for one in reversed(info.allocations)}
    if len(first_of_each) < len(info.allocations):
        patch.fires()
        info = replace(info, allocations=tuple(first_of_each.values()))
    return original(rm, info, now)


@mutant(
    "nameless-existing-taken-over",
    "An existing allocation without identity is accepted.",
    breaks=("SI-REC-004",),
)
@instead_of(recovery.objections)
def _(
    patch: Patch, original: Objections, partition: Any, allocation: AllocationRecord, *rest: Any
) -> Iterator[str]:
    for reason in original(partition, allocation, *rest):
        if allocation.identity or "identity" not in reason:
            yield reason
        else:
            patch.fires()


@mutant(
    "nameless-existing-left-out",
    "Existing allocations without identity are silently dropped with their node.",
    breaks=("SI-REC-004",),
    revision="2023-12",
)
@instead_of(nodes.create)
def _(patch: Patch, original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
    named = tuple(one for one in info.allocations if one.identity)
    if len(named) < len(info.allocations):
        patch.fires()
    return original(rm, replace(info, allocations=named), now)


def _refuses(patch: Patch, why_not: Callable[[Any, AllocationRecord], str]) -> None:
    """Reject an existing allocation for which there is a reason."""

    def objections(
        original: Objections, partition: Any, allocation: AllocationRecord, *rest: Any
    ) -> Iterator[str]:
        reasons = list(original(partition, allocation, *rest))
        yield from reasons
        more = "" if reasons else why_not(partition, allocation)
        if more:
            patch.fires()
            yield more

    patch.instead_of(recovery.objections, objections)


@mutant(
    "draining-node-takes-nothing-over",
    "An existing allocation on a draining node is rejected.",
    breaks=("SI-REC-009",),
)
def _(patch: Patch) -> None:
    def why_not(partition: Any, allocation: AllocationRecord) -> str:
        is_open = partition.nodes[allocation.node_id].state is NodeState.SCHEDULABLE
        return "" if is_open else "the node is draining"

    _refuses(patch, why_not)


@mutant(
    "existing-beyond-the-quota-refused",
    "An existing allocation that exceeds the quota of its queue is rejected.",
    breaks=("SI-REC-013",),
)
def _(patch: Patch) -> None:
    def why_not(partition: Any, allocation: AllocationRecord) -> str:
        application = partition.applications[allocation.ask.application_id]
        has_capacity = all(
            quota.has_capacity(allocation.ask.resource) for quota in application.quotas
        )
        return "" if has_capacity else "its queue is full"

    _refuses(patch, why_not)


@mutant(
    "existing-beyond-the-node-refused",
    "An existing allocation that does not fit its node is rejected.",
    breaks=("SI-REC-013",),
)
def _(patch: Patch) -> None:
    def why_not(partition: Any, allocation: AllocationRecord) -> str:
        node = partition.nodes[allocation.node_id]
        return "" if allocation.ask.resource.fits(node.free) else "its node is full"

    _refuses(patch, why_not)


@mutant(
    "recovered-is-outside-the-quota",
    "Recovered allocations do not count in their queue.",
    breaks=("SI-REC-013",),
)
def _(patch: Patch) -> None:
    recovering: list[Any] = []
    uncounted: dict[int, Any] = {}

    def recover(original: Original, partition: Any, allocation: Any, now: float) -> list[Effect]:
        recovering.append(allocation)
        try:
            return original(partition, allocation, now)
        finally:
            recovering.pop()

    def book(original: Callable[..., None], quotas: Quotas, resource: Any) -> None:
        if recovering:
            patch.fires()
            uncounted[id(resource)] = resource
        else:
            original(quotas, resource)

    def unbook(original: Callable[..., None], quotas: Quotas, resource: Any) -> None:
        if id(resource) not in uncounted:
            original(quotas, resource)

    patch.instead_of(recovery.recover, recover)
    patch.instead_of(Quotas.book, book)
    patch.instead_of(Quotas.unbook, unbook)


@mutant(
    "update-brings-existing",
    "Existing allocations in a node update are recovered.",
    breaks=("SI-REC-015",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    def change(
        original: Original, partition: Any, node: Any, info: NodeInfo, now: float
    ) -> list[Effect]:
        effects = original(partition, node, info, now)
        for allocation in info.allocations if info.action is NodeAction.UPDATE else ():
            if not any(recovery.objections(partition, allocation)):
                patch.fires()
                effects += recovery.recover(partition, allocation, now)
        return effects

    patch.instead_of(nodes.change, change)


def _recovered(patch: Patch) -> Callable[[Any], bool]:
    """Return whether an application has a recovered allocation."""
    recovered: set[str] = set()
    partitions: dict[Any, Any] = {}  # of applications with a recovered allocation

    def recover(original: Original, partition: Any, allocation: Any, now: float) -> list[Effect]:
        partitions[partition.applications[allocation.ask.application_id]] = partition
        recovered.add(allocation.identity)
        return original(partition, allocation, now)

    def is_recovered(application: Any) -> bool:
        partition = partitions.get(application)
        held = () if partition is None else partition.allocations.of(application)
        return not recovered.isdisjoint(held)

    patch.instead_of(recovery.recover, recover)
    return is_recovered


@mutant(
    "recovered-gang-waits-for-ever",
    "A gang with a recovered placeholder has no timeout.",
    breaks=("SI-REC-020",),
)
def _(patch: Patch) -> None:
    is_recovered = _recovered(patch)

    def watch(original: Callable[..., None], partition: Any, application: Any, now: float) -> None:
        if not is_recovered(application):
            original(partition, application, now)
        elif application.is_gang and not application.has_begun:
            patch.fires()

    patch.instead_of(timeout.watch, watch)


@mutant(
    "gang-rest-ignores-recovered",
    "After recovery a gang waits for capacity for all that it announced again.",
    breaks=("SI-GANG-018",),
)
def _(patch: Patch) -> None:
    is_recovered = _recovered(patch)

    def closed_gate(original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
        application, total = ask_group.application, ask_group.gang_need
        gate = original(partition, ask_group)
        if gate is not None or total is None or not ask_group.key.is_placeholder:
            return gate
        if not is_recovered(application) or not application.is_gathering:
            return None
        for quota in application.quotas:
            if not quota.has_capacity(total):
                patch.fires()
                return quota.too_small
        return None

    patch.instead_of(placeholders.closed_gate, closed_gate)


@mutant(
    "recovered-gang-has-no-asks",
    "Recovered placeholders make a gang complete, regardless of pending asks.",
    breaks=("SI-REC-020",),
)
def _(patch: Patch) -> None:
    is_recovered = _recovered(patch)

    def expire(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        if not is_recovered(application):
            return original(partition, application, now)
        patch.fires()
        return []

    patch.instead_of(timeout.expire, expire)


@mutant(
    "recovered-gang-has-thrice-the-time",
    "The timeout of a gang with a recovered placeholder is three times as long.",
    breaks=("SI-REC-020",),
)
def _(patch: Patch) -> None:
    is_recovered = _recovered(patch)

    def seconds_to_gather(original: Callable[..., float], settings: Any, application: Any) -> float:
        seconds = original(settings, application)
        if not is_recovered(application):
            return seconds
        patch.fires()
        return _TOO_OFTEN * seconds

    patch.instead_of(timeout.seconds_to_gather, seconds_to_gather)


@mutant(
    "recovered-placeholders-lose-their-group",
    "A recovered placeholder is replaced by a real ask of any task group.",
    breaks=("SI-REC-011",),
)
def _(patch: Patch) -> None:
    recovered: set[str] = set()

    def recover(original: Original, partition: Any, allocation: Any, now: float) -> list[Effect]:
        recovered.add(allocation.identity)
        return original(partition, allocation, now)

    def choose(original: Callable[..., Any], partition: Any, pending: Any) -> Any:
        gang, wanted = partition.gangs.get(pending.application), pending.key.replaces
        for name, group in gang.replaceable.items() if gang is not None and wanted else ():
            for identity, placeholder in group.items():
                if identity in recovered:
                    if name != wanted:
                        patch.fires()
                    return placeholder
        return original(partition, pending)

    patch.instead_of(recovery.recover, recover)
    patch.instead_of(replacement.choose, choose)


@mutant(
    "beyond-the-quota-for-good",
    "Nothing is allocated any more in a queue whose recovered allocations exceed its quota.",
    breaks=("SI-REC-013",),
)
def _(patch: Patch) -> None:
    beyond: set[Quota] = set()

    def recover(original: Original, partition: Any, allocation: Any, now: float) -> list[Effect]:
        application = partition.applications[allocation.ask.application_id]
        for quota in application.quotas:
            if not quota.has_capacity(allocation.ask.resource):
                beyond.add(quota)
        return original(partition, allocation, now)

    def has_capacity(original: Callable[..., bool], quota: Quota, *args: Any) -> bool:
        has_capacity = original(quota, *args)
        if has_capacity and quota in beyond:
            patch.fires()
            return False
        return has_capacity

    patch.instead_of(recovery.recover, recover)
    patch.instead_of(Quota.has_capacity, has_capacity)
    patch.instead_of(Quota.can_take, has_capacity)


@mutant(
    "update-with-existing-refused",
    "A node update with existing allocations is rejected as a whole.",
    breaks=("SI-REC-015",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    def change(original: Original, partition: Any, node: Any, info: Any, now: float) -> Any:
        if not info.allocations:
            return original(partition, node, info, now)
        patch.fires()
        return [RejectedNode(partition.rm_id, node.node_id, "existing allocations need a creation")]

    patch.instead_of(nodes.change, change)


@instead_of(recovery.recover)
def _not_counted_for_users(
    patch: Patch, original: Original, partition: Any, record: Any, now: float
) -> list[Effect]:
    effects = original(partition, record, now)
    for quota in partition.applications[record.ask.application_id].quotas:
        if isinstance(quota, UserQuota):
            patch.fires()
            quota.unbook(record.ask.resource)
    return effects


mutant(
    "recovered-not-counted-for-users",
    "A recovered allocation does not count for its user.",
    breaks=("SI-REC-007",),
)(_not_counted_for_users)
mutant(
    "existing-on-nodes-not-counted-for-users",
    "An existing allocation of a new node does not count for its user.",
    breaks=("SI-REC-001",),
    revision="2023-12",
)(_not_counted_for_users)


def _not_counted_in(patch: Patch, is_passed_over: Callable[[Any, Any, Any], bool]) -> None:
    """Do not count recovered allocations in some of the quotas."""

    def recover(original: Original, partition: Any, record: Any, now: float) -> list[Effect]:
        effects = original(partition, record, now)
        application = partition.applications[record.ask.application_id]
        for quota in application.quotas:
            if is_passed_over(application, record, quota):
                patch.fires()
                quota.unbook(record.ask.resource)
        return effects

    patch.instead_of(recovery.recover, recover)


mutant(
    "recovered-counts-in-leaves-only",
    "A recovered allocation does not count in the parents of its queue.",
    breaks=("SI-REC-007",),
)(partial(_not_counted_in, is_passed_over=lambda app, _record, quota: quota in app.leaf.path[1:]))
mutant(
    "recovered-placeholders-not-counted-in-quotas",
    "A recovered placeholder does not count in any quota.",
    breaks=("SI-REC-007",),
)(partial(_not_counted_in, is_passed_over=lambda _app, record, _quota: record.ask.is_placeholder))
mutant(
    "existing-on-nodes-counts-in-leaves-only",
    "An existing allocation of a new node does not count in the parents of its queue.",
    breaks=("SI-REC-001",),
    revision="2023-12",
)(partial(_not_counted_in, is_passed_over=lambda app, _record, quota: quota in app.leaf.path[1:]))
mutant(
    "existing-placeholders-on-nodes-not-counted-in-quotas",
    "An existing placeholder of a new node does not count in any quota.",
    breaks=("SI-REC-001",),
    revision="2023-12",
)(partial(_not_counted_in, is_passed_over=lambda _app, record, _quota: record.ask.is_placeholder))


@mutant(
    "existing-on-nodes-counts-without-vcores",
    "An existing allocation of a new node counts there without its vcores.",
    breaks=("SI-REC-001",),
    revision="2023-12",
)
@instead_of(recovery.recover)
def _(patch: Patch, original: Original, partition: Any, record: Any, now: float) -> list[Effect]:
    effects = original(partition, record, now)
    node, vcores = partition.nodes[record.node_id], record.ask.resource.amounts.get("vcore", 0)
    if vcores:
        patch.fires()
        node.unbook(Resource({"vcore": vcores}))
        if node.state is NodeState.SCHEDULABLE:
            partition.node_index.capacity_freed(node)
    return effects


@mutant(
    "existing-allocation-counts-twice",
    "An existing allocation that is reported again is rejected and counts once more on its node.",
    breaks=("SI-REC-017",),
    revision="2023-12",
)
@instead_of(recovery.add)
def _(patch: Patch, original: Original, rm: Any, allocation: Any, now: float) -> list[Effect]:
    effects = original(rm, allocation, now)
    if any(isinstance(effect, RejectedAllocation) for effect in effects):
        for partition in rm.partitions.values():
            known = partition.allocations.all.get(allocation.identity)
            if known is not None:
                patch.fires()
                known.node.book(allocation.ask.resource)
    return effects


@mutant(
    "existing-count-up-to-the-capacity",
    "An existing allocation is counted on its node only as far as that has capacity.",
    breaks=("SI-REC-013",),
)
@instead_of(recovery.recover)
def _(patch: Patch, original: Original, partition: Any, record: Any, now: float) -> list[Effect]:
    effects = original(partition, record, now)
    node = partition.nodes[record.node_id]
    uncounted = {name: -amount for name, amount in node.free.amounts.items() if amount < 0}
    if uncounted:
        patch.fires()
        node.unbook(Resource(uncounted))
    return effects


@mutant(
    "recovered-is-replaced-elsewhere",
    "What replaces a recovered placeholder is placed like any other ask, wherever it fits.",
    breaks=("SI-REC-011", "SI-REC-021"),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    was_recovered = tracking.recovered(patch)

    def go_on(original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
        pending = partition.replacements.by_placeholder.get(gone)
        others = [node for node in partition.nodes.values() if node is not gone.node]
        for node in others if pending is not None and was_recovered(gone) else ():
            if node.state is NodeState.SCHEDULABLE and node.can_take(pending.ask.resource):
                patch.fires()
                partition.replacements.resume(gone)
                return allocations.make(partition, pending, node, now)
        return original(partition, gone, now)

    patch.instead_of(replacement.go_on, go_on)


@mutant(
    "rejected-existing-counts-in-its-queue",
    "An existing allocation on an unknown node is rejected and counts in its queue.",
    breaks=("SI-REC-008", "SI-REC-017"),
)
@instead_of(recovery.add)
def _(patch: Patch, original: Original, rm: Any, allocation: Any, now: float) -> list[Effect]:
    effects = original(rm, allocation, now)
    if any(isinstance(effect, RejectedAllocation) for effect in effects):
        for partition in rm.partitions.values():
            application = partition.applications.get(allocation.ask.application_id)
            if application is not None and allocation.node_id not in partition.nodes:
                patch.fires()
                application.quotas.book(allocation.ask.resource)
    return effects


@mutant(
    "removal-keeps-the-capacity-of-recovered",
    "The capacity of recovered allocations that end with their application is never used again.",
    breaks=("SI-APP-018",),
)
def _(patch: Patch) -> None:
    was_recovered = tracking.recovered(patch)

    def remove(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        lost: list[Any] = []
        for partition in rm.partitions.values():
            application = partition.applications.get(request.application_id)
            held = partition.allocations.of(application).values() if application is not None else ()
            lost += [live for live in held if was_recovered(live)]
        effects = original(rm, request, now)
        for live in lost:
            patch.fires()
            node, resource = live.node, live.record.ask.resource
            node.resize(node.capacity, node.occupied + resource)
        return effects

    patch.instead_of(applications.remove, remove)


@mutant(
    "existing-taken-over-on-nodes-of-other-partitions",
    "An existing allocation is accepted on a node of another partition.",
    breaks=("SI-REC-008",),
)
@instead_of(recovery.add)
def _(patch: Patch, original: Original, rm: Any, allocation: Any, now: float) -> list[Effect]:
    here = rm.partitions.get(partition_name(allocation.ask.partition))
    known = rm.node(allocation.node_id)
    if here is None or known is None or known[0] is here:
        return original(rm, allocation, now)
    patch.fires()
    there, node = known
    state, node.state = node.state, NodeState.DRAINING  # not in the order of this partition
    here.nodes[node.node_id] = node
    effects = original(rm, allocation, now)
    del here.nodes[node.node_id]
    node.state = state
    if state is NodeState.SCHEDULABLE:
        there.node_index.capacity_used(node)
    return effects
