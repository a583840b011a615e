"""Existing allocations in a history: reported by the RM, and taken over by the target."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.monitors.restated import Placed, ReportedAgain
from siconform.protocol.notifications import (
    Allocated,
    NodeAccepted,
    NodeRejected,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.requests import Action, ExistingAllocationRequest, NodeRequest
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


class Unnamed:
    """The existing allocations that the RM reported without an identity.

    The target should refuse them (SI-REC-004); if it takes one over, only an announcement can
    tell the RM its identity.
    """

    def __init__(self) -> None:
        self._reported: Counter[tuple[str, str]] = Counter()  # application and key

    def observe(self, content: Content) -> None:
        """Take note of what the RM reports."""
        self._reported.update(
            (one.application, one.key) for one in recovered_in(content) if not one.identity
        )

    def is_named_by(self, received: Allocated) -> bool:
        """Return whether an allocation received as new is one of them, which then has its name."""
        subject = (received.application, received.key)
        if not self._reported[subject]:
            return False
        self._reported[subject] -= 1
        return True


class TakenOver:
    """The reported allocations that the target has certainly taken over.

    A report is answered by the acceptance of the node that it came with, or by its echo. One of a
    key whose allocation had ended may be ignored, so that only its echo shows anything.
    """

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._with_node: dict[str, tuple[Allocated, ...]] = {}
        self._reported: Certainty[Allocated] = Certainty()

    @property
    def awaits_barriers(self) -> bool:
        """Whether an echo is not certain by itself, because there are barriers."""
        return self._reported.is_possible

    def knows(self, received: Allocated) -> bool:
        """Return whether an allocation received as new has a reported one's key and identity."""
        return self._keys.get(received.identity) == received.key

    def observe(self, entry: Entry) -> Sequence[Allocated]:
        """Return what has been taken over with this entry."""
        content = entry.content
        if not entry.barrier and isinstance(content, _FOLLOWED):
            self._follows(content)
        return self._reported.observe(entry)

    def _follows(self, content: Content) -> None:
        for reported in recovered_in(content):
            self._keys[reported.identity] = reported.key
        match content:
            case NodeRequest(action=action, node=node, existing=existing) if action in CREATIONS:
                self._with_node[node] = existing
            case NodeRejected(node=node):
                self._with_node.pop(node, None)
            case NodeAccepted(node=node):
                for allocation in self._with_node.pop(node, ()):
                    self._reported.answer(allocation)
            case ReportedAgain():
                pass  # the scheduler may ignore it
            case ExistingAllocationRequest(allocation=allocation):
                self._reported.send(allocation, UpdateKind.ALLOCATIONS)
            case StreamEnded(kind=UpdateKind.ALLOCATIONS):
                self._reported.forgets(lambda _: True)  # messages on it may be lost

    def is_echoed(self, existing: Allocated) -> None:
        """Note that the scheduler sent this back."""
        self.forgets_one(existing.identity)
        self._reported.answer(existing)

    def forgets(self, which: Callable[[Allocated], bool]) -> None:
        """Drop those that ended or were rejected before it was certain they were taken over."""
        self._reported.forgets(which)
        for node, existing in self._with_node.items():
            self._with_node[node] = tuple(one for one in existing if not which(one))

    def forgets_one(self, identity: str) -> None:
        """Drop this one."""
        self._reported.forgets(lambda existing: existing.identity == identity)
