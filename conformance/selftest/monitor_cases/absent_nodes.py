"""Histories for the monitors of ``absent_nodes``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.monitor_cases.node_verdicts import CERTAIN, REGISTERED
from selftest.sample_histories import DECOMMISSION, DRAIN, NODE, SMALLER, UNDRAIN, allocated
from siconform.protocol.requests import Action

NO_ACTION = replace(NODE, action=Action.UNSET)

CASES = (
    Case(
        "updates_create_no_node",
        [REGISTERED, SMALLER, NODE, allocated()],
        [SMALLER, REGISTERED, NODE, SMALLER, DRAIN, allocated()],
        [("never created", [REGISTERED, SMALLER, allocated()])],
    ),
    Case(
        "drains_create_no_node",
        [REGISTERED, DRAIN, NODE, allocated()],
        [REGISTERED, NODE, DRAIN, UNDRAIN, allocated()],
        [
            ("never created", [REGISTERED, UNDRAIN, allocated()]),
            ("never created", [REGISTERED, DECOMMISSION, allocated()]),
        ],
    ),
    Case(
        "node_reports_without_action_create_no_node",
        [REGISTERED, NO_ACTION, NODE, allocated()],
        [REGISTERED, NODE, NO_ACTION, allocated()],
        [("never created", [REGISTERED, NO_ACTION, allocated()])],
    ),
    Case(
        "decommissioned_nodes_get_nothing",
        [NODE, DECOMMISSION, allocated(), *CERTAIN, NODE, allocated(identity="2")],
        [NODE, DRAIN, *CERTAIN, allocated(), replace(DECOMMISSION, node="m"), *CERTAIN],
        [("was decommissioned", [NODE, DECOMMISSION, *CERTAIN, allocated()])],
    ),
    Case(
        "removed_nodes_stay_removed",
        [NODE, DECOMMISSION, *CERTAIN, UNDRAIN, NODE, allocated()],
        [NODE, DECOMMISSION, UNDRAIN, *CERTAIN, allocated()],
        [("was decommissioned", [NODE, DECOMMISSION, *CERTAIN, UNDRAIN, allocated()])],
    ),
)
