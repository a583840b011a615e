"""The rule about the nodes that an RM reports."""

from typing import Final

from siconform.monitors.monitor import NOTHING_TO_EVALUATE, EntryFinding, Evaluator, Monitor
from siconform.monitors.recovered_allocations import CREATIONS
from siconform.monitors.rm_streams import REGISTRATIONS, CurrentStreams
from siconform.protocol.notifications import StreamEnded
from siconform.protocol.registration import is_registered
from siconform.protocol.requests import Action, NodeRequest, StreamOpening
from siconform.recording.history import Entry

_ENDS_A_DRAIN: Final = (Action.UNDRAIN, Action.DECOMMISSION)


def drained_nodes_are_reported() -> Evaluator:
    """A node is not drained, and later undrained or removed, without having been reported.

    It was unschedulable in between, and missing from the list of nodes since the registration.
    """
    reported: set[str] = set()
    drained: dict[str, int] = {}  # those not reported, and the number of the message
    streams = CurrentStreams()

    def evaluate(entry: Entry) -> EntryFinding:
        streams.observe(entry)
        if is_registered(entry.content):
            reported.clear()
            drained.clear()
        match entry.content:
            case NodeRequest(node=node, action=action) if action in CREATIONS:
                reported.add(node)
                drained.pop(node, None)
            case NodeRequest(node=node, action=Action.DRAIN) if streams.include(entry):
                if node in reported:
                    return ""
                drained.setdefault(node, entry.number)
            case NodeRequest(node=node, action=action) if action in _ENDS_A_DRAIN:
                if drained.pop(node, entry.number) < entry.number:
                    return (
                        f"node {node} was drained, but it was not reported since the registration"
                    )
        return NOTHING_TO_EVALUATE

    return evaluate


MONITORS: Final = (
    Monitor(
        drained_nodes_are_reported,
        ("SI-NODE-014",),
        observes=(*REGISTRATIONS, NodeRequest, StreamOpening, StreamEnded),
        outlives_registrations=True,
    ),
)
