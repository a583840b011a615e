"""Histories for the monitors of ``registrations``."""

from dataclasses import replace

from selftest.monitor_cases.case import Case
from selftest.sample_histories import APP, ASK, NODE, allocated
from siconform.protocol.notifications import (
    ApplicationAccepted,
    AskRejected,
    NodeAccepted,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import Registration, StreamOpening

AS_BEFORE = Registration("rm", "1", "group", "")
CALL = AS_BEFORE
CHANGED = Registration("rm", "2", "group", "")
OK = RegistrationAnswered("rm", "OK", "")
EXISTS = RegistrationAnswered("rm", "ALREADY_EXISTS", "")
INVALID = RegistrationAnswered("rm", "INVALID_ARGUMENT", "")
LOST = RegistrationAnswered("rm", "UNAVAILABLE", "")
ACCEPTED = (NODE, NodeAccepted("n"))
OTHER = replace(ASK, key="other")
NEW = replace(ASK, key="new")
PLACED = (ASK, OTHER, allocated("other", "1"))  # the first ask is processed, and waits
AGAIN = (CALL, OK)
OPENING = StreamOpening(UpdateKind.ALLOCATIONS)
ENDED = StreamEnded(UpdateKind.ALLOCATIONS, "UNAVAILABLE", "")

CASES = (
    Case(
        "registrations_name_an_rm",
        [RegistrationAnswered("", "INVALID_ARGUMENT", "")],
        [OK],
        [("without rmID", [RegistrationAnswered("", "OK", "")])],
    ),
    Case(
        "registering_again_is_no_conflict",
        [AS_BEFORE, OK, CHANGED, INVALID, AS_BEFORE, OK, AS_BEFORE, LOST],
        [AS_BEFORE, EXISTS, AS_BEFORE, INVALID, AS_BEFORE, OK],
        [
            ("ALREADY_EXISTS", [AS_BEFORE, OK, CHANGED, EXISTS]),
            ("INVALID_ARGUMENT", [AS_BEFORE, OK, AS_BEFORE, INVALID]),
        ],
    ),
    Case(
        "refused_rms_are_not_served",
        [CALL, INVALID, NODE, CALL, NodeAccepted("n"), OK, ApplicationAccepted("a")],
        [NODE, CALL, LOST, NodeAccepted("n"), CALL, INVALID, NodeAccepted("n")],
        [
            ("node accepted", [CALL, INVALID, *ACCEPTED]),
            ("application accepted", [CALL, INVALID, APP, ApplicationAccepted("a")]),
            ("allocated k", [CALL, LOST, CALL, INVALID, ASK, allocated()]),
        ],
    ),
    Case(
        "registering_again_forgets_nodes",
        [CALL, OK, *ACCEPTED, *AGAIN, NEW, allocated("new", node="m")],
        [
            *(CALL, OK, *ACCEPTED, *AGAIN, NODE, NEW, allocated("new")),
            *(ASK, NodeAccepted("n"), NODE, *AGAIN, NEW, allocated("new"), ASK, allocated()),
        ],
        [
            (
                "new is placed on n, a node from before",
                [CALL, OK, *ACCEPTED, *AGAIN, NEW, allocated("new")],
            ),
            (
                "new is placed on n",
                [CALL, OK, *ACCEPTED, ASK, *AGAIN, ASK, allocated(), NEW, allocated("new")],
            ),
        ],
    ),
    Case(
        "registering_again_forgets_asks",
        [CALL, OK, *PLACED, *AGAIN, NEW, allocated("new")],
        [
            *(CALL, OK, ASK, *AGAIN, NEW, allocated("new"), allocated()),
            *(*PLACED, *AGAIN, ASK, NEW, allocated("new"), allocated()),
            *(*PLACED, *AGAIN, OPENING, NEW, allocated("new"), allocated()),
        ],
        [
            (
                "k is allocated, which was asked for before",
                [CALL, OK, *PLACED, *AGAIN, NEW, allocated("new"), allocated()],
            ),
            (
                "asked for before the registration only",
                [
                    *(CALL, OK, ASK, OTHER, AskRejected("other", "a", "no"), ENDED, *AGAIN),
                    *(OPENING, NEW, allocated("new"), allocated()),
                ],
            ),
        ],
    ),
)
