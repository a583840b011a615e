"""Histories for the monitors of ``rm_applications``."""

from dataclasses import replace

from selftest.rm_monitor_cases.case import (
    APP,
    ASK,
    NODE,
    REGISTERED,
    TIMEOUT,
    Message,
    RmCase,
    allocated,
    released,
    releases,
)
from siconform.protocol.notifications import (
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.requests import ApplicationRemoval, ExistingAllocationRequest

OTHER = replace(APP, queue="root.other")
REMOVAL = ApplicationRemoval("a", "default")
REJECTED = ApplicationRejected("a", "no")
FAILED = ApplicationUpdated("a", "Failed", 1, "")
RUNNING = ApplicationUpdated("a", "Running", 1, "")
WITH_EXISTING = replace(NODE, existing=(allocated(),))
RECEIVED = (released("x"), releases("x", TIMEOUT))  # the RM has received what came before
ENDED = [StreamEnded(kind, "UNAVAILABLE", "") for kind in UpdateKind]

CASES = (
    RmCase(
        "ids_name_one_application",
        [APP, APP, REMOVAL, OTHER, REJECTED, APP, FAILED, OTHER, *REGISTERED, APP],
        [ASK],
        [
            ("another application is added as a", [APP, OTHER]),
            ("another application is added as a", [APP, RUNNING, replace(APP, user="else")]),
        ],
    ),
    RmCase(
        "asks_follow_their_application",
        [Message([ASK, APP]), ASK, *ENDED, *REGISTERED, APP, ASK],
        [APP, *REGISTERED, ASK],  # perhaps of the registration before
        [
            ("ask k of a, {memory=1}: a is not added", [ASK, APP]),
            ("a is not added", [APP, ASK, *ENDED, *REGISTERED, ASK]),
        ],
        revision="2021-02",
    ),
    RmCase(
        "existing_allocations_follow_their_application",
        [APP, WITH_EXISTING, *ENDED, *REGISTERED, Message([WITH_EXISTING, APP])],
        [NODE, APP, ASK],
        [
            ("existing allocation k: a is not added", [WITH_EXISTING, APP]),
            ("a is not added", [APP, WITH_EXISTING, *ENDED, *REGISTERED, WITH_EXISTING]),
        ],
        revision="2021-02",
    ),
    RmCase(
        "rejected_applications_get_no_asks",
        [APP, REJECTED, ASK, *RECEIVED, APP, ASK],
        [APP, APP, REJECTED, *RECEIVED, ASK, APP, ApplicationAccepted("a"), REJECTED, ASK],
        [("ask k of a, {memory=1}: a was rejected", [APP, REJECTED, *RECEIVED, ASK])],
        revision="2021-02",
    ),
    RmCase(
        "ended_applications_get_no_asks",
        [APP, FAILED, ASK, released("x"), Message([releases("x", TIMEOUT), ASK]), REMOVAL, ASK],
        [APP, RUNNING, *RECEIVED, ASK],
        [
            ("ask k of a, {memory=1}: a is over", [APP, FAILED, *RECEIVED, ASK]),
            ("a is over", [APP, replace(FAILED, state="Completed"), *RECEIVED, ASK]),
        ],
        revision="2021-02",
    ),
    RmCase(  # where an application stream is apart nothing is certain
        "ended_applications_get_no_asks",
        [APP, FAILED, *RECEIVED, ASK],
        [ExistingAllocationRequest(allocated()), ASK],
        [],
    ),
)
