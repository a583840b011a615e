"""Mutants and permitted variants: pending asks, and what answers them."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

from google.protobuf.message import Message
from sirm.core import containers, requests
from sirm.core.model import Allocated, Effect, Event, RejectedRequest
from sirm.core.rm import ResourceManager
from sirm.core.state import State
from sirm.core.states import ContainerState
from sirm.shell.connection import Connection

from mutation.mutant import rm_mutant, rm_variant
from mutation.patching import Patch, instead_of

_PATIENCE: Final = 0.5  # seconds
_BATCH: Final = 0.3  # seconds from one batch to the next
_Rejects = Callable[[State, RejectedRequest, float], list[Effect]]


@rm_mutant(
    "rm-waits-for-an-acknowledgement",
    "An allocation starts nothing, as the ask was not acknowledged before.",
    breaks=("SI-ASK-021",),
)
def _(patch: Patch) -> None:
    def allocated(_original: Any, _state: State, _event: Allocated, _now: float) -> list[Effect]:
        patch.fires()
        return []

    patch.instead_of(requests.allocated, allocated)


@rm_mutant(
    "rm-gives-up-unanswered-asks",
    "An ask that is not answered soon is withdrawn.",
    breaks=("SI-ASK-021",),
)
def _(patch: Patch) -> None:
    asked: dict[str, float] = {}

    def handle(original: Any, rm: ResourceManager, events: Iterable[Event], now: float) -> Any:
        effects = original(rm, events, now)
        held = [rm.state.cluster.find(key) for key in rm.state.knowledge.sent]
        waiting = {one.key for one in held if one and one.state is ContainerState.WAITING}
        times = {key: asked.get(key, now + _PATIENCE) for key in waiting}
        asked.clear()
        asked.update(times)
        return effects

    def next_deadline(original: Any, rm: ResourceManager) -> float | None:
        deadlines = (original(rm), *asked.values())
        return min((one for one in deadlines if one is not None), default=None)

    def handle_timeout(original: Any, rm: ResourceManager, now: float) -> list[Effect]:
        effects: list[Effect] = []
        for key in [key for key, due in asked.items() if due <= now]:
            del asked[key]
            container = rm.state.cluster.find(key)
            if container is not None and container.state is ContainerState.WAITING:
                patch.fires()
                effects += containers.give_up(rm.state, container)
        return [*effects, *original(rm, now)]

    patch.instead_of(ResourceManager.handle, handle)
    patch.instead_of(ResourceManager.next_deadline, next_deadline)
    patch.instead_of(ResourceManager.handle_timeout, handle_timeout)


@rm_variant(
    "rm-asks-again-for-what-was-rejected",
    "A rejected ask is sent once more, under a new key.",
    areas=("ASK",),
)
@instead_of(requests.rejected)
def _(
    patch: Patch, original: _Rejects, state: State, event: RejectedRequest, now: float
) -> list[Effect]:
    container = state.cluster.find(event.key)
    if container is None or container.state is not ContainerState.WAITING:
        return original(state, event, now)
    patch.fires()
    application = container.application
    again = containers.create(state.cluster, application, container.group)
    containers.forget(state, container)
    state.knowledge.report(again)
    return containers.give_up(state, container)


@rm_variant(
    "rm-sends-in-batches",
    "What is sent waits for the next of the batches.",
    areas=("NODE", "APP", "ASK"),
)
def _(patch: Patch) -> None:
    def send(
        original: Callable[[Connection, str, Message], None],
        connection: Connection,
        method: str,
        message: Message,
    ) -> None:
        patch.fires()
        loop = asyncio.get_running_loop()
        batch = (loop.time() // _BATCH + 1) * _BATCH
        loop.call_at(batch, original, connection, method, message)

    patch.instead_of(Connection.send, send)
