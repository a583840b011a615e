"""Mutants: the registration comes first."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeAlias

import grpc
from sirm.core.model import NodeAction, ReportNode
from sirm.shell.connection import Connection
from siwire import rpc

from mutation.mutant import rm_mutant
from mutation.patching import Patch, instead_of

Register: TypeAlias = Callable[[Connection], Awaitable[None]]

_MOMENT: Final = 0.1  # seconds for the usual answer


@rm_mutant(
    "rm-updates-before-it-registers",
    "An RM reports a node before it registers, and does not mind that the stream is aborted.",
    breaks=("SI-REG-011",),
)
@instead_of(Connection.register)
async def _(patch: Patch, original: Register, self: Connection) -> None:
    early = ReportNode("early", NodeAction.CREATE, {}, {"memory": 1})
    ((name, message),) = self._codec.requests([early], self._identity.rm_id)
    method = rpc.methods(self._codec.revision)[name]
    with suppress(grpc.aio.AioRpcError):
        await rpc.callable_for(self._channel, method)(iter([message])).read()
    patch.fires()
    await original(self)


@rm_mutant(
    "rm-goes-on-when-refused",
    "An RM whose registration is refused opens its streams and reports everything.",
    breaks=("SI-REG-011",),
)
@instead_of(Connection.register)
async def _(patch: Patch, original: Register, self: Connection) -> None:
    try:
        await original(self)
    except grpc.aio.AioRpcError:
        patch.fires()
        _opens_streams(self)


@rm_mutant(
    "rm-does-not-await-the-registration",
    "An RM opens its streams and reports everything while its registration is not answered.",
    breaks=("SI-REG-011",),
)
@instead_of(Connection.register)
async def _(patch: Patch, _original: Register, self: Connection) -> None:
    method = rpc.methods(self._codec.revision)["RegisterResourceManager"]
    call = rpc.callable_for(self._channel, method)(self._codec.register(self._identity))
    done, _ = await asyncio.wait({asyncio.ensure_future(call)}, timeout=_MOMENT)
    if not done:
        patch.fires()
    await self.offer_callbacks()
    _opens_streams(self)


def _opens_streams(self: Connection) -> None:
    for name in self._codec.readers:
        self.open(name)
    self._listener.registered()
