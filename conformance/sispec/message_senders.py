"""Which peer sends each message: an RM, a scheduler or both."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final

from sispec.go_code import GO_MESSAGE
from sispec.model import ApiMethod
from sispec.schema import Schema


class Peer(Enum):
    """An end of the interface."""

    RM = "RM"
    SCHEDULER = "scheduler"

    @property
    def other(self) -> "Peer":
        """Return the peer at the other end."""
        return Peer.SCHEDULER if self is Peer.RM else Peer.RM


_WITHOUT_RPC: Final[Mapping[str, Peer]] = {
    "PredicatesArgs": Peer.SCHEDULER,
    "PreemptionPredicatesArgs": Peer.SCHEDULER,
    "PreemptionPredicatesResponse": Peer.RM,
    "ReSyncSchedulerCacheArgs": Peer.SCHEDULER,
    "UpdateContainerSchedulingStateRequest": Peer.SCHEDULER,
    "EventRecord": Peer.SCHEDULER,
}
"""Senders of messages that no rpc carries, for a schema without its Go API."""

_RM_INTERFACES: Final = ("Callback", "Plugin")


def implementer(interface: str) -> Peer:
    """Return the peer that implements an interface of the Go API; the other one calls it."""
    return Peer.RM if any(word in interface for word in _RM_INTERFACES) else Peer.SCHEDULER


def senders(schema: Schema, api: Mapping[str, ApiMethod]) -> dict[str, frozenset[Peer]]:
    """Return the peers that send each message: by rpc, by the Go API, or inside another message."""
    found: dict[str, set[Peer]] = {}

    def add(names: Iterable[str], peer: Peer) -> None:
        for name in schema.reachable(names):
            found.setdefault(name, set()).add(peer)

    for method in schema.methods.values():
        add([method.input], Peer.RM)
        add([method.output], Peer.SCHEDULER)
    for call in api.values():
        arguments, _, results = call.signature.partition(")")
        caller = implementer(call.name).other
        add(GO_MESSAGE.findall(arguments), caller)
        add(GO_MESSAGE.findall(results), caller.other)
    for name, peer in _WITHOUT_RPC.items():
        if name not in found:
            add([name], peer)
    return {name: frozenset(peers) for name, peers in found.items()}


def carried_by_rpc(schema: Schema) -> frozenset[str]:
    """Return every message that an rpc carries, directly or inside another one."""
    methods = schema.methods.values()
    return frozenset(schema.reachable(n for m in methods for n in (m.input, m.output)))
