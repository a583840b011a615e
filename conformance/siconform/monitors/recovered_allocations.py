"""Existing allocations in a history: what the RM reported, and since when the target has them."""

from collections.abc import Callable, Sequence

from siconform.monitors.answered_fences import Answer, AnsweredFences, Moment
from siconform.monitors.retold import Placed, ReportedAnew
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

CREATIONS = (Action.CREATE, Action.CREATE_DRAINING)


def recovered_in(content: Content) -> tuple[Allocated, ...]:
    """The allocations an element of the RM reports: existing ones, or one that it places itself."""
    match content:
        case ExistingAllocationRequest(allocation=allocation) | Placed(allocation=allocation):
            return (allocation,)
        case NodeRequest(existing=existing):
            return existing
        case _:
            return ()


class TakenOver:
    """Which reported allocations the target has taken over, for certain.

    One that came with a node waits for the node's acceptance. From then on a fence on the
    allocation stream, said and answered, shows that no rejection is under way any longer.
    """

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._with_node: dict[str, tuple[Allocated, ...]] = {}
        self._fences = AnsweredFences()
        self._reported: dict[str, tuple[Allocated, Moment]] = {}

    def knows(self, told: Allocated) -> bool:
        """What is told as new is one of those, repeated with its key and identity."""
        return self._keys.get(told.identity) == told.key

    def hears(self, entry: Entry) -> Sequence[Allocated]:
        """What has been taken over with this entry."""
        if entry.fence:
            return self._certain(self._fences.hears(entry))
        if not isinstance(entry.content, Placed):
            for reported in recovered_in(entry.content):
                self._keys[reported.identity] = reported.key
        match entry.content:
            case NodeRequest(action=action, node=node, existing=existing) if action in CREATIONS:
                self._with_node[node] = existing
            case NodeRejected(node=node):
                self._with_node.pop(node, None)
            case NodeAccepted(node=node):
                self._reports(self._with_node.pop(node, ()))
            case ReportedAnew():
                pass  # it may be passed over
            case ExistingAllocationRequest(allocation=allocation):
                self._reports((allocation,))
            case StreamEnded(kind=UpdateKind.ALLOCATIONS):
                self._reported = {}  # what was said on it may be lost
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
        now = self._fences.now
        self._reported |= {allocation.identity: (allocation, now) for allocation in existing}

    def forgets(self, which: Callable[[Allocated], bool]) -> None:
        """These ended, or were rejected, before it was certain that they were taken over."""
        self._reported = {i: r for i, r in self._reported.items() if not which(r[0])}
