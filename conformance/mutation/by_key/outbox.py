"""Outgoing items for an RM, in order, until a stream takes them."""

import random
import time
from dataclasses import dataclass, field
from typing import Any, Final

from siwire.r2024_10 import si_pb2

Response = si_pb2.AllocationResponse | si_pb2.ApplicationResponse | si_pb2.NodeResponse
ALLOCATION: Final = "UpdateAllocation"
APPLICATION: Final = "UpdateApplication"
NODE: Final = "UpdateNode"
_LATE: Final = 1.2
_UNSTEADY: Final = 0.5


@dataclass
class Outbox:
    """Items by stream, each with the time of its event or, if they are unsteady, of its message."""

    strategies: frozenset[str]
    _waiting: dict[str, list[tuple[float, Response]]] = field(default_factory=dict)

    def report(self, response: Response) -> None:
        """Queue an item for its stream."""
        stream = {
            si_pb2.AllocationResponse: ALLOCATION,
            si_pb2.ApplicationResponse: APPLICATION,
            si_pb2.NodeResponse: NODE,
        }[type(response)]
        waiting = self._waiting.setdefault(stream, [])
        since = time.monotonic()
        if "unsteady" in self.strategies:
            previous, _ = waiting[-1] if waiting else (since, None)
            since = max(previous, since + random.uniform(0, _UNSTEADY))  # noqa: S311  # not secret
        waiting.append((since, response))

    def placed(self, allocation: si_pb2.Allocation) -> None:
        """Queue a new allocation."""
        self.report(si_pb2.AllocationResponse(new=[allocation]))

    def released(self, release: si_pb2.AllocationRelease) -> None:
        """Queue a release, done or requested."""
        if "wordless" in self.strategies:
            release.ClearField("message")
        self.report(si_pb2.AllocationResponse(released=[release]))

    def rejected(self, sent: si_pb2.Allocation, why: str) -> None:
        """Queue the rejection of an entry."""
        rejected = si_pb2.RejectedAllocation(
            allocationKey=sent.allocationKey,
            applicationID=sent.applicationID,
            reason=self._words(why),
        )
        self.report(si_pb2.AllocationResponse(rejectedAllocations=[rejected]))

    def application_rejected(self, name: str, why: str) -> None:
        """Queue the rejection of an application."""
        rejected = si_pb2.RejectedApplication(applicationID=name, reason=self._words(why))
        self.report(si_pb2.ApplicationResponse(rejected=[rejected]))

    def node_rejected(self, name: str, why: str) -> None:
        """Queue the rejection of a node, or of an action on it."""
        rejected = si_pb2.RejectedNode(nodeID=name, reason=self._words(why))
        self.report(si_pb2.NodeResponse(rejected=[rejected]))

    def _words(self, why: str) -> str:
        return "" if "wordless" in self.strategies else why

    def due(self, stream: str) -> list[Response]:
        """Take the items that are due on a stream."""
        waiting = self._waiting.get(stream, [])
        until = time.monotonic() - (_LATE if "late" in self.strategies else 0.0)
        found = [response for since, response in waiting if since <= until]
        self._waiting[stream] = waiting[len(found) :]
        return found if "singly" in self.strategies else list(self._joined(found))

    def _joined(self, responses: list[Response]) -> list[Response]:
        messages: list[Any] = []
        former: frozenset[str] = frozenset()
        for response in responses:
            lists = frozenset(known.name for known, _ in response.ListFields())
            if messages and (lists == former or "together" in self.strategies):
                messages[-1].MergeFrom(response)
            else:
                messages.append(response)
            former = lists
        return messages
