"""Machine: the cluster, and the instance that manages it at the moment."""

from collections.abc import Callable
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
        on_change: Callable[[list[str]], None],
    ) -> None:
        self.cluster = Cluster()
        self._codec = codec
        self._identity = identity
        self._settings = settings
        self._channel = channel
        self._on_change = on_change
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
        self._identity = replace(self._identity, instance=self._identity.instance + 1)
        await self.restart()

    async def end(self) -> None:
        """End the instance."""
        await self.instance.end()

    def _next_instance(self) -> Instance:
        return Instance(
            self.cluster,
            self._codec,
            identity=self._identity,
            settings=self._settings,
            channel=self._channel,
            on_change=self._on_change,
        )
