"""Rules about utilisation: neither reports nor recommendations change what nodes offer."""

from typing import Final

from siconform.monitors.capacity import nodes_are_not_overfilled
from siconform.monitors.monitor import NOTHING_TO_EVALUATE, EntryFinding, Evaluator, Monitor
from siconform.protocol.notifications import Allocated, NodeRecommended
from siconform.protocol.requests import UtilisationRequest
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry


def reported_utilisation_frees_nothing() -> Evaluator:
    """No new allocation overfills a node whose actual use was reported."""
    overfilled = nodes_are_not_overfilled()
    reported: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        finding = overfilled(entry)
        match entry.content:
            case UtilisationRequest(subject=subject):
                reported.add(subject)
            case Allocated(node=node) if node in reported:
                return finding or ""
        return NOTHING_TO_EVALUATE

    return evaluate


def recommendations_add_nothing() -> Evaluator:
    """No new allocation overfills a node after the scheduler has recommended resources for one."""
    overfilled = nodes_are_not_overfilled()
    is_recommended = False

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal is_recommended
        finding = overfilled(entry)
        match entry.content:
            case NodeRecommended():
                is_recommended = True
            case Allocated() if is_recommended:
                return finding or ""
        return NOTHING_TO_EVALUATE

    return evaluate


_BY_SCHEDULER: Final = Identity.GIVEN_BY_THE_SCHEDULER
MONITORS: Final = (
    Monitor(reported_utilisation_frees_nothing, ("SI-UTIL-002",), identity=_BY_SCHEDULER),
    Monitor(recommendations_add_nothing, ("SI-NREC-002",), identity=_BY_SCHEDULER),
)
