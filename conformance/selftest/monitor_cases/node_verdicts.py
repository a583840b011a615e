"""Histories for the monitors of ``node_verdicts``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    ASKS_SYNCHRONISED,
    DECOMMISSION,
    DRAIN,
    NODE,
    NODES_SYNCHRONISED,
    OLD_WITH_NODE,
    SMALLER,
    UNDRAIN,
)
from siconform.protocol.notifications import NodeAccepted, NodeRejected
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import Action

REGISTERED = RegistrationAnswered("rm", "OK")
YES, NO = NodeAccepted("n"), NodeRejected("n", "no")
CERTAIN = (*NODES_SYNCHRONISED, *ASKS_SYNCHRONISED)
DRAINED = replace(NODE, action=Action.CREATE_DRAINING)
ZONED = replace(NODE, node="m", attributes={"zone": "a"})
NAMELESS = replace(NODE, node="")

CASES = (
    Case(
        "new_nodes_are_accepted",
        [REGISTERED, NODE, YES, NODE, NO, REGISTERED, NODE, NO],
        [
            *(NODE, NO, REGISTERED, OLD_WITH_NODE, NO, replace(SMALLER, node="m")),
            *(replace(NODE, node="m"), NodeRejected("m", "of the update")),
            *(replace(NODE, node="o", capacity={}), NodeRejected("o", "empty")),
        ],
        [("was rejected: no", [REGISTERED, NODE, NO])],
    ),
    Case(
        "attributes_prevent_no_acceptance",
        [REGISTERED, NODE, YES, ZONED, NodeAccepted("m")],
        [REGISTERED, ZONED, NodeRejected("m", "no"), NODE, NO],
        [
            ("node m was rejected", [REGISTERED, NODE, YES, ZONED, NodeRejected("m", "no")]),
            ("node n was rejected", [REGISTERED, ZONED, NodeAccepted("m"), NODE, NO]),
        ],
    ),
    Case(
        "known_nodes_are_rejected",
        [
            *(NODE, YES, NODE, NO, SMALLER, NODE, YES, NO),  # the update was acknowledged
            *(DECOMMISSION, YES, NODE, YES, NODE, REGISTERED, NODE, YES, NO),
        ],
        [NODE, NO, NODE, YES, DECOMMISSION, NODE, YES],
        [
            ("was accepted again", [NODE, YES, NODE, YES]),
            ("was accepted again", [NODE, NODE, YES, YES]),
            ("was accepted again", [NODE, YES, SMALLER, *CERTAIN, NODE, YES]),
        ],
    ),
    Case(
        "known_nodes_are_rejected_when_created_draining",
        [NODE, YES, DRAINED, NO],
        [DRAINED, YES, NODE, NO],
        [("was accepted again", [NODE, YES, DRAINED, YES])],
    ),
    Case(
        "draining_nodes_are_rejected_when_created_again",
        [NODE, YES, DRAIN, *CERTAIN, NODE, NO],
        [NODE, YES, DRAIN, UNDRAIN, NODE, NO],
        [("was accepted again", [NODE, YES, DRAIN, *CERTAIN, NODE, YES])],
    ),
    Case(
        "drained_nodes_can_be_created_again",
        [NODE, YES, DRAIN, DECOMMISSION, *CERTAIN, NODE, YES],
        [NODE, YES, DRAIN, DECOMMISSION, NODE, NO, *CERTAIN],  # it may have overtaken the end
        [("had been decommissioned", [NODE, YES, DRAIN, DECOMMISSION, *CERTAIN, NODE, NO])],
    ),
    Case(
        "removed_nodes_can_be_created_again",
        [NODE, YES, DECOMMISSION, *CERTAIN, NODE, YES],
        [NODE, YES, DECOMMISSION, *CERTAIN, replace(NODE, capacity={"memory": 1}), NO],
        [("had been decommissioned", [NODE, YES, DECOMMISSION, *CERTAIN, NODE, NO])],
    ),
    Case(
        "nodes_without_id_are_not_accepted",
        [NAMELESS, NodeRejected("", "no")],
        [NODE, YES, replace(SMALLER, node=""), NAMELESS, NodeAccepted("")],
        [("without ID was accepted", [NAMELESS, NodeAccepted("")])],
    ),
    Case(
        "rejections_of_nodes_give_a_reason",
        [NODE, NO],
        [NODE, YES],
        [("gives no reason", [NODE, NodeRejected("n", " ")])],
    ),
)
