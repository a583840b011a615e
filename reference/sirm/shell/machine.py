"""Machine: the cluster, and the instance that manages it at the moment."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import grpc

from sirm.codec.codec import Codec, Identity
from sirm.core.cluster import Cluster
from sirm.core.model import Event
from sirm.core.state import Settings
from sirm.shell.instance import Instance


class Machine:
    """An RM with its cluster, which outlives every instance."""

    def __init__(
        self,
        codec: Codec,
        identity: Identity,
        settings: Settings,
        channel: Callable[[], grpc.aio.Channel],
        print_line: Callable[[str], None],
    ) -> None:
        self.cluster = Cluster(identity.config)
        self._codec = codec
        self.identity = identity
        self._settings = settings
        self._channel = channel
        self._print_line = print_line
        self._change = asyncio.Event()
        self.instance = self._next_instance()

    def start(self) -> None:
        """Start the first instance."""
        self.instance.start()

    def act(self, event: Event) -> None:
        """Do what a user or an administrator wants. Raises RefusedError."""
        self.instance.handle([event])

    async def restart(self) -> None:
        """Forget all that is known of the scheduler and register again; containers live on."""
        await self.instance.end()
        self.instance = self._next_instance()
        self.instance.start()

    async def fail_over(self) -> None:
        """Have a second instance take over under the same rmID (SI-REG-010)."""
        self.identity = replace(self.identity, instance=self.identity.instance + 1)
        await self.restart()

    async def changed(self, limit: float | None = None) -> None:
        """Wait for the next change, at most ``limit`` seconds.

        Not with ``asyncio.wait_for``: that of Python 3.11 ignores a cancellation that comes
        together with the change, and then a signal does not end the RM.
        """
        self._change.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await self._change.wait()

    @property
    def is_idle(self) -> bool:
        """Return whether every application is over and no container is left."""
        applications = self.cluster.applications.values()
        return not self.cluster.containers and all(one.is_over for one in applications)

    async def shut_down(self) -> None:
        """Leave the scheduler."""
        await self.instance.shut_down()

    def _changed(self, lines: list[str]) -> None:
        for line in lines:
            self._print_line(line)
        self._change.set()

    def _next_instance(self) -> Instance:
        return Instance(
            self.cluster,
            self._codec,
            identity=self.identity,
            settings=self._settings,
            channel=self._channel,
            on_change=self._changed,
        )
