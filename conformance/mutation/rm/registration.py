"""Mutants: the registration comes first."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

import grpc
from sirm.core.model import NodeAction, ReportNode
from sirm.shell.connection import Connection
from siwire import rpc

from mutation.mutant import rm_mutant
from mutation.patching import Patch, instead_of

Register: TypeAlias = Callable[[Connection], Awaitable[None]]


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
