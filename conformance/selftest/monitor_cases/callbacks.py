"""Histories for the monitors of ``callbacks``."""

from dataclasses import replace
from typing import Any

from selftest.monitor_cases.case import Case
from selftest.sample_histories import ASK, NODE, OLD_ITSELF, REAL_ASK, allocated
from siconform.protocol.callbacks import (
    Answered,
    Assumed,
    CallbacksOffered,
    EvictionCheck,
    Forgotten,
    PlacementCheck,
    Scheduling,
    SchedulingReported,
)
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import Action, NodeRequest

OK = RegistrationAnswered("rm", "OK", "")
OFFERS = [CallbacksOffered(("placement checks",), number) for number in range(3)]
FITS = Answered(fits=True, index=0, reason="")
NOT = Answered(fits=False, index=0, reason="no")
NEW = replace(ASK, key="new")
OTHER_NODE = NodeRequest("m", Action.CREATE, {"memory": 9})
KNOWN = (OK, NODE, ASK)
TWO = (OK, NODE, OTHER_NODE, ASK, NEW, allocated("k"), allocated("new"))


def check(key: str = "k", node: str = "n", offer: int = 1) -> PlacementCheck:
    return PlacementCheck(key, node, allocate=True, offer=offer)


def evicts(*victims: str, node: str = "n", start: int = 0) -> EvictionCheck:
    return EvictionCheck("k", node, victims, start, 1)


def report(key: str = "k", application: str = "a", state: Any = Scheduling.FAILED) -> Any:
    return SchedulingReported(key, application, state, "", 1)


SECOND = (OK, OFFERS[1], ASK, check(), OK, OFFERS[2], ASK, check(offer=2))  # used

CASES = (
    Case(
        "callbacks_come_on_the_latest_offer",
        [*SECOND, check(), NEW, check("new", offer=2), check("k", offer=1)],
        [OK, OFFERS[1], check(), OFFERS[2], check(offer=2), NEW, check("new", offer=1)],
        [
            ("the call about new comes on offer 1", [*SECOND, NEW, check("new")]),
            ("the latest is 2", [*SECOND, NEW, report("new")]),
        ],
    ),
    Case(
        "checks_come_before_allocations",
        [ASK, check(node="m"), NOT, check(), FITS, allocated()],
        [
            *(check(), FITS, ASK, allocated(), ASK, OFFERS[1], allocated()),
            *(REAL_ASK, check(), NOT, allocated()),
        ],
        [
            ("k is placed on n, checked were m", [ASK, check(node="m"), NOT, allocated()]),
            ("k is placed on n, which the RM refused", [ASK, check(), NOT, allocated()]),
        ],
    ),
    Case(
        "no_ask_goes_unchecked_between_others",
        [OFFERS[1], ASK, check(), NEW, check("new"), allocated("new"), check()],
        [
            *(OFFERS[1], ASK, check(), ASK, REAL_ASK, allocated(), check("x")),
            *(NEW, allocated("new"), OFFERS[2], check("y", offer=2)),
        ],
        [
            (
                "new is placed without a check",
                [OFFERS[1], ASK, check(), NEW, allocated("new"), check()],
            ),
        ],
    ),
    Case(
        "checks_name_an_ask_and_a_node",
        [*KNOWN, check(), OK, check()],
        [NODE, ASK, evicts("k")],
        [
            ("an unknown ask x", [*KNOWN, check("x")]),
            ("an unknown node x", [*KNOWN, check(node="x")]),
        ],
    ),
    Case(
        "eviction_checks_name_victims_of_the_node",
        [*TWO, evicts("new", "k"), replace(NEW), evicts("new", node="m")],
        [*TWO, check()],
        [
            ("an unknown ask x", [*TWO, evicts("x")]),
            ("an unknown node x", [*TWO, evicts("k", node="x")]),
            ("names a victim twice", [*TWO, evicts("new", "new")]),
            ("startIndex 2 with 2 victims", [*TWO, evicts("new", "k", start=2)]),
            ("startIndex 0 with 0 victims", [*TWO, evicts()]),
            ("new is not on m", [*TWO, evicts("new", node="m")]),
            ("old is not on m", [*TWO, OLD_ITSELF, evicts("old", node="m")]),
        ],
    ),
    Case(
        "container_states_name_an_ask",
        [*KNOWN, report(), OK, report(state=Scheduling.SKIPPED)],
        [*KNOWN, check()],
        [
            ("names no ask", [*KNOWN, report("x")]),
            ("names no ask", [*KNOWN, report(application="b")]),
            ("has no state", [*KNOWN, report(state=Scheduling.UNSET)]),
        ],
    ),
    Case(
        "synchronised_allocations_are_known",
        [*KNOWN, Assumed("k", "n", 1), Forgotten("k", 1)],
        [*KNOWN, check()],
        [
            ("an unknown ask x", [*KNOWN, Assumed("x", "n", 1)]),
            ("an unknown node m", [*KNOWN, Assumed("k", "m", 1)]),
            ("an unknown ask x", [*KNOWN, Forgotten("x", 1)]),
        ],
    ),
)
