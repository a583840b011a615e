"""Histories for the monitors of ``allocations``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    APP,
    ASK,
    ASKS_SYNCHRONISED,
    CONFIRMATION,
    OLD,
    OLD_ITSELF,
    OLD_WITH_NODE,
    PREEMPTED,
    PREEMPTION,
    RELEASE,
    REMOVAL,
    allocated,
    released,
    released_by_rm,
)
from siconform.protocol.notifications import AskRejected, Termination
from siconform.protocol.requests import (
    ApplicationRemoval,
    ExistingAllocationRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import OneAllocation

UNNAMED = ExistingAllocationRequest(allocated("u", ""))
MISNAMED = (
    ReleaseRequest(OneAllocation("b", "11"), Termination.STOPPED_BY_RM),
    released("11", application="b"),  # its echo
)

CASES = (
    Case(
        "allocations_carry_their_ask",
        [ASK, allocated(), allocated(identity="2", resource={"memory": 5}), OLD_ITSELF, OLD],
        [ASK, AskRejected("k", "a", "no"), UNNAMED, allocated("u", "named-by-the-target")],
        [
            ("never asked for", [allocated()]),
            ("never asked for", [UNNAMED, allocated("u", "1"), allocated("u", "2")]),
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
            *(allocated("k", "11"), *MISNAMED, REMOVAL, released("11"), APP),
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
            *(allocated("k", "12"), released("12", Termination.PLACEHOLDER_REPLACED), REMOVAL),
            *(released("12", PREEMPTED), released_by_rm("12", PREEMPTED)),  # void by its removal
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
            ("released twice", [*MISNAMED, allocated("k", "11"), *(released("11"),) * 2]),
        ],
    ),
    Case(
        "releases_name_what_was_announced",
        [
            *(allocated(), released()),
            *(ExistingAllocationRequest(allocated("old", "o")), released("o", key="")),
            *(ExistingAllocationRequest(allocated("k", "id")), replace(PREEMPTION, partition="")),
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
            ("names no partition", [allocated(), replace(PREEMPTION, partition="")]),
        ],
    ),
)
