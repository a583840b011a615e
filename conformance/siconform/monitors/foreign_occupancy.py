"""What others hold on nodes: foreign allocations, as far as it is certain that they were taken.

Where several things said of one are open, the least counts, and that only on a node all of them
name.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from siconform.monitors.certainty import Certainty
from siconform.protocol.notifications import AllocationRejected, UpdateKind
from siconform.protocol.requests import (
    Action,
    Amounts,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import OneAllocation
from siconform.recording.history import Entry


@dataclass(slots=True, eq=False)
class _Report:
    key: str
    node: str
    amounts: Amounts
    doubtful: bool = False  # whether it, or another one with it, was rejected


class ForeignOccupancy:
    """Hears what an RM says of others' allocations."""

    def __init__(self) -> None:
        self._certainty: Certainty[_Report] = Certainty()
        self._possible: dict[str, list[_Report | None]] = {}  # by key; None: nothing is held

    def used(self, node: str, resource: str) -> int:
        """How much of a resource others hold on this node for certain."""
        return sum(
            min(_of(report, node).get(resource, 0) for report in possible)
            for possible in self._possible.values()
        )

    def holds_capacity_on(self, node: str) -> bool:
        """Whether there is such an allocation for certain."""
        return any(
            all(report is not None and report.node == node for report in possible)
            for possible in self._possible.values()
        )

    def observe(self, entry: Entry) -> None:
        """What is reported, what is certain, and what ends, with this."""
        for report in self._certainty.observe(entry):
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
        """One of them was rejected: the first may be, and then nothing is held."""
        possible = self._possible[key]
        for report in possible:
            if report is not None:
                report.doubtful = True
        if len(possible) > 1:
            return
        possible.append(None)

    def _loses(self, node: str) -> None:
        """What was on it is gone, or was reported elsewhere meanwhile."""
        for key, possible in list(self._possible.items()):
            if any(report is not None and report.node == node for report in possible):
                del self._possible[key]


def _of(report: _Report | None, node: str) -> Mapping[str, int]:
    return report.amounts if report is not None and report.node == node else {}
