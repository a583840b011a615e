"""Histories for the rules of ``node_limits`` and ``queue_limits`` that nothing is overfilled."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    ASKS_SYNCHRONISED,
    ELSEWHERE,
    FULL,
    IN_THE_CLUSTER,
    LIMITED,
    NODE,
    OLD,
    OLD_ITSELF,
    OLD_WITH_NODE,
    PLACEHOLDER,
    PREEMPTED,
    SISTER,
    SMALLER,
    allocated,
    released,
    released_by_rm,
)
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.notifications import NodeAccepted
from siconform.protocol.requests import Action

CASES = (
    Case(
        "nodes_are_not_overfilled",
        [
            *(NODE, allocated("k", "1"), allocated("k", "2")),
            *(released_by_rm("1"), allocated("k", "3"), SMALLER),
            *(released_by_rm("3"), allocated("k", "4")),  # may not have arrived yet
            *(released(""), allocated("k", "5", application="b")),  # the end of all allocations
        ],
        [NODE],
        [
            ("holds 12 of memory", [NODE, *(allocated("k", i) for i in "123")]),
            ("holds 8 of memory", [replace(SMALLER, action=Action.CREATE), *FULL]),
            (
                "holds 12 of memory",  # the capacity of an unconfirmed release is not free
                [
                    *(NODE, allocated("k", "1"), allocated("k", "2")),
                    *(released("1", PREEMPTED), allocated("k", "3")),
                ],
            ),
            ("holds 11", [OLD_WITH_NODE, NodeAccepted("n"), *ASKS_SYNCHRONISED, allocated()]),
            ("holds 11", [NODE, OLD_ITSELF, *ASKS_SYNCHRONISED * 2, allocated()]),
            ("holds 11", [NODE, OLD_ITSELF, OLD, allocated()]),  # announced: recovered
            (
                "barrier-m holds 4 of memory with id, at most 0",
                [replace(NODE, node="barrier-m", capacity={}), allocated(node="barrier-m")],
            ),
        ],
    ),
    Case(
        "queues_are_not_overfilled",
        [
            *(*IN_THE_CLUSTER, LIMITED, *FULL, released_by_rm("1")),
            *(allocated(identity="3"), ConfigurationSent("rm", "group"), allocated(identity="4")),
        ],
        [*ELSEWHERE, LIMITED, *FULL, allocated(identity="3")],
        [
            ("parent holds 12", [*IN_THE_CLUSTER, LIMITED, *FULL, allocated(identity="3")]),
            (
                "parent holds 12",
                [*IN_THE_CLUSTER, LIMITED, SISTER, *FULL, allocated("b", "3", application="b")],
            ),
        ],
    ),
    Case(
        "placeholders_count_against_the_quota",
        [*IN_THE_CLUSTER, LIMITED, PLACEHOLDER, allocated()],
        [*IN_THE_CLUSTER, LIMITED, *FULL, allocated(identity="3")],
        [("parent holds 12", [*IN_THE_CLUSTER, LIMITED, PLACEHOLDER, *FULL])],
    ),
)
