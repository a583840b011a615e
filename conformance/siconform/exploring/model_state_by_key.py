"""Model state of an RM where the key is the identity, so that keys can be reused."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from siconform.exploring.model_state import ModelState
from siconform.protocol.handles import Node
from siconform.protocol.notifications import Allocated, AllocationRejected, Released
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    Amounts,
    ApplicationRemoval,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, OneAllocation, OneAsk
from siconform.recording.history import Content


@dataclass
class ModelStateByKey(ModelState):
    """The model state with keys; ``reports_foreign``: whether it reports foreign allocations."""

    reports_foreign: bool = True
    reported: list[Allocated] = field(default_factory=list)  # ever reported as existing
    foreign: dict[str, tuple[str, int]] = field(default_factory=dict)  # key to node and memory

    def allocations(self) -> list[Allocated]:
        """Return the live allocations as far as the RM knows, ordered by their first message.

        Their amounts are those of the latest update, if any.
        """
        held = _Held()
        for entry in self.rm.exchange.entries():
            if entry.rm == self.rm.connection.rm_id and not entry.barrier:
                held.observe(entry.content)
        return [
            held.live[key]
            for key in held.named
            if key in held.live
            and held.live[key].node in self.nodes
            and held.live[key].application in self.applications
        ]

    def recovers(self, node: Node, existing: Sequence[Allocated]) -> None:
        """Add an accepted node; what exists on it was reported, and can be reported again."""
        self.nodes.append(node)
        self.reported += existing

    def memory_left(self) -> int:
        """Return the largest free memory of a node, by the RM's own messages."""
        left = {str(node): node.capacity["memory"] for node in self.nodes}
        for allocation in self.allocations():
            left[allocation.node] -= allocation.resource.get("memory", 0)
        for node, memory in self.foreign.values():
            if node in left:
                left[node] -= memory
        return max(0, *left.values())


class _Held:
    """The live allocation of each key."""

    def __init__(self) -> None:
        self.live: dict[str, Allocated] = {}
        self.named: dict[str, None] = {}  # in order of first use
        self._announced: set[str] = set()

    def observe(self, content: Content) -> None:
        match content:
            case AskRequest(key=key, resource=resource):
                self.named.setdefault(key)
                self._holds(key, resource or {})
            case ExistingAllocationRequest(allocation) | AllocationUpdate(allocation):
                key = allocation.identity
                self.named.setdefault(key)
                if allocation.node:
                    self.live.setdefault(key, allocation)
                self._holds(key, allocation.resource)
            case Allocated(identity=key):
                self._announced.add(key)
                self.live[key] = content
            case AllocationRejected(key=key) if key not in self._announced:
                self.live.pop(key, None)
            case (
                ReleaseRequest(subject=OneAllocation(identity=key))
                | AskReleaseRequest(subject=OneAsk(key=key))
            ):
                self._ends(key)
            case Released(identity=key) if key:
                self._ends(key)
            case (
                ApplicationRemoval(application=application)
                | Released(application=application)
                | ReleaseRequest(subject=AllOf(application=application))
                | AskReleaseRequest(subject=AllOf(application=application))
            ):
                self._end_all([k for k, a in self.live.items() if a.application == application])
            case NodeRequest(node=node, action=Action.DECOMMISSION):
                self._end_all([k for k, a in self.live.items() if a.node == node])

    def _holds(self, key: str, resource: Amounts) -> None:
        if key in self.live:
            self.live[key] = replace(self.live[key], resource=resource)

    def _ends(self, key: str) -> None:
        self.live.pop(key, None)
        self._announced.discard(key)

    def _end_all(self, keys: list[str]) -> None:
        for key in keys:
            self._ends(key)
