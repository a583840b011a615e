"""Mutants of an RM's connection, and of the parts of its requests."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import dropwhile, takewhile
from typing import Any, Final

from sireference.codec import Codec
from sireference.codec.three_streams import ALLOCATION, APPLICATION
from sireference.core import nodes, scheduler
from sireference.core.model import (
    AcceptedApplication,
    AllocationRecord,
    Answer,
    Ask,
    Effect,
    Event,
    NodeInfo,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    ReleasedAsk,
    ReleaseRequest,
    UpdateAllocations,
    UpdateApplications,
    UpdatedApplication,
    UpdateNodes,
    partition_name,
)
from sireference.core.registration import ResourceManagers
from sireference.core.scheduler import Scheduler
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import NodeAction, RMState
from sireference.core.withdrawal import withdraw
from sireference.shell.engine import Engine

from mutation.inside import Original, Patch
from mutation.inside.releasing import identity_of, key_of
from mutation.mutant import mutant
from mutation.patching import instead_of

_TOO_SOON: Final = 4
_REFUSALS: Final = (RejectedNode, RejectedApplication, RejectedAsk, ReleasedAsk)


@mutant(
    "unregistered-may-submit",
    "Applications of an unregistered RM are accepted.",
    breaks=("SI-CONN-002",),
)
def _(patch: Patch) -> None:
    def serves(original: Callable[..., bool], self: Engine, rm_id: str) -> bool:
        return original(self, rm_id) or self.scheduler.rms.known(rm_id) is None

    def handle(original: Original, self: Scheduler, event: Event, now: float) -> list[Effect]:
        if isinstance(event, UpdateApplications) and self.rms.known(event.rm_id) is None:
            patch.fires()
            return [AcceptedApplication(event.rm_id, one.application_id) for one in event.new]
        return original(self, event, now)

    patch.instead_of(Engine.serves, serves)
    patch.instead_of(Scheduler.handle, handle)


@mutant(
    "rejections-sent-to-all-rms",
    "Rejections and ends of asks are reported to all RMs.",
    breaks=("SI-CONN-004",),
)
def _(patch: Patch) -> None:
    def handle(original: Original, self: Scheduler, event: Event, now: float) -> list[Effect]:
        effects = original(self, event, now)
        refusals = [one for one in effects if isinstance(one, _REFUSALS)]
        for other in [rm.rm_id for rm in self.rms.all() if rm.rm_id != event.rm_id]:
            for refusal in refusals:
                patch.fires()
                effects.append(replace(refusal, rm_id=other))
        return effects

    patch.instead_of(Scheduler.handle, handle)


@mutant(
    "lost-rm-stopped-too-soon",
    "An RM that lost its connection is stopped before its time is over.",
    breaks=("SI-CONN-007",),
)
@instead_of(ResourceManagers.connection_lost)
def _(
    patch: Patch, original: Original, self: ResourceManagers, rm: ResourceManager, now: float
) -> list[Effect]:
    patch.fires()
    received = rm.settings
    limit = received.connection_loss_timeout / _TOO_SOON
    rm.settings = replace(received, connection_loss_timeout=limit)
    effects = original(self, rm, now)
    rm.settings = received
    return effects


@mutant(
    "loss-timer-outlives-registration",
    "The timeout of a lost connection stops the RM that has registered again meanwhile.",
    breaks=("SI-CONN-010",),
)
def _(patch: Patch) -> None:
    lost: set[str] = set()

    def loses(original: Original, self: ResourceManagers, rm: ResourceManager, now: float) -> Any:
        lost.add(rm.rm_id)
        return original(self, rm, now)

    def register(original: Original, self: ResourceManagers, event: Any, now: float) -> Any:
        effects = original(self, event, now)
        back = self.running(event.rm_id)
        if back is not None and event.rm_id in lost:
            patch.fires()
            due = now + back.settings.connection_loss_timeout
            back.timers.set(due, partial(self.shut_down, back))
        return effects

    patch.quietly().instead_of(ResourceManagers.connection_lost, loses)
    patch.instead_of(ResourceManagers.register, register)


@mutant(
    "states-on-the-allocation-stream",
    "States of applications are sent on the allocation stream, in an unknown field.",
    breaks=("SI-WIRE-017",),
)
def _(patch: Patch) -> None:
    def method_of(original: Callable[..., str], self: Codec, answer: Answer) -> str:
        if isinstance(answer, UpdatedApplication):
            return ALLOCATION
        return original(self, answer)

    def responses(
        original: Callable[..., Iterator[Any]],
        self: Codec,
        method: str,
        answers: Sequence[Answer],
    ) -> Iterator[Any]:
        states = [one for one in answers if isinstance(one, UpdatedApplication)]
        if states:
            patch.fires()
            yield from original(self, APPLICATION, states)
        yield from original(self, method, [one for one in answers if one not in states])

    patch.instead_of(Codec.method_of, method_of)
    patch.instead_of(Codec.responses, responses)


@mutant(
    "first-neighbours-lost",
    "Elements before an invalid element of a request are ignored.",
    breaks=("SI-CONN-017",),
)
def _(patch: Patch) -> None:
    def apply(original: Original, rm: ResourceManager, event: Any, now: float) -> list[Effect]:
        match event:
            case UpdateNodes():
                rest = _from(
                    event.nodes,
                    lambda one: (
                        rm.node(one.node_id) is not None and one.action is NodeAction.CREATE
                    ),
                )
                event = replace(event, nodes=rest)
            case UpdateApplications():
                event = replace(event, new=_from(event.new, lambda one: _is_known(rm, one)))
            case UpdateAllocations():
                rest = _from(event.entries, lambda one: not _is_known(rm, _ask_of(one)))
                event = replace(event, entries=rest)
        return original(rm, event, now)

    def _from(elements: Sequence[Any], is_bad: Callable[[Any], bool]) -> tuple[Any, ...]:
        rest = tuple(dropwhile(lambda one: not is_bad(one), elements))
        if rest and len(rest) < len(elements):
            patch.fires()
        return rest or tuple(elements)

    patch.instead_of(scheduler.apply, apply)


def _ask_of(entry: Any) -> Any:
    """Return the part of an entry that names the application: the ask of an allocation."""
    return entry.ask if isinstance(entry, AllocationRecord) else entry


def _is_known(rm: ResourceManager, one: Any) -> bool:
    """Return whether the application of an element is known."""
    partitions = rm.partitions.values()
    return any(one.application_id in partition.applications for partition in partitions)


@mutant(
    "removal-beside-additions-halts",
    "An application removed along with additions loses its asks and keeps the rest.",
    breaks=("SI-CONN-021",),
)
def _(patch: Patch) -> None:
    def apply(original: Original, rm: ResourceManager, event: Any, now: float) -> list[Effect]:
        if not isinstance(event, UpdateApplications) or not (event.new and event.remove):
            return original(rm, event, now)
        patch.fires()
        effects = original(rm, replace(event, remove=()), now)
        for one in event.remove:
            partition = rm.partitions[partition_name(one.partition)]
            application = partition.applications[one.application_id]
            for pending in tuple(application.pending.values()):
                effects += withdraw(partition, pending, now)
        return effects

    patch.instead_of(scheduler.apply, apply)


@mutant(
    "unknown-ends-the-list",
    "Elements after one that names something unknown are lost.",
    breaks=("SI-CONN-017",),
)
def _(patch: Patch) -> None:
    def apply(original: Original, rm: ResourceManager, event: Any, now: float) -> list[Effect]:
        match event:
            case UpdateNodes():
                event = replace(event, nodes=until(event.nodes, lambda one: is_update(rm, one)))
            case UpdateApplications():
                event = replace(event, remove=until(event.remove, lambda one: _is_known(rm, one)))
            case UpdateAllocations():
                event = replace(event, releases=until(event.releases, lambda one: is_live(rm, one)))
        return original(rm, event, now)

    def is_update(rm: ResourceManager, info: NodeInfo) -> bool:
        return info.action is not NodeAction.UPDATE or rm.node(info.node_id) is not None

    def is_live(rm: ResourceManager, release: ReleaseRequest) -> bool:
        partitions, identity = rm.partitions.values(), identity_of(release)
        return any(identity in partition.allocations.all for partition in partitions)

    def until(elements: Sequence[Any], is_good: Callable[[Any], bool]) -> tuple[Any, ...]:
        first = tuple(takewhile(is_good, elements))
        if len(first) < len(elements) - 1:
            patch.fires()
        return first

    patch.instead_of(scheduler.apply, apply)


@mutant(
    "shutdown-taken-for-loss",
    "An RM that shut down is paused, as if its connection were lost.",
    breaks=("SI-CONN-008",),
)
@instead_of(ResourceManagers.shut_down)
def _(
    patch: Patch, _: Original, self: ResourceManagers, rm: ResourceManager, now: float
) -> list[Effect]:
    patch.fires()
    return self.connection_lost(rm, now)


@mutant(
    "paused-goes-on",
    "Pending asks are allocated while the RM is paused.",
    breaks=("SI-CONN-009",),
)
def _(patch: Patch) -> None:
    def handle(original: Original, self: Scheduler, event: Event, now: float) -> list[Effect]:
        effects = original(self, event, now)
        rm = self.rms.known(event.rm_id)
        if rm is not None and rm.state is RMState.PAUSED:
            patch.fires()
            effects += scheduler.run_pass(rm, now)
        return effects

    patch.instead_of(Scheduler.handle, handle)


@mutant("stopped-goes-on", "An RM that shut down is served again.", breaks=("SI-CONN-010",))
def _(patch: Patch) -> None:
    def running(
        original: Callable[..., ResourceManager | None], self: ResourceManagers, rm_id: str
    ) -> ResourceManager | None:
        rm = self.known(rm_id)
        if rm is not None and rm.state is RMState.STOPPED:
            patch.fires()
            return rm
        return original(self, rm_id)

    patch.instead_of(ResourceManagers.running, running)


@mutant(
    "withdrawals-overtake",
    "An ask that is withdrawn at once is processed after its withdrawal.",
    breaks=("SI-CONN-015",),
)
def _(patch: Patch) -> None:
    latest: set[str] = set()

    def apply(original: Original, rm: ResourceManager, event: Any, now: float) -> list[Effect]:
        if not isinstance(event, UpdateAllocations):
            return original(rm, event, now)
        late = tuple(one for one in event.releases if key_of(one) not in latest)
        if len(late) < len(event.releases):
            patch.fires()
        latest.clear()
        latest.update(entry.key for entry in event.entries if isinstance(entry, Ask))
        return original(rm, replace(event, releases=late), now)

    patch.instead_of(scheduler.apply, apply)


@mutant(
    "replayed-node-is-empty",
    "A node is accepted without its existing allocations.",
    breaks=("SI-CONN-018",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    def create(original: Original, rm: ResourceManager, info: NodeInfo, now: float) -> list[Effect]:
        if info.allocations:
            patch.fires()
        return original(rm, replace(info, allocations=()), now)

    patch.instead_of(nodes.create, create)


@mutant(
    "names-of-kubernetes-only",
    "A node whose name is not valid in Kubernetes is rejected.",
    breaks=("SI-CONN-019",),
)
def _(patch: Patch) -> None:
    def update(original: Original, rm: ResourceManager, info: NodeInfo, now: float) -> list[Effect]:
        if not info.node_id.isascii():
            patch.fires()
            return [RejectedNode(rm.rm_id, info.node_id, "invalid node name")]
        return original(rm, info, now)

    patch.instead_of(nodes.update, update)


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
