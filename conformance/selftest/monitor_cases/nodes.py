"""Histories for the monitors of ``nodes``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    ASK,
    ASKS_SYNCHRONISED,
    DECOMMISSION,
    DRAIN,
    NODE,
    NODES_SYNCHRONISED,
    OLD,
    OLD_ITSELF,
    PLACEHOLDER,
    REAL,
    REPLACED,
    UNDRAIN,
    allocated,
)
from siconform.protocol.notifications import NodeAccepted, NodeRejected
from siconform.protocol.requests import REQUIRED_NODE, Action

REQUIRING = replace(ASK, tags={REQUIRED_NODE: "n"})

CASES = (
    Case(
        "creations_get_at_most_one_verdict",
        [NODE, NodeAccepted("n"), NODE, NodeRejected("n", "known")],
        [NODE],
        [
            ("one verdict too many", [NODE, NodeAccepted("n"), NodeAccepted("n")]),
            ("one verdict too many", [NODE, NodeAccepted("n"), NodeRejected("n", "")]),
        ],
    ),
    Case(
        "nodes_of_allocations_exist",
        [
            *(NODE, allocated(), DECOMMISSION, allocated(identity="late")),
            *(*NODES_SYNCHRONISED, allocated(identity="later"), *ASKS_SYNCHRONISED),
            *(NODE, allocated(identity="back")),
        ],
        [NODE],
        [
            ("not a node of this RM", [NODE, allocated(node="other")]),
            (
                "not a node of this RM",
                [NODE, DECOMMISSION, *NODES_SYNCHRONISED, *ASKS_SYNCHRONISED, allocated()],
            ),
        ],
    ),
    Case(
        "draining_nodes_get_nothing_new",
        [
            *(
                NODE,
                DRAIN,
                *NODES_SYNCHRONISED,
                allocated(),
                *ASKS_SYNCHRONISED,
            ),  # may be in transit
            *(OLD_ITSELF, OLD, replace(PLACEHOLDER, node="m"), REPLACED, REAL),
            *(UNDRAIN, allocated(identity="2")),
            *(DRAIN, UNDRAIN, *NODES_SYNCHRONISED, *ASKS_SYNCHRONISED, allocated(identity="3")),
            *(DRAIN, REQUIRING, *NODES_SYNCHRONISED, *ASKS_SYNCHRONISED, allocated(identity="4")),
        ],
        [
            *(NODE, UNDRAIN, *NODES_SYNCHRONISED, *ASKS_SYNCHRONISED, allocated()),
            *(replace(NODE, action=Action.CREATE_DRAINING), allocated(identity="2")),  # rejected
            replace(NODE, node="barrier-m", action=Action.CREATE_DRAINING),
        ],
        [
            ("is draining", [NODE, DRAIN, *NODES_SYNCHRONISED, *ASKS_SYNCHRONISED, allocated()]),
            ("is draining", [replace(NODE, action=Action.CREATE_DRAINING), allocated()]),
        ],
    ),
)
