"""Permitted variants: when an RM sends, and how much in one message."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, Final, TypeAlias

from google.protobuf.message import Message
from sirm.codec.codec import Codec
from sirm.core import containers
from sirm.core.cluster import Container
from sirm.core.model import Effect, Update
from sirm.core.state import State
from sirm.shell.connection import Connection

from mutation.mutant import rm_variant
from mutation.patching import Patch, instead_of
from mutation.rm.messages import Requests

Send: TypeAlias = Callable[[Connection, str, Message], None]
_LATE: Final = 0.3  # seconds
_BATCH: Final = 0.1  # seconds
_STOPPING: Final = 0.5  # seconds


@rm_variant("rm-sends-late", "Every message on an update stream is sent 0.3 s later.")
@instead_of(Connection.send)
def _(patch: Patch, original: Send, self: Connection, method: str, message: Message) -> None:
    patch.fires()
    asyncio.get_running_loop().call_later(_LATE, original, self, method, message)


@rm_variant("rm-sends-elements-one-by-one", "Every element has a message of its own.")
@instead_of(Codec.requests)
def _(
    patch: Patch, original: Requests, codec: Codec, updates: Iterable[Update], rm_id: str
) -> Iterator[tuple[str, Message]]:
    patch.fires()
    yield from chain.from_iterable(original(codec, [one], rm_id) for one in updates)


@rm_variant("rm-batches", "What is sent within 0.1 s on a stream is sent in one message.")
def _(patch: Patch) -> None:
    batches: dict[tuple[Connection, str], Any] = {}

    def send(original: Send, self: Connection, method: str, message: Any) -> None:
        def flush() -> None:
            batch = batches.pop(place, None)
            if batch is not None:
                original(self, method, batch)

        place = (self, method)
        if place in batches and _named(batches[place]) & _named(message):
            flush()  # lists of one message have no order
        if place in batches:
            patch.fires()
            batches[place].MergeFrom(message)
        else:
            batches[place] = message
            asyncio.get_running_loop().call_later(_BATCH, flush)

    patch.instead_of(Connection.send, send)


def _named(message: Any) -> set[str]:
    """Return the names in lists whose order to each other matters."""
    match message.DESCRIPTOR.name:
        case "ApplicationRequest":
            return {one.applicationID for one in (*message.new, *message.remove)}
        case "AllocationRequest":
            releases = message.releases.allocationsToRelease
            return {one.allocationKey for one in (*message.allocations, *releases)}
        case _:
            return set()


@rm_variant("rm-containers-stop-slowly", "A container takes at least 0.5 s to stop.")
def _(patch: Patch) -> None:
    def stop(
        original: Callable[[State, Container, float], list[Effect]],
        state: State,
        container: Container,
        now: float,
    ) -> list[Effect]:
        if container.group.stopping < _STOPPING:
            patch.fires()
            container.group = replace(container.group, stopping=_STOPPING)
        return original(state, container, now)

    patch.instead_of(containers.stop, stop)
