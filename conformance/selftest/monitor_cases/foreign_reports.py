"""Histories for monitors where the key is the identity: foreign and repeated reports."""

from collections.abc import Sequence
from dataclasses import replace

from selftest.monitor_cases.by_key import (
    CERTAIN,
    FOREIGN_GONE,
    NODE_M,
    end,
    ended,
    foreign,
    new,
    of_others,
    reported,
)
from selftest.monitor_cases.case import Case
from selftest.monitor_cases.node_verdicts import REGISTERED
from selftest.sample_histories import ASK, DECOMMISSION, NODE, PREEMPTED, released
from siconform.protocol.notifications import AllocationRejected, NodeAccepted
from siconform.protocol.requests import Action, NodeRequest

YES = NodeAccepted("n")
REFUSED = AllocationRejected("f", "", "no")
FOREIGN_ENDED = released("f", key="f", application="")
ENDED = (NODE, reported("x", 6), DECOMMISSION, ended("x"), NODE, reported("x", 6))
LARGER = NodeRequest("n", Action.UPDATE, capacity={"memory": 12})

FOREIGN: Sequence[Case] = (
    Case(
        "updated_foreign_allocations_hold_their_new_amount",
        [NODE, foreign(2), *CERTAIN, foreign(6), *CERTAIN, ASK, new()],
        [NODE, foreign(7), *CERTAIN, ASK, new("o", 2)],
        [("7 for foreign", [NODE, foreign(2), *CERTAIN, foreign(7), *CERTAIN, ASK, new()])],
    ),
    Case(
        "moved_foreign_allocations_count_on_their_node",
        [NODE, NODE_M, foreign(6, "m"), foreign(6), *CERTAIN, ASK, new()],
        [NODE, foreign(7), foreign(7), *CERTAIN, ASK, new()],
        [
            ("8 for foreign", [NODE, NODE_M, foreign(8, "m"), foreign(8), *CERTAIN, ASK, new()]),
            (
                "8 for foreign",
                [NODE, foreign(8), DECOMMISSION, NODE, foreign(8), *CERTAIN, ASK, new()],
            ),
            ("9 for foreign", [NODE, foreign(9), LARGER, *CERTAIN, ASK, new()]),
        ],
    ),
    Case(
        "rejections_of_foreign_allocations_are_complete",
        [foreign(4, "x"), REFUSED],
        [foreign(4), of_others(), replace(ASK, key="f"), REFUSED],
        [
            ("names 'a'", [foreign(4), replace(REFUSED, application="a")]),
            ("gives no reason", [foreign(4), replace(REFUSED, reason="")]),
        ],
    ),
    Case(
        "foreign_allocations_without_place_are_not_echoed",
        [REGISTERED, foreign(4, "x"), REFUSED],
        [foreign(4), of_others(), REGISTERED, NODE, foreign(4), of_others()],
        [("which is unknown", [REGISTERED, foreign(4), of_others()])],
    ),
    Case(
        "foreign_allocations_on_known_nodes_are_accepted",
        [NODE, YES, foreign(40), foreign(4), REFUSED],
        [
            *(NODE, foreign(4), REFUSED, YES, foreign(4), REFUSED, foreign(0, key="g")),
            AllocationRejected("g", "", "nothing"),
        ],
        [("was rejected", [NODE, YES, foreign(40), REFUSED])],
    ),
    Case(
        "foreign_allocations_are_not_released",
        [NODE, foreign(4), FOREIGN_GONE, FOREIGN_ENDED, foreign(4), DECOMMISSION, FOREIGN_ENDED],
        [ASK, new(), end(), ended()],
        [
            (
                "was released as PREEMPTED",
                [foreign(4), replace(FOREIGN_ENDED, termination=PREEMPTED)],
            ),
            ("was released as STOPPED_BY_RM", [foreign(4), FOREIGN_ENDED]),
        ],
    ),
    Case(
        "negative_foreign_amounts_add_no_capacity",
        [NODE, foreign(-4), ASK, new(), new("o")],
        [NODE, foreign(4), ASK, new()],
        [("holds 12 of memory", [NODE, foreign(-4), new("1"), new("2"), new("3")])],
    ),
    Case(
        "allocations_reported_again_hold_capacity",
        [*ENDED, *CERTAIN, new("o", 4)],
        [NODE, reported("x", 6), *CERTAIN, new("o", 4)],
        [("holds 11 of memory", [*ENDED, *CERTAIN, new("o", 5)])],
    ),
    Case(
        "allocations_reported_twice_end_once",
        [NODE, reported(), reported(), end(), ended()],
        [NODE, reported(), end(), ended()],
        [("released twice", [NODE, reported(), reported(), end(), ended(), ended()])],
    ),
)
