"""A resource manager for revisions where the key identifies an allocation, for core tests."""

from collections.abc import Iterable
from typing import Any

from sireference.core.model import (
    AllocationRecord,
    Ask,
    Effect,
    Entry,
    ForeignAllocation,
    Identification,
    OneOfKey,
    RejectedAllocation,
    RejectedAsk,
    ReleaseRequest,
    Rules,
)
from sireference.core.resources import Resource
from sireference.core.state.node import Node
from sireference.core.states import WITHOUT_STARTING, TerminationType
from tests.driving import RM, STOPPED

BY_KEY = Rules(identification=Identification.BY_KEY, application_transitions=WITHOUT_STARTING)


def refused_entries(effects: Iterable[Effect]) -> list[str]:
    """Return the rejected keys of all kinds, in order."""
    return [one.key for one in effects if isinstance(one, RejectedAllocation | RejectedAsk)]


def of_key(
    key: str, application_id: str = "a1", termination: TerminationType = STOPPED
) -> ReleaseRequest:
    return ReleaseRequest("default", OneOfKey(application_id, key), termination)


def wanted(key: str, application_id: str = "a1", *, more: Any = None, **amounts: int) -> Ask:
    return Ask(key, application_id, resource=Resource(amounts), **(more or {}))


def running(
    key: str, node_id: str = "n1", application_id: str = "a1", *, more: Any = None, **amounts: int
) -> AllocationRecord:
    ask = Ask(key, application_id, resource=Resource(amounts), **(more or {}))
    return AllocationRecord(key, ask, node_id)


def foreign(key: str, node_id: str = "n1", **amounts: int) -> ForeignAllocation:
    return ForeignAllocation(key, node_id, resource=Resource(amounts))


class Keyed(RM):
    """Asks, updates, reports and releases by key."""

    def __init__(self, **more: Any) -> None:
        super().__init__(rules=BY_KEY, **more)

    def lists(self, *entries: Entry) -> list[Effect]:
        """Send one message with this list."""
        return self.send(entries=entries)

    def wants(self, key: str, application_id: str = "a1", **more: Any) -> list[Effect]:
        return self.lists(wanted(key, application_id, **more))

    def runs(
        self, key: str, node_id: str = "n1", application_id: str = "a1", **more: Any
    ) -> list[Effect]:
        """Name the node as well: an update, a placement, or an existing allocation."""
        return self.lists(running(key, node_id, application_id, **more))

    def sees(self, key: str, node_id: str = "n1", **amounts: int) -> list[Effect]:
        """Report a foreign allocation on a node."""
        return self.lists(foreign(key, node_id, **amounts))

    def ends(
        self, key: str, application_id: str = "a1", termination: TerminationType = STOPPED
    ) -> list[Effect]:
        return self.send(releases=(of_key(key, application_id, termination),))

    def node(self, node_id: str = "n1") -> Node:
        return self.partition.nodes[node_id]
