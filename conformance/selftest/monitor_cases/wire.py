"""Histories for the monitors of ``wire``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    ALLOCATION,
    ASK,
    MISTYPED,
    NAMED_AMOUNT,
    ODD_ALLOCATION,
    ODD_AMOUNT,
    ODD_EVENT,
    ODD_RELEASE,
    ODD_RESPONSE,
    PREEMPTION,
    RELEASE,
    by_priority,
    released,
    si_2021,
)
from siconform.protocol.callbacks import Scheduling, SchedulingReported
from siconform.protocol.events import EventReceived, Subject
from siconform.protocol.notifications import Termination, Unreadable, UpdateKind
from siwire.r2023_12 import si_pb2

CASES = (
    Case(
        "every_field_has_its_type",
        [ALLOCATION, NAMED_AMOUNT, ODD_ALLOCATION],
        [ASK],
        [
            ("wrong wire type of field 1 in si.v1.Allocation", [MISTYPED]),
            ("undecodable", [Unreadable(UpdateKind.NODES, "what?")]),
        ],
    ),
    Case(
        "every_field_is_declared",
        [ALLOCATION, NAMED_AMOUNT, MISTYPED],
        [ASK],
        [
            ("7 in si.v1.Allocation", [ODD_ALLOCATION]),
            ("9 in si.v1.Quantity", [ODD_AMOUNT]),
            ("9 in si.v1.NodeResponse", [ODD_RESPONSE]),
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
