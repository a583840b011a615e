"""Monitors of several RMs, and of the answer to a registration."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from selftest.sample_histories import (
    APP,
    ASK,
    DECOMMISSION,
    IN_THE_CLUSTER,
    NODE,
    PREEMPTED,
    RELEASE,
    REMOVAL,
    STOPPED,
    Part,
    allocated,
    released,
    updated,
)
from siconform import monitors
from siconform.monitors import MonitorResult
from siconform.protocol.notifications import Fact, NodeAccepted
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.recording.history import Exchange, History
from siconform.transport.dialects import dialect_for
from siwire import DEFAULT_REVISION, find_revision

CALL = RegistrationRequested("")
OK = RegistrationAnswered("", "OK", "")
RESPONSES, REQUESTS = "responses_go_to_their_rm", "requests_end_nothing_of_another_rm"
BOTH = [("x", CALL), ("x", OK), ("y", CALL), ("y", OK), ("x", NODE), ("x", APP), ("y", CALL)]
PLACED = [*BOTH, ("x", ASK), ("x", allocated())]
OF_ANOTHER = replace(APP, application="b")


def result(name: str, parts: Sequence[tuple[str, Part]]) -> MonitorResult:
    history = History()
    call = dialect_for(DEFAULT_REVISION).registration(IN_THE_CLUSTER[0])
    for rm, part in parts:
        message = call if isinstance(part, RegistrationRequested) else None
        history.add(rm, [part], sent_by_rm=not isinstance(part, Fact), message=message)
    return next(one for one in monitors.check(Exchange(history, 0)) if one.monitor == name)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (RESPONSES, [*BOTH, ("x", NodeAccepted("n"))]),
        (RESPONSES, [*BOTH, ("y", OF_ANOTHER), ("y", updated(application="b"))]),
        (RESPONSES, [*BOTH, ("y", DECOMMISSION), ("y", NodeAccepted("n"))]),
        (RESPONSES, [*BOTH, ("y", NodeAccepted("m"))]),
        (REQUESTS, [*PLACED, ("x", RELEASE), ("y", RELEASE), ("x", released())]),
        (REQUESTS, [*PLACED, ("x", DECOMMISSION), ("y", RELEASE), ("x", released())]),
    ],
)
def test_what_concerns_the_rm_itself_holds(name: str, parts: Sequence[tuple[str, Part]]) -> None:
    found = result(name, parts)

    assert found.violation is None
    assert found.held > 0


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (RESPONSES, [("x", CALL), ("x", NODE), ("x", NodeAccepted("n"))]),
        (RESPONSES, [("y", NODE), ("y", CALL), *BOTH[:2], ("x", APP), ("y", updated())]),
        (REQUESTS, [*PLACED, ("y", RELEASE), ("x", CALL), ("x", released())]),
        (REQUESTS, [*PLACED, ("y", RELEASE), ("x", released("id", PREEMPTED))]),
        (REQUESTS, [*PLACED, ("x", released())]),
    ],
)
def test_what_may_be_of_the_rm_itself_is_not_evaluated(
    name: str, parts: Sequence[tuple[str, Part]]
) -> None:
    found = result(name, parts)

    assert found.violation is None
    assert found.held == 0


@pytest.mark.parametrize(
    ("name", "message", "parts"),
    [
        (RESPONSES, "node n is of x", [*BOTH, ("y", NodeAccepted("n"))]),
        (RESPONSES, "application a is of x", [*BOTH, ("y", updated())]),
        (RESPONSES, "application a is of x", [*PLACED, ("y", released())]),
        (REQUESTS, "has ended, as y asked for", [*PLACED, ("y", RELEASE), ("x", released())]),
        (REQUESTS, "id of x has ended", [*PLACED, ("y", REMOVAL), ("x", released())]),
        (REQUESTS, "id of x", [*PLACED, ("y", DECOMMISSION), ("x", released("id", STOPPED))]),
    ],
)
def test_what_concerns_another_rm_is_a_violation(
    name: str, message: str, parts: Sequence[tuple[str, Part]]
) -> None:
    found = result(name, parts)

    assert found.violation is not None
    assert message in found.violation
    assert found.held > 0


@pytest.mark.parametrize("is_empty", [True, False])
def test_answer_to_a_registration_is_empty(*, is_empty: bool) -> None:
    answer = find_revision("2024-10").si.RegisterResourceManagerResponse()
    answer.MergeFromString(b"" if is_empty else b"\xba\x3e\x00")  # field 999, empty
    history = History()
    history.add("rm", [RegistrationAnswered("rm", "OK", "")], sent_by_rm=False, message=answer)

    name = "registrations_get_an_empty_answer"
    found = next(one for one in monitors.check(Exchange(history, 0)) if one.monitor == name)

    assert found.violation == (None if is_empty else "the answer to rm is not empty")
    assert found.held
