"""Histories for the monitors of ``rm_confirmations``."""

from dataclasses import replace

from selftest.rm_monitor_cases.case import (
    APP,
    ASK,
    PREEMPTED,
    REGISTERED,
    STOPPED,
    TIMEOUT,
    RmCase,
    allocated,
    ask_released,
    ask_releases,
    released,
    releases,
)
from siconform.protocol.notifications import ApplicationUpdated
from siconform.protocol.requests import ApplicationRemoval

OTHER = replace(ASK, key="other")
PLACED = (ASK, allocated())
WHOLE = released("")
STOP = (*PLACED, releases(), released(termination=STOPPED))
RECEIVED = (OTHER, allocated("other"), released("other"), releases("other", TIMEOUT))
PLACEHOLDER = replace(ASK, task_group="g", placeholder=True)
GIVEN_UP = (PLACEHOLDER, ask_released(), ask_releases())
WITHDRAWAL_2021 = ask_releases("k", STOPPED)  # has no type there
GIVEN_UP_2021 = (PLACEHOLDER, ask_released(), WITHDRAWAL_2021)

CASES = (
    RmCase(
        "confirmations_repeat_the_release",
        [
            *(*PLACED, released(), releases("k", TIMEOUT), releases("k", TIMEOUT)),
            *(released("k", PREEMPTED), releases("k", TIMEOUT), releases("k", PREEMPTED)),
        ],
        [*PLACED, releases("k", TIMEOUT), released(), releases(), released("k", STOPPED)],
        [
            ("the release was TIMEOUT of a", [*PLACED, released(), releases("k", PREEMPTED)]),
            (
                "of b confirms, but the release was TIMEOUT of a",
                [*PLACED, released(), releases("k", TIMEOUT, "b")],
            ),
            (
                "the release was TIMEOUT of a",
                [*PLACED, released(), *REGISTERED, releases("k", PREEMPTED)],
            ),
        ],
    ),
    RmCase(
        "confirmations_repeat_the_release",
        [*PLACED, released("i"), releases("i", TIMEOUT)],
        [*PLACED, released("i"), WHOLE, releases("other", PREEMPTED), releases("i", TIMEOUT, "")],
        [("was TIMEOUT of a", [*PLACED, released("i"), releases("i", PREEMPTED)])],
        revision="2023-08",
    ),
    RmCase(
        "confirmations_repeat_the_ask_release",
        [ASK, ask_released(), ask_releases()],
        [ASK, ask_releases("k", STOPPED), ask_releases("other", PREEMPTED)],
        [
            (
                "but the release was TIMEOUT of a",
                [ASK, ask_released(), ask_releases("k", PREEMPTED)],
            ),
            ("of b confirms", [ASK, ask_released(), ask_releases("k", TIMEOUT, "b")]),
        ],
        revision="2023-12",
    ),
    RmCase(
        "confirmations_repeat_the_ask_release",
        [ASK, ask_released(), releases("k", TIMEOUT)],
        [ASK, ask_released(), releases()],
        [("was TIMEOUT of a", [ASK, ask_released(), releases("k", PREEMPTED)])],
    ),
    RmCase(
        "confirmations_of_all_stay_in_the_application",
        [*PLACED, WHOLE, releases("k", TIMEOUT)],
        [*PLACED, WHOLE, releases("k", STOPPED, "b"), released("i", TIMEOUT, "b")],
        [
            (
                "release i TIMEOUT of b, released was all of a",
                [*PLACED, WHOLE, releases("i", TIMEOUT, "b")],
            )
        ],
    ),
    RmCase(
        "withdrawn_placeholders_are_given_up",
        [*GIVEN_UP, APP, *GIVEN_UP, ApplicationRemoval("a", "default"), PLACEHOLDER],
        [PLACEHOLDER, ask_released(), PLACEHOLDER],
        [
            ("ask k (life 2) of a", [*GIVEN_UP, PLACEHOLDER]),
            (
                "had confirmed its release",
                [*GIVEN_UP, ApplicationUpdated("a", "Running", 1, ""), PLACEHOLDER],
            ),
        ],
    ),
    RmCase(
        "withdrawn_placeholders_are_given_up",
        [*GIVEN_UP_2021, ApplicationUpdated("a", "Failed", 1, ""), PLACEHOLDER],
        [PLACEHOLDER, WITHDRAWAL_2021, PLACEHOLDER],
        [("had confirmed its release", [*GIVEN_UP_2021, PLACEHOLDER])],
        revision="2021-02",
    ),
)
