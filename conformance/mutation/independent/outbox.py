"""What is to be told to an RM, gathered until it is sent."""

from dataclasses import dataclass, field
from typing import Final

from siwire.r2023_12 import si_pb2

Response = si_pb2.AllocationResponse | si_pb2.ApplicationResponse | si_pb2.NodeResponse
ALLOCATION: Final = "UpdateAllocation"
APPLICATION: Final = "UpdateApplication"
NODE: Final = "UpdateNode"


@dataclass
class Outbox:
    """News by stream, oldest first; each with the names that must not come twice in a message."""

    bare: bool = False
    merged: bool = False
    _news: dict[str, list[tuple[str, Response]]] = field(default_factory=dict)

    def _add(self, stream: str, about: str, response: Response) -> None:
        self._news.setdefault(stream, []).append((about, response))

    def granted(self, allocation: si_pb2.Allocation) -> None:
        """A new allocation."""
        response = si_pb2.AllocationResponse(new=[allocation])
        self._add(ALLOCATION, allocation.applicationID, response)

    def released(self, release: si_pb2.AllocationRelease) -> None:
        """The end of an allocation, or the wish that it ends."""
        shown = si_pb2.AllocationRelease()
        shown.CopyFrom(release)
        if self.bare:
            shown.ClearField("message")
        self._add(ALLOCATION, shown.applicationID, si_pb2.AllocationResponse(released=[shown]))

    def ask_released(self, release: si_pb2.AllocationAskRelease) -> None:
        """The end of an ask."""
        response = si_pb2.AllocationResponse(releasedAsks=[release])
        self._add(ALLOCATION, release.applicationID, response)

    def ask_rejected(self, wish: si_pb2.AllocationAsk, why: str) -> None:
        """An ask that will not be served."""
        rejected = si_pb2.RejectedAllocationAsk(
            allocationKey=wish.allocationKey,
            applicationID=wish.applicationID,
            reason="" if self.bare else why,
        )
        response = si_pb2.AllocationResponse(rejected=[rejected])
        self._add(ALLOCATION, wish.applicationID, response)

    def allocation_rejected(self, existing: si_pb2.Allocation, why: str) -> None:
        """An existing allocation that was not taken."""
        rejected = si_pb2.RejectedAllocation(
            allocationKey=existing.allocationKey,
            applicationID=existing.applicationID,
            reason="" if self.bare else why,
        )
        response = si_pb2.AllocationResponse(rejectedAllocations=[rejected])
        self._add(ALLOCATION, existing.applicationID, response)

    def application_accepted(self, name: str) -> None:
        """An application was taken."""
        accepted = si_pb2.AcceptedApplication(applicationID=name)
        self._add(APPLICATION, name, si_pb2.ApplicationResponse(accepted=[accepted]))

    def application_rejected(self, name: str, why: str) -> None:
        """An application was not taken."""
        rejected = si_pb2.RejectedApplication(applicationID=name, reason="" if self.bare else why)
        self._add(APPLICATION, name, si_pb2.ApplicationResponse(rejected=[rejected]))

    def application_updated(self, update: si_pb2.UpdatedApplication) -> None:
        """An application is in another state."""
        response = si_pb2.ApplicationResponse(updated=[update])
        self._add(APPLICATION, update.applicationID, response)

    def node_accepted(self, name: str) -> None:
        """A node was taken."""
        accepted = si_pb2.AcceptedNode(nodeID=name)
        self._add(NODE, name, si_pb2.NodeResponse(accepted=[accepted]))

    def node_rejected(self, name: str, why: str) -> None:
        """A node was not taken, or an action on it not done."""
        rejected = si_pb2.RejectedNode(nodeID=name, reason="" if self.bare else why)
        self._add(NODE, name, si_pb2.NodeResponse(rejected=[rejected]))

    def collect(self, stream: str) -> list[Response]:
        """Take out what there is for a stream, in as few messages as keep the order readable."""
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
