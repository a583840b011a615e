"""Histories for the monitors of ``rm_connections``."""

from selftest.rm_monitor_cases.case import (
    APP,
    ASK,
    NODE,
    REGISTERED,
    TIMEOUT,
    FromRm,
    RmCase,
    allocated,
    released,
    releases,
)
from siconform.protocol.notifications import RegistrationWanted, StreamEnded, UpdateKind
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import StreamOpening

CALL = RegistrationRequested("rm")
REFUSED = RegistrationAnswered("rm", "INVALID_ARGUMENT", "")
LOST = RegistrationAnswered("rm", "UNAVAILABLE", "")
OPENING = StreamOpening(UpdateKind.NODES)
ABORTED = StreamEnded(UpdateKind.NODES, "UNAVAILABLE", "")
ENDED = StreamEnded(UpdateKind.NODES, "OK", "")
CONFIRMED = (released("1"), releases("1", TIMEOUT))
GOES_ON = (*CONFIRMED, released("2"), releases("2", TIMEOUT))
PLACED = (NODE, APP, ASK, allocated())

CASES = (
    RmCase(
        "updates_follow_a_registration",
        [CALL, OPENING, REFUSED, *REGISTERED, NODE, *REGISTERED, CALL, APP],
        [NODE, CALL, APP, *REGISTERED],
        [
            ("node n create, {memory=4 vcore=4}: sent before", [CALL, NODE, REGISTERED[1]]),
            ("application a for root.default: sent before", [CALL, REFUSED, APP]),
        ],
        begins=(),
    ),
    RmCase(
        "updates_follow_a_registration",
        [*REGISTERED, APP],
        [CALL, LOST, NODE],
        [("ask k of a", [CALL, REFUSED, CALL, ASK, LOST])],
        begins=(),
    ),
    RmCase(
        "a_wanted_registration_ends_the_updates",
        [*PLACED, RegistrationWanted(), *CONFIRMED, *REGISTERED, *GOES_ON],
        [*PLACED, *GOES_ON],
        [
            (
                "release 2 TIMEOUT: the RM continues after RESYNC",
                [*PLACED, RegistrationWanted(), *GOES_ON],
            )
        ],
        revision="2021-02",
    ),
    RmCase(
        "a_wanted_registration_ends_the_updates",
        [RegistrationWanted(), released("1"), released("2"), *CONFIRMED, releases("2", TIMEOUT)],
        [released("1"), RegistrationRequested("rm"), releases("1", TIMEOUT)],
        [("continues after RESYNC", [RegistrationWanted(), released("3"), *GOES_ON])],
        revision="2021-02",
    ),
    RmCase(
        "aborted_streams_reopen_after_a_registration",
        [OPENING, ABORTED, *REGISTERED, OPENING],
        [OPENING, ENDED, OPENING, FromRm(ENDED), OPENING, ABORTED, OPENING],
        [
            ("the nodes stream is opened again", [OPENING, ABORTED, OPENING]),
            ("after it was aborted with UNAVAILABLE", [ABORTED, NODE, OPENING]),
        ],
    ),
)
