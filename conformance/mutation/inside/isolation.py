"""Mutants of isolation between RMs, and between elements of one request."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import asks, foreign_allocations, nodes, recovery, releases, scheduler
from sireference.core.model import (
    AllOfApplication,
    AskedAndHeld,
    Effect,
    Refused,
    Register,
    RejectedApplication,
    RejectedNode,
    UpdateAllocations,
    UpdateApplications,
    UpdateNodes,
)
from sireference.core.registration import ResourceManagers
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import NodeAction

from mutation.inside import Original, Patch
from mutation.inside.releasing import application_of, identity_of, key_of
from mutation.mutant import mutant
from mutation.patching import instead_of

_LISTS: Final = (
    "nodes",
    "new",
    "remove",
    "entries",
    "allocations",
    "asks",
    "ask_releases",
    "releases",
)


_IsOwner = Callable[[ResourceManager, Any], bool]


def _applied_to_its_owner(patch: Patch, function: Callable[..., Any], owns: _IsOwner) -> None:
    """Apply what an RM does to the objects of another RM as if that RM had sent it."""
    everybody: dict[str, ResourceManager] = {}

    def register(
        original: Original, self: ResourceManagers, event: Register, now: float
    ) -> list[Effect]:
        effects = original(self, event, now)
        everybody.update((rm.rm_id, rm) for rm in self.all())
        return effects

    def apply(original: Original, rm: ResourceManager, event: Any, now: float) -> list[Effect]:
        others = [one for one in everybody.values() if one is not rm and owns(one, event)]
        if not others or owns(rm, event):
            return original(rm, event, now)
        patch.fires()
        return original(others[0], event, now)

    patch.quietly().instead_of(ResourceManagers.register, register)
    patch.instead_of(function, apply)


def _owns_what_ends(rm: ResourceManager, event: Any) -> bool:
    match event:
        case UpdateNodes(nodes=changed):
            return any(map(rm.node, (node.node_id for node in changed)))
        case UpdateApplications(remove=removals):
            return any(_applications(rm, one.application_id) for one in removals)
        case UpdateAllocations(releases=ends):
            every = [partition.allocations.all for partition in rm.partitions.values()]
            return any(identity_of(end) in known for end in ends for known in every)
        case _:
            return False


def _owns_pending_ask(rm: ResourceManager, request: Any) -> bool:
    applications = _applications(rm, application_of(request))
    return any(key_of(request) in application.pending for application in applications)


def _owns_application(rm: ResourceManager, ask: Any) -> bool:
    return bool(_applications(rm, ask.application_id))


def _owns_it_ran_in(rm: ResourceManager, allocation: Any) -> bool:
    return bool(_applications(rm, allocation.ask.application_id))


def _owns_all_of_it(rm: ResourceManager, request: Any) -> bool:
    subject = request.subject
    is_all = isinstance(subject, (AllOfApplication, AskedAndHeld))
    return is_all and bool(_applications(rm, subject.application_id))


def _owns_its_node(rm: ResourceManager, foreign: Any) -> bool:
    return rm.node(foreign.node_id) is not None


def _owns_node_to_drain(rm: ResourceManager, info: Any) -> bool:
    return info.action is NodeAction.DRAIN_NODE and rm.node(info.node_id) is not None


def _applications(rm: ResourceManager, name: str) -> list[Any]:
    """Return the applications of this id, one for each partition that has it."""
    found = (partition.applications.get(name) for partition in rm.partitions.values())
    return [one for one in found if one is not None]


mutant("anybody-may-end-it", "An RM can change objects of another RM.", breaks=("SI-CONN-003",))(
    partial(_applied_to_its_owner, function=scheduler.apply, owns=_owns_what_ends)
)
mutant(
    "anybody-may-withdraw",
    "An RM can withdraw pending asks of another RM.",
    breaks=("SI-CONN-003",),
)(partial(_applied_to_its_owner, function=releases.release, owns=_owns_pending_ask))
mutant("anybody-may-ask", "An RM can ask in applications of another RM.", breaks=("SI-CONN-003",))(
    partial(_applied_to_its_owner, function=asks.add, owns=_owns_application)
)
mutant(
    "anybody-may-release-all",
    "An RM can end all of applications of another RM.",
    breaks=("SI-CONN-003",),
)(partial(_applied_to_its_owner, function=releases.release, owns=_owns_all_of_it))
mutant(
    "anybody-may-recover",
    "An RM can report allocations in applications of another RM.",
    breaks=("SI-CONN-003",),
)(partial(_applied_to_its_owner, function=recovery.add, owns=_owns_it_ran_in))
mutant(
    "anybody-may-occupy",
    "An RM can report foreign allocations on nodes of another RM.",
    breaks=("SI-CONN-003",),
)(partial(_applied_to_its_owner, function=foreign_allocations.report, owns=_owns_its_node))
mutant("anybody-may-drain", "An RM can drain nodes of another RM.", breaks=("SI-CONN-003",))(
    partial(_applied_to_its_owner, function=nodes.update, owns=_owns_node_to_drain)
)


@mutant("one-rm-and-no-more", "A second RM is rejected.", breaks=("SI-CONN-005",))
@instead_of(ResourceManagers.register)
def _(
    patch: Patch, original: Original, self: ResourceManagers, event: Register, now: float
) -> list[Effect]:
    if any(rm.rm_id != event.rm_id for rm in self.all()):
        patch.fires()
        return [Refused(event.rm_id, "another RM is registered")]
    return original(self, event, now)


@mutant(
    "all-forgotten-with-one",
    "The new registration of a known RM resets all RMs.",
    breaks=("SI-REG-008",),
)
@instead_of(ResourceManagers.register)
def _(
    patch: Patch, original: Original, self: ResourceManagers, event: Register, now: float
) -> list[Effect]:
    if self.known(event.rm_id) is not None:
        for rm in [rm for rm in self.all() if rm.rm_id != event.rm_id]:
            patch.fires()
            original(self, rm.register, now)
    return original(self, event, now)


@mutant(
    "creations-of-one-id-are-one",
    "Of two creations of one node in a request only the last counts and is answered.",
    breaks=("SI-NODE-004",),
)
@instead_of(scheduler.apply)
def _(patch: Patch, original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
    if not isinstance(event, UpdateNodes):
        return original(rm, event, now)
    rest = [one for one in event.nodes if one.action is not NodeAction.CREATE]
    new = [one for one in event.nodes if one.action is NodeAction.CREATE]
    kept = _last_of_each(patch, new, "node_id")
    return original(rm, replace(event, nodes=(*kept, *rest)), now)


@mutant(
    "additions-of-one-id-are-one",
    "Of two additions of one application in a request only the last counts and is answered.",
    breaks=("SI-APP-004",),
)
@instead_of(scheduler.apply)
def _(patch: Patch, original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
    if isinstance(event, UpdateApplications):
        event = replace(event, new=_last_of_each(patch, event.new, "application_id"))
    return original(rm, event, now)


def _last_of_each(patch: Patch, elements: Iterable[Any], name: str) -> tuple[Any, ...]:
    """Keep the last element for each identity in the field of this name."""
    every = tuple(elements)
    kept = tuple({getattr(one, name): one for one in every}.values())
    if len(kept) < len(every):
        patch.fires()
    return kept


@mutant(
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


@mutant(
    "decommissions-cross-to-other-rms",
    "A node that one RM decommissions silently goes for another RM with a node of the same id.",
    breaks=("SI-CONN-003",),
)
def _(patch: Patch) -> None:
    known: dict[str, ResourceManager] = {}

    def update(original: Original, rm: ResourceManager, info: Any, now: float) -> list[Effect]:
        known[rm.rm_id] = rm
        is_known = rm.node(info.node_id) is not None
        for other in known.values():
            is_end = is_known and info.action is NodeAction.DECOMMISSION
            if other is not rm and is_end and other.node(info.node_id) is not None:
                patch.fires()
                original(other, info, now)
        return original(rm, info, now)

    patch.instead_of(nodes.update, update)


def _bad_first_spoils(patch: Patch, of: type, fields: Sequence[str], rejected: type) -> None:
    """Skip the rest of a list in a message once its first element is rejected."""

    def apply(original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
        effects: list[Effect] = []
        for field in fields if isinstance(event, of) else ():
            first, *rest = getattr(event, field) or (None,)
            if not rest:
                continue
            nothing: dict[str, Any] = {name: () for name in _LISTS if hasattr(event, name)}
            answers = original(rm, replace(event, **{**nothing, field: (first,)}), now)
            effects += answers
            if any(isinstance(effect, rejected) for effect in answers):
                patch.fires()
                rest = []
            event = replace(event, **{field: tuple(rest)})
        return effects + original(rm, event, now)

    patch.instead_of(scheduler.apply, apply)


mutant(
    "bad-first-node-spoils-its-list",
    "The nodes of a message are ignored after the first if that is rejected.",
    breaks=("SI-CONN-017",),
)(partial(_bad_first_spoils, of=UpdateNodes, fields=("nodes",), rejected=RejectedNode))
mutant(
    "bad-first-application-spoils-its-list",
    "The applications of a message are ignored after the first if that is rejected.",
    breaks=("SI-CONN-017",),
)(partial(_bad_first_spoils, of=UpdateApplications, fields=("new",), rejected=RejectedApplication))


@mutant(
    "nameless-requests-go-to-an-rm",
    "A request without an rmID is applied to an RM that is registered.",
    breaks=("SI-CONN-002",),
)
@instead_of(ResourceManagers.running)
def _(patch: Patch, original: Callable[..., Any], self: ResourceManagers, rm_id: str) -> Any:
    if rm_id:
        return original(self, rm_id)
    found = next((original(self, rm.rm_id) for rm in self.all()), None)
    if found is not None:
        patch.fires()
    return found


@mutant(
    "nameless-asks-go-to-an-rm",
    "An ask without an rmID is applied to an RM that is registered.",
    breaks=("SI-CONN-002",),
)
@instead_of(scheduler.Scheduler.handle)
def _(patch: Patch, original: Original, self: Any, event: Any, now: float) -> list[Effect]:
    if not event.rm_id and isinstance(event, UpdateAllocations):
        running = next((rm for rm in self.rms.all() if self.rms.running(rm.rm_id)), None)
        if running is not None:
            patch.fires()
            event = replace(event, rm_id=running.rm_id, releases=(), ask_releases=())
    return original(self, event, now)


@mutant(
    "nodes-serve-every-partition",
    "An ask is placed on the nodes of any partition.",
    breaks=("SI-NODE-009",),
)
@instead_of(ResourceManager.add)
def _(patch: Patch, original: Callable[..., None], rm: ResourceManager, config: Any) -> None:
    earlier = list(rm.partitions.values())
    original(rm, config)
    for one in earlier[:1]:
        patch.fires()
        added = rm.partitions[config.name]
        added.nodes, added.node_index = one.nodes, one.node_index
