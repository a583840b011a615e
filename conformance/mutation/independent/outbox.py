"""Outgoing items for an RM, collected until they are sent."""

from dataclasses import dataclass, field
from typing import Final

from siwire.r2023_12 import si_pb2

Response = si_pb2.AllocationResponse | si_pb2.ApplicationResponse | si_pb2.NodeResponse
ALLOCATION: Final = "UpdateAllocation"
APPLICATION: Final = "UpdateApplication"
NODE: Final = "UpdateNode"


@dataclass
class Outbox:
    """Items by stream, oldest first, each with the names that may occur once per message."""

    bare: bool = False
    merged: bool = False
    _news: dict[str, list[tuple[str, Response]]] = field(default_factory=dict)

    def _add(self, stream: str, about: str, response: Response) -> None:
        self._news.setdefault(stream, []).append((about, response))

    def granted(self, allocation: si_pb2.Allocation) -> None:
        """Queue a new allocation."""
        response = si_pb2.AllocationResponse(new=[allocation])
        self._add(ALLOCATION, allocation.applicationID, response)

    def released(self, release: si_pb2.AllocationRelease) -> None:
        """Queue the release of an allocation, done or requested."""
        shown = si_pb2.AllocationRelease()
        shown.CopyFrom(release)
        if self.bare:
            shown.ClearField("message")
        self._add(ALLOCATION, shown.applicationID, si_pb2.AllocationResponse(released=[shown]))

    def ask_released(self, release: si_pb2.AllocationAskRelease) -> None:
        """Queue the end of an ask."""
        response = si_pb2.AllocationResponse(releasedAsks=[release])
        self._add(ALLOCATION, release.applicationID, response)

    def ask_rejected(self, wish: si_pb2.AllocationAsk, why: str) -> None:
        """Queue the rejection of an ask."""
        rejected = si_pb2.RejectedAllocationAsk(
            allocationKey=wish.allocationKey,
            applicationID=wish.applicationID,
            reason="" if self.bare else why,
        )
        response = si_pb2.AllocationResponse(rejected=[rejected])
        self._add(ALLOCATION, wish.applicationID, response)

    def allocation_rejected(self, existing: si_pb2.Allocation, why: str) -> None:
        """Queue the rejection of an existing allocation."""
        rejected = si_pb2.RejectedAllocation(
            allocationKey=existing.allocationKey,
            applicationID=existing.applicationID,
            reason="" if self.bare else why,
        )
        response = si_pb2.AllocationResponse(rejectedAllocations=[rejected])
        self._add(ALLOCATION, existing.applicationID, response)

    def application_accepted(self, name: str) -> None:
        """Queue the acceptance of an application."""
        accepted = si_pb2.AcceptedApplication(applicationID=name)
        self._add(APPLICATION, name, si_pb2.ApplicationResponse(accepted=[accepted]))

    def application_rejected(self, name: str, why: str) -> None:
        """Queue the rejection of an application."""
        rejected = si_pb2.RejectedApplication(applicationID=name, reason="" if self.bare else why)
        self._add(APPLICATION, name, si_pb2.ApplicationResponse(rejected=[rejected]))

    def application_updated(self, update: si_pb2.UpdatedApplication) -> None:
        """Queue a state change of an application."""
        response = si_pb2.ApplicationResponse(updated=[update])
        self._add(APPLICATION, update.applicationID, response)

    def node_accepted(self, name: str) -> None:
        """Queue the acceptance of a node."""
        accepted = si_pb2.AcceptedNode(nodeID=name)
        self._add(NODE, name, si_pb2.NodeResponse(accepted=[accepted]))

    def node_rejected(self, name: str, why: str) -> None:
        """Queue the rejection of a node, or of an action on it."""
        rejected = si_pb2.RejectedNode(nodeID=name, reason="" if self.bare else why)
        self._add(NODE, name, si_pb2.NodeResponse(rejected=[rejected]))

    def collect(self, stream: str) -> list[Response]:
        """Take the items of a stream, in as few messages as keep the order unambiguous."""
        messages: list[Response] = []
        seen: dict[str, frozenset[str]] = {}
        for about, response in self._news.pop(stream, []):
            lists = frozenset(f.name for f, _ in response.ListFields())
            mixes = about in seen and seen[about] != lists
            if not messages or (mixes and not self.merged):
                fresh = type(response)()
                messages.append(fresh)
                seen = {}
            messages[-1].MergeFrom(response)  # type: ignore[arg-type]
            seen[about] = lists
        return messages
