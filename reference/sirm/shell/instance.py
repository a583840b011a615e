"""Instance: one manager of the RM's cluster, with its core and its connection."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import grpc
from siwire.ext import extension_pb2 as ext

from sirm.codec.codec import Codec, Identity
from sirm.core.cluster import Cluster
from sirm.core.model import (
    ConnectionLost,
    Disconnect,
    Effect,
    Event,
    Notice,
    Register,
    Registered,
    Started,
    Update,
)
from sirm.core.rm import ResourceManager
from sirm.core.state import Settings
from sirm.shell.connection import Connection, Listener


class Instance:
    """A running instance; ``on_change`` gets every notice, and is called after every event."""

    def __init__(
        self,
        cluster: Cluster,
        codec: Codec,
        *,
        identity: Identity,
        settings: Settings,
        channel: Callable[[], grpc.aio.Channel],
        on_change: Callable[[list[str]], None],
    ) -> None:
        self.rm = ResourceManager(cluster, codec.rules, settings)
        self._codec = codec
        self._identity = identity
        self._channel = channel
        self._on_change = on_change
        self._loop = asyncio.get_running_loop()
        self._connection: Connection | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._is_over = False

    def start(self) -> None:
        """Begin with the registration."""
        self.handle([Started()])

    def handle(self, events: Iterable[Event]) -> None:
        """Handle events at this moment. Raises RefusedError for an action that is not possible."""
        self._perform(self.rm.handle(events, self._loop.time()))

    def cut(self) -> None:
        """Lose the connection to the scheduler."""
        self.handle([ConnectionLost("cut")])

    async def shut_down(self) -> None:
        """Leave the scheduler."""
        if self._connection is not None:
            await self._connection.shut_down()
        await self.end()

    async def end(self) -> None:
        """End this instance without a word to the scheduler."""
        self._is_over = True
        if self._alarm is not None:
            self._alarm.cancel()
        self._disconnect()
        await asyncio.gather(*self._closing)

    def _perform(self, effects: list[Effect]) -> None:
        notices: list[str] = []
        updates: list[Update] = []
        for effect in effects:
            match effect:
                case Register():
                    self._connect()
                case Disconnect():
                    self._disconnect()
                case Notice():
                    notices.append(effect.text)
                case _:
                    updates.append(effect)
        if self._connection is not None:
            for method, message in self._codec.requests(updates, self._identity.rm_id):
                self._connection.send(method, message)
        self._set_alarm()
        self._on_change(notices)

    def _connect(self) -> None:
        listener = Listener(
            registered=lambda: self.handle([Registered()]),
            received=self.receive,
            called=self.answer_call,
            lost=lambda reason: self.handle([ConnectionLost(reason)]),
        )
        self._connection = Connection(self._channel(), self._codec, self._identity, listener)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._keep(self._connection.close())
            self._connection = None

    def receive(self, method: str, message: Any) -> None:
        """Handle a message of the scheduler."""
        self.handle(self._codec.events(method, message))

    def answer_call(self, call: ext.ToRm) -> ext.FromRm.Answer:
        """Answer a callback."""
        return self._codec.callbacks.answer(self.rm.state, call)

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        due = self.rm.next_deadline()
        is_wanted = due is not None and not self._is_over
        self._alarm = self._loop.call_at(due or 0.0, self._expire) if is_wanted else None

    def _expire(self) -> None:
        self._perform(self.rm.handle_timeout(self._loop.time()))

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
