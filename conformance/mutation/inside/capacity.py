"""Mutants that give capacity away twice, or never free it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, Final

from sireference.core import (
    allocation_end,
    allocations,
    asks,
    configuration_update,
    nodes,
    releases,
    scheduling_pass,
)
from sireference.core.model import Effect, NewAllocation
from sireference.core.resources import Resource
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.state.quota import Quota, Quotas
from sireference.core.state.user_quota import UserQuota
from sireference.core.states import ApplicationState, NodeState, TerminationType

from mutation.inside import Original, Patch
from mutation.inside.releasing import is_of_all
from mutation.inside.swaps import after_replacement
from mutation.mutant import mutant
from mutation.patching import instead_of


@mutant(
    "node-counts-after-the-round",
    "Allocations count on a node only after the scheduling pass.",
    breaks=("SI-NODE-006",),
)
def _(patch: Patch) -> None:
    touched: list[tuple[Any, Node, Any]] = []

    def make(
        original: Callable[..., Any], partition: Any, pending: Any, node: Node, now: float
    ) -> Any:
        effects = original(partition, pending, node, now)
        node.free += pending.ask.resource
        if node in partition.node_index.index:  # for which it is free as well
            partition.node_index.capacity_used(node)
        touched.append((partition, node, pending.ask.resource))
        return effects

    def run(original: Callable[..., Any], *args: Any) -> Any:
        effects = original(*args)
        if touched:
            patch.fires()
        for partition, node, resource in touched:
            node.free -= resource
            if node in partition.node_index.index:
                partition.node_index.capacity_used(node)
        touched.clear()
        return effects

    patch.instead_of(allocations.make, make)
    patch.instead_of(scheduling_pass.run, run)


@mutant(
    "share-counts-after-the-round",
    "Allocations count in a queue only after the scheduling pass.",
    breaks=("SI-ASK-011",),
)
def _(patch: Patch) -> None:
    in_round = [False]
    later: list[tuple[Quotas, Any]] = []

    def book(original: Callable[..., None], quotas: Quotas, resource: Any) -> None:
        if in_round[0]:
            later.append((quotas, resource))
        else:
            original(quotas, resource)

    def run(original: Callable[..., Any], *args: Any) -> Any:
        in_round[0] = True
        try:
            return original(*args)
        finally:
            in_round[0] = False
            if later:
                patch.fires()
            while later:
                quotas, resource = later.pop()
                quotas.book(resource)

    patch.instead_of(Quotas.book, book)
    patch.instead_of(scheduling_pass.run, run)


@mutant(
    "quota-of-parents-ignored",
    "Only the leaf queue of an application limits it, not its ancestors.",
    breaks=("SI-ASK-011",),
)
def _(patch: Patch) -> None:
    def ignored(original: Callable[..., bool], quota: Quota, *args: Any) -> bool:
        is_above = isinstance(quota, Queue) and bool(quota.children)
        if is_above and not original(quota, *args):
            patch.fires()
            return True
        return original(quota, *args)

    patch.instead_of(Quota.has_capacity, ignored)
    patch.instead_of(Quota.can_take, ignored)


@mutant(
    "decommissioned-still-counts",
    "Allocations that end with their node still count in its queues.",
    breaks=("SI-ALLOC-010",),
)
def _(patch: Patch) -> None:
    _leaks_in(patch, nodes.decommission)


@mutant(
    "decommission-wakes-no-ask",
    "What a decommissioned node frees of a queue is not noticed by the asks that wait for it.",
    breaks=("SI-ALLOC-010",),
)
def _(patch: Patch) -> None:
    is_decommission = [False]

    def decommission(original: Original, *args: Any) -> list[Effect]:
        is_decommission[0] = True
        try:
            return original(*args)
        finally:
            is_decommission[0] = False

    def wake_fitting(original: Callable[..., None], quota: Quota) -> None:
        if is_decommission[0]:
            patch.fires()
        else:
            original(quota)

    patch.quietly().instead_of(nodes.decommission, decommission)
    patch.instead_of(Quota.wake_fitting, wake_fitting)


@mutant(
    "release-of-all-leaks-quota",
    "Allocations that end with all of their application still count in its queues.",
    breaks=("SI-ALLOC-010",),
)
def _(patch: Patch) -> None:
    _leaks_in(patch, releases.release, lambda _rm, request, _now: is_of_all(request))


def _leaks_in(
    patch: Patch, function: Original, leaks_then: Callable[..., bool] = lambda *_: True
) -> None:
    """Keep what ends in such calls of this function counted in its queues."""
    leaking = [False]

    def leaks(original: Original, *args: Any) -> list[Effect]:
        leaking[0] = leaks_then(*args)
        try:
            return original(*args)
        finally:
            leaking[0] = False

    def unbook(original: Callable[..., None], quotas: Quotas, resource: Any) -> None:
        if leaking[0]:
            patch.fires()
        else:
            original(quotas, resource)

    patch.instead_of(function, leaks)
    patch.instead_of(Quotas.unbook, unbook)


@mutant(
    "placed-for-each-capacity-it-gets",
    "What waited for its queue is allocated twice if a node comes as its queue has capacity again.",
    breaks=("SI-ASK-027",),
)
def _(patch: Patch) -> None:
    order = count(1)
    asked: dict[str, int] = {}
    came: dict[Any, int] = {}  # the last node of an RM
    freed: dict[Queue, int] = {}

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        asked[ask.key] = next(order)
        return original(rm, ask, now)

    def create(original: Original, rm: Any, info: Any, now: float) -> list[Effect]:
        came[rm.rm_id] = next(order)
        return original(rm, info, now)

    def end(original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
        freed[live.application.leaf] = next(order)
        return original(partition, live, *rest)

    def make(original: Original, partition: Any, pending: Any, node: Any, now: float) -> Any:
        effects = original(partition, pending, node, now)
        leaf, since = pending.application.leaf, asked.get(pending.ask.key, next(order))
        is_twice = came.get(partition.rm_id, 0) > since < freed.get(leaf, 0)
        for other in partition.nodes.values() if is_twice and leaf.maximum is not None else ():
            if other is not node:
                patch.fires()
                other.book(pending.ask.resource)
                effects += [
                    replace(one, allocation=replace(one.allocation, node_id=other.node_id))
                    for one in effects
                    if isinstance(one, NewAllocation)
                ]
                break
        return effects

    quiet = patch.quietly()
    quiet.instead_of(asks.add, add)
    quiet.instead_of(nodes.create, create)
    quiet.instead_of(allocation_end.end, end)
    patch.instead_of(allocations.make, make)


def _compares_floats(patch: Patch, of: Callable[..., bool]) -> None:
    """Let amounts that do not fit pass if they do in floating point."""

    def in_floats(resource: Resource) -> Resource:
        return Resource({name: int(float(one)) for name, one in resource.amounts.items()})

    def fits(original: Callable[..., bool], *resources: Resource) -> bool:
        exact, rounded = original(*resources), original(*map(in_floats, resources))
        if exact != rounded:
            patch.fires()
        return rounded

    patch.instead_of(of, fits)


mutant(
    "capacity-in-floating-point",
    "Asks are compared with the capacity of nodes in floating point.",
    breaks=("SI-RES-003",),
)(partial(_compares_floats, of=Resource.fits))
mutant(
    "quotas-in-floating-point",
    "Asks are compared with the maximum of queues in floating point.",
    breaks=("SI-RES-003",),
)(partial(_compares_floats, of=Resource.stays_within))


_CHECKED: Final = 8  # resource types


@mutant(
    "many-types-are-not-checked",
    f"Only the first {_CHECKED} resource types of an ask have to fit.",
    breaks=("SI-RES-002",),
)
@instead_of(Resource.fits)
def _(patch: Patch, original: Callable[..., bool], need: Resource, capacity: Resource) -> bool:
    first = Resource(dict(sorted(need.amounts.items())[:_CHECKED]))
    if original(first, capacity) and not original(need, capacity):
        patch.fires()
    return original(first, capacity)


@mutant(
    "zero-of-an-unknown-type-fits-nowhere",
    "An ask for zero of a resource type fits no node without that type.",
    breaks=("SI-RES-001",),
)
@instead_of(Resource.fits)
def _(patch: Patch, original: Callable[..., bool], need: Resource, capacity: Resource) -> bool:
    if original(need, capacity) and not set(need.amounts) <= set(capacity.amounts):
        patch.fires()
        return False
    return original(need, capacity)


def _leaks_for_users(patch: Patch, leaks: Callable[[Any, Any], bool]) -> None:
    """Keep what ends counted for its user, if ``leaks`` of the allocation and the termination."""
    _keeps_counted(patch, lambda quota: isinstance(quota, UserQuota), leaks)


def _keeps_counted(
    patch: Patch, is_leaking: Callable[[Any], bool], leaks: Callable[[Any, Any], bool]
) -> None:
    leaking = [False]

    def unbook(original: Callable[..., None], partition: Any, live: Any, termination: Any) -> None:
        leaking[0] = leaks(live, termination)
        original(partition, live, termination)
        leaking[0] = False

    def unbook_quotas(original: Callable[..., None], quotas: Quotas, resource: Any) -> None:
        original(quotas, resource)
        for quota in quotas if leaking[0] else ():
            if is_leaking(quota):
                patch.fires()
                quota.book(resource)

    patch.instead_of(Partition.unbook, unbook)
    patch.instead_of(Quotas.unbook, unbook_quotas)


@mutant(
    "timed-out-counts-in-its-queue",
    "Allocations that end by their execution timeout still count in their queue.",
    breaks=("SI-ALLOC-010",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    _keeps_counted(
        patch,
        lambda quota: not isinstance(quota, UserQuota),
        lambda live, ended: not live.is_placeholder and ended is TerminationType.TIMEOUT,
    )


@mutant(
    "ended-application-counts-in-its-queue",
    "What the execution timeout of an application ends still counts in its queue.",
    breaks=("SI-ALLOC-010",),
)
def _(patch: Patch) -> None:
    def leaks(live: Any, ended: TerminationType) -> bool:
        is_over = live.application.state is ApplicationState.FAILING
        return is_over and not live.application.is_gang and ended is TerminationType.TIMEOUT

    _keeps_counted(patch, lambda quota: not isinstance(quota, UserQuota), leaks)


mutant(
    "timed-out-placeholders-count-for-their-user",
    "Placeholders that end by a timeout still count for their user.",
    breaks=("SI-ALLOC-010",),
)(
    partial(
        _leaks_for_users,
        leaks=lambda live, ended: live.is_placeholder and ended is TerminationType.TIMEOUT,
    )
)
mutant(
    "preempted-still-counts-for-its-user",
    "Preempted allocations still count for their user.",
    breaks=("SI-ALLOC-010",),
)(partial(_leaks_for_users, leaks=lambda _, ended: ended is TerminationType.PREEMPTED_BY_SCHEDULER))


@mutant(
    "replaced-counts-for-its-user-as-large-as-it-was",
    "A real allocation counts for its user with the amounts of the placeholder that it replaced.",
    breaks=("SI-GANG-054",),
)
def _(patch: Patch) -> None:
    def counts_for_user(live: Any, gone: Any) -> None:
        more = gone.record.ask.resource - live.record.ask.resource
        for quota in gone.application.quotas:
            if isinstance(quota, UserQuota) and more.amounts:
                patch.fires()
                quota.book(more)

    after_replacement(patch, counts_for_user)


def _counts_placeholders_except(patch: Patch, uncounted: Callable[[Any, Any], bool]) -> None:
    """Do not count placeholders in some of their quotas."""

    def left_out(live: Any) -> list[Any]:
        is_meant = live.is_placeholder
        return [q for q in live.application.quotas if uncounted(live, q)] if is_meant else []

    def book(original: Callable[..., None], partition: Any, live: Any) -> None:
        original(partition, live)
        for quota in left_out(live):
            patch.fires()
            quota.unbook(live.record.ask.resource)

    def unbook(original: Callable[..., None], partition: Any, live: Any, termination: Any) -> None:
        for quota in left_out(live):
            quota.book(live.record.ask.resource)
        original(partition, live, termination)

    patch.instead_of(Partition.book, book)
    patch.instead_of(Partition.unbook, unbook)


mutant(
    "placeholders-not-counted-for-their-user",
    "Placeholders do not count against the limit of their user.",
    breaks=("SI-GANG-012",),
)(partial(_counts_placeholders_except, uncounted=lambda _live, quota: isinstance(quota, UserQuota)))
mutant(
    "placeholders-count-in-their-leaf-only",
    "Placeholders do not count against the quotas of parent queues.",
    breaks=("SI-GANG-027",),
)(
    partial(
        _counts_placeholders_except,
        uncounted=lambda live, quota: quota in live.application.leaf.path[1:],
    )
)


@mutant(
    "placeholders-count-once-for-each-ask",
    "Of the placeholders of one ask, only the first counts against the quotas.",
    breaks=("SI-GANG-027",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    counted: dict[str, str] = {}  # identity of the counted placeholder by key of the ask

    def is_uncounted(live: Any, _quota: Any) -> bool:
        identity: str = live.record.identity
        return counted.setdefault(live.record.ask.key, identity) != identity

    _counts_placeholders_except(patch, is_uncounted)


def _third_types(live: Any) -> Resource:
    """Return what a placeholder holds other than memory and vcores; nothing of others."""
    held = live.record.ask.resource.amounts if live.is_placeholder else {}
    return Resource({n: held[n] for n in held if n not in ("memory", "vcore")})


def _counts_two_types(patch: Patch, ledger: Callable[[Any], Any]) -> None:
    """Let placeholders count with memory and vcores only, on their node or in their quotas."""

    def book(original: Callable[..., None], partition: Any, live: Any) -> None:
        original(partition, live)
        if _third_types(live).amounts:
            patch.fires()
            ledger(live).unbook(_third_types(live))
            if live.node.state is NodeState.SCHEDULABLE:
                partition.node_index.capacity_freed(live.node)

    def unbook(original: Callable[..., None], partition: Any, live: Any, kind: Any) -> None:
        ledger(live).book(_third_types(live))
        original(partition, live, kind)

    patch.instead_of(Partition.book, book)
    patch.instead_of(Partition.unbook, unbook)


mutant(
    "placeholders-count-on-nodes-with-two-types",
    "Placeholders count on their node with memory and vcores only.",
    breaks=("SI-GANG-027",),
)(partial(_counts_two_types, ledger=lambda live: live.node))
mutant(
    "placeholders-count-in-quotas-with-two-types",
    "Placeholders count in their queue with memory and vcores only.",
    breaks=("SI-GANG-027",),
)(partial(_counts_two_types, ledger=lambda live: live.application.quotas))


@mutant(
    "shrunk-nodes-count-up-to-their-capacity",
    "On a node that shrinks below its use, only what its new capacity holds is counted.",
    breaks=("SI-NODE-018",),
)
@instead_of(Node.resize)
def _(patch: Patch, original: Callable[..., None], node: Node, *amounts: Resource) -> None:
    original(node, *amounts)
    beyond = {name: -amount for name, amount in node.free.amounts.items() if amount < 0}
    if beyond:
        patch.fires()
        node.unbook(Resource(beyond))


@mutant(
    "lowered-quotas-count-up-to-their-maximum",
    "In a queue whose maximum falls below its use, only as much as that is counted.",
    breaks=("SI-CFG-005",),
)
@instead_of(configuration_update.update)
def _(patch: Patch, original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
    effects = original(rm, event, now)
    for partition in rm.partitions.values():
        for queue in partition.root.all():
            most = queue.maximum.amounts if queue.maximum is not None else {}
            used = queue.used.amounts
            beyond = {name: used.get(name, 0) - most[name] for name in most}
            if any(amount > 0 for amount in beyond.values()):
                patch.fires()
                too_much = {name: amount for name, amount in beyond.items() if amount > 0}
                queue.unbook(Resource(too_much))
    return effects


@mutant(
    "nodes-grow-from-their-capacity",
    "A node that has shrunk below its use gains all by which it grows.",
    breaks=("SI-NODE-006", "SI-NODE-018"),
)
@instead_of(Node.resize)
def _(
    patch: Patch, original: Callable[..., None], node: Node, capacity: Resource, occupied: Resource
) -> None:
    before = node.capacity.amounts
    lacking = {
        name: -free
        for name, free in node.free.amounts.items()
        if free < 0 and capacity.amounts.get(name, 0) > before.get(name, 0)
    }
    original(node, capacity, occupied)
    if lacking:
        patch.fires()
        node.unbook(Resource(lacking))


_EXACTLY_BOOKED: Final = 12  # allocations of a node


@mutant(
    "later-allocations-are-booked-smaller",
    f"From the {_EXACTLY_BOOKED + 1}th allocation of a node on, one unit of memory is not booked.",
    breaks=("SI-NODE-006",),
)
@instead_of(Partition.book)
def _(patch: Patch, original: Callable[..., None], partition: Partition, live: Any) -> None:
    original(partition, live)
    node = live.node
    if len(partition.allocations.on(node)) > _EXACTLY_BOOKED:
        patch.fires()
        node.unbook(Resource({"memory": 1}))
        if node.state is NodeState.SCHEDULABLE:
            partition.node_index.capacity_freed(node)
