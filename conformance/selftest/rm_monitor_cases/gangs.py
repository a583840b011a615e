"""Histories for the monitors of ``rm_gangs``."""

from dataclasses import replace

from selftest.rm_monitor_cases.case import (
    APP,
    ASK,
    NODE,
    REGISTERED,
    Message,
    RmCase,
    allocated,
    released,
    releases,
)
from siconform.protocol.notifications import ApplicationUpdated, AskRejected
from siconform.protocol.requests import Action, ExistingAllocationRequest, ForeignAllocationRequest

ALONE = replace(ASK, key="alone")
P1, P2 = (replace(ASK, key=key, task_group="g", placeholder=True) for key in ("p1", "p2"))
R1, R2 = (replace(ASK, key=key, task_group="g") for key in ("r1", "r2"))
GANG = replace(APP, placeholder_ask={"memory": 2})
MADE = (allocated("p1"), allocated("p2"))
REJECTED = AskRejected("p1", "a", "no")
FOREIGN = ForeignAllocationRequest("f", "n", "default", {"memory": 1}, {"foreign": "static"})
EXISTING = ExistingAllocationRequest(allocated("p0", task_group="g", placeholder=True))
TWICE = replace(P1, max_allocations=2)
P3 = replace(P2, key="p3")
UNGROUPED = replace(P3, task_group="")
NODE_LOST = replace(NODE, action=Action.DECOMMISSION, capacity=None)
REPLACED = Message([P3, releases("p2")])  # in one message they have no order
RESUMING = ApplicationUpdated("a", "Resuming", 1, "timeout")

CASES = (
    RmCase(
        "placeholders_are_within_their_sum",
        [GANG, P1, P1, P2, R1, replace(GANG, application="b"), *REGISTERED, GANG, P1],
        [P1, P2, REJECTED, APP, ASK, P1],
        [
            (
                "the placeholders of a have {'memory': 2}, its placeholderAsk is {'memory': 1}",
                [replace(GANG, placeholder_ask={"memory": 1}), P1, P2],
            ),
            ("have {'memory': 1}, its placeholderAsk is {}", [APP, P1]),
            (
                "its placeholderAsk is {'memory': 1}",
                [P1, P2, replace(APP, placeholder_ask={"memory": 1})],
            ),
            (
                "have {'vcore': 1}, its placeholderAsk is {'memory': 2}",
                [GANG, replace(P1, resource={"memory": 1, "vcore": 1, "pods": 1})],
            ),
        ],
    ),
    RmCase(
        "placeholders_are_within_their_sum",
        [GANG, P1, UNGROUPED, P2, *MADE, REPLACED],
        [UNGROUPED, APP],
        [("its placeholderAsk is {'memory': 2}", [GANG, P1, P2, *MADE, P3, releases("p2")])],
    ),
    RmCase(
        "placeholders_are_within_their_sum",
        [GANG, P1, P2, *MADE, NODE_LOST, P3],
        [APP, NODE_LOST],
        [("have {'memory': 3}", [GANG, P1, P2, *MADE, replace(NODE_LOST, node="m"), P3])],
        revision="2023-12",
    ),
    RmCase(
        "placeholders_are_within_their_sum",
        [GANG, P1, P2],
        [P1, ASK],
        [
            (
                "have {'memory': 4}",
                [replace(GANG, placeholder_ask={"memory": 3}), TWICE, replace(TWICE, key="p2")],
            )
        ],
        revision="2021-02",
    ),
    RmCase(
        "placeholders_come_first",
        [GANG, P1, P2, R1, P1, Message([replace(R2, key="r3"), replace(P1, key="p3")])],
        [GANG, EXISTING, R1, P1, REJECTED, R2, P2],
        [
            ("ask p2 of a, {memory=1}, placeholder, task group g comes after", [GANG, P1, R1, P2]),
            ("comes after a real ask of a", [R1, FOREIGN, releases("f", application=""), P1]),
        ],
    ),
    RmCase(
        "placeholders_come_first",
        [GANG, P1, P2, *MADE, R1],
        [GANG, R1],
        [
            (
                "comes after a real ask",
                [
                    GANG,
                    P1,
                    *REGISTERED,
                    replace(GANG, application="b"),
                    *(replace(one, application="b") for one in (R1, P2)),
                ],
            )
        ],
        revision="2023-12",
    ),
    RmCase(
        "placeholders_come_first",
        [GANG, P1, P2, *MADE, R1, UNGROUPED, REPLACED],
        [GANG, R1, UNGROUPED],
        [
            (
                "ask p3 of a",
                [GANG, P1, P2, *MADE, R1, Message([P3, releases("p2", application="b")])],
            )
        ],
        revision="2021-02",
    ),
    RmCase(
        "real_members_wait_for_the_placeholders",
        [GANG, P1, P2, *MADE, R1, R2, ALONE],
        [GANG, P1, P2, released("p1"), R1, *REGISTERED, P1, R2],
        [
            (
                "ask r1 of a, {memory=1}, task group g comes while p2 is not",
                [GANG, P1, P2, MADE[0], R1],
            ),
            ("comes while p1 is not allocated", [Message([P1, R1])]),
            ("comes with a real ask of a", [Message([R1, P1])]),
        ],
    ),
    RmCase(
        "real_members_wait_for_the_placeholders",
        [GANG, TWICE, allocated("p1", "1"), allocated("p1", "2"), R1],
        [GANG, P1, releases("i", application=""), R1],
        [("while p1 is not allocated", [GANG, TWICE, allocated("p1", "1"), R1])],
        revision="2023-04",
    ),
    RmCase(
        "real_members_wait_for_the_placeholders",
        [GANG, P1, P2, *MADE, R1],
        [GANG, P1, P2, MADE[0], RESUMING, R1],
        [
            (
                "comes while p2 is not",
                [GANG, P1, P2, MADE[0], replace(RESUMING, state="Running"), R1],
            )
        ],
        revision="2023-12",
    ),
    RmCase(
        "members_have_an_ask_each",
        [P1, R1],
        [replace(ASK, max_allocations=3)],
        [("one ask for several members", [TWICE]), ("several", [replace(R1, max_allocations=2)])],
        revision="2023-08",
    ),
    RmCase(
        "gang_asks_name_group_and_role",
        [P1, P1, R1, REJECTED, replace(R1, key="p1")],
        [ASK, ASK, UNGROUPED],
        [
            ("was of group g and placeholder before", [P1, replace(R1, key="p1")]),
            ("was of group g and no placeholder before", [R1, replace(R1, task_group="h")]),
        ],
    ),
    RmCase(
        "gang_asks_name_group_and_role",
        [P1, allocated("p1", "1"), replace(R1, key="p1"), R1, GANG, replace(R1, task_group="h")],
        [ASK],
        [("was of group g", [R1, replace(R1, task_group="h")])],
        revision="2021-02",
    ),
)
