"""Histories for the monitors of ``rm_recovery``."""

from dataclasses import replace
from typing import Any

from selftest.rm_monitor_cases.case import (
    ACCEPTED,
    APP,
    ASK,
    NODE,
    REGISTERED,
    STOPPED,
    RmCase,
    allocated,
    released,
    releases,
)
from siconform.protocol.notifications import Allocated, PreemptionPolicy, StreamEnded, UpdateKind
from siconform.protocol.requests import AllocationUpdate, ExistingAllocationRequest

MEMBER = replace(ASK, task_group="g", placeholder=True)
POLICY = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=False)
RICH = replace(ASK, tags={"x/y": "z"}, priority=7, originator=True, preemption_policy=POLICY)
AS_ASKED: dict[str, Any] = {
    "tags": {"x/y": "z"},
    "priority": 7,
    "originator": True,
    "preemption_policy": POLICY,
}
MADE = allocated(**AS_ASKED)
ENDED = StreamEnded(UpdateKind.ALLOCATIONS, "UNAVAILABLE", "")


def existing(one: Allocated) -> ExistingAllocationRequest:
    return ExistingAllocationRequest(one)


def role(**named: Any) -> Allocated:
    return allocated(**{"task_group": "g", "placeholder": True, **named})


CASES = (
    RmCase(
        "recovered_members_keep_their_role",
        [MEMBER, role(), *REGISTERED, existing(role()), role(), *REGISTERED, existing(role())],
        [
            *(MEMBER, role(), releases(), *REGISTERED, existing(role(task_group="h"))),
            existing(role(key="ungrouped", task_group="")),
        ],
        [
            (
                "recovered k is member of g, it was placeholder of g",
                [MEMBER, role(), *REGISTERED, existing(role(placeholder=False))],
            ),
            (
                "recovered k is placeholder of h, it was placeholder of g",
                [MEMBER, role(), *REGISTERED, *REGISTERED, existing(role(task_group="h"))],
            ),
            (
                "recovered k is placeholder of no group, it was placeholder of g",
                [MEMBER, role(), *REGISTERED, existing(role(task_group=""))],
            ),
        ],
    ),
    RmCase(
        "recovered_members_keep_their_role",
        [MEMBER, role(identity="1"), *REGISTERED, replace(NODE, existing=(role(identity="1"),))],
        [
            *(MEMBER, role(identity="1"), replace(MEMBER, placeholder=False)),
            *(*REGISTERED, replace(NODE, existing=(role(identity="2", placeholder=False),))),
        ],
        [
            (
                "is member of no group, it was placeholder of g",
                [
                    *(MEMBER, role(identity="1"), *REGISTERED),
                    replace(NODE, existing=(allocated("k", "1"),)),
                ],
            )
        ],
        revision="2021-02",
    ),
    RmCase(
        "recovered_allocations_repeat_the_original",
        [RICH, MADE, *REGISTERED, existing(MADE), *REGISTERED, existing(MADE)],
        [RICH, MADE, released(termination=STOPPED), *REGISTERED, existing(allocated(node="m"))],
        [
            (
                "recovered k is on m, it was allocated on n",
                [RICH, MADE, *REGISTERED, existing(replace(MADE, node="m"))],
            ),
            (
                "recovered k has tags {}, it was {'x/y': 'z'}",
                [RICH, MADE, *REGISTERED, existing(replace(MADE, tags={}))],
            ),
            (
                "recovered k has priority 0, it was 7",
                [RICH, MADE, *REGISTERED, existing(replace(MADE, priority=0))],
            ),
            (
                "recovered k has originator False",
                [RICH, MADE, *REGISTERED, existing(replace(MADE, originator=False))],
            ),
            (
                "recovered k has preemption_policy None",
                [RICH, MADE, *REGISTERED, existing(replace(MADE, preemption_policy=None))],
            ),
            (
                "recovered k has application 'b'",
                [RICH, MADE, *REGISTERED, existing(replace(MADE, application="b"))],
            ),
        ],
    ),
    RmCase(
        "recovered_allocations_repeat_the_original",
        [
            *(RICH, MADE, *REGISTERED, existing(replace(MADE, resource={"memory": 9}))),
            *(*REGISTERED, existing(MADE), AllocationUpdate(allocated(tags={"x/y": "new"}))),
            *(*REGISTERED, existing(allocated())),
        ],
        [RICH, MADE, releases(), *REGISTERED, existing(allocated())],
        [
            (
                "recovered k has tags {}",
                [RICH, MADE, *REGISTERED, existing(allocated(resource={"memory": 9}))],
            )
        ],
        revision="2026-04",
    ),
    RmCase(
        "recovered_allocations_repeat_the_original",
        [
            RICH,
            allocated("k", "1", priority=7, tags={"x/y": "z"}),
            *REGISTERED,
            existing(allocated("k", "1", priority=7, tags={"x/y": "z"})),
        ],
        [RICH, allocated("k", "1"), *REGISTERED, existing(allocated("k", "2", node="m"))],
        [
            (
                "recovered k has resource {'memory': 2}, it was {'memory': 1}",
                [
                    ASK,
                    allocated("k", "1"),
                    *REGISTERED,
                    existing(allocated("k", "1", resource={"memory": 2})),
                ],
            )
        ],
        revision="2023-08",
    ),
    RmCase(
        "existing_allocations_wait_for_verdicts",
        [
            NODE,
            APP,
            *ACCEPTED,
            existing(allocated()),
            ENDED,
            *REGISTERED,
            *ACCEPTED,
            existing(allocated()),
        ],
        [NODE, APP, *ACCEPTED, ASK, *REGISTERED, existing(allocated())],
        [
            (
                "existing allocation k comes before the acceptance of node n and application a",
                [NODE, APP, existing(allocated()), *ACCEPTED],
            ),
            (
                "before the acceptance of application a",
                [*ACCEPTED, ASK, ENDED, *REGISTERED, ACCEPTED[0], existing(allocated("x"))],
            ),
        ],
    ),
)
