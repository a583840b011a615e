"""Histories for the monitors of ``asks``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    APP,
    ASK,
    ASKS_SYNCHRONISED,
    OLD_ITSELF,
    REAL_ASK,
    TIMEOUT,
    WITHDRAWAL,
    allocated,
    ask_released,
    released,
    withdrawn,
)
from siconform.protocol.notifications import AskRejected
from siconform.protocol.requests import ExistingAllocationRequest
from siconform.protocol.subjects import AllOf

UNNAMED = ExistingAllocationRequest(allocated("u", ""))

CASES = (
    Case(
        "asks_are_not_served_too_often",
        [replace(ASK, max_allocations=2), allocated(identity="1"), allocated(identity="2")],
        [replace(ASK, max_allocations=0), allocated(), UNNAMED, allocated("u", "1")],
        [
            ("2 allocations of k", [ASK, allocated(identity="1"), allocated(identity="2")]),
            ("1 allocations of u", [UNNAMED, allocated("u", "1"), allocated("u", "2")]),
        ],
    ),
    Case(
        "rejections_of_asks_are_complete",
        [ASK, AskRejected("k", "a", "no room")],
        [ASK, allocated()],
        [
            ("never asked for", [AskRejected("k", "a", "no")]),
            ("names application", [ASK, AskRejected("k", "b", "no")]),
            ("2 rejections", [ASK, AskRejected("k", "a", "no"), AskRejected("k", "a", "no")]),
        ],
    ),
    Case(
        "rejections_of_asks_give_a_reason",
        [ASK, AskRejected("k", "a", "no room")],
        [ASK, allocated()],
        [("gives no reason", [ASK, AskRejected("k", "a", " ")])],
    ),
    Case(
        "rejected_asks_stay_rejected",
        [ASK, AskRejected("k", "a", "no"), ASK, allocated()],
        [ASK, allocated()],
        [("after its rejection", [ASK, AskRejected("k", "a", "no"), allocated()])],
    ),
    Case(
        "withdrawn_asks_are_not_allocated",
        [
            *(
                ASK,
                WITHDRAWAL,
                *ASKS_SYNCHRONISED,
                allocated(),
                *ASKS_SYNCHRONISED,
            ),  # may be in transit
            *(ASK, allocated(identity="2")),
        ],
        [
            *(ASK, replace(WITHDRAWAL, partition="other"), withdrawn("k", "b")),
            *(replace(WITHDRAWAL, termination=TIMEOUT), withdrawn("other")),
            *(replace(REAL_ASK, key="r"), withdrawn("r")),  # may be parked
            *(*ASKS_SYNCHRONISED, *ASKS_SYNCHRONISED, allocated(), allocated("r", "2")),
        ],
        [
            (
                "after it was withdrawn",
                [ASK, withdrawal, *ASKS_SYNCHRONISED, *ASKS_SYNCHRONISED, allocated()],
            )
            for withdrawal in (WITHDRAWAL, replace(WITHDRAWAL, subject=AllOf("a")))
        ],
    ),
    Case(
        "allocated_asks_are_not_rejected",
        [ASK, allocated(), AskRejected("other", "a", "no")],
        [ASK, AskRejected("k", "a", "no")],
        [("after it had been allocated", [ASK, allocated(), AskRejected("k", "a", "no")])],
    ),
    Case(
        "released_asks_were_asked_for",
        [
            *(APP, ASK, ask_released(), ask_released("")),
            *(withdrawn("other"), ask_released("other")),
            *(OLD_ITSELF, ask_released("old")),
        ],
        [ASK, released()],
        [
            ("never asked for", [ask_released()]),
            ("names application", [ASK, ask_released(application="b")]),
            ("never added", [ask_released("")]),
        ],
    ),
)
