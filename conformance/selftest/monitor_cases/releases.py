"""Histories for the monitors of ``releases``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    ASKS_SYNCHRONISED,
    CONFIRMATION,
    PREEMPTED,
    PREEMPTION,
    RELEASE,
    REMOVAL,
    STOPPED,
    TIMEOUT,
    allocated,
    released,
    released_by_rm,
)
from siconform.protocol.notifications import AskReleased

CASES = (
    Case(
        "confirmations_are_not_confirmed",
        [
            *(PREEMPTION, CONFIRMATION, RELEASE, released()),
            *(released_by_rm("2"), released("2", PREEMPTED)),  # crossed
            *(released_by_rm("2", PREEMPTED), released("2")),
            *(allocated(identity="3"), released("3", PREEMPTED), REMOVAL),  # the same
            *(released_by_rm("3", PREEMPTED), released("3")),
            *(allocated(identity="4"), released("4", PREEMPTED)),  # and in transit
            *(released_by_rm("4", PREEMPTED), released("4")),
            *(allocated(identity="5"), released("5", PREEMPTED)),  # the confirmation on one stream
            *(released_by_rm("5", PREEMPTED), REMOVAL, released("5")),  # and this on another
            *(allocated(identity="6"), released("6", PREEMPTED)),  # sent again meanwhile
            *(released_by_rm("6", PREEMPTED), released("6", PREEMPTED)),
        ],
        [RELEASE, released(), PREEMPTION, replace(CONFIRMATION, termination=TIMEOUT)],
        [
            ("was answered", [PREEMPTION, CONFIRMATION, *ASKS_SYNCHRONISED, PREEMPTION]),
            ("was answered", [PREEMPTION, CONFIRMATION, released()]),
            (
                "was answered",
                [allocated(), PREEMPTION, CONFIRMATION, REMOVAL, released(), released()],
            ),
            (
                "was answered",
                [allocated(), PREEMPTION, CONFIRMATION, *ASKS_SYNCHRONISED, REMOVAL, released()],
            ),
        ],
    ),
    Case(
        "ask_releases_name_a_partition",
        [AskReleased("k", "a", STOPPED, message="", partition="[rm]default")],
        [released(partition="")],
        [("names no partition", [AskReleased("k", "a", TIMEOUT, message="", partition="")])],
    ),
)
