"""Who sends a message: an RM, a scheduler or both."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final

from siconform.spec.go_code import GO_MESSAGE
from siconform.spec.model import ApiMethod
from siconform.spec.schema import Schema


class Peer(Enum):
    """One end of the interface."""

    RM = "RM"
    SCHEDULER = "scheduler"

    @property
    def other(self) -> "Peer":
        """The end it speaks to."""
        return Peer.SCHEDULER if self is Peer.RM else Peer.RM


_CALLED: Final[Mapping[str, Peer]] = {
    "PredicatesArgs": Peer.SCHEDULER,
    "PreemptionPredicatesArgs": Peer.SCHEDULER,
    "PreemptionPredicatesResponse": Peer.RM,
    "ReSyncSchedulerCacheArgs": Peer.SCHEDULER,
    "UpdateContainerSchedulingStateRequest": Peer.SCHEDULER,
    "EventRecord": Peer.SCHEDULER,
}
"""Who sends what no rpc carries, for a schema that came without its Go API."""


_OF_THE_RM: Final = ("Callback", "Plugin")


def implementer(interface: str) -> Peer:
    """Who implements an interface of the Go API; the other end calls it."""
    return Peer.RM if any(word in interface for word in _OF_THE_RM) else Peer.SCHEDULER


def senders(schema: Schema, api: Mapping[str, ApiMethod]) -> dict[str, frozenset[Peer]]:
    """Message to the peers that send it, by rpc, by the Go API, or inside of another message."""
    found: dict[str, set[Peer]] = {}

    def note(names: Iterable[str], peer: Peer) -> None:
        for name in schema.reachable(names):
            found.setdefault(name, set()).add(peer)

    for method in schema.methods.values():
        note([method.input], Peer.RM)
        note([method.output], Peer.SCHEDULER)
    for call in api.values():
        arguments, _, results = call.signature.partition(")")
        caller = implementer(call.name).other
        note(GO_MESSAGE.findall(arguments), caller)
        note(GO_MESSAGE.findall(results), caller.other)
    for name, peer in _CALLED.items():
        if name not in found:
            note([name], peer)
    return {name: frozenset(peers) for name, peers in found.items()}


def carried_by_rpc(schema: Schema) -> frozenset[str]:
    """Every message that some rpc carries, by itself or inside of another one."""
    methods = schema.methods.values()
    return frozenset(schema.reachable(n for m in methods for n in (m.input, m.output)))
