"""Histories for the monitors of ``draining``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.monitor_cases.node_verdicts import CERTAIN, DRAINED, NO, YES
from selftest.monitor_cases.nodes import REQUIRING
from selftest.sample_histories import (
    DRAIN,
    NODE,
    OLD,
    OLD_ITSELF,
    PLACEHOLDER,
    REAL,
    REPLACED,
    SMALLER,
    UNDRAIN,
    Together,
    allocated,
)

FILLED = replace(DRAINED, existing=(OLD,))

CASES = (
    Case(
        "nodes_created_draining_get_nothing",
        [
            *(DRAINED, YES, OLD_ITSELF, OLD, replace(PLACEHOLDER, node="m"), REPLACED, REAL),
            *(REQUIRING, allocated(identity="required")),
            *(UNDRAIN, allocated()),
        ],
        [NODE, DRAIN, *CERTAIN, allocated()],
        [("is draining", [DRAINED, YES, allocated()])],
    ),
    Case(
        "filled_nodes_get_nothing_before_they_are_undrained",
        [DRAINED, YES, OLD_ITSELF, OLD, UNDRAIN, allocated()],
        [DRAINED, NO, NODE, YES, allocated()],
        [
            ("is draining", [FILLED, YES, OLD, allocated()]),
            ("is draining", [DRAINED, OLD_ITSELF, allocated()]),
        ],
    ),
    Case(
        "updates_do_not_undrain",
        [NODE, DRAIN, *CERTAIN, SMALLER, UNDRAIN, allocated()],
        [NODE, DRAIN, SMALLER, *CERTAIN, UNDRAIN],
        [("is draining", [NODE, DRAIN, *CERTAIN, SMALLER, allocated()])],
    ),
    Case(
        "creations_do_not_undrain",
        [NODE, YES, DRAIN, *CERTAIN, NODE, NO, UNDRAIN, allocated()],
        [NODE, YES, DRAIN, *CERTAIN, UNDRAIN, NODE, NO, allocated()],
        [("is draining", [NODE, YES, DRAIN, *CERTAIN, NODE, NO, allocated()])],
    ),
    Case(
        "entries_of_one_message_take_effect_in_order",
        [Together([NODE, DRAIN]), allocated(), *CERTAIN, UNDRAIN, allocated(identity="2")],
        [NODE, DRAIN, *CERTAIN, allocated()],
        [("is draining", [Together([NODE, DRAIN]), *CERTAIN, allocated()])],
    ),
)
