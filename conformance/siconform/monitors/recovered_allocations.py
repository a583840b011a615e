"""Existing allocations in a history: reported by the RM, and taken over by the target."""

from collections.abc import Callable, Sequence
from typing import Final

from siconform.monitors.answered_barriers import Answer, AnsweredBarriers, Moment
from siconform.monitors.restated import Placed, ReportedAgain
from siconform.protocol.notifications import (
    Allocated,
    NodeAccepted,
    NodeRejected,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.requests import (
    Action,
    ExistingAllocationRequest,
    NodeRequest,
)
from siconform.recording.history import Content, Entry

REPORTING: Final = (ExistingAllocationRequest, Placed, NodeRequest)
"""What ``recovered_in`` finds allocations in."""

CREATIONS = (Action.CREATE, Action.CREATE_DRAINING)

_FOLLOWED: Final = (
    *(NodeRequest, NodeRejected, NodeAccepted, ReportedAgain, ExistingAllocationRequest),
    StreamEnded,
)


def recovered_in(content: Content) -> tuple[Allocated, ...]:
    """Return the allocations an element reports: existing ones, or one the RM placed itself."""
    match content:
        case ExistingAllocationRequest(allocation=allocation) | Placed(allocation=allocation):
            return (allocation,)
        case NodeRequest(existing=existing):
            return existing
        case _:
            return ()


class TakenOver:
    """The reported allocations that the target has certainly taken over.

    One reported with a node waits for the node's acceptance. After that, an answered barrier on the
    allocation stream shows that no rejection is still in flight.
    """

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._with_node: dict[str, tuple[Allocated, ...]] = {}
        self._barriers = AnsweredBarriers()
        self._reported: dict[str, tuple[Allocated, Moment]] = {}

    def knows(self, received: Allocated) -> bool:
        """Return whether an allocation received as new has a reported one's key and identity."""
        return self._keys.get(received.identity) == received.key

    def observe(self, entry: Entry) -> Sequence[Allocated]:
        """Return what has been taken over with this entry."""
        if entry.barrier:
            return self._certain(self._barriers.observe(entry))
        content = entry.content
        if not isinstance(content, _FOLLOWED):
            return ()
        for reported in recovered_in(content):
            self._keys[reported.identity] = reported.key
        match content:
            case NodeRequest(action=action, node=node, existing=existing) if action in CREATIONS:
                self._with_node[node] = existing
            case NodeRejected(node=node):
                self._with_node.pop(node, None)
            case NodeAccepted(node=node):
                self._reports(self._with_node.pop(node, ()))
            case ReportedAgain():
                pass  # the scheduler may ignore it
            case ExistingAllocationRequest(allocation=allocation):
                self._reports((allocation,))
            case StreamEnded(kind=UpdateKind.ALLOCATIONS):
                self._reported = {}  # messages on it may be lost
        return ()

    def _certain(self, answer: Answer | None) -> Sequence[Allocated]:
        if answer is None or answer.kind is not UpdateKind.ALLOCATIONS:
            return ()
        reported = self._reported.values()
        certain = [allocation for allocation, since in reported if answer.is_of_one_after(since)]
        for allocation in certain:
            del self._reported[allocation.identity]
        return certain

    def _reports(self, existing: tuple[Allocated, ...]) -> None:
        now = self._barriers.now
        self._reported |= {allocation.identity: (allocation, now) for allocation in existing}

    def forgets(self, which: Callable[[Allocated], bool]) -> None:
        """Drop those that ended or were rejected before it was certain they were taken over."""
        if self._reported:
            self._reported = {i: r for i, r in self._reported.items() if not which(r[0])}
        for node, existing in self._with_node.items():
            self._with_node[node] = tuple(one for one in existing if not which(one))

    def forgets_one(self, identity: str) -> None:
        """Drop this one."""
        self._reported.pop(identity, None)
