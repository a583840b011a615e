"""Histories for the monitors of ``recovery``."""

from selftest.monitor_cases.case import Case
from selftest.sample_histories import OLD, OLD_ITSELF, OLD_WITH_NODE
from siconform.protocol.notifications import AllocationRejected

CASES = (
    Case(
        "rejections_of_existing_allocations_are_complete",
        [OLD_ITSELF, AllocationRejected("old", "a", "no node")],
        [OLD_ITSELF, OLD],
        [
            ("did not report", [AllocationRejected("old", "a", "no node")]),
            ("did not report", [OLD_ITSELF, AllocationRejected("old", "b", "no node")]),
        ],
    ),
    Case(
        "rejections_of_existing_allocations_give_a_reason",
        [OLD_ITSELF, AllocationRejected("old", "a", "no node")],
        [OLD_ITSELF, OLD],
        [("gives no reason", [OLD_WITH_NODE, AllocationRejected("old", "a", "")])],
    ),
)
