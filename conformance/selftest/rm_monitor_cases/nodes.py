"""Histories for the monitor of ``rm_nodes``."""

from selftest.rm_monitor_cases.case import NODE, REGISTERED, Message, RmCase
from siconform.protocol.notifications import StreamEnded, UpdateKind
from siconform.protocol.requests import Action, NodeRequest, StreamOpening

DRAIN = NodeRequest("n", Action.DRAIN)
UNDRAIN = NodeRequest("n", Action.UNDRAIN)
DECOMMISSION = NodeRequest("n", Action.DECOMMISSION)
ENDED = StreamEnded(UpdateKind.NODES, "UNAVAILABLE", "")

CASES = (
    RmCase(
        "drained_nodes_are_reported",
        [NODE, DRAIN, UNDRAIN, DRAIN, DECOMMISSION],
        [DRAIN, NODE, UNDRAIN, *REGISTERED, DRAIN, UNDRAIN, ENDED, *REGISTERED, DRAIN, NODE],
        [
            ("node n was drained, but it was not reported", [DRAIN, UNDRAIN]),
            ("not reported since the registration", [NODE, ENDED, *REGISTERED, DRAIN, UNDRAIN]),
            (
                "not reported since the registration",
                [NODE, *REGISTERED, StreamOpening(UpdateKind.NODES), DRAIN, DECOMMISSION],
            ),
        ],
    ),
    RmCase(
        "drained_nodes_are_reported",
        [Message([NODE, DRAIN])],
        [DRAIN, DRAIN, Message([UNDRAIN, NODE])][2:],
        [("was drained", [DRAIN, DRAIN, UNDRAIN])],
    ),
)
