"""Foreign allocations on nodes, as far as they were certainly accepted.

While several reports of one are open, the smallest amount counts, and only on a node that all of
them name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.protocol.notifications import AllocationRejected, StreamEnded, UpdateKind
from siconform.protocol.requests import (
    Action,
    Amounts,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import OneAllocation
from siconform.recording.history import Entry

_OBSERVED: Final = (
    *(ForeignAllocationRequest, AllocationRejected, ReleaseRequest, NodeRequest, StreamEnded),
)


@dataclass(slots=True, eq=False)
class _Report:
    key: str
    node: str
    amounts: Amounts
    doubtful: bool = False  # whether it, or another one with it, was rejected


class ForeignOccupancy:
    """The foreign allocations that an RM has reported."""

    def __init__(self, *, effects_matter: bool = True) -> None:
        self._certainty: Certainty[_Report] = Certainty(effects_matter=effects_matter)
        self.changed: dict[str, float] = {}  # when a report last became certain, by node
        self._possible: dict[str, list[_Report | None]] = {}  # by key; None: nothing is held

    def used(self, node: str, resource: str) -> int:
        """Return how much of a resource foreign allocations certainly hold on this node."""
        return sum(
            min(_of(report, node).get(resource, 0) for report in possible)
            for possible in self._possible.values()
        )

    def holds_capacity_on(self, node: str) -> bool:
        """Return whether there certainly is a foreign allocation on this node."""
        return any(
            all(report is not None and report.node == node for report in possible)
            for possible in self._possible.values()
        )

    def observe(self, entry: Entry) -> None:
        """Apply what this entry reports, makes certain and ends."""
        if not entry.barrier and not isinstance(entry.content, _OBSERVED):
            return
        for report in self._certainty.observe(entry):
            self.changed[report.node] = entry.number
            possible = self._possible.get(report.key, [])
            if report in possible and not report.doubtful:
                self._possible[report.key] = possible[possible.index(report) :]
        match entry.content:
            case ForeignAllocationRequest(key=key, node=node, resource=resource):
                report = _Report(key, node, resource or {})
                self._possible.setdefault(key, [None]).append(report)
                self._certainty.send(report, UpdateKind.ALLOCATIONS)
            case AllocationRejected(key=key, application="") if key in self._possible:
                self._is_doubtful(key)
            case ReleaseRequest(subject=OneAllocation(application="", identity=key)):
                self._possible.pop(key, None)
            case NodeRequest(action=Action.DECOMMISSION, node=node):
                self._loses(node)

    def _is_doubtful(self, key: str) -> None:
        """Note a rejected report: if it was the first one, nothing is held."""
        possible = self._possible[key]
        for report in possible:
            if report is not None:
                report.doubtful = True
        if len(possible) > 1:
            return
        possible.append(None)

    def _loses(self, node: str) -> None:
        """Drop all that may be on the node: it is gone, or was reported elsewhere meanwhile."""
        for key, possible in list(self._possible.items()):
            if any(report is not None and report.node == node for report in possible):
                del self._possible[key]


def _of(report: _Report | None, node: str) -> Mapping[str, int]:
    return report.amounts if report is not None and report.node == node else {}
