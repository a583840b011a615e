"""Histories for the monitors of ``node_limits`` and ``recovered_excess``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.monitor_cases.node_verdicts import CERTAIN, NO, YES
from selftest.sample_histories import (
    ASKS_SYNCHRONISED,
    IN_THE_CLUSTER,
    LIMITED,
    NODE,
    OLD,
    OLD_ITSELF,
    OLD_WITH_NODE,
    SMALLER,
    allocated,
    released_by_rm,
)
from siconform.protocol.notifications import AllocationRejected, NodeAccepted
from siconform.protocol.requests import Action, NodeRequest

OF_4, OF_20 = (replace(NODE, capacity={"memory": amount}) for amount in (4, 20))
OCCUPIED = replace(NODE, occupied={"memory": 6})
MORE_OCCUPIED = NodeRequest("n", Action.UPDATE, occupied={"memory": 6})
ATTRIBUTES = NodeRequest("n", Action.UPDATE, attributes={"zone": "a"})
SAME = NodeRequest("n", Action.UPDATE, capacity={"memory": 10})
WITHOUT_ACTION = replace(OF_20, action=Action.UNSET)
ONE, TWO, THREE = (allocated("k", identity) for identity in "123")
BOTH = replace(NODE, capacity={"memory": 10, "vcore": 10})
HUGE = allocated("old", "o", resource={"memory": 14})
TINY = allocated("k", "t", resource={"memory": 2})
SMALL = allocated("k", "s", resource={"memory": 3})

CASES = (
    Case(
        "rejected_creations_add_no_capacity",
        [NODE, YES, OF_20, NO, ONE, TWO],
        [NODE, YES, OF_4, NO, ONE, TWO],
        [("at most 10", [NODE, YES, OF_20, NO, ONE, TWO, THREE])],
    ),
    Case(
        "occupied_resource_is_not_available",
        [OCCUPIED, ONE],
        [NODE, ONE, TWO],
        [("at most 4", [OCCUPIED, YES, ONE, TWO])],
    ),
    Case(
        "smaller_nodes_get_less",
        [NODE, SMALLER, *CERTAIN, ONE, released_by_rm("1"), TWO],
        [NODE, ONE, SMALLER, TWO, NO, *CERTAIN],
        [
            ("at most 4", [NODE, SMALLER, *CERTAIN, ONE, TWO]),
            ("at most 4", [NODE, ONE, TWO, SMALLER, *CERTAIN, TINY]),
        ],
    ),
    Case(
        "newly_occupied_resource_is_not_available",
        [replace(NODE, occupied={"memory": 1}), MORE_OCCUPIED, *CERTAIN, ONE],
        [NODE, ONE, TWO, MORE_OCCUPIED],
        [("at most 4", [NODE, MORE_OCCUPIED, *CERTAIN, ONE, TWO])],
    ),
    Case(
        "resources_left_out_of_an_update_stay",
        [OCCUPIED, SAME, *CERTAIN, ONE],
        [NODE, ATTRIBUTES, *CERTAIN, ONE],
        [("at most 4", [OCCUPIED, SAME, *CERTAIN, ONE, TWO])],
    ),
    Case(
        "node_reports_without_action_add_no_capacity",
        [NODE, WITHOUT_ACTION, ONE],
        [NODE, OF_20, ONE, TWO, THREE],
        [("at most 10", [NODE, WITHOUT_ACTION, ONE, TWO, THREE])],
    ),
    Case(
        "existing_allocations_of_nodes_hold_capacity",
        [OLD_WITH_NODE, YES, *ASKS_SYNCHRONISED, SMALL],
        [NODE, OLD_ITSELF, *ASKS_SYNCHRONISED, ONE],
        [("7 of it existed", [OLD_WITH_NODE, YES, *ASKS_SYNCHRONISED, ONE])],
    ),
    Case(
        "existing_allocations_of_draining_nodes_hold_capacity",
        [replace(OLD_WITH_NODE, action=Action.CREATE_DRAINING), YES, *ASKS_SYNCHRONISED, SMALL],
        [OLD_WITH_NODE, YES, *ASKS_SYNCHRONISED, ONE],
        [
            (
                "7 of it existed",
                [
                    replace(OLD_WITH_NODE, action=Action.CREATE_DRAINING),
                    *(YES, *ASKS_SYNCHRONISED, ONE),
                ],
            )
        ],
    ),
    Case(
        "reported_allocations_hold_capacity",
        [NODE, OLD_ITSELF, *ASKS_SYNCHRONISED * 2, SMALL],
        [NODE, OLD_ITSELF, AllocationRejected("old", "a", "no"), *ASKS_SYNCHRONISED * 2, ONE, TWO],
        [("7 of it existed", [NODE, OLD_ITSELF, *ASKS_SYNCHRONISED * 2, ONE])],
    ),
    Case(
        "recovered_allocations_count_beyond_the_limits",
        [
            *(BOTH, replace(OLD_ITSELF, allocation=HUGE), HUGE),
            *(allocated("k", "1", node="m"), allocated("k", "2", resource={"vcore": 1})),
        ],
        [
            *(*IN_THE_CLUSTER, NODE, OLD_ITSELF, OLD, SMALL),
            *(replace(NODE, node="m", existing=(replace(HUGE, node="m"),)),),  # its node is taken
            *(AllocationRejected("old", "a", "no"), NodeAccepted("m"), *ASKS_SYNCHRONISED),
            allocated("k", "m", node="m"),
        ],
        [
            ("node n holds 17", [NODE, replace(OLD_ITSELF, allocation=HUGE), HUGE, SMALL]),
            (
                "queue root.parent holds 17",
                [
                    *(*IN_THE_CLUSTER, OF_20, LIMITED),
                    *(replace(OLD_ITSELF, allocation=HUGE), *ASKS_SYNCHRONISED * 2, SMALL),
                ],
            ),
        ],
    ),
)
