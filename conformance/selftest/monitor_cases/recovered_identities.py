"""Histories for the monitors of ``recovered_identities``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.monitor_cases.node_verdicts import REGISTERED
from selftest.sample_histories import (
    APP,
    ASK,
    NODE,
    OLD,
    OLD_ITSELF,
    OLD_WITH_NODE,
    allocated,
    released,
)
from siconform.protocol.notifications import Allocated, AllocationRejected, Termination
from siconform.protocol.requests import Action, ExistingAllocationRequest, NodeRequest

NAMELESS = replace(OLD, identity="")
ASKED = replace(ASK, key="old")
REFUSED = AllocationRejected("old", "a", "no")
ATTACHED = NodeRequest("n", Action.UPDATE, existing=(OLD,))
FLAGGED, GROUPED = replace(OLD, placeholder=True), replace(OLD, task_group="g")
WHOLE = replace(GROUPED, placeholder=True)
REPLACED = released("o", Termination.PLACEHOLDER_REPLACED, key="old")


def reported(allocation: Allocated) -> ExistingAllocationRequest:
    return replace(OLD_ITSELF, allocation=allocation)


CASES = (
    Case(
        "recovered_allocations_are_not_allocated_again",
        [OLD_WITH_NODE, OLD, OLD],
        [NODE, ASKED, OLD_ITSELF, allocated("old", "other"), replace(ATTACHED, node="m")],
        [
            ("allocated as o on m", [OLD_WITH_NODE, replace(OLD, node="m")]),
            ("allocated as other on n", [NODE, OLD_ITSELF, allocated("old", "other")]),
        ],
    ),
    Case(
        "recovered_allocations_keep_their_identity",
        [OLD_WITH_NODE, OLD],
        [NODE, OLD_ITSELF, ASKED, allocated("old", "other"), reported(NAMELESS)],
        [("became other", [OLD_WITH_NODE, replace(OLD, identity="other")])],
    ),
    Case(
        "existing_allocations_without_identity_are_refused",
        [NODE, reported(NAMELESS), REFUSED],
        [NODE, OLD_ITSELF, OLD],
        [
            ("was taken over", [NODE, reported(NAMELESS), NAMELESS]),
            ("was taken over", [replace(NODE, existing=(NAMELESS,)), OLD]),
        ],
    ),
    Case(
        "nodes_with_unknown_allocations_are_refused",
        [REGISTERED, OLD_WITH_NODE, REFUSED],
        [OLD_WITH_NODE, OLD, REGISTERED, APP, OLD_WITH_NODE, OLD, OLD_ITSELF],
        [("of 'a', which is unknown", [REGISTERED, OLD_WITH_NODE, OLD])],
    ),
    Case(
        "allocations_without_place_are_refused",
        [REGISTERED, NODE, OLD_ITSELF, REFUSED, REGISTERED, OLD_ITSELF, APP, NODE, OLD, REFUSED],
        [NODE, OLD_ITSELF, OLD, REGISTERED, APP, NODE, OLD_ITSELF, OLD],
        [
            ("of 'a', which is unknown", [REGISTERED, NODE, OLD_ITSELF, OLD]),
            ("on n, which is unknown", [REGISTERED, APP, OLD_ITSELF, OLD]),
        ],
    ),
    Case(
        "allocations_of_updated_nodes_are_ignored",
        [NODE, ATTACHED, OLD_ITSELF, OLD],
        [OLD_WITH_NODE, NODE, OLD],
        [("attached to an update", [NODE, ATTACHED, OLD])],
    ),
    Case(
        "allocations_without_gang_data_are_not_replaced",
        [reported(FLAGGED), replace(REPLACED, identity="p"), released("o")],
        [reported(WHOLE), REPLACED],
        [
            ("was replaced", [reported(FLAGGED), REPLACED]),
            ("was replaced", [reported(OLD), REPLACED]),
            ("was replaced", [replace(NODE, existing=(GROUPED,)), REPLACED]),
        ],
    ),
    Case(
        "recovered_real_allocations_are_not_replaced",
        [reported(GROUPED), replace(REPLACED, identity="p"), released("o"), REPLACED],
        [reported(WHOLE), REPLACED, reported(FLAGGED), REPLACED],
        [("was replaced", [reported(GROUPED), REPLACED])],
    ),
)
