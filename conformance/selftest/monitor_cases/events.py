"""Histories for the monitors of ``event_records`` and ``event_causes``."""

from dataclasses import replace
from typing import Any

from selftest.monitor_cases.case import Case
from selftest.monitor_cases.node_verdicts import REGISTERED
from selftest.sample_histories import (
    APP,
    ASK,
    CONFIRMATION,
    DECOMMISSION,
    NODE,
    OLD_ITSELF,
    PREEMPTION,
    RELEASE,
    REMOVAL,
    allocated,
)
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.events import Detail, EmptyBatch, EventChange, EventReceived, Subject
from siconform.protocol.notifications import ApplicationAccepted, ApplicationRejected, NodeAccepted

NOW = 1_700_000_000_000_000_000


def event(
    about: str, subject: Subject, detail: Detail = Detail.NONE, **named: Any
) -> EventReceived:
    plain = EventReceived(
        about,
        subject,
        EventChange.NONE,
        detail,
        reference="",
        resource=None,
        message="",
        time=NOW,
        group="",
        reason="",
        offer=1,
    )
    return replace(plain, **named)


def of_app(detail: Detail, **named: Any) -> EventReceived:
    return event("a", Subject.APPLICATION, detail, **named)


def of_node(detail: Detail, **named: Any) -> EventReceived:
    return event("n", Subject.NODE, detail, **named)


def of_ask(detail: Detail, **named: Any) -> EventReceived:
    return event("k", Subject.REQUEST, detail, **named)


def of_user(detail: Detail, **named: Any) -> EventReceived:
    return event("u", Subject.USERS, detail, **named)


QUEUE = event("root.plain", Subject.QUEUE)
YES, NO = ApplicationAccepted("a"), ApplicationRejected("a", "no")
NEW = (REGISTERED, NODE, APP, YES)
RUNS = (*NEW, ASK, allocated())
GONE = of_node(Detail.NODE_DECOMMISSION, change=EventChange.REMOVE)
RESIZED = of_node(Detail.NODE_CAPACITY, change=EventChange.SET, resource={"memory": 10})
USAGE = of_user(Detail.USER_USAGE, change=EventChange.ADD, resource={"memory": 4})
LINK = of_user(Detail.GROUP_LINK, change=EventChange.ADD, reference="a")
ENFORCED = event("root.plain", Subject.QUEUE, Detail.QUEUE_PREEMPTION)
CANCELLED, TIMED_OUT = of_ask(Detail.ALLOC_CANCEL), of_ask(Detail.ALLOC_TIMEOUT)
GROUPED = of_ask(Detail.NONE, group="a", reason="asked")

CASES = (
    Case("events_come_in_batches", [QUEUE], [NODE], [("without event", [EmptyBatch(1)])]),
    Case(
        "event_records_name_a_known_object",
        [
            *(*RUNS, of_node(Detail.NONE), of_app(Detail.NONE), of_ask(Detail.NONE), QUEUE),
            *(event("me", Subject.USERS), REGISTERED, of_node(Detail.NONE)),
        ],
        [NODE, event("x", Subject.NODE), REGISTERED, event("x", Subject.UNDEFINED)],
        [
            ("type APP about 'k'", [*RUNS, event("k", Subject.APPLICATION)]),
            ("type NODE about ''", [*RUNS, event("", Subject.NODE)]),
            ("type QUEUE about 'a'", [*RUNS, event("a", Subject.QUEUE)]),
            ("type USERGROUP about ''", [*RUNS, event("", Subject.USERS)]),
        ],
    ),
    Case(
        "event_records_have_a_time_in_nanoseconds",
        [QUEUE],
        [NODE],
        [
            ("has the time 0", [replace(QUEUE, time=0)]),
            ("has the time 1700000000", [replace(QUEUE, time=1_700_000_000)]),
        ],
    ),
    Case(
        "event_records_have_a_type",
        [QUEUE],
        [NODE],
        [("no type", [event("n", Subject.UNSET)])],
    ),
    Case(
        "event_details_belong_to_their_type",
        [of_node(Detail.NODE_ALLOC), of_app(Detail.ALLOC_CANCEL), LINK],
        [QUEUE, event("n", Subject.UNDEFINED, Detail.NODE_ALLOC), of_app(Detail.UNDEFINED)],
        [
            ("NODE_ALLOC of a record of type APP", [of_app(Detail.NODE_ALLOC)]),
            ("ALLOC_CANCEL of a record of type USERGROUP", [of_user(Detail.ALLOC_CANCEL)]),
        ],
    ),
    Case(
        "event_records_name_their_group_and_reason",
        [ASK, GROUPED, of_app(Detail.NONE, group="root.plain", reason="new")],
        [ASK, of_ask(Detail.NONE), of_app(Detail.NONE)],
        [
            ("in the group 'b'", [ASK, replace(GROUPED, group="b")]),
            ("gives no reason", [ASK, replace(GROUPED, reason="")]),
            ("in the group 'a'", [of_app(Detail.NONE, group="a", reason="new")]),
        ],
    ),
    Case(
        "changes_of_nodes_fit_their_detail",
        [NODE, RESIZED, DECOMMISSION, GONE, replace(RESIZED, change=EventChange.REMOVE)],
        [GONE, NODE, of_node(Detail.NODE_ALLOC)],
        [
            ("reported as SET", [NODE, DECOMMISSION, replace(GONE, change=EventChange.SET)]),
            ("reported as REMOVE", [NODE, replace(RESIZED, change=EventChange.REMOVE)]),
        ],
    ),
    Case(
        "application_records_fit_the_verdict",
        [
            *(*NEW, of_app(Detail.APP_ACCEPTED), REMOVAL, replace(APP, application="b")),
            *(
                ApplicationRejected("b", "no"),
                event("b", Subject.APPLICATION, Detail.APP_REJECT),
            ),
        ],
        [
            *(APP, of_app(Detail.APP_REJECT), of_app(Detail.APP_ACCEPTED), APP, YES, NO),
            *(of_app(Detail.APP_REJECT),),
        ],
        [
            ("rejected, but was accepted", [APP, YES, of_app(Detail.APP_REJECT)]),
            ("but was rejected", [APP, NO, of_app(Detail.APP_RUNNING)]),
        ],
    ),
    Case(
        "application_records_follow_the_states",
        [
            *(*RUNS, of_app(Detail.APP_ACCEPTED), of_app(Detail.APP_RUNNING)),
            *(of_app(Detail.APP_COMPLETING), of_app(Detail.APP_RUNNING)),
        ],
        [of_app(Detail.APP_RUNNING), *NEW, REGISTERED, of_app(Detail.APP_RUNNING)],
        [
            ("but asked for nothing", [*NEW, of_app(Detail.APP_RUNNING)]),
            ("is not a gang", [*RUNS, of_app(Detail.APP_RESUMING)]),
        ],
    ),
    Case(
        "records_of_ends_show_their_cause",
        [
            *(*NEW, ASK, of_ask(Detail.REQUEST_TIMEOUT), allocated(), RELEASE, CANCELLED),
            *(DECOMMISSION, of_ask(Detail.ALLOC_NODE_REMOVED)),
            *(replace(NODE, node="m"), NodeAccepted("m")),
            *(
                replace(APP, application="b"),
                replace(ASK, key="l", application="b", placeholder=True),
                replace(ASK, key=""),  # which no record names
            ),
            event("l", Subject.REQUEST, Detail.ALLOC_TIMEOUT),
            replace(allocated(), key="l", identity="l", application="b", node="m"),
            event("l", Subject.REQUEST, Detail.REQUEST_TIMEOUT),
            event("b", Subject.APPLICATION, Detail.ALLOC_REPLACED, reference="l"),
        ],
        [*RUNS, of_ask(Detail.REQUEST_ALLOC), of_ask(Detail.ALLOC_PREEMPT), REGISTERED, CANCELLED],
        [
            ("detail ALLOC_CANCEL of k", [*RUNS, CANCELLED]),
            (
                "ALLOC_CANCEL of a (id)",
                [*RUNS, PREEMPTION, CONFIRMATION, of_app(Detail.ALLOC_CANCEL, reference="id")],
            ),
            ("REQUEST_CANCEL of k", [*NEW, ASK, of_ask(Detail.REQUEST_CANCEL)]),
            ("REQUEST_TIMEOUT of k", [*RUNS, of_ask(Detail.REQUEST_TIMEOUT)]),
            ("ALLOC_TIMEOUT of k", [*RUNS, TIMED_OUT]),
            ("ALLOC_REPLACED of k", [*RUNS, of_ask(Detail.ALLOC_REPLACED)]),
            ("ALLOC_NODEREMOVED of k", [*RUNS, RELEASE, of_ask(Detail.ALLOC_NODE_REMOVED)]),
        ],
    ),
    Case(
        "records_of_removed_nodes_follow_the_decommission",
        [NODE, DECOMMISSION, GONE],
        [GONE, NODE, RESIZED, REGISTERED, NODE, GONE],
        [("reported as removed, but was not", [NODE, GONE])],
    ),
    Case(
        "records_name_the_second_object_and_the_amount",
        [NODE, RESIZED, of_node(Detail.NODE_ALLOC, reference="id")],
        [RESIZED, NODE, replace(RESIZED, change=EventChange.ADD, resource={})],
        [
            ("which the RM never sent", [NODE, replace(RESIZED, resource={"memory": 5})]),
            ("which the RM never sent", [NODE, replace(RESIZED, resource=None)]),
            ("without naming it", [NODE, of_node(Detail.NODE_ALLOC)]),
        ],
    ),
    Case(
        "records_of_requests_and_allocations_follow_an_ask",
        [*RUNS, of_app(Detail.APP_REQUEST), of_app(Detail.APP_ALLOC)],
        [of_app(Detail.APP_REQUEST), *NEW, of_app(Detail.APP_ACCEPTED)],
        [
            ("which asked for nothing", [*NEW, of_app(Detail.APP_REQUEST)]),
            ("which asked for nothing", [*NEW, of_app(Detail.APP_ALLOC)]),
        ],
    ),
    Case(
        "records_of_users_are_about_applications",
        [*RUNS, LINK, USAGE, replace(USAGE, change=EventChange.REMOVE, resource=None)],
        [
            *(APP, LINK, replace(USAGE, about="v", change=EventChange.SET), *RUNS),
            *(of_user(Detail.USER_LIMIT),),
        ],
        [
            ("names no application", [*RUNS, replace(LINK, reference="")]),
            ("the user of no application", [*RUNS, replace(USAGE, about="v")]),
            ("without an amount", [*RUNS, replace(USAGE, resource=None)]),
        ],
    ),
    Case(
        "quota_preemption_follows_a_new_configuration",
        [*RUNS, ConfigurationSent("rm", "group"), ENFORCED, REGISTERED, OLD_ITSELF, ENFORCED],
        [*RUNS, QUEUE],
        [
            ("without a new limit", [*RUNS, ENFORCED]),
            (
                "without a new limit",
                [
                    *(*RUNS, ConfigurationSent("rm", "group")),
                    of_app(Detail.QUEUE_PREEMPTION),
                ],
            ),
        ],
    ),
)
