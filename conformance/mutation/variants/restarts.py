"""Permitted variants of what outlives a registration, a stream, or an RM that reconnects."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, Final

from sireference.codec.three_streams import ALLOCATION
from sireference.core import applications, foreign_allocations, nodes, recovery, releases
from sireference.core.model import (
    AcceptedNode,
    Effect,
    ForeignAllocation,
    NewAllocation,
    RejectedAllocation,
    Release,
    ReleasedAllocation,
    UpdateNodes,
    partition_name,
)
from sireference.core.resources import NOTHING
from sireference.core.scheduler import Scheduler
from sireference.core.state.partition import Partition
from sireference.core.states import NodeAction, TerminationType
from sireference.core.withdrawal import BY_THE_RM
from sireference.shell.streams import Ending, OpenStream, StreamTable

from mutation.inside import Patch
from mutation.mutant import variant

_ON_THE_WAY: Final = 0.01  # seconds, also on a virtual clock


def held(rm: Any, allocation: Any) -> bool:
    """Return whether it is new, on a known node, and of an unknown application."""
    partition = rm.partitions.get(partition_name(allocation.ask.partition))
    return (
        partition is not None
        and allocation.node_id in partition.nodes
        and allocation.identity not in partition.allocations.all
        and allocation.ask.application_id not in partition.applications
        and not allocation.ask.resource.objections()
    )


class _Strangers:
    """Existing allocations of unknown applications, counted as occupied capacity."""

    def __init__(self) -> None:
        self._owners: dict[tuple[Partition, str], str] = {}  # applications, by identity

    def take(self, rm: Any, one: Any, now: float) -> list[Effect]:
        partition = rm.partitions[partition_name(one.ask.partition)]
        self._owners[partition, one.identity] = one.ask.application_id
        capacity = ForeignAllocation(one.identity, one.node_id, partition.name, one.ask.resource)
        return foreign_allocations.report(rm, capacity, now)

    def forget(self, rm: Any, one: Any) -> None:
        """Forget them: their application is known now."""
        partition = rm.partitions.get(partition_name(one.ask.partition))
        if self._owners.pop((partition, one.identity), None) is not None:
            partition.foreign.take_away(one.identity)

    def end(
        self, rm: Any, where: str, application_id: str, only: str | None, now: float
    ) -> list[Effect]:
        """End those of an application, or the one named, and report it."""
        partition = rm.partitions.get(partition_name(where))
        ended = [
            identity
            for (held_in, identity), owner in self._owners.items()
            if held_in is partition and owner == application_id and only in (None, identity)
        ]
        received: list[Effect] = []
        for identity in ended:
            gone = Release(
                partition=partition.name,
                application_id=self._owners.pop((partition, identity)),
                identity=identity,
                termination=TerminationType.STOPPED_BY_RM,
                key=identity,
            )
            if identity in partition.foreign:  # its node is known
                received.append(ReleasedAllocation(rm.rm_id, gone))
                received += foreign_allocations.release(partition, identity, gone.termination, now)
        return received


def _occupied_by_strangers(rm: Any, info: Any) -> Any:
    """Return the node with its allocations of unknown applications counted as occupied."""
    partition = rm.partitions.get(partition_name(info.partition))
    known = partition.applications if partition is not None else {}
    strangers = [one for one in info.allocations if one.ask.application_id not in known]
    if not strangers:
        return info
    occupied = info.occupied or NOTHING
    for one in strangers:
        occupied += one.ask.resource
    ours = tuple(one for one in info.allocations if one not in strangers)
    return replace(info, occupied=occupied, allocations=ours)


@variant(
    "existing-never-rejected",
    "Existing allocations of unknown applications count as occupied instead of being rejected.",
    once_failed_by=("SI-REC-017",),
    departs_from=("SI-REC-004", "SI-REC-008"),
)
def _(patch: Patch) -> None:
    strangers = _Strangers()

    def add(original: Callable[..., Any], rm: Any, allocation: Any, now: float) -> list[Effect]:
        if held(rm, allocation):
            patch.fires()
            return strangers.take(rm, allocation, now)
        strangers.forget(rm, allocation)
        effects: list[Effect] = original(rm, allocation, now)
        received: list[Effect] = [one for one in effects if not isinstance(one, RejectedAllocation)]
        if len(received) < len(effects):
            patch.fires()
        return received

    def release(original: Callable[..., Any], rm: Any, request: Any, now: float) -> list[Effect]:
        subject, received = request.subject, []
        if request.termination in BY_THE_RM:
            only = getattr(subject, "identity", getattr(subject, "key", None))
            received = strangers.end(rm, request.partition, subject.application_id, only, now)
        effects: list[Effect] = original(rm, request, now)
        return received + effects

    def remove(original: Callable[..., Any], rm: Any, request: Any, now: float) -> list[Effect]:
        received = strangers.end(rm, request.partition, request.application_id, None, now)
        effects: list[Effect] = original(rm, request, now)
        return received + effects

    def create(original: Callable[..., Any], rm: Any, info: Any, now: float) -> list[Effect]:
        without = _occupied_by_strangers(rm, info)
        if without is not info:
            patch.fires()
        effects: list[Effect] = original(rm, without, now)
        return effects

    patch.instead_of(recovery.add, add)
    patch.instead_of(releases.release, release)
    patch.instead_of(applications.remove, remove)
    patch.instead_of(nodes.create, create)


@variant(
    "existing-get-identities",
    "An existing allocation without identity is taken over, and announced with a new one.",
    once_failed_by=("SI-ALLOC-002", "SI-ASK-005"),
    departs_from=("SI-REC-004",),
    areas=("REC",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    numbers = count(1)

    def named(one: Any) -> Any:
        return one if one.identity else replace(one, identity=f"taken-over-{next(numbers)}")

    def create(original: Callable[..., Any], rm: Any, info: Any, now: float) -> list[Effect]:
        reported = info.allocations
        info = replace(info, allocations=tuple(named(one) for one in reported))
        effects: list[Effect] = original(rm, info, now)
        if any(isinstance(one, AcceptedNode) for one in effects):
            for before, one in zip(reported, info.allocations, strict=True):
                if one is not before:
                    patch.fires()
                    effects.append(NewAllocation(rm.rm_id, one))
        return effects

    patch.instead_of(nodes.create, create)


@variant(
    "unsent-is-lost",
    "Messages on a stream that was never opened are lost.",
    once_failed_by=("SI-REC-006",),
)
def _(patch: Patch) -> None:
    def deliver(
        original: Callable[..., None], table: StreamTable, rm_id: str, method: str, sent: Any
    ) -> None:
        is_open = method in table.open_streams.get(rm_id, {})
        has_broken = method in table.broken.get(rm_id, ())
        patch.fires()  # in force: nothing is sent before all answering streams are open
        if is_open or has_broken:
            original(table, rm_id, method, sent)

    patch.instead_of(StreamTable.deliver, deliver)


@variant(
    "rm-dropped-when-empty",
    "An RM whose last object was a node is dropped at once, and has to register again.",
    once_failed_by=("SI-REG-004", "SI-CONN-009"),
)
def _(patch: Patch) -> None:
    def handle(original: Callable[..., Any], self: Scheduler, event: Any, now: float) -> Any:
        effects = original(self, event, now)
        rm = self.rms.running(event.rm_id)
        if rm is None or not isinstance(event, UpdateNodes):
            return effects
        is_over = any(info.action is NodeAction.DECOMMISSION for info in event.nodes)
        has = any(one.nodes or one.applications for one in rm.partitions.values())
        if is_over and not has:
            patch.fires()
            self.rms.shut_down(rm, now)
        return effects

    patch.instead_of(Scheduler.handle, handle)


@variant(
    "allocations-are-ten-ms-on-the-way",
    "Messages about allocations arrive 10 ms late, also those sent just before a registration.",
    once_failed_by=("SI-ALLOC-001", "SI-ALLOC-002", "SI-ASK-027"),
)
def _(patch: Patch) -> None:
    under_way: dict[str, deque[Any]] = {}  # by RM

    def deliver(
        original: Callable[..., None], table: StreamTable, rm_id: str, method: str, sent: Any
    ) -> None:
        if method != ALLOCATION:
            original(table, rm_id, method, sent)
            return
        messages = under_way.setdefault(rm_id, deque())
        messages.append(sent)

        def arrive() -> None:
            if messages:
                original(table, rm_id, method, messages.popleft())

        asyncio.get_running_loop().call_later(_ON_THE_WAY, arrive)

    def end_all(
        _original: Callable[..., Any], table: StreamTable, rm_id: str, ending: Ending
    ) -> list[OpenStream]:
        ended, messages = table.of(rm_id), under_way.get(rm_id, deque())
        left = [one for sent in messages for one in sent]
        messages.clear()
        for stream in ended:
            table.unbind(stream)

        def arrive() -> None:
            for stream in ended:
                if stream.method == ALLOCATION:
                    stream.put(left)
                stream.end(ending)

        patch.fires()
        asyncio.get_running_loop().call_later(_ON_THE_WAY, arrive)
        return []  # the answer to the registration does not wait for them

    patch.instead_of(StreamTable.deliver, deliver)
    patch.instead_of(StreamTable.end_all, end_all)
