"""Foreign allocations on nodes: where they count, and what ends them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import asks, foreign_allocations, nodes, releases
from sireference.core.model import (
    Effect,
    OneOfKey,
    RejectedAllocation,
    Release,
    ReleasedAllocation,
    partition_name,
)
from sireference.core.resources import Resource
from sireference.core.state.foreign import ForeignAllocations
from sireference.core.states import NodeState, TerminationType

from mutation.inside import Original, Patch
from mutation.inside.node_actions import ends_draining
from mutation.mutant import mutant
from mutation.patching import instead_of

_NAME: Final = "2024-10"
_mutant: Final = partial(mutant, revision=_NAME)
_Original = Callable[..., Any]


@_mutant(
    "first-foreign-amount-stays",
    "A foreign allocation keeps the amount that was first reported.",
    breaks=("SI-FOR-002",),
)
@instead_of(ForeignAllocations.resize)
def _(patch: Patch, _original: _Original, *_: Any) -> None:
    patch.fires()


@_mutant(
    "foreign-releases-ignored",
    "A foreign allocation keeps its capacity when it was released.",
    breaks=("SI-FOR-003",),
)
@instead_of(foreign_allocations.release)
def _(patch: Patch, _original: _Original, *_: Any) -> Any:
    patch.fires()
    return []


@_mutant(
    "foreign-strays-passed-over",
    "A foreign allocation without a node is not rejected.",
    breaks=("SI-FOR-004",),
)
@instead_of(foreign_allocations.report)
def _(patch: Patch, original: _Original, rm: Any, foreign: Any, now: float) -> Any:
    partition = rm.partitions.get(foreign.partition)
    if partition is None or foreign.node_id not in partition.nodes:
        patch.fires()
        return []
    return original(rm, foreign, now)


def _rejects(patch: Patch, is_unfit: Callable[[Any, Any], bool]) -> None:
    """Reject foreign allocations that do not fit their node in this way."""

    def report(original: _Original, rm: Any, foreign: Any, now: float) -> Any:
        partition = rm.partitions.get(foreign.partition)
        node = partition.nodes.get(foreign.node_id) if partition is not None else None
        if node is not None and is_unfit(node, foreign):
            patch.fires()
            return [RejectedAllocation(rm.rm_id, foreign.key, "", "it does not fit the node")]
        return original(rm, foreign, now)

    patch.instead_of(foreign_allocations.report, report)


_mutant(
    "foreign-needs-capacity",
    "A foreign allocation that does not fit its node is rejected.",
    breaks=("SI-FOR-005",),
)(partial(_rejects, is_unfit=lambda node, foreign: not foreign.resource.fits(node.free)))
_mutant(
    "foreign-needs-a-schedulable-node",
    "A foreign allocation is rejected on a draining node.",
    breaks=("SI-FOR-005",),
)(partial(_rejects, is_unfit=lambda node, _: node.state is NodeState.DRAINING))


@_mutant(
    "foreign-counts-in-queues",
    "Foreign allocations count in every queue.",
    breaks=("SI-FOR-006",),
)
@instead_of(foreign_allocations.report)
def _(patch: Patch, original: _Original, rm: Any, foreign: Any, now: float) -> Any:
    received = original(rm, foreign, now)
    partition = rm.partitions.get(foreign.partition)
    if not received and partition is not None:
        patch.fires()
        for queue in partition.root.all():
            queue.book(foreign.resource)
    return received


def _gives_way(patch: Patch, for_what: Callable[[Any, Any], bool]) -> None:
    """Release foreign allocations for such an ask, on the nodes it may go to."""

    def goes(partition: Any, ask: Any) -> Iterator[Any]:
        for node in partition.nodes.values():
            for key in list(partition.foreign.on(node)) if for_what(ask, node) else ():
                patch.fires()
                preempted = TerminationType.PREEMPTED_BY_SCHEDULER
                yield Release(partition.name, "", key, preempted, key, "for an ask")

    def add(original: _Original, rm: Any, ask: Any, now: float) -> Any:
        received = original(rm, ask, now)
        ends = [one for partition in rm.partitions.values() for one in goes(partition, ask)]
        return [*received, *(ReleasedAllocation(rm.rm_id, one) for one in ends)]

    patch.instead_of(asks.add, add)


@_mutant(
    "foreign-gives-way-to-a-bound-ask",
    "A foreign allocation is released for an ask that requires its node.",
    breaks=("SI-FOR-008",),
)
def _(patch: Patch) -> None:
    _gives_way(patch, lambda ask, node: ask.required_node == node.node_id)


@_mutant(
    "foreign-is-preempted",
    "A foreign allocation is released for an ask that may preempt.",
    breaks=("SI-FOR-008",),
)
def _(patch: Patch) -> None:
    def may_preempt(ask: Any, _: Any) -> bool:
        policy = ask.preemption_policy
        return policy is not None and bool(policy.allow_preempt_other)

    _gives_way(patch, may_preempt)


@_mutant(
    "foreign-lost-with-its-node",
    "A foreign allocation on a removed node is not counted when the node is back.",
    breaks=("SI-FOR-009",),
)
def _(patch: Patch) -> None:
    lost: set[str] = set()

    def node_is_gone(original: _Original, foreign: Any, node: Any) -> None:
        lost.update(foreign.on(node))
        original(foreign, node)

    def put(original: _Original, held: Any, foreign: Any, node: Any) -> Any:
        if foreign.key in lost:
            patch.fires()
            return None
        return original(held, foreign, node)

    patch.quietly().instead_of(ForeignAllocations.node_is_gone, node_is_gone)
    patch.instead_of(ForeignAllocations.put, put)


@_mutant(
    "foreign-stays-where-it-was-first",
    "A foreign allocation that is reported on another node stays on the first.",
    breaks=("SI-FOR-009",),
)
@instead_of(ForeignAllocations.put)
def _(patch: Patch, original: _Original, held: Any, foreign: Any, node: Any) -> Any:
    if held.nodes.get(foreign.key, node) is not node:
        patch.fires()
        return None
    return original(held, foreign, node)


@_mutant(
    "foreign-amounts-unchecked",
    "A foreign allocation of nothing or less is accepted.",
    breaks=("SI-FOR-010",),
)
@instead_of(foreign_allocations.report)
def _(patch: Patch, original: _Original, rm: Any, foreign: Any, now: float) -> Any:
    partition = rm.partitions.get(foreign.partition)
    node = partition.nodes.get(foreign.node_id) if partition is not None else None
    is_bad = foreign.resource.is_zero() or any(foreign.resource.objections())
    if partition is not None and node is not None and is_bad:
        patch.fires()
        partition.foreign.put(foreign, node)
        return []
    return original(rm, foreign, now)


def _at_creation(patch: Patch, do: Callable[[Any, Any, float], None]) -> None:
    """Do something to each node that was created."""

    def create(original: Original, rm: Any, info: Any, now: float) -> list[Effect]:
        effects = original(rm, info, now)
        if rm.node(info.node_id) is not None:
            do(rm, info, now)
        return effects

    patch.instead_of(nodes.create, create)


@mutant(
    "foreign-survives-registration",
    "A foreign allocation counts on its node after its RM registered again.",
    breaks=("SI-REG-007",),
)
def _(patch: Patch) -> None:
    reported: dict[tuple[str, str], tuple[Any, Any]] = {}

    def report(original: Original, rm: Any, foreign: Any, now: float) -> list[Effect]:
        reported[rm.rm_id, foreign.node_id] = rm, foreign
        return original(rm, foreign, now)

    def do(rm: Any, info: Any, now: float) -> None:
        earlier, foreign = reported.get((rm.rm_id, info.node_id), (rm, None))
        if earlier is not rm:
            patch.fires()
            foreign_allocations.report(rm, foreign, now)

    patch.quietly().instead_of(foreign_allocations.report, report)
    _at_creation(patch, do)


@mutant(
    "rejected-foreign-counts-later",
    "A rejected foreign allocation counts once a node of that id is created.",
    breaks=("SI-FOR-004",),
)
def _(patch: Patch) -> None:
    rejected: dict[tuple[str, str], Any] = {}

    def report(original: Original, rm: Any, foreign: Any, now: float) -> list[Effect]:
        effects = original(rm, foreign, now)
        if any(isinstance(one, RejectedAllocation) for one in effects):
            rejected[rm.rm_id, foreign.node_id] = foreign
        return effects

    def do(rm: Any, info: Any, now: float) -> None:
        foreign = rejected.pop((rm.rm_id, info.node_id), None)
        if foreign is not None:
            patch.fires()
            foreign_allocations.report(rm, foreign, now)

    patch.quietly().instead_of(foreign_allocations.report, report)
    _at_creation(patch, do)


@mutant(
    "foreign-kind-never-changes",
    "The report of a foreign allocation with another kind than before is ignored.",
    breaks=("SI-FOR-002",),
)
def _(patch: Patch) -> None:
    kinds: dict[tuple[str, str], bool] = {}

    def report(original: Original, rm: Any, foreign: Any, now: float) -> list[Effect]:
        if kinds.setdefault((rm.rm_id, foreign.key), foreign.is_static) != foreign.is_static:
            patch.fires()
            return []
        return original(rm, foreign, now)

    patch.instead_of(foreign_allocations.report, report)


@mutant(
    "foreign-keys-of-all-rms",
    "The report of a foreign allocation by one RM ends that of the same key of another RM.",
    breaks=("SI-CONN-003",),
)
def _(patch: Patch) -> None:
    known: dict[str, Any] = {}

    def report(original: Original, rm: Any, foreign: Any, now: float) -> list[Effect]:
        other = known.setdefault(foreign.key, rm)
        if other.rm_id != rm.rm_id:
            for held in other.partitions.values():
                if held.foreign.take_away(foreign.key) is not None:
                    patch.fires()
        return original(rm, foreign, now)

    patch.instead_of(foreign_allocations.report, report)


@mutant(
    "rejected-report-ends-a-foreign-allocation",
    "A foreign allocation ends when another report under its key is rejected.",
    breaks=("SI-FOR-004",),
)
@instead_of(foreign_allocations.report)
def _(patch: Patch, original: Original, rm: Any, foreign: Any, now: float) -> list[Effect]:
    effects = original(rm, foreign, now)
    if any(isinstance(one, RejectedAllocation) for one in effects):
        for held in rm.partitions.values():
            if held.foreign.take_away(foreign.key) is not None:
                patch.fires()
    return effects


def _counted_up_to_the_capacity(
    patch: Patch, original: Callable[..., Any], held: Any, foreign: Any, node: Any
) -> Any:
    gained = original(held, foreign, node)
    uncounted = {name: -amount for name, amount in node.free.amounts.items() if amount < 0}
    if uncounted:
        patch.fires()
        node.unbook(Resource(uncounted))
    return gained


mutant(
    "foreign-counts-up-to-the-capacity",
    "A foreign allocation is counted on its node only as far as that has capacity.",
    breaks=("SI-FOR-002",),
)(instead_of(ForeignAllocations.put)(_counted_up_to_the_capacity))


@mutant(
    "third-types-of-foreign-ignored",
    "Of a foreign allocation only memory and vcores count.",
    breaks=("SI-FOR-002",),
)
@instead_of(ForeignAllocations.put)
def _(patch: Patch, original: Callable[..., Any], held: Any, foreign: Any, node: Any) -> Any:
    counted = {name: foreign.resource.amounts.get(name, 0) for name in ("memory", "vcore")}
    if set(foreign.resource.amounts) - set(counted):
        patch.fires()
    return original(held, replace(foreign, resource=Resource(counted)), node)


@mutant(
    "foreign-stays-on-a-draining-node",
    "The release of a foreign allocation on a draining node is ignored.",
    breaks=("SI-FOR-003",),
)
@instead_of(foreign_allocations.release)
def _(patch: Patch, original: Original, partition: Any, key: str, *rest: Any) -> list[Effect]:
    node = partition.foreign.nodes.get(key)
    if node is not None and node.state is NodeState.DRAINING:
        patch.fires()
        return []
    return original(partition, key, *rest)


@_mutant(
    "foreign-report-ends-draining",
    "A foreign allocation reported on a draining node makes the node schedulable.",
    breaks=("SI-NODE-026",),
)
@instead_of(foreign_allocations.report)
def _(patch: Patch, original: _Original, rm: Any, foreign: Any, now: float) -> Any:
    received = original(rm, foreign, now)
    known = rm.node(foreign.node_id)
    if received or known is None:
        return received
    ends_draining(patch, *known)
    return received


@_mutant(
    "foreign-released-with-any-application",
    "A release that names an application and the key of a foreign allocation ends that.",
    breaks=("SI-REL-028",),
)
@instead_of(releases.release)
def _(patch: Patch, original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
    subject, partition = request.subject, rm.partitions.get(partition_name(request.partition))
    if partition is None or not isinstance(subject, OneOfKey) or not subject.application_id:
        return original(rm, request, now)
    if subject.key in partition.foreign:
        patch.fires()
        request = replace(request, subject=replace(subject, application_id=""))
    return original(rm, request, now)


@mutant(
    "foreign-types-left-out-stay",
    "A type left out of the report of a foreign allocation keeps its previous amount.",
    breaks=("SI-FOR-002",),
)
@instead_of(ForeignAllocations.put)
def _(patch: Patch, original: Callable[..., Any], held: Any, foreign: Any, node: Any) -> Any:
    earlier = held.on(node).get(foreign.key)
    if earlier is not None and set(earlier.resource.amounts) - set(foreign.resource.amounts):
        patch.fires()
        amounts = {**earlier.resource.amounts, **foreign.resource.amounts}
        foreign = replace(foreign, resource=Resource(amounts))
    return original(held, foreign, node)
