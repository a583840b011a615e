"""Rules about utilisation: neither reports nor recommendations change what nodes offer."""

from typing import Final

from siconform.monitors.monitor import NOTHING_TO_EVALUATE, EntryFinding, Evaluator, Monitor
from siconform.monitors.node_limits import nodes_are_not_overfilled
from siconform.monitors.occupancy import OCCUPANCY
from siconform.monitors.rm_streams import has_one_stream
from siconform.protocol.notifications import Allocated, NodeRecommended
from siconform.protocol.requests import UtilisationRequest
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry


def reported_utilisation_frees_nothing() -> Evaluator:
    """No new allocation overfills a node whose actual use was reported."""
    overfilled = _Overfilled()
    reported: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        finding = overfilled.evaluate(entry)
        match entry.content:
            case UtilisationRequest(subject=subject):
                reported.add(subject)
            case Allocated(node=node) if node in reported:
                return finding or ""
        return NOTHING_TO_EVALUATE

    return evaluate


def recommendations_add_nothing() -> Evaluator:
    """No new allocation overfills a node after the scheduler has recommended resources for one."""
    overfilled = _Overfilled()
    is_recommended = False

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal is_recommended
        finding = overfilled.evaluate(entry)
        match entry.content:
            case NodeRecommended():
                is_recommended = True
            case Allocated() if is_recommended:
                return finding or ""
        return NOTHING_TO_EVALUATE

    return evaluate


class _Overfilled:
    """What overfills a node, in the revision that has reports and recommendations."""

    def __init__(self) -> None:
        self._nodes = nodes_are_not_overfilled()
        self._has_reports = True

    def evaluate(self, entry: Entry) -> EntryFinding:
        if not self._has_reports:
            return NOTHING_TO_EVALUATE
        if entry.sent_by_rm and entry.kind is not None and entry.message is not None:
            self._has_reports = has_one_stream(entry)
        return self._nodes(entry)


_BY_SCHEDULER: Final = Identity.GIVEN_BY_THE_SCHEDULER
MONITORS: Final = (
    Monitor(
        reported_utilisation_frees_nothing,
        ("SI-UTIL-002",),
        observes=(*OCCUPANCY, UtilisationRequest),
        identity=_BY_SCHEDULER,
    ),
    Monitor(
        recommendations_add_nothing,
        ("SI-NREC-002",),
        observes=(*OCCUPANCY, NodeRecommended),
        identity=_BY_SCHEDULER,
    ),
)
