"""Mutants of state that outlives its node, application, key or registration."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import (
    allocations,
    applications,
    asks,
    foreign_allocations,
    nodes,
    recovery,
    releases,
    scheduler,
    updates,
    withdrawal,
)
from sireference.core.gang import replacement
from sireference.core.model import (
    AllOfApplication,
    AskedAndHeld,
    Effect,
    NewAllocation,
    RejectedAllocation,
    RejectedAsk,
    UpdateAllocations,
)
from sireference.core.registration import ResourceManagers
from sireference.core.state.user_quota import UserQuota
from sireference.core.states import NodeAction, NodeState, RMState, TerminationType

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of

_by_key: Final = partial(mutant, revision="2024-10")
_CAPACITIES: Final[dict[tuple[str, str], Any]] = {}  # by RM and node
_QUEUES: Final[dict[tuple[str, str], str]] = {}  # by RM and application


def _at_creation(patch: Patch, do: Callable[[Any, Any, float], None]) -> None:
    """Do something to each node that was created."""

    def create(original: Original, rm: Any, info: Any, now: float) -> list[Effect]:
        effects = original(rm, info, now)
        if rm.node(info.node_id) is not None:
            do(rm, info, now)
        return effects

    patch.instead_of(nodes.create, create)


@_by_key(
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


@_by_key(
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


@_by_key(
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


@_by_key(
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
    "comes-back-as-large-as-it-was",
    "A node that is created again has the capacity it had before.",
    breaks=("SI-NODE-006",),
)
@instead_of(nodes.create)
def _(patch: Patch, original: Original, rm: Any, info: Any, now: float) -> list[Effect]:
    before = _CAPACITIES.setdefault((rm.rm_id, info.node_id), info.capacity)
    if before != info.capacity:
        patch.fires()
        info = replace(info, capacity=before)
    return original(rm, info, now)


@mutant(
    "added-again-to-its-first-queue",
    "An application that is added again after its removal is in the queue it was in before.",
    breaks=("SI-APP-020",),
)
@instead_of(applications.submit)
def _(patch: Patch, original: Original, rm: Any, new: Any, now: float) -> list[Effect]:
    before = _QUEUES.setdefault((rm.rm_id, new.application_id), new.queue)
    if before != new.queue:
        patch.fires()
        new = replace(new, queue=before)
    return original(rm, new, now)


@_by_key(
    "used-key-keeps-its-priority",
    "A key that serves again has the priority it was first asked for with.",
    breaks=("SI-ALLOC-003",),
)
def _(patch: Patch) -> None:
    given: dict[str, int] = {}

    def make(original: Original, *args: Any) -> list[Effect]:
        effects = original(*args)
        for effect in effects:
            if isinstance(effect, NewAllocation):
                given.setdefault(effect.allocation.ask.key, effect.allocation.ask.priority)
        return effects

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        before = given.get(ask.key, ask.priority)
        if before != ask.priority:
            patch.fires()
            ask = replace(ask, priority=before)
        return original(rm, ask, now)

    patch.quietly().instead_of(allocations.make, make)
    patch.instead_of(asks.add, add)


@mutant(
    "second-confirmation-of-a-message-ignored",
    "Of several confirmations in one message only the first counts.",
    breaks=("SI-GANG-021",),
)
@instead_of(scheduler.apply)
def _(patch: Patch, original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
    if isinstance(event, UpdateAllocations):
        replaced = TerminationType.PLACEHOLDER_REPLACED
        confirmations = [one for one in event.releases if one.termination is replaced]
        if len(confirmations) > 1:
            patch.fires()
            kept = tuple(one for one in event.releases if one not in confirmations[1:])
            event = replace(event, releases=kept)
    return original(rm, event, now)


@_by_key(
    "updates-on-draining-nodes-ignored",
    "The update of a live allocation on a draining node is silently ignored.",
    breaks=("SI-ALLOC-012",),
)
@instead_of(updates.change)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    if live.node.state is NodeState.DRAINING:
        patch.fires()
        return []
    return original(partition, live, *rest)


@mutant(
    "preempting-ask-lost-with-an-application",
    "An ask is lost if the application of its victim is removed before the RM confirms.",
    breaks=("SI-APP-018",),
)
@instead_of(applications.remove)
def _(patch: Patch, original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
    for held in rm.partitions.values():
        for victim, preemption in list(held.preemptions.by_victim.items()):
            if victim.application.application_id == request.application_id:
                patch.fires()
                held.preemptions.end(preemption)
                held.asks.drop(preemption.pending)
    return original(rm, request, now)


@mutant(
    "release-of-all-spares-recovered",
    "A release without identity spares recovered allocations.",
    breaks=("SI-REL-003",),
)
def _(patch: Patch) -> None:
    recovered: set[tuple[str, str]] = set()

    def recover(original: Original, partition: Any, record: Any, now: float) -> list[Effect]:
        recovered.add((partition.rm_id, record.identity))
        return original(partition, record, now)

    def meant(original: Original, partition: Any, application: Any, subject: Any) -> Any:
        found: Any = original(partition, application, subject)
        if not isinstance(subject, AllOfApplication | AskedAndHeld):
            return found
        spared = [one for one in found if (partition.rm_id, one.record.identity) in recovered]
        if spared:
            patch.fires()
        return tuple(one for one in found if one not in spared)

    patch.quietly().instead_of(recovery.recover, recover)
    patch.instead_of(releases.meant, meant)


def _replacement_loses(patch: Patch, **lost: Any) -> None:
    """Report allocations that replace a placeholder without these values of their asks."""

    def make(original: Original, partition: Any, pending: Any, *rest: Any) -> list[Effect]:
        effects = original(partition, pending, *rest)
        return [without(one) for one in effects] if pending.key.replaces else effects

    def without(effect: Effect) -> Effect:
        if not isinstance(effect, NewAllocation):
            return effect
        before = effect.allocation
        after = replace(before, ask=replace(before.ask, **lost))
        if after != before:
            patch.fires()
        return replace(effect, allocation=after)

    patch.instead_of(allocations.make, make)


@_by_key(
    "replacement-loses-the-originator-flag",
    "An allocation that replaces a placeholder is not reported as that of the originator.",
    breaks=("SI-ALLOC-007",),
)
def _(patch: Patch) -> None:
    _replacement_loses(patch, originator=False)


@_by_key(
    "replacement-loses-its-preemption-policy",
    "An allocation that replaces a placeholder is reported without the policy of its ask.",
    breaks=("SI-ALLOC-007",),
)
def _(patch: Patch) -> None:
    _replacement_loses(patch, preemption_policy=None)


@mutant(
    "replacement-loses-its-tags",
    "An allocation that replaces a placeholder is reported without the tags of its ask.",
    breaks=("SI-ALLOC-003",),
)
def _(patch: Patch) -> None:
    _replacement_loses(patch, tags={})


@mutant(
    "drain-survives-registration",
    "A node that was draining when its RM registered again is created draining.",
    breaks=("SI-REG-005",),
)
def _(patch: Patch) -> None:
    drained: dict[tuple[str, str], Any] = {}

    def change(original: Original, partition: Any, node: Any, info: Any, now: float) -> Any:
        effects = original(partition, node, info, now)
        if node.state is NodeState.DRAINING:
            drained[partition.rm_id, node.node_id] = partition
        else:
            drained.pop((partition.rm_id, node.node_id), None)
        return effects

    def create(original: Original, rm: Any, info: Any, now: float) -> list[Effect]:
        earlier = drained.get((rm.rm_id, info.node_id))
        if earlier is not None and earlier is not rm.partitions.get(info.partition):
            patch.fires()
            info = replace(info, action=NodeAction.CREATE_DRAIN)
        return original(rm, info, now)

    patch.quietly().instead_of(nodes.change, change)
    patch.instead_of(nodes.create, create)


@_by_key(
    "used-key-keeps-its-amount",
    "A key that serves again is allocated with the amount it was first asked for with.",
    breaks=("SI-ALLOC-002",),
)
def _(patch: Patch) -> None:
    given: dict[tuple[str, str], Any] = {}

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        is_known = any(ask.key in one.allocations.all for one in rm.partitions.values())
        is_pending = any(one.asks.with_key(ask.key) for one in rm.partitions.values())
        before = given.setdefault((rm.rm_id, ask.key), ask.resource)
        if before != ask.resource and not is_known and not is_pending:
            patch.fires()
            ask = replace(ask, resource=before)
        return original(rm, ask, now)

    patch.instead_of(asks.add, add)


@_by_key(
    "updates-below-zero-count",
    "The update of a live allocation to an amount below zero is accepted.",
    breaks=("SI-ALLOC-012",),
)
@instead_of(updates.objections_to_amount)
def _(patch: Patch, original: Original, ask: Any) -> Any:
    if any(original(ask)):
        patch.fires()
    return iter(())


@_by_key(
    "updates-of-leaving-allocations-ignored",
    "The update of an allocation whose release is open is silently ignored.",
    breaks=("SI-ALLOC-012",),
)
@instead_of(updates.change)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    if live.open_release is not None:
        patch.fires()
        return []
    return original(partition, live, *rest)


@mutant(
    "recovered-not-counted-for-users",
    "A recovered allocation does not count for its user.",
    breaks=("SI-REC-007",),
)
@instead_of(recovery.recover)
def _(patch: Patch, original: Original, partition: Any, record: Any, now: float) -> list[Effect]:
    effects = original(partition, record, now)
    for quota in partition.applications[record.ask.application_id].quotas:
        if isinstance(quota, UserQuota):
            patch.fires()
            quota.unbook(record.ask.resource)
    return effects


@_by_key(
    "releases-cross-to-other-rms",
    "A release by one RM silently ends the allocation of the same names of another RM.",
    breaks=("SI-CONN-003",),
)
def _(patch: Patch) -> None:
    known: dict[str, Any] = {}

    def release(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        known[rm.rm_id] = rm
        for other in known.values():
            if other is not rm and original(other, request, now):
                patch.fires()
        return original(rm, request, now)

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        known[rm.rm_id] = rm
        return original(rm, ask, now)

    patch.quietly().instead_of(asks.add, add)
    patch.instead_of(releases.release, release)


@_by_key(
    "refused-update-takes-the-priority",
    "The refused update of a pending ask changes its priority.",
    breaks=("SI-ASK-030",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
    effects = original(rm, ask, now)
    if any(isinstance(one, RejectedAsk) for one in effects):
        for held in rm.partitions.values():
            for application in held.asks.with_key(ask.key):
                patch.fires()
                pending = application.pending[ask.key]
                held.asks.replace(pending, replace(pending.ask, priority=ask.priority))
    return effects


@mutant(
    "task-groups-matched-by-prefix",
    "A real ask replaces a placeholder of any group whose name begins with that of its own.",
    breaks=("SI-GANG-017",),
)
@instead_of(replacement.choose)
def _(patch: Patch, original: Original, partition: Any, pending: Any) -> Any:
    gang = partition.gangs.get(pending.application)
    wanted = pending.key.replaces
    for name, group in gang.replaceable.items() if gang is not None and wanted else ():
        if name != wanted and name.startswith(wanted) and group:
            patch.fires()
            return next(iter(group.values()))
    return original(partition, pending)


@_by_key(
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


@mutant(
    "reservation-outlives-its-ask",
    "The capacity reserved for an ask stays reserved when the ask is withdrawn.",
    breaks=("SI-ALLOC-010",),
)
@instead_of(withdrawal.withdraw)
def _(patch: Patch, original: Original, held: Any, pending: Any, now: float) -> list[Effect]:
    preemption = held.preemptions.of(pending)
    effects = original(held, pending, now)
    if preemption is not None:
        patch.fires()
        preemption.node.reserve(pending.ask.resource)
    return effects


@mutant(
    "shutdown-stops-every-rm",
    "All RMs are stopped when one of them shuts down.",
    breaks=("SI-CONN-005",),
)
@instead_of(ResourceManagers.shut_down)
def _(
    patch: Patch, original: Original, self: ResourceManagers, rm: Any, now: float
) -> list[Effect]:
    effects: list[Effect] = []
    for one in list(self.all()):
        if one is not rm and one.state is RMState.RUNNING:
            patch.fires()
            effects += original(self, one, now)
    return original(self, rm, now) + effects
