"""Permitted variants of the lifecycle of nodes and applications, and of its reports."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import grpc
from sireference.codec.codec import Codec
from sireference.core import application_lifecycle, applications, asks, nodes, scheduler
from sireference.core.model import (
    Ask,
    Effect,
    Refused,
    RejectedAsk,
    partition_name,
)
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import ApplicationState, AskTrigger
from sireference.shell.engine import Engine
from sireference.shell.streams import Ending, OpenStream
from siwire.ext import extension_pb2 as ext

from mutation.inside import Patch
from mutation.main_revision import NAME, si
from mutation.mutant import CHANGES, Wire, keep, variant
from mutation.patching import instead_of
from mutation.variants.completing import reports_accepted_ones

Action: Final = si.NodeInfo
_CREATIONS: Final = (Action.CREATE, Action.CREATE_DRAIN)
_ACTIONS: Final = (
    Action.UPDATE,
    Action.DRAIN_NODE,
    Action.DRAIN_TO_SCHEDULABLE,
    Action.DECOMISSION,
)
_NAMES: Final = {
    "Accepted": "Queued",
    "Starting": "ACTIVE",
    "Running": "ACTIVE",
    "Completing": "IDLE",
    "Resuming": "BACK",
    "Failing": "DYING",
    "Expired": "GONE",
}
_LONGEST_WAIT: Final = 2.0  # seconds
_on_the_wire: Final = partial(variant, revision=NAME)


def _has_negative_amounts(node: si.NodeInfo) -> bool:
    """Return whether the reference refuses an update to these amounts."""
    return any(one.value < 0 for one in node.schedulableResource.resources.values())


@_on_the_wire(
    "acknowledges-node-actions",
    "Each action on a known node is answered by an AcceptedNode.",
    once_failed_by=("SI-NODE-026", "SI-NODE-035"),
)
def _(request: si.NodeRequest, wire: Wire) -> None:
    known, closed = wire.memory["nodes"], wire.memory["closed"]
    for node in request.nodes:
        name, action = (request.rmID, node.nodeID), node.action
        if action in _CREATIONS and name not in known:
            known.add(name)
            closed.update([name] if action == Action.CREATE_DRAIN else [])
        elif action in _ACTIONS and name in known and not _has_negative_amounts(node):
            if action != Action.DRAIN_TO_SCHEDULABLE or name in closed:
                wire.to_rm(si.NodeResponse(accepted=[si.AcceptedNode(nodeID=node.nodeID)]))
            closed.update([name] if action == Action.DRAIN_NODE else [])
        if action in (Action.DRAIN_TO_SCHEDULABLE, Action.DECOMISSION):
            closed.discard(name)
        if action == Action.DECOMISSION:
            known.discard(name)


@variant(
    "ends-the-stream-for-a-failed-action",
    "A failed action on a node ends the node stream, with any messages sent meanwhile.",
    once_failed_by=("SI-NODE-016", "SI-NODE-035"),
)
def _(patch: Patch) -> None:
    failed: list[str] = []

    def update(original: Callable[..., Any], rm: ResourceManager, info: Any, now: float) -> Any:
        if failed:
            return []  # sent on a stream that has ended
        effects = original(rm, info, now)
        is_creation = info.action.name.startswith("CREATE")
        if not is_creation and any(type(one).__name__ == "RejectedNode" for one in effects):
            patch.fires()
            failed.append(rm.rm_id)
            return []
        return effects

    def carry_out(original: Callable[..., Any], self: Engine, effects: list[Effect]) -> Any:
        outcome = original(self, effects)
        while failed:
            for stream in self._streams.of(failed.pop()):
                if stream.method.endswith("UpdateNode"):
                    self._streams.unbind(stream)
                    status = grpc.StatusCode.FAILED_PRECONDITION
                    stream.end(Ending(status, "an action on a node failed"))
        return outcome

    patch.instead_of(nodes.update, update)
    patch.instead_of(Engine.carry_out, carry_out)


@variant(
    "ends-the-stream-in-order-after-resync",
    "An RM that is not running gets the action RESYNC, and its stream ends with OK (2021-02).",
    once_failed_by=("SI-CONN-010",),
    areas=("CONN", "REG"),
    revision="2021-02",
)
def _(patch: Patch) -> None:
    asked: list[str] = []

    def refusal_messages(original: Callable[..., Any], self: Codec, refused: Refused) -> Any:
        messages = original(self, refused)
        if messages:
            patch.fires()
            asked.append(refused.rm_id)
        return messages

    def end(original: Callable[..., Any], self: OpenStream, ending: Ending) -> None:
        original(self, Ending() if asked else ending)
        asked.clear()

    patch.instead_of(Codec.refusal_messages, refusal_messages)
    patch.instead_of(OpenStream.end, end)


@variant(
    "rejects-hopeless",
    "An ask bigger than every node is rejected; while there are no nodes it is kept.",
    once_failed_by=("SI-NODE-031", "SI-GANG-031", "SI-GANG-043"),
)
def _(patch: Patch) -> None:
    def add(original: Callable[..., Any], rm: ResourceManager, ask: Ask, now: float) -> Any:
        sizes = [node.capacity for one in rm.partitions.values() for node in one.nodes.values()]
        is_hopeless = sizes and not any(ask.resource.fits(size) for size in sizes)
        if is_hopeless and not ask.is_placeholder:
            patch.fires()
            reason = "it is bigger than every node"
            return [RejectedAsk(rm.rm_id, ask.key, ask.application_id, reason)]
        return original(rm, ask, now)

    patch.instead_of(asks.add, add)


@variant(
    "reports-new-rejects-hopeless",
    "A new application is reported as New, and an ask bigger than every node is rejected.",
    once_failed_by=("SI-GANG-015",),
    areas=("APP", "GANG"),
)
def _(patch: Patch) -> None:
    CHANGES["rejects-hopeless"].alter(patch)
    reports_accepted_ones(patch, ApplicationState.NEW)


@variant(
    "rejects-without-nodes",
    "An ask that comes while there are no nodes is rejected.",
    once_failed_by=("SI-WIRE-005", "SI-EVT-012", "SI-APP-024"),
    areas=("APP", "ASK", "EVT", "WIRE"),
    departs_from=("SI-ASK-011",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Callable[..., Any], rm: ResourceManager, ask: Ask, now: float) -> Any:
    partitions = rm.partitions.values()
    is_known = any(ask.application_id in partition.applications for partition in partitions)
    if not is_known or any(partition.nodes for partition in partitions):
        return original(rm, ask, now)
    patch.fires()
    return [RejectedAsk(rm.rm_id, ask.key, ask.application_id, "there are no nodes")]


@variant(
    "rejects-without-capacity",
    "An ask that does not fit in a scheduling pass is rejected.",
    once_failed_by=("SI-WIRE-005", "SI-APP-030", "SI-CFG-005", "SI-REC-007", "SI-NODE-031"),
    departs_from=("SI-ASK-011",),
)
def _(patch: Patch) -> None:
    def rejects(original: Callable[..., Any], rm: ResourceManager, now: float) -> list[Effect]:
        effects: list[Effect] = original(rm, now)
        for partition in rm.partitions.values():
            for application in list(partition.applications.values()):
                for pending in list(application.pending.values()):
                    if not _waits_for_someone(partition, pending):
                        patch.fires()
                        partition.asks.drop(pending, AskTrigger.TIMED_OUT)
                        names = (pending.ask.key, application.application_id)
                        effects.append(RejectedAsk(rm.rm_id, *names, "there is no room"))
                        effects += application_lifecycle.settle(partition, application, now)
        return effects

    patch.instead_of(scheduler.run_pass, rejects)


@variant(
    "rejects-what-waits-too-long",
    "An ask pending for 2 s is rejected.",
    once_failed_by=("SI-APP-030", "SI-GANG-031", "SI-GANG-032", "SI-GANG-064"),
    departs_from=("SI-ASK-011",),
)
def _(patch: Patch) -> None:
    def add(original: Callable[..., Any], rm: ResourceManager, ask: Ask, now: float) -> Any:
        def gives_up(at: float) -> list[Effect]:
            partition = rm.partitions.get(partition_name(ask.partition))
            if partition is None or ask.application_id not in partition.applications:
                return []
            application = partition.applications[ask.application_id]
            pending = application.pending.get(ask.key)
            if pending is None or pending.ask is not ask or _is_promised(partition, pending):
                return []
            patch.fires()
            partition.asks.drop(pending, AskTrigger.TIMED_OUT)
            rejected = RejectedAsk(rm.rm_id, ask.key, ask.application_id, "it has waited too long")
            return [rejected, *application_lifecycle.settle(partition, application, at)]

        effects = original(rm, ask, now)
        rm.timers.set(now + _LONGEST_WAIT, gives_up)
        return effects

    patch.instead_of(asks.add, add)


def _waits_for_someone(partition: Any, pending: Any) -> bool:
    """Return whether a release is open for it, or it is of a gang."""
    return bool(_is_promised(partition, pending) or pending.ask.task_group)


def _is_promised(partition: Any, pending: Any) -> bool:
    """Return whether victims or a placeholder are being released for it."""
    preempts = pending.is_reserved or partition.preemptors.has_timer(pending)
    return bool(preempts or pending.awaiting or pending.held)


@_on_the_wire(
    "silent-about-states",
    "No state of an application is reported, and there is no snapshot.",
    once_failed_by=("SI-APP-021", "SI-APP-024", "SI-APP-026", "SI-GANG-015", "SI-GANG-043"),
)
def _(response: si.ApplicationResponse, wire: Wire) -> None:
    del response.updated[:]
    wire.is_dropped = not (response.accepted or response.rejected)


silent = _


@silent.also
def _(facets: ext.Facets) -> None:
    facets.snapshot = False


@_on_the_wire(
    "other-names-of-states",
    "States have names defined by the scheduler, except final ones.",
    once_failed_by=("SI-APP-012", "SI-APP-026", "SI-GANG-015"),
)
def _(response: si.ApplicationResponse) -> None:
    for update in response.updated:
        update.state = _NAMES.get(update.state, update.state)


@_on_the_wire(
    "accepted-with-its-acceptance",
    "An application is reported as Accepted together with the acceptance.",
    once_failed_by=("SI-APP-024",),
)
def _(response: si.ApplicationResponse) -> None:
    keep(response.updated, lambda update: update.state != "Accepted")
    for accepted in response.accepted:
        response.updated.add(
            applicationID=accepted.applicationID, state="Accepted", stateTransitionTimestamp=1
        )


@_on_the_wire(
    "one-release-for-all",
    "The end of all allocations of an application is reported by one release without key.",
    once_failed_by=("SI-NODE-032", "SI-APP-035", "SI-REL-023", "SI-ALLOC-009"),
)
def _(response: si.AllocationResponse, wire: Wire) -> None:
    held = wire.memory["held"] = wire.memory["held"] or defaultdict(set)
    ending: defaultdict[str, set[str]] = defaultdict(set)
    for release in response.released:
        if release.terminationType == si.STOPPED_BY_RM:
            ending[release.applicationID].add(release.allocationKey)
    named = wire.memory["named"]  # a release by name is confirmed by name
    whole = [
        application
        for application, ended in ending.items()
        if ended >= held[application] and not ended & named
    ]
    merged = list(_merged(response, whole))
    for release in response.released:
        held[release.applicationID].discard(release.allocationKey)
    for rejected in response.rejectedAllocations:
        held[rejected.applicationID].discard(rejected.allocationKey)
    del response.released[:]
    response.released.extend(merged)


for_all = _


@for_all.also
def _(request: si.AllocationRequest, wire: Wire) -> None:
    held = wire.memory["held"] = wire.memory["held"] or defaultdict(set)
    for one in request.allocations:
        held[one.applicationID].add(one.allocationKey)
    wire.memory["named"] |= {one.allocationKey for one in request.releases.allocationsToRelease}


def _merged(response: si.AllocationResponse, whole: list[str]) -> Iterator[Any]:
    received = set()
    for release in response.released:
        if release.applicationID not in whole or release.terminationType != si.STOPPED_BY_RM:
            yield release
        elif release.applicationID not in received:
            received.add(release.applicationID)
            one = si.AllocationRelease()
            one.CopyFrom(release)
            one.allocationKey = ""
            yield one


@_on_the_wire(
    "gives-no-reasons",
    "Rejections have no reason.",
    once_failed_by=("SI-NODE-002", "SI-APP-002", "SI-ASK-022"),
    departs_from=("SI-NODE-042", "SI-APP-039", "SI-ASK-026", "SI-REC-022", "SI-FOR-004"),
)
def _(response: si.NodeResponse) -> None:
    for one in response.rejected:
        one.reason = ""


no_reasons = _


@no_reasons.also
def _(response: si.ApplicationResponse) -> None:
    for one in response.rejected:
        one.reason = ""


@no_reasons.also
def _(response: si.AllocationResponse) -> None:
    for one in response.rejectedAllocations:
        one.reason = ""


@variant(
    "removed-ids-are-refused",
    "The id of a removed application is never accepted again.",
    once_failed_by=("SI-CONN-003", "SI-CONN-017", "SI-CONN-021"),
    departs_from=("SI-APP-020",),
)
def _(patch: Patch) -> None:
    removed: dict[int, tuple[Any, set[str]]] = {}  # with the partition, in which the id is unique

    def remove(
        original: Callable[..., list[Effect]], rm: ResourceManager, request: Any, now: float
    ) -> list[Effect]:
        partition = rm.partitions.get(request.partition or "default")
        if partition is not None and request.application_id in partition.applications:
            ids = removed.setdefault(id(partition), (partition, set()))[1]
            ids.add(request.application_id)
        return original(rm, request, now)

    def objections(
        original: Callable[..., Iterator[str]], partition: Any, new: Any
    ) -> Iterator[str]:
        yield from original(partition, new)
        if new.application_id in removed.get(id(partition), (None, set[str]()))[1]:
            patch.fires()
            yield f"application {new.application_id!r} was removed"

    patch.instead_of(applications.remove, remove)
    patch.instead_of(applications.objections, objections)
