"""Histories for the monitors of ``application_activity`` and ``application_timeouts``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    APP,
    APPS_SYNCHRONISED,
    ASK,
    ASKS_SYNCHRONISED,
    DECOMMISSION,
    OLD,
    OLD_ITSELF,
    REMOVAL,
    TIMEOUT,
    Later,
    allocated,
    released,
    released_by_rm,
    updated,
)
from siconform.protocol.notifications import (
    AllocationRejected,
    ApplicationAccepted,
    ApplicationRejected,
)
from siconform.protocol.requests import ReleaseRequest
from siconform.protocol.subjects import AllOf

YES, NO = ApplicationAccepted("a"), ApplicationRejected("a", "no")
STEADY = (*APPS_SYNCHRONISED, *ASKS_SYNCHRONISED)
FLUSHED = (*ASKS_SYNCHRONISED, *ASKS_SYNCHRONISED)
RUNS = (APP, YES, ASK, allocated(), *STEADY)
WAITS, RUNNING, COMPLETED = updated("Completing"), updated("Running"), updated("Completed")
AGAIN = (APP, YES, WAITS, ASK, allocated(), *STEADY)
RECOVERED = (APP, YES, OLD_ITSELF, *FLUSHED, *STEADY)
LIMITED = replace(APP, timeout_ms=2000)
ENDED = released("id", TIMEOUT)

CASES = (
    Case(
        "active_applications_do_not_wait",
        [
            *(*RUNS, RUNNING, released_by_rm("id"), WAITS, *FLUSHED),
            *(allocated("k", "2"), *STEADY, WAITS, released("2"), *FLUSHED),  # crossed
            *(allocated("k", "3"), *STEADY, WAITS, DECOMMISSION, *FLUSHED),
        ],
        [
            *(APP, YES, ASK, allocated(), WAITS, *FLUSHED, released_by_rm("id")),  # from before
            *(LIMITED, YES, allocated("k", "2"), *STEADY, WAITS, *FLUSHED),
        ],
        [
            ("became Completing while id was live", [*RUNS, WAITS, *FLUSHED]),
            ("became Completed while id was live", [*RUNS, COMPLETED, *FLUSHED]),
        ],
    ),
    Case(
        "active_applications_do_not_complete",
        [*RUNS, RUNNING, REMOVAL, COMPLETED, *FLUSHED],
        [APP, YES, ASK, allocated(), COMPLETED, *FLUSHED],
        [("became Completed while id was live", [*RUNS, COMPLETED, *FLUSHED])],
    ),
    Case(
        "applications_that_run_again_do_not_complete",
        [*AGAIN, RUNNING, released_by_rm("id"), COMPLETED, *FLUSHED],
        [*RUNS, RUNNING],
        [("became Completed while id was live", [*AGAIN, COMPLETED, *FLUSHED])],
    ),
    Case(
        "recovered_allocations_keep_their_application_active",
        [*RECOVERED, RUNNING, released_by_rm("o"), COMPLETED, *FLUSHED],
        [
            *(
                *RUNS,
                RUNNING,
                replace(OLD_ITSELF, allocation=replace(OLD, task_group="g")),
                *STEADY,
            ),
            *(OLD_ITSELF, AllocationRejected("old", "a", "no"), *STEADY, *STEADY, COMPLETED),
            *FLUSHED,
        ],
        [("became Completed while o was live", [*RECOVERED, COMPLETED, *FLUSHED])],
    ),
    Case(
        "active_applications_are_not_accepted_again",
        [*RUNS, APP, YES, released_by_rm("id"), *FLUSHED],
        [*RUNS, APP, NO, REMOVAL, APP, YES, *FLUSHED],
        [("accepted again while id was live", [*RUNS, APP, YES, *FLUSHED])],
    ),
    Case(
        "applications_are_given_their_time",
        [LIMITED, ASK, allocated(), Later(2.1), ENDED],
        [
            *(LIMITED, replace(ASK, timeout_ms=1), allocated(), ENDED),
            *(replace(LIMITED, application="b"), replace(ASK, application="b", placeholder=True)),
            *(allocated(identity="2", application="b"), released("2", TIMEOUT)),
        ],
        [("of 2 s", [LIMITED, ASK, allocated(), Later(1.5), ENDED])],
    ),
    Case(
        "waiting_does_not_count_as_running",
        [LIMITED, ASK, allocated(), Later(2.1), ENDED],
        [LIMITED, ASK, allocated(), released()],
        [("of 2 s", [LIMITED, Later(1.5), ASK, allocated(), Later(1.5), ENDED])],
    ),
    Case(
        "applications_without_timeout_are_not_limited",
        [APP, ASK, allocated(), released()],
        [
            *(LIMITED, ASK, allocated(), Later(2.1), ENDED),
            *(REMOVAL, APP, ASK, allocated(), released_by_rm("id", TIMEOUT), ENDED),
            *(REMOVAL, APP, ASK, allocated(), ReleaseRequest(AllOf("a"), TIMEOUT), ENDED),
            *(REMOVAL, LIMITED, ASK, allocated(), REMOVAL, APP, ENDED),
        ],
        [("but its application has none", [APP, ASK, allocated(), ENDED])],
    ),
)
