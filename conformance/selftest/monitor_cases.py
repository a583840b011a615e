"""Histories for each monitor: one it passes, one that does not apply, and violations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from selftest.sample_histories import (
    ALLOCATION,
    APP,
    APPS_SYNCHRONISED,
    ASK,
    ASKS_SYNCHRONISED,
    CONFIRMATION,
    DECOMMISSION,
    DRAIN,
    ELSEWHERE,
    FULL,
    GONE,
    IN_THE_CLUSTER,
    LIMITED,
    NAMED_AMOUNT,
    NODE,
    NODES_SYNCHRONISED,
    ODD_ALLOCATION,
    ODD_AMOUNT,
    ODD_EVENT,
    ODD_RELEASE,
    ODD_RESPONSE,
    OLD,
    OLD_ITSELF,
    OLD_WITH_NODE,
    PLACEHOLDER,
    PREEMPTED,
    PREEMPTION,
    REAL,
    REAL_ASK,
    RELEASE,
    REMOVAL,
    REPLACED,
    SISTER,
    SMALLER,
    STOPPED,
    TIMEOUT,
    UNDRAIN,
    WITHDRAWAL,
    Part,
    allocated,
    ask_released,
    by_priority,
    released,
    released_by_rm,
    si_2021,
    updated,
    withdrawn,
)
from siconform.protocol.callbacks import Scheduling, SchedulingReported
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.events import EventReceived, Subject
from siconform.protocol.notifications import (
    AllocationRejected,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    AskReleased,
    NodeAccepted,
    NodeRejected,
    Termination,
    Unreadable,
    UpdateKind,
)
from siconform.protocol.requests import Action, ApplicationRemoval, ExistingAllocationRequest
from siconform.protocol.subjects import AllOf, OneAllocation
from siwire.r2023_12 import si_pb2


@dataclass(frozen=True)
class Case:
    """A monitor with a history it passes, one that does not apply, and violating ones."""

    monitor: str
    holds: Sequence[Part]
    idle: Sequence[Part]
    broken: Sequence[tuple[str, Sequence[Part]]]  # a part of the violation, the history


CASES = (
    Case(
        "allocations_carry_their_ask",
        [ASK, allocated(), allocated(identity="2", resource={"memory": 5}), OLD_ITSELF, OLD],
        [ASK, AskRejected("k", "a", "no")],
        [
            ("never asked for", [allocated()]),
            ("not its ask's", [ASK, allocated(application="b")]),
            ("asked was", [ASK, allocated(resource={"memory": 3})]),
            ("asked was", [ASK, allocated(resource={"vcore": 4})]),
        ],
    ),
    Case(
        "identities_are_unique",
        [allocated(), allocated(identity="other")],
        [ASK],
        [
            ("announced twice", [allocated(), allocated()]),
            ("no identity", [allocated(identity="")]),
            ("of a recovered one", [OLD_WITH_NODE, allocated(identity="o")]),
        ],
    ),
    Case(
        "ended_allocations_stay_ended",
        [
            *(allocated(), RELEASE, released(), allocated("k", "2"), released("2", PREEMPTED)),
            *(released_by_rm("2"), released("2")),  # stopped before it was confirmed
            *(allocated("k", "3"), released("3", PREEMPTED)),
            *(ApplicationRemoval("a", "default"), released("3")),  # ended with its application
            released_by_rm("3", PREEMPTED),  # a late confirmation
            *(allocated("k", "4"), *(released_by_rm("4"), released("4")) * 2),  # again
            *(allocated("k", "5"), released_by_rm("5"), released("5", PREEMPTED)),
            released("5"),  # the two crossed
            *(allocated("k", "6"), released("6", PREEMPTED), REMOVAL),
            *(released_by_rm("6", PREEMPTED), released("6")),  # so did these
            *(allocated("k", "8"), released("8", PREEMPTED)),
            *(released_by_rm("8", PREEMPTED), REMOVAL, released("8")),  # and these
            *(allocated("k", "7"), *(released("7", PREEMPTED),) * 2),  # not confirmed, so repeated
            *(released_by_rm("7", PREEMPTED), released("7", PREEMPTED)),  # crossed
            *(allocated("k", "9"), released("9", PREEMPTED), released_by_rm("9")),
            *(released("9", PREEMPTED), released("9")),  # repeated when it was stopped: crossed
            *(allocated("k", "10"), released("10", PREEMPTED)),
            released_by_rm("10", Termination.PLACEHOLDER_REPLACED),
            *(
                *ASKS_SYNCHRONISED,
                released("10", PREEMPTED),
            ),  # by a message that did not confirm it
            released_by_rm("10", PREEMPTED),
        ],
        [allocated(), RELEASE],
        [
            ("released twice", [RELEASE, released(), released()]),
            ("released twice", [PREEMPTION, CONFIRMATION, *ASKS_SYNCHRONISED, PREEMPTION]),
            ("released twice", [PREEMPTION, released("id", Termination.TIMEOUT)]),
            ("released twice", [PREEMPTION, RELEASE, released(), released()]),
            ("released twice", [PREEMPTION, RELEASE, released(), *ASKS_SYNCHRONISED, PREEMPTION]),
            ("released twice", [PREEMPTION, released(), released()]),
        ],
    ),
    Case(
        "releases_name_what_was_announced",
        [
            *(allocated(), released()),
            *(ExistingAllocationRequest(allocated("old", "o")), released("o", key="")),
        ],
        [
            *(allocated(), released(identity="")),
            *(released_by_rm("?"), released("?")),  # repeats the RM's message
            *(replace(RELEASE, subject=OneAllocation("b", "id")), released(application="b")),
        ],
        [
            ("never announced", [released()]),
            ("names application", [allocated(), released(application="b")]),
            ("names key", [allocated(), released(key="other")]),
        ],
    ),
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
    Case(
        "asks_are_not_served_too_often",
        [replace(ASK, max_allocations=2), allocated(identity="1"), allocated(identity="2")],
        [replace(ASK, max_allocations=0), allocated()],
        [("2 allocations of k", [ASK, allocated(identity="1"), allocated(identity="2")])],
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
    Case(
        "creations_get_at_most_one_verdict",
        [NODE, NodeAccepted("n"), NODE, NodeRejected("n", "known")],
        [NODE],
        [
            ("one verdict too many", [NODE, NodeAccepted("n"), NodeAccepted("n")]),
            ("one verdict too many", [NODE, NodeAccepted("n"), NodeRejected("n", "")]),
        ],
    ),
    Case(
        "nodes_of_allocations_exist",
        [
            *(NODE, allocated(), DECOMMISSION, allocated(identity="late")),
            *(*NODES_SYNCHRONISED, allocated(identity="later"), *ASKS_SYNCHRONISED),
            *(NODE, allocated(identity="back")),
        ],
        [NODE],
        [
            ("not a node of this RM", [NODE, allocated(node="other")]),
            (
                "not a node of this RM",
                [NODE, DECOMMISSION, *NODES_SYNCHRONISED, *ASKS_SYNCHRONISED, allocated()],
            ),
        ],
    ),
    Case(
        "draining_nodes_get_nothing_new",
        [
            *(
                NODE,
                DRAIN,
                *NODES_SYNCHRONISED,
                allocated(),
                *ASKS_SYNCHRONISED,
            ),  # may be in transit
            *(OLD_ITSELF, OLD, replace(PLACEHOLDER, node="m"), REPLACED, REAL),
            *(UNDRAIN, allocated(identity="2")),
            *(DRAIN, UNDRAIN, *NODES_SYNCHRONISED, *ASKS_SYNCHRONISED, allocated(identity="3")),
        ],
        [
            *(NODE, UNDRAIN, *NODES_SYNCHRONISED, *ASKS_SYNCHRONISED, allocated()),
            *(replace(NODE, action=Action.CREATE_DRAINING), allocated(identity="2")),  # rejected
            replace(NODE, node="fence-m", action=Action.CREATE_DRAINING),
        ],
        [
            ("is draining", [NODE, DRAIN, *NODES_SYNCHRONISED, *ASKS_SYNCHRONISED, allocated()]),
            ("is draining", [replace(NODE, action=Action.CREATE_DRAINING), allocated()]),
        ],
    ),
    Case(
        "rejections_of_existing_allocations_are_complete",
        [OLD_ITSELF, AllocationRejected("old", "a", "no node")],
        [OLD_ITSELF, OLD],
        [
            ("did not report", [AllocationRejected("old", "a", "no node")]),
            ("did not report", [OLD_ITSELF, AllocationRejected("old", "b", "no node")]),
        ],
    ),
    Case(
        "rejections_of_existing_allocations_give_a_reason",
        [OLD_ITSELF, AllocationRejected("old", "a", "no node")],
        [OLD_ITSELF, OLD],
        [("gives no reason", [OLD_WITH_NODE, AllocationRejected("old", "a", "")])],
    ),
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
        "stops_go_back_to_the_rm",
        [
            *(allocated(), RELEASE, released()),
            *(ApplicationRemoval("b", "default"), released("b1", application="b")),
            *(allocated("k", "3", node="m"), replace(NODE, node="m", action=Action.DECOMMISSION)),
            *(released("3", application="c"), released("", application="a")),  # 3 belongs to a
            *(allocated("key", "4"), withdrawn("key", "d")),
            released("4", application="d"),
        ],
        [allocated(), PREEMPTION],
        [("had not asked for", [allocated(), released()])],
    ),
    Case(
        "ask_releases_name_a_partition",
        [AskReleased("k", "a", STOPPED, message="", partition="[rm]default")],
        [released(partition="")],
        [("names no partition", [AskReleased("k", "a", TIMEOUT, message="", partition="")])],
    ),
    Case(
        "nodes_are_not_overfilled",
        [
            *(NODE, allocated("k", "1"), allocated("k", "2")),
            *(released_by_rm("1"), allocated("k", "3"), SMALLER),
            *(released_by_rm("3"), allocated("k", "4")),  # may not have arrived yet
            *(released(""), allocated("k", "5", application="b")),  # the end of all allocations
        ],
        [NODE],
        [
            ("holds 12 of memory", [NODE, *(allocated("k", i) for i in "123")]),
            ("holds 8 of memory", [replace(SMALLER, action=Action.CREATE), *FULL]),
            (
                "holds 12 of memory",  # the capacity of an unconfirmed release is not free
                [
                    *(NODE, allocated("k", "1"), allocated("k", "2")),
                    *(released("1", PREEMPTED), allocated("k", "3")),
                ],
            ),
            ("holds 11", [OLD_WITH_NODE, NodeAccepted("n"), *ASKS_SYNCHRONISED, allocated()]),
            ("holds 11", [NODE, OLD_ITSELF, *ASKS_SYNCHRONISED, allocated()]),
            ("holds 11", [NODE, OLD_ITSELF, OLD, allocated()]),  # announced: recovered
        ],
    ),
    Case(
        "queues_are_not_overfilled",
        [
            *(*IN_THE_CLUSTER, LIMITED, *FULL, released_by_rm("1")),
            *(allocated(identity="3"), ConfigurationSent("rm", "group"), allocated(identity="4")),
        ],
        [*ELSEWHERE, LIMITED, *FULL, allocated(identity="3")],
        [
            ("parent holds 12", [*IN_THE_CLUSTER, LIMITED, *FULL, allocated(identity="3")]),
            (
                "parent holds 12",
                [*IN_THE_CLUSTER, LIMITED, SISTER, *FULL, allocated("b", "3", application="b")],
            ),
        ],
    ),
    Case(
        "placeholders_count_against_the_quota",
        [*IN_THE_CLUSTER, LIMITED, PLACEHOLDER, allocated()],
        [*IN_THE_CLUSTER, LIMITED, *FULL, allocated(identity="3")],
        [("parent holds 12", [*IN_THE_CLUSTER, LIMITED, PLACEHOLDER, *FULL])],
    ),
    Case(
        "every_field_is_declared",
        [ALLOCATION, NAMED_AMOUNT],
        [ASK],
        [
            ("7 in si.v1.Allocation", [ODD_ALLOCATION]),
            ("9 in si.v1.Quantity", [ODD_AMOUNT]),
            ("9 in si.v1.NodeResponse", [ODD_RESPONSE]),
            ("undecodable", [Unreadable(UpdateKind.NODES, "what?")]),
        ],
    ),
    Case(
        "reserved_numbers_are_not_used",
        [ALLOCATION],
        [si_pb2.NodeResponse()],
        [
            ("si.v1.Allocation 7", [ODD_ALLOCATION]),
            ("si.v1.AllocationRelease 3", [ODD_RELEASE]),
            ("si.v1.EventRecord 4", [ODD_EVENT]),
        ],
    ),
    Case(
        "what_has_a_meaning_is_set",
        [
            PREEMPTION,
            EventReceived("n", Subject.NODE),
            SchedulingReported("k", "a", Scheduling.FAILED),
        ],
        [replace(RELEASE, termination=Termination.UNKNOWN), released("id", Termination.UNKNOWN)],
        [
            ("release of id has no type", [released("id", Termination.UNKNOWN)]),
            ("event about n has no type", [EventReceived("n", Subject.UNSET)]),
            ("report on k has no state", [SchedulingReported("k", "a", Scheduling.UNSET)]),
        ],
    ),
    Case(
        "a_priority_is_sent_in_one_way",
        [by_priority(7, ""), by_priority(0, "gold")],
        [by_priority(0, ""), ALLOCATION],
        [("by number and by name", [by_priority(7, "gold")])],
    ),
    Case(
        "the_action_is_resync_or_none",
        [si_2021.UpdateResponse(action=0), si_2021.UpdateResponse(action=1)],
        [ALLOCATION],
        [("action 2", [si_2021.UpdateResponse(action=2)])],
    ),
)
BROKEN = [(case.monitor, message, parts) for case in CASES for message, parts in case.broken]
