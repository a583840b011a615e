"""Monitors over what an RM sends, where the kit is the scheduler."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from siconform import monitors
from siconform.catalogue import Side
from siconform.monitors import MonitorResult
from siconform.protocol.notifications import (
    Allocated,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    Released,
    Termination,
    Unreadable,
    UpdateKind,
)
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    AskRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
    Request,
)
from siconform.protocol.subjects import AllOf, Identity, OneAllocation
from siconform.recording.history import Exchange, History
from siconform.transport.dialects import dialect_for
from siwire import find_revision

REVISION = find_revision("2024-10")
NODE = NodeRequest("n", Action.CREATE, {"memory": 4})
APP = ApplicationRequest("a", "root.default", "default", "somebody")
ASK = AskRequest("k", "a", "default", {"memory": 1})
ONE = OneAllocation("a", "k", "k")


def released(termination: Termination, **of: Any) -> Released:
    return Released(application="a", termination=termination, **{"identity": "k", **of})


def stops(termination: Termination, subject: OneAllocation | AllOf = ONE) -> ReleaseRequest:
    return ReleaseRequest(subject, termination)


def sent_by_rm(history: History, request: Request, rm: str = "rm", extra: bytes = b"") -> None:
    """Record a request with its message, to which an RM may add undeclared fields."""
    message = dialect_for(REVISION).request(request.kind, rm, [request])
    message.MergeFromString(extra)
    history.add(rm, [request], sent_by_rm=True, message=message)


def history_of(*parts: Any) -> Exchange:
    """Return an exchange after a registration; bytes belong to the request before them."""
    history = History(identity=Identity.KEY_OF_THE_ASK)
    history.add("rm", [RegistrationRequested("rm")], sent_by_rm=True)
    history.add("rm", [RegistrationAnswered("rm", "OK", "")], sent_by_rm=False)
    for part, following in zip(parts, [*parts[1:], b""], strict=True):
        if isinstance(part, (Fact, RegistrationRequested)):
            history.add("rm", [part], sent_by_rm=isinstance(part, RegistrationRequested))
        elif not isinstance(part, bytes):
            extra = following if isinstance(following, bytes) else b""
            sent_by_rm(history, part, extra=extra)
    return Exchange(history, start=0)


def result(name: str, exchange: Exchange) -> MonitorResult:
    return next(one for one in monitors.check(exchange, side=Side.RM) if one.monitor == name)


UNDECLARED = b"\xba\x3e\x00"  # field 999, empty
MISTYPED = b"\x10\x01"  # field 2 of NodeRequest, a string, as a number
RESERVED = b"\x0a\x00"  # field 1 of AllocationRequest, empty

FIELD_TYPES, DECLARED = "every_field_of_the_rm_has_its_type", "every_field_of_the_rm_is_declared"
NOT_RESERVED, SET = "the_rm_uses_no_reserved_number", "what_the_rm_means_is_set"
TYPES, KEYS = "other_types_of_the_rm_confirm", "no_key_names_two_things"
TIMEOUT, UNKNOWN = Termination.TIMEOUT, Termination.UNKNOWN
STOPPED = Termination.STOPPED_BY_RM
NOT_SENT = "which the scheduler had not sent"
OTHER = replace(ASK, application="b")
FOREIGN = ForeignAllocationRequest("k", "n", "default", {"memory": 1}, {"foreign": "default"})
PLACED = Allocated("k", "a", "n", "k", {"memory": 1})
REGISTERED = (RegistrationRequested("rm"), RegistrationAnswered("rm", "OK", ""))


@pytest.mark.parametrize(
    ("name", "parts", "violation"),
    [
        (FIELD_TYPES, [NODE, APP, ASK, UNDECLARED], None),
        (FIELD_TYPES, [NODE, MISTYPED], "wrong wire type of field 2 in si.v1.NodeRequest"),
        (DECLARED, [NODE, APP, ASK], None),
        (DECLARED, [NODE, UNDECLARED], "undeclared field 999 in si.v1.NodeRequest"),
        (NOT_RESERVED, [ASK, UNDECLARED], None),
        (NOT_RESERVED, [ASK, RESERVED], "reserved number: si.v1.AllocationRequest 1"),
        (SET, [NODE, stops(STOPPED)], None),
        (SET, [stops(UNKNOWN)], "release of k has no type"),
        (SET, [stops(UNKNOWN, AllOf("a"))], "release of a has no type"),
        (SET, [NodeRequest("n", Action.UNSET, {"memory": 4})], "node n has no action"),
        (SET, [NODE, released(UNKNOWN), stops(UNKNOWN)], None),
        (TYPES, [ASK, PLACED, stops(STOPPED)], None),
        (TYPES, [ASK, PLACED, released(TIMEOUT), stops(TIMEOUT)], None),
        (TYPES, [ASK, PLACED, released(TIMEOUT), stops(TIMEOUT), stops(TIMEOUT)], None),
        (TYPES, [ASK, PLACED, released(TIMEOUT), stops(TIMEOUT, AllOf("a"))], None),
        (TYPES, [ASK, PLACED, released(TIMEOUT, identity="", key=""), stops(TIMEOUT)], None),
        (TYPES, [ASK, AskReleased("k", "a", TIMEOUT, "", "default"), stops(TIMEOUT)], None),
        (TYPES, [ASK, PLACED, released(TIMEOUT), *REGISTERED, stops(TIMEOUT)], None),
        (TYPES, [ASK, PLACED, stops(TIMEOUT)], f"release k TIMEOUT, {NOT_SENT}"),
        (
            TYPES,
            [ASK, PLACED, released(TIMEOUT), stops(Termination.PREEMPTED_BY_SCHEDULER)],
            f"release k PREEMPTED_BY_SCHEDULER, {NOT_SENT}",
        ),
        (
            TYPES,
            [ASK, released(TIMEOUT, identity="other"), stops(TIMEOUT)],
            f"release k TIMEOUT, {NOT_SENT}",
        ),
        (KEYS, [ASK, replace(ASK, key="k2", application="b")], None),
        (KEYS, [ASK, PLACED, ASK], None),
        (KEYS, [ASK, OTHER], "key k is given to b, and in use for a"),
        (KEYS, [ASK, FOREIGN], "key k is given to a foreign allocation, and in use for a"),
        (KEYS, [FOREIGN, ASK], "key k is given to a, and in use for a foreign allocation"),
        (KEYS, [ASK, stops(STOPPED), OTHER], None),
        (KEYS, [ASK, PLACED, released(TIMEOUT), OTHER], "key k is given to b, and in use for a"),
        (KEYS, [ASK, PLACED, released(TIMEOUT), stops(TIMEOUT), OTHER], None),
        (KEYS, [ASK, AskRejected("k", "a", "none"), OTHER], None),
        (KEYS, [ASK, ApplicationRemoval("a", "default"), OTHER], None),
        (KEYS, [ASK, ApplicationUpdated("a", "Failed", 0, ""), OTHER], None),
        (KEYS, [ASK, PLACED, NodeRequest("n", Action.DECOMMISSION), OTHER], None),
        (KEYS, [ASK, *REGISTERED, OTHER], None),
        (KEYS, [ASK, stops(STOPPED), ASK, PLACED, OTHER], "key k is given to b, and in use for a"),
    ],
)
def test_monitor_of_rms(name: str, parts: Sequence[Any], violation: str | None) -> None:
    found = result(name, history_of(*parts))
    assert found.violation == violation
    assert found.held


@pytest.mark.parametrize("rm", ["another", ""])
def test_request_of_an_rm_that_did_not_register_is_a_violation(rm: str) -> None:
    exchange = history_of(NODE)
    name = "every_request_names_the_registered_rm"
    assert result(name, exchange).violation is None

    exchange = history_of(NODE)
    sent_by_rm(exchange.history, APP, rm)

    assert result(name, exchange).violation == f'the rmID "{rm}" did not register'


def test_bytes_of_the_rm_that_are_no_message_are_a_violation() -> None:
    exchange = history_of(NODE)
    unreadable = Unreadable(UpdateKind.NODES, "truncated")
    exchange.history.add("rm", [unreadable], sent_by_rm=True)
    found = result("every_field_of_the_rm_has_its_type", exchange)
    assert found.violation == "undecodable bytes: truncated"


def test_monitors_of_rms_ignore_the_scheduler() -> None:
    exchange = history_of(NODE)
    message = REVISION.si.NodeResponse()
    message.MergeFromString(UNDECLARED)
    fact = Unreadable(UpdateKind.NODES, "of the kit")
    exchange.history.add("rm", [fact], sent_by_rm=False, message=message)
    assert [one for one in monitors.check(exchange, side=Side.RM) if one.violation] == []


@pytest.mark.parametrize("is_simple", [True, False])
def test_constraint_without_the_simple_variant_is_a_violation(*, is_simple: bool) -> None:
    exchange = history_of(NODE)
    message = find_revision("2021-02").si.UpdateRequest(rmID="rm")
    constraint = message.asks.add().placementConstraint
    (constraint.simpleConstraint if is_simple else constraint).SetInParent()
    exchange.history.add("rm", [ASK], sent_by_rm=True, message=message)

    found = result("a_constraint_of_the_rm_is_simple", exchange)

    message_of_it = "a placement constraint without the simple variant"
    assert found.violation == (None if is_simple else message_of_it)
    assert found.held
