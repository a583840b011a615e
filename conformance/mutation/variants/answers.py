"""Permitted variants of asks: whether and in which order they wait, and how much they get."""

from collections.abc import Callable
from typing import Any

from sireference.codec import Codec
from sireference.core import applications, asks, releases
from sireference.core.model import AskRelease, ReleasedAsk, partition_name
from sireference.core.resources import Resource
from sireference.core.state.application import PendingAsk
from sireference.core.state.node_index import NodeIndex
from sireference.core.state.placement_profile import Order
from sireference.core.states import TerminationType

from mutation.inside import Patch
from mutation.inside.releasing import application_of, key_of
from mutation.mutant import variant
from mutation.patching import instead_of


def place_of(rm: Any, one: Any) -> tuple[int, str, str]:
    """Return where an ask belongs: RM, partition and application."""
    return id(rm), partition_name(one.partition), one.application_id


@variant(
    "asks-wait-for-their-application",
    "An ask of an unknown application waits for the application instead of being rejected.",
    once_failed_by=("SI-ASK-017", "SI-ASK-022"),
    departs_from=("SI-APP-020", "SI-ASK-008", "SI-ASK-009"),
)
def _(patch: Patch) -> None:
    early: dict[tuple[int, str, str], dict[str, Any]] = {}

    def add(original: Callable[..., Any], rm: Any, ask: Any, now: float) -> Any:
        partition = rm.partitions.get(partition_name(ask.partition))
        is_proper = ask.application_id and ask.key and ask.max_allocations > 0
        is_there = partition is not None and ask.application_id in partition.applications
        if is_there or not is_proper or ask.resource.objections():
            return original(rm, ask, now)
        patch.fires()
        early.setdefault(place_of(rm, ask), {})[ask.key] = ask
        return []

    def submit(original: Callable[..., Any], rm: Any, new: Any, now: float) -> Any:
        effects = original(rm, new, now)
        partition = rm.partitions.get(partition_name(new.partition))
        if partition is not None and new.application_id in partition.applications:
            for ask in early.pop(place_of(rm, new), {}).values():
                effects += asks.add(rm, ask, now)
        return effects

    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> Any:
        effects = original(rm, request, now)
        place = id(rm), partition_name(request.partition), application_of(request)
        waiting = early.get(place, {})
        stopped = TerminationType.STOPPED_BY_RM
        if request.termination not in (stopped, TerminationType.UNSET):
            return effects
        for key in [key for key in waiting if key_of(request) in ("", key)]:
            ask = waiting.pop(key)
            name = partition_name(ask.partition)
            over = AskRelease(name, ask.application_id, key, stopped, "withdrawn")
            effects.append(ReleasedAsk(rm.rm_id, over))
        return effects

    patch.instead_of(asks.add, add)
    patch.instead_of(applications.submit, submit)
    patch.instead_of(releases.release, release)


@variant(
    "younger-asks-first",
    "Among asks of one priority the youngest is served first.",
    once_failed_by=("SI-ASK-005", "SI-ALLOC-001"),
)
@instead_of(PendingAsk.order)
def _(patch: Patch, original: Callable[..., Order], pending: PendingAsk) -> Order:
    patch.fires()
    descending_priority, number = original(pending)
    return descending_priority, -number


@variant(
    "last-node-first",
    "An ask goes to the newest of the nodes that may take it.",
    once_failed_by=("SI-ALLOC-001", "SI-NODE-026"),
)
def _(patch: Patch) -> None:
    def find(original: Callable[..., Any], nodes: NodeIndex, profile: Any, need: Resource) -> Any:
        first = original(nodes, profile, need)
        if first is None or profile.affinity is not None:
            return first
        fitting = [
            one for one in nodes.index if need.fits(one.free) and nodes.is_open(profile, one)
        ]
        last = max(fitting, key=lambda one: one.number)
        if last is not first:
            patch.fires()
        return last

    patch.instead_of(NodeIndex.find, find)


@variant(
    "one-allocation-a-message",
    "Each allocation, each release and each rejection comes in a message of its own.",
    once_failed_by=("SI-WIRE-005",),
)
@instead_of(Codec.responses)
def _(patch: Patch, original: Callable[..., Any], codec: Any, method: str, answers: Any) -> Any:
    if len(answers) > 1:
        patch.fires()
    for answer in answers:
        yield from original(codec, method, [answer])
