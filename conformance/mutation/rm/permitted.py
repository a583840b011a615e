"""Permitted variants: order, repetition and names of what an RM sends; parts it lacks."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeAlias
from uuid import uuid4

import grpc
from google.protobuf.message import Message
from sirm.codec import Codec, codec_for
from sirm.core import callbacks, nodes, reporting
from sirm.core.cluster import Cluster, Node
from sirm.core.model import NodeAction, RefusedError, ReportNode, Update, Workload
from sirm.core.state import State
from sirm.shell import driver
from sirm.shell.connection import Connection
from siwire import Revision, rpc
from siwire.ext import extension_pb2 as ext

from mutation.mutant import rm_variant
from mutation.patching import Patch, instead_of

OfConnection: TypeAlias = Callable[[Connection], Awaitable[None]]
Send: TypeAlias = Callable[[Connection, str, Message], None]


@rm_variant("rm-reports-nodes-first", "Nodes are reported before applications, on other streams.")
def _(patch: Patch) -> None:
    def due(original: Callable[[State], list[Update]], state: State) -> list[Update]:
        patch.fires()
        return sorted(original(state), key=lambda one: not isinstance(one, ReportNode))

    def codec(original: Callable[[Revision], Codec], revision: Revision) -> Codec:
        usual = original(revision)
        return replace(usual, readers=dict(reversed(list(usual.readers.items()))))

    patch.instead_of(reporting.due, due)
    patch.instead_of(codec_for, codec)


@rm_variant("rm-updates-each-new-node", "Each node is created and then updated to what it is.")
@instead_of(nodes.creation)
def _(
    patch: Patch, original: Callable[[State, Node], list[ReportNode]], state: State, node: Node
) -> list[ReportNode]:
    patch.fires()
    update = ReportNode(node.node_id, NodeAction.UPDATE, node.attributes, node.capacity)
    return [*original(state, node), update]


@rm_variant("rm-repeats-requests", "Each message with a request is sent twice.")
@instead_of(Connection.send)
def _(patch: Patch, original: Send, self: Connection, method: str, message: Any) -> None:
    original(self, method, message)
    asked = message.allocations if method == "UpdateAllocation" else ()
    if asked and not any(one.nodeID for one in asked):
        patch.fires()
        original(self, method, message)


@rm_variant("rm-requests-what-fits", "Nothing is requested before a node is there that can run it.")
@instead_of(reporting.may_request)
def _(
    patch: Patch, original: Callable[..., bool], state: State, name: str, *, placeholders: bool
) -> bool:
    nodes = state.cluster.nodes.values()
    usable = [one for one in nodes if state.accepts_node(one.node_id) and not one.cordoned]
    for container in state.cluster.applications[name].containers.values():
        if not any(callbacks.fits(container.resource, node.capacity) for node in usable):
            patch.fires()
            return False
    return original(state, name, placeholders=placeholders)


@rm_variant("rm-random-keys", "Keys are random; they contain no name of an application.")
@instead_of(Cluster.new_key)
def _(patch: Patch, _original: Callable[[Cluster, str], str], _self: Cluster, _name: str) -> str:
    patch.fires()
    return str(uuid4())


@rm_variant("rm-old-streams-end-late", "The streams of an RM that restarts end after 0.5 s.")
def _(patch: Patch) -> None:
    ending = set()

    async def close(original: OfConnection, self: Connection) -> None:
        async def later() -> None:
            await asyncio.sleep(0.5)
            await original(self)

        self._is_over = True
        patch.fires()
        ending.add(asyncio.create_task(later()))

    patch.instead_of(Connection.close, close)


@rm_variant("rm-registers-twice", "Every registration is repeated before the streams are opened.")
@instead_of(Connection.register)
async def _(patch: Patch, original: OfConnection, self: Connection) -> None:
    method = rpc.methods(self._codec.revision)["RegisterResourceManager"]
    call = rpc.callable_for(self._channel, method)
    await call(self._codec.register(self._identity))
    patch.fires()
    await original(self)


@rm_variant("rm-ends-when-refused", "An RM whose registration is refused ends.", areas=("REG",))
@instead_of(Connection.register)
async def _(patch: Patch, original: OfConnection, self: Connection) -> None:
    try:
        await original(self)
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNAVAILABLE and "refused" in (error.details() or ""):
            patch.fires()
            os._exit(1)
        raise


@rm_variant("rm-without-callbacks", "An RM without the extension offers no callbacks.")
@instead_of(Connection.offer_callbacks)
async def _(patch: Patch, _original: OfConnection, _self: Connection) -> None:
    patch.fires()


@rm_variant("rm-without-gangs", "An RM runs no gangs.", received=("--without", "gang"))
def _(patch: Patch) -> None:
    def workload(original: Callable[[ext.Workload], Workload], message: ext.Workload) -> Workload:
        patch.fires()
        if any(group.task_group for group in message.groups):
            raise RefusedError("this RM runs no gangs")
        return original(message)

    patch.instead_of(driver.workload, workload)
