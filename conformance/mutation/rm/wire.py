"""Mutants: the wire format of what an RM sends."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from google.protobuf.message import Message
from siconform.transport.dialects.lax import lax_messages
from sirm.core import confirmations
from sirm.core.cluster import Container
from sirm.core.model import Release, Termination
from sirm.shell import connection
from sirm.shell.connection import Connection
from siwire import REVISIONS, rpc

from mutation.mutant import rm_mutant
from mutation.patching import Patch, instead_of
from mutation.rm.messages import edit

_FIELD_7: Final = b"\x3a\x02id"  # the identity of an allocation up to 2023-12
_FIELD_100: Final = b"\xa0\x06\x01"


@rm_mutant(
    "rm-sends-an-undeclared-field",
    "Nodes have a field that no revision declares.",
    breaks=("SI-WIRE-017",),
)
def _(patch: Patch) -> None:
    def extended(method: str, message: Any) -> bool:
        nodes = message.nodes if method == "UpdateNode" else ()
        for node in nodes:
            node.MergeFromString(_FIELD_100)
        return bool(nodes)

    edit(patch, extended)


@rm_mutant(
    "rm-sends-an-undeclared-enum-number",
    "A release of the RM has a type that no revision declares.",
    breaks=("SI-WIRE-006",),
)
def _(patch: Patch) -> None:
    def undeclared(method: str, message: Any) -> bool:
        releases = message.releases.allocationsToRelease if method == "UpdateAllocation" else ()
        for release in releases:
            release.terminationType = 17
        return bool(releases)

    edit(patch, undeclared)


@rm_mutant(
    "rm-sends-a-reserved-number",
    "Requests have the identity of an older revision, whose number is reserved now.",
    breaks=("SI-WIRE-008",),
)
def _(patch: Patch) -> None:
    def reserved(method: str, message: Any) -> bool:
        asks = message.allocations if method == "UpdateAllocation" else ()
        for ask in asks:
            ask.MergeFromString(_FIELD_7)
        return bool(asks)

    edit(patch, reserved)


@rm_mutant(
    "rm-releases-without-type",
    "A release that the RM starts has no type.",
    breaks=("SI-WIRE-010",),
)
@instead_of(confirmations.origination)
def _(patch: Patch, original: Callable[[Container], Release], container: Container) -> Release:
    patch.fires()
    return replace(original(container), termination=Termination.UNSET)


@rm_mutant(
    "rm-reports-nodes-without-action",
    "A node is reported without an action.",
    breaks=("SI-WIRE-010",),
)
def _(patch: Patch) -> None:
    def unset(method: str, message: Any) -> bool:
        nodes = message.nodes if method == "UpdateNode" else ()
        for node in nodes:
            node.ClearField("action")
        return bool(nodes)

    edit(patch, unset)


@rm_mutant(
    "rm-sends-both-priorities",
    "An ask has a priority by number and by the name of its class.",
    breaks=("SI-WIRE-012",),
    revision="2021-02",
)
def _(patch: Patch) -> None:
    def both(message: Message) -> bytes:
        lax = lax_messages(REVISIONS["2021-02"]).UpdateRequest.FromString(
            message.SerializeToString()
        )
        for ask in lax.asks:
            ask.priority.priorityValue, ask.priority.priorityClassName = 1, "normal"
            patch.fires()
        written: bytes = lax.SerializeToString()
        return written

    def open_(_original: Callable[[Connection, str], None], self: Connection, name: str) -> None:
        outbox = self._outboxes[name] = connection.Outbox()
        outbox.put_nowait(self._codec.opening(name, self._identity.rm_id))
        method = rpc.methods(self._codec.revision)[name]
        stream = self._channel.stream_stream(
            method.path,
            request_serializer=both,
            response_deserializer=method.response.FromString,
        )
        self.begin(self.read(name, stream(connection.messages(outbox))))

    patch.instead_of(Connection.open, open_)
