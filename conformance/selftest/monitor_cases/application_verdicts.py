"""Histories for the monitors of ``application_verdicts``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    APP,
    APPS_SYNCHRONISED,
    ASKS_SYNCHRONISED,
    ELSEWHERE,
    IN_THE_CLUSTER,
    REMOVAL,
    allocated,
    updated,
)
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.notifications import ApplicationAccepted, ApplicationRejected
from siconform.protocol.requests import ApplicationRemoval

YES, NO = ApplicationAccepted("a"), ApplicationRejected("a", "no")
B, B_YES, B_NO = (
    replace(APP, application="b"),
    ApplicationAccepted("b"),
    ApplicationRejected("b", ""),
)
GROUPED, TAGGED = replace(B, groups=("g",)), replace(APP, tags={"team": "blue"})
NOWHERE = replace(APP, queue="root.missing")
ABROAD = replace(APP, partition="nope")
FORCED = replace(NOWHERE, tags={"application.create.force": "true"})
COMPLETED, FAILED = updated("Completed"), updated("Failed")
CERTAIN = (*APPS_SYNCHRONISED, *ASKS_SYNCHRONISED)
NEW = (*IN_THE_CLUSTER, APP, YES)

CASES = (
    Case(
        "new_applications_are_accepted",
        [*IN_THE_CLUSTER, APP, YES, APP, NO],
        [
            *(*ELSEWHERE, APP, NO, *IN_THE_CLUSTER, APP, NO),  # the verdict may be the first one's
            *(NOWHERE, NO, replace(B, queue="root.single"), B_NO),
            *(ConfigurationSent("rm", "conformance"), replace(APP, application="c")),
            ApplicationRejected("c", ""),
        ],
        [("application a was rejected", [*IN_THE_CLUSTER, APP, NO])],
    ),
    Case(
        "applications_need_no_groups",
        [*IN_THE_CLUSTER, GROUPED, B_YES, APP, YES],
        [*IN_THE_CLUSTER, APP, NO],
        [("application a was rejected", [*IN_THE_CLUSTER, GROUPED, B_YES, APP, NO])],
    ),
    Case(
        "unknown_application_tags_do_not_hurt",
        [*IN_THE_CLUSTER, B, B_YES, TAGGED, YES],
        [*IN_THE_CLUSTER, TAGGED, NO, B, B_YES, replace(TAGGED, tags={"namespace": "x"}), NO],
        [("application a was rejected", [*IN_THE_CLUSTER, B, B_YES, TAGGED, NO])],
    ),
    Case(
        "applications_without_queue_are_rejected",
        [*IN_THE_CLUSTER, NOWHERE, NO],
        [*NEW, *ELSEWHERE, NOWHERE, YES, *IN_THE_CLUSTER, replace(FORCED, application="c")],
        [("which does not exist", [*IN_THE_CLUSTER, NOWHERE, YES])],
    ),
    Case(
        "applications_of_unknown_partitions_are_rejected",
        [*IN_THE_CLUSTER, ABROAD, NO],
        [*NEW, *ELSEWHERE, ABROAD, YES],
        [("which does not exist", [*IN_THE_CLUSTER, ABROAD, YES])],
    ),
    Case(
        "forced_applications_are_accepted",
        [*IN_THE_CLUSTER, FORCED, YES],
        [*IN_THE_CLUSTER, NOWHERE, NO, FORCED, NO],
        [("application a was rejected", [*IN_THE_CLUSTER, FORCED, NO])],
    ),
    Case(
        "removed_applications_can_be_added_again",
        [*NEW, REMOVAL, *CERTAIN, APP, YES],
        [*NEW, REMOVAL, APP, NO, *CERTAIN, ApplicationRemoval("a", "other"), *CERTAIN, APP, NO],
        [("was rejected when added again", [*NEW, REMOVAL, *CERTAIN, APP, NO])],
    ),
    Case(
        "completed_applications_can_be_added_again",
        [*NEW, COMPLETED, APP, YES],
        [*NEW, updated("Completing"), APP, NO, COMPLETED, TAGGED, NO],
        [("was rejected when added again", [*NEW, COMPLETED, APP, NO])],
    ),
    Case(
        "failed_applications_can_be_added_again",
        [*NEW, FAILED, APP, YES],
        [*NEW, updated("Failing"), APP, NO],
        [("was rejected when added again", [*NEW, FAILED, APP, NO])],
    ),
    Case(
        "rejected_applications_get_nothing",
        [*IN_THE_CLUSTER, APP, NO, APP, allocated()],
        [*NEW, APP, NO, allocated(), *ELSEWHERE, APP, APP, NO, allocated()],
        [("which was rejected", [*IN_THE_CLUSTER, APP, NO, allocated()])],
    ),
    Case(
        "rejections_of_applications_give_a_reason",
        [APP, NO],
        [APP, YES],
        [("gives no reason", [B, B_NO])],
    ),
)
