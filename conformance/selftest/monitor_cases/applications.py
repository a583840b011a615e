"""Histories for the monitors of ``applications``."""

from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    APP,
    APPS_SYNCHRONISED,
    ASKS_SYNCHRONISED,
    REMOVAL,
    allocated,
    updated,
)
from siconform.protocol.notifications import ApplicationAccepted, ApplicationRejected
from siconform.protocol.requests import ApplicationRemoval

CASES = (
    Case(
        "each_application_gets_at_most_one_verdict",
        [APP, ApplicationAccepted("a"), APP, ApplicationRejected("a", "known")],
        [APP],
        [("one verdict too many", [APP, ApplicationAccepted("a"), ApplicationRejected("a", "")])],
    ),
    Case(
        "removed_applications_get_nothing",
        [
            *(
                APP,
                REMOVAL,
                *APPS_SYNCHRONISED,
                allocated(),
                *ASKS_SYNCHRONISED,
            ),  # may be in transit
            *(APP, allocated(identity="2")),
        ],
        [
            APP,
            ApplicationRemoval("a", "other"),
            *APPS_SYNCHRONISED,
            *ASKS_SYNCHRONISED,
            allocated(),
        ],
        [
            (
                "which was removed",
                [APP, REMOVAL, *APPS_SYNCHRONISED, *ASKS_SYNCHRONISED, allocated()],
            )
        ],
    ),
    Case(
        "state_changes_are_complete",
        [APP, updated()],
        [APP, ApplicationAccepted("a")],
        [
            ("never added", [updated()]),
            ("names no state", [APP, updated(state="")]),
            ("no timestamp", [APP, updated(timestamp=0)]),
        ],
    ),
    Case(
        "state_timestamps_do_not_go_back",
        [APP, updated(timestamp=1), updated(timestamp=1), updated(timestamp=2)],
        [APP, updated(), updated(application="b")],
        [("before its previous state", [APP, updated(timestamp=2), updated(timestamp=1)])],
    ),
    Case(
        "completed_applications_stay_completed",
        [
            *(APP, updated("Completing"), updated("Completed"), updated("Expired")),
            *(updated("completed"), APP, updated("Running")),
        ],
        [APP, updated("Completing"), updated("Failed"), updated("Running")],
        [
            ("became Running after", [APP, updated("Completed"), updated("Running")]),
            ("became waiting after", [APP, updated("Completed"), updated("waiting")]),
        ],
    ),
    Case(
        "failed_applications_stay_failed",
        [APP, updated("Failing"), updated("Failed"), updated("Expired"), updated("killed")],
        [APP, updated("Failing"), updated("Completed")],
        [
            ("became Resuming after", [APP, updated("Failed"), updated("Resuming")]),
            ("became Completed after", [APP, updated("Failed"), updated("Completed")]),
        ],
    ),
)
