"""Histories for the monitors of ``gangs``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    GONE,
    OLD_ITSELF,
    PLACEHOLDER,
    REAL,
    REAL_ASK,
    REPLACED,
    allocated,
)

CASES = (
    Case(
        "replacements_wait_for_their_confirmation",
        [
            *(REAL_ASK, PLACEHOLDER, REPLACED, GONE, REAL),
            *(replace(REAL_ASK, key="2"), replace(REAL_ASK, key="3"), PLACEHOLDER, REPLACED),
            allocated("2", "elsewhere", task_group="g"),  # the release is of the other one
        ],
        [REAL_ASK, REAL, PLACEHOLDER],
        [
            ("before its placeholder", [REAL_ASK, PLACEHOLDER, REPLACED, REAL]),
            (
                "before its placeholder",
                [replace(OLD_ITSELF, allocation=PLACEHOLDER), REAL_ASK, REPLACED, REAL],
            ),
            (
                "before its placeholder",
                [
                    *(REAL_ASK, PLACEHOLDER, REPLACED, GONE, REAL),
                    *(replace(REAL_ASK, key="2"), replace(PLACEHOLDER, identity="other")),
                    replace(REPLACED, identity="other"),
                    allocated("2", "2", task_group="g"),
                ],
            ),
        ],
    ),
)
