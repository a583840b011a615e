"""Mutants of placement and preemption checks, and of queues that a configuration adds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sireference.core import (
    allocation_end,
    allocations,
    configuration_update,
    nodes,
    predicates,
    proposals,
    withdrawal,
)
from sireference.core.gang import replacement
from sireference.core.model import AskRelease, Effect, PreemptionQuestion, ReleasedAsk
from sireference.core.preemption import cycle
from sireference.core.state.application import PendingAsk
from sireference.core.state.queue import Queue
from sireference.core.states import NodeState, TerminationType

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of

_CHECKS = ("CB",)
Keys = Sequence[str]


def _names_more(patch: Patch, more: Callable[[Any, Any, Keys], Keys]) -> None:
    """Add these allocations to the victims of a preemption check."""

    def question(
        original: Callable[..., Effect], partition: Any, proposal: Any, number: int
    ) -> Effect:
        asked = original(partition, proposal, number)
        if not isinstance(asked, PreemptionQuestion):
            return asked
        others = more(partition, proposal, asked.victims)
        if others:
            patch.fires()
        return replace(asked, victims=(*asked.victims, *others))

    patch.instead_of(proposals.question, question)


@mutant(
    "victims-of-other-nodes",
    "A check also names allocations of another node.",
    *_CHECKS,
    breaks=("SI-CB-005",),
)
def _(patch: Patch) -> None:
    def more(partition: Any, proposal: Any, _victims: Keys) -> Keys:
        live = partition.allocations.all.values()
        elsewhere = [one.record.ask.key for one in live if one.node is not proposal.node]
        return elsewhere[:1]

    _names_more(patch, more)


@mutant(
    "victims-long-gone",
    "A check also names allocations that have ended.",
    *_CHECKS,
    breaks=("SI-CB-005",),
)
def _(patch: Patch) -> None:
    gone: list[str] = []

    def end(original: Callable[..., Any], partition: Any, live: Any, *more: Any) -> Any:
        gone.append(live.record.ask.key)
        return original(partition, live, *more)

    patch.instead_of(allocation_end.end, end)
    _names_more(patch, lambda *_: gone[-1:])


@mutant(
    "victims-named-twice",
    "A check names the first of the victims twice.",
    *_CHECKS,
    breaks=("SI-CB-005",),
)
def _(patch: Patch) -> None:
    _names_more(patch, lambda _partition, _proposal, victims: victims[:1])


@mutant(
    "new-queues-get-nothing",
    "In a queue added by a new configuration nothing is allocated.",
    breaks=("SI-CFG-001",),
)
def _(patch: Patch) -> None:
    late: set[Queue] = set()

    def came(original: Callable[..., None], event_log: Any, queue: Queue) -> None:
        late.add(queue)
        original(event_log, queue)

    def has_capacity(original: Callable[..., bool], queue: Queue, need: Any) -> bool:
        if queue in late:
            patch.fires()
            return False
        return original(queue, need)

    patch.instead_of(configuration_update.report_created, came)
    patch.instead_of(Queue.has_capacity, has_capacity)


@mutant(
    "queues-do-not-come-back",
    "A queue that was taken out of the configuration while in use stays closed when it is back.",
    breaks=("SI-CFG-001",),
)
@instead_of(configuration_update.update)
def _(patch: Patch, original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
    queues = [queue for partition in rm.partitions.values() for queue in partition.root.all()]
    drained = [queue for queue in queues if queue.is_draining]
    effects = original(rm, event, now)
    for queue in drained:
        if not queue.is_draining:
            patch.fires()
            queue.is_draining = True
    return effects


def _is_unchecked(patch: Patch, caller: Callable[..., Any]) -> None:
    """Let what this function places be placed without asking the RM."""
    depth = 0

    def call(original: Original, *arguments: Any) -> list[Effect]:
        nonlocal depth
        depth += 1
        try:
            return original(*arguments)
        finally:
            depth -= 1

    def are_wanted(original: Callable[..., bool], partition: Any) -> bool:
        wanted = original(partition)
        if wanted and depth:
            patch.fires()
        return wanted and not depth

    patch.instead_of(caller, call)
    patch.instead_of(predicates.are_wanted, are_wanted)


@mutant(
    "real-asks-are-not-checked",
    "The RM is not asked where a real ask takes the place of its placeholder.",
    breaks=("SI-CB-002",),
)
def _(patch: Patch) -> None:
    _is_unchecked(patch, replacement.begin)
    _is_unchecked(patch, replacement.go_on)


def _is_placed_unchecked(patch: Patch, is_meant: Callable[[PendingAsk], bool]) -> None:
    """Place these asks on any node without asking the RM."""

    def place(
        original: Original, partition: Any, pending: PendingAsk, node: Any, now: float, **more: Any
    ) -> list[Effect]:
        if not predicates.are_wanted(partition) or not is_meant(pending):
            return original(partition, pending, node, now, **more)
        patch.fires()
        return allocations.make(partition, pending, node, now)

    patch.instead_of(predicates.place, place)


@mutant(
    "placeholders-are-not-checked",
    "The RM is not asked where a placeholder goes.",
    breaks=("SI-CB-002",),
)
def _(patch: Patch) -> None:
    _is_placed_unchecked(patch, lambda pending: pending.ask.is_placeholder)


@mutant(
    "later-allocations-are-not-checked",
    "The RM is asked about the first allocation of an ask only.",
    breaks=("SI-CB-002",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    _is_placed_unchecked(patch, lambda pending: pending.made > 0)


@mutant(
    "waiting-asks-are-not-checked",
    "The RM is not asked about an ask that was pending when a node was created.",
    breaks=("SI-CB-002",),
)
def _(patch: Patch) -> None:
    waited: set[PendingAsk] = set()

    def create(original: Original, rm: Any, info: Any, now: float) -> list[Effect]:
        for partition in rm.partitions.values():
            for application in partition.applications.values():
                waited.update(application.pending.values())
        return original(rm, info, now)

    patch.quietly().instead_of(nodes.create, create)
    _is_placed_unchecked(patch, waited.__contains__)


def _goes_where_it_was_approved(patch: Patch, is_meant: Callable[[Any], bool]) -> None:
    """Carry out an approved placement on a node that is not possible any more."""

    def is_possible(original: Callable[..., bool], partition: Any, placement: Any) -> bool:
        if original(partition, placement):
            return True
        if not partition.is_asking and is_meant(placement):
            patch.fires()
            return True
        return False

    patch.instead_of(predicates.is_possible, is_possible)


@mutant(
    "approved-goes-to-a-drained-node",
    "An ask the RM approved goes to its node although that was drained meanwhile.",
    breaks=("SI-NODE-026",),
)
def _(patch: Patch) -> None:
    _goes_where_it_was_approved(patch, lambda p: p.node.state is NodeState.DRAINING)


@mutant(
    "approved-goes-to-a-decommissioned-node",
    "An ask the RM approved goes to its node although that was decommissioned meanwhile.",
    breaks=("SI-NODE-033",),
)
def _(patch: Patch) -> None:
    there = (NodeState.SCHEDULABLE, NodeState.DRAINING)
    _goes_where_it_was_approved(patch, lambda p: p.node.state not in there)


@mutant(
    "approved-goes-to-a-shrunk-node",
    "An ask the RM approved goes to its node although that shrank meanwhile.",
    breaks=("SI-NODE-018",),
)
def _(patch: Patch) -> None:
    _goes_where_it_was_approved(patch, lambda p: not p.node.can_take(p.pending.ask.resource))


@mutant(
    "approved-after-its-withdrawal",
    "An ask that is withdrawn while the RM is asked about it is allocated all the same.",
    breaks=("SI-REL-015",),
)
@instead_of(withdrawal.withdraw)
def _(patch: Patch, original: Original, partition: Any, pending: Any, now: float) -> list[Effect]:
    if not partition.is_asking or partition.proposals[0].pending is not pending:
        return original(partition, pending, now)
    patch.fires()
    application_id = pending.application.application_id
    kind = TerminationType.STOPPED_BY_RM
    ended = AskRelease(partition.name, application_id, pending.ask.key, kind, "withdrawn")
    return [ReleasedAsk(partition.rm_id, ended)]


@mutant(
    "preempting-asks-are-not-checked",
    "The RM is not asked where a preempting ask takes the place of its victims.",
    breaks=("SI-CB-002",),
)
def _(patch: Patch) -> None:
    _is_unchecked(patch, cycle.go_on)
    _is_unchecked(patch, cycle.run)
