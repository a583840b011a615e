"""Histories for monitors: ``unrequested_ends``, ``queue_limits`` and configuration changes."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    APP,
    ASK,
    DECOMMISSION,
    DRAIN,
    ELSEWHERE,
    FULL,
    IN_THE_CLUSTER,
    LIMITED,
    NODE,
    PREEMPTED,
    PREEMPTION,
    RELEASE,
    REMOVAL,
    SISTER,
    SMALLER,
    UNDRAIN,
    allocated,
    released,
    released_by_rm,
    withdrawn,
)
from siconform.protocol.configuration import (
    ConfigurationApplied,
    ConfigurationRefused,
    ConfigurationSent,
)
from siconform.protocol.notifications import (
    ApplicationAccepted,
    ApplicationRejected,
    PreemptionPolicy,
)
from siconform.protocol.requests import Action, ApplicationRemoval, NodeRequest

STOPPED = released()
CHANGE = ConfigurationSent("rm", "conformance")
OTHER_GROUP = ConfigurationSent("rm", "another")
ELSEWHERE_REMOVED = ApplicationRemoval("a", "other")
A_YES, A_NO, B_YES = (
    ApplicationAccepted("a"),
    ApplicationRejected("a", ""),
    ApplicationAccepted("b"),
)
QUOTA, MOVED = replace(APP, queue="root.quota"), APP
BIG = NodeRequest("n", Action.UPDATE, capacity={"memory": 20})
TAG = "yunikorn.apache.org/allowPreemption"
OPTED_OUT = replace(
    ASK,
    tags={TAG: "true"},
    preemption_policy=PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=True),
)

CASES = (
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
        "drains_end_nothing",
        [NODE, allocated(), DRAIN, released_by_rm("id"), STOPPED],
        [NODE, allocated(), DRAIN, UNDRAIN, STOPPED],
        [("had not asked for its end", [NODE, allocated(), DRAIN, STOPPED])],
    ),
    Case(
        "smaller_nodes_stop_nothing",
        [
            *(NODE, allocated(), SMALLER, DECOMMISSION, allocated(identity="2", node="m")),
            *(
                NODE,
                allocated(identity="3"),
                SMALLER,
                released_by_rm("3"),
                released("3"),
            ),
        ],
        [
            *(NODE, allocated(), BIG, STOPPED, allocated(identity="2"), SMALLER),
            *(released("2", PREEMPTED),),
        ],
        [("had not asked for its end", [NODE, allocated(), SMALLER, STOPPED])],
    ),
    Case(
        "configurations_end_nothing",
        [NODE, allocated(), CHANGE, released_by_rm("id"), STOPPED],
        [NODE, allocated(), STOPPED, CHANGE, STOPPED],
        [("had not asked for its end", [NODE, allocated(), CHANGE, STOPPED])],
    ),
    Case(
        "removals_in_other_partitions_end_nothing",
        [APP, ELSEWHERE_REMOVED, allocated(), released_by_rm("id"), STOPPED],
        [APP, allocated(), REMOVAL, STOPPED],
        [("had not asked for its end", [APP, allocated(), ELSEWHERE_REMOVED, STOPPED])],
    ),
    Case(
        "queues_above_are_not_overfilled",
        [*IN_THE_CLUSTER, LIMITED, A_YES, *FULL],
        [
            *(*IN_THE_CLUSTER, QUOTA, A_YES, *FULL, allocated("k", "3")),
            *(*ELSEWHERE, LIMITED, A_YES, *FULL, allocated("k", "3")),
        ],
        [
            (
                "queue root.parent holds 12",
                [
                    *(*IN_THE_CLUSTER, LIMITED, A_YES, SISTER, B_YES, *FULL),
                    allocated("k", "3", application="b"),
                ],
            )
        ],
    ),
    Case(
        "limits_of_memory_hold_for_memory",
        [*IN_THE_CLUSTER, QUOTA, A_YES, *FULL, allocated("k", "3", resource={"mem": 11})],
        [*IN_THE_CLUSTER, QUOTA, A_YES, allocated(resource={"mem": 11})],
        [("holds 12 of memory", [*IN_THE_CLUSTER, QUOTA, A_YES, *FULL, allocated("k", "3")])],
    ),
    Case(
        "rejected_duplicates_move_no_application",
        [*IN_THE_CLUSTER, QUOTA, A_YES, MOVED, A_NO, *FULL],
        [
            *(*IN_THE_CLUSTER, QUOTA, A_YES, *FULL, MOVED, allocated("k", "3"), A_NO),
            *(REMOVAL, MOVED, A_YES, allocated("k", "4")),
        ],
        [
            (
                "root.quota holds 12",
                [*IN_THE_CLUSTER, QUOTA, A_YES, MOVED, A_NO, *FULL, allocated("k", "3")],
            )
        ],
    ),
    Case(
        "changes_of_unknown_policy_groups_fail",
        [*IN_THE_CLUSTER, OTHER_GROUP, ConfigurationRefused("no")],
        [
            *(OTHER_GROUP, ConfigurationApplied(), *IN_THE_CLUSTER, CHANGE, ConfigurationApplied()),
            *(ConfigurationSent("other", "another"), ConfigurationApplied()),
        ],
        [("was applied to another", [*IN_THE_CLUSTER, OTHER_GROUP, ConfigurationApplied()])],
    ),
    Case(
        "preemption_tags_do_not_outweigh_the_policy",
        [OPTED_OUT, allocated(), STOPPED],
        [ASK, allocated(), released("id", PREEMPTED)],
        [("its ask opted out", [NODE, OPTED_OUT, allocated(), released("id", PREEMPTED)])],
    ),
)
