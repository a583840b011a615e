"""Monitors where the key is the identity: separate key lifecycles, counted updates."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from selftest.monitor_cases.application_activity import FLUSHED, STEADY, YES
from selftest.monitor_cases.by_key import (
    CERTAIN,
    LEGAL,
    NODE_M,
    OTHER,
    end,
    ended,
    foreign,
    new,
    reported,
    update,
)
from selftest.monitor_cases.events import ENFORCED
from selftest.monitor_cases.foreign_reports import FOREIGN_ENDED
from selftest.monitor_cases.node_verdicts import REGISTERED
from selftest.sample_histories import (
    APP,
    ASK,
    ASKS_SYNCHRONISED,
    DECOMMISSION,
    NODE,
    OLD_ITSELF,
    STOPPED,
    Part,
    ask_released,
    by_key,
    exchange_of,
    released,
    updated,
)
from siconform import monitors
from siconform.monitors import MonitorResult
from siconform.protocol.callbacks import Answered, PlacementCheck
from siconform.protocol.notifications import StreamEnded, UpdateKind
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import ReleaseRequest
from siconform.protocol.subjects import AllOf


def result(name: str, parts: Sequence[Part]) -> MonitorResult:
    return next(one for one in monitors.check(by_key(parts)) if one.monitor == name)


def complaints(parts: Sequence[Part]) -> list[str]:
    return [one.violation for one in monitors.check(by_key(parts)) if one.violation]


@pytest.mark.parametrize("parts", [pytest.param(parts, id=why) for why, parts in LEGAL])
def test_uncertain_allocation_holds_no_capacity(parts: Sequence[Part]) -> None:
    assert result("nodes_are_not_overfilled", parts).violation is None


def test_registration_ends_all_key_lifecycles() -> None:
    again = RegistrationAnswered("rm", "OK")

    assert complaints([NODE, ASK, new(), again, NODE, APP, reported(), new(), end(), ended()]) == []


def test_withdrawal_crossing_allocation_ends_as_request() -> None:
    assert complaints([NODE, ASK, end(), new(), ended(), ASK, new(), end(), ended()]) == []
    assert complaints([NODE, ASK, end(), ask_released(), ASK, new(), end(), ended()]) == []
    assert complaints([NODE, ASK, end(), *ASKS_SYNCHRONISED * 2, ASK, new(), end(), ended()]) == []


def test_release_without_key_ends_pending_requests_that_the_rm_released() -> None:
    everything = ReleaseRequest(AllOf("a"), STOPPED)
    recovered = [reported("k", 3), new("k", 3), end(), ended()]

    assert complaints([NODE, APP, ASK, everything, released("", key=""), *recovered]) == []


def test_release_without_key_leaves_pending_requests_that_the_rm_did_not_release() -> None:
    lost = [NODE, NODE_M, OTHER, new("o", node="m"), ASK, replace(DECOMMISSION, node="m")]
    served = [ASK, new(), end(), ended(), replace(ASK, key="p"), new("p", 8)]

    assert complaints([*lost, released("", STOPPED), *served]) == []


def test_rm_places_a_request_without_a_placement_check() -> None:
    refused = [
        PlacementCheck("k", "n", allocate=True, offer=1),
        Answered(fits=False, index=0, reason="no"),
    ]
    placed = [update(4, node="m"), new(node="m")]

    assert complaints([NODE, NODE_M, ASK, *refused, *placed]) == []
    assert complaints([NODE, NODE_M, ASK, *refused, new(node="m")]) != []


@pytest.mark.parametrize("cause", [update(8), replace(APP, tags={"namespace.resourcequota": "1"})])
def test_queue_may_exceed_its_limit_without_a_new_configuration(cause: Part) -> None:
    rule = "quota_preemption_follows_a_new_configuration"

    assert result(rule, [REGISTERED, APP, NODE, ASK, new(), cause, ENFORCED]).violation is None
    assert result(rule, [REGISTERED, APP, NODE, ASK, new(), ENFORCED]).violation is not None


def test_echo_of_a_report_after_a_release_of_everything() -> None:
    everything = ReleaseRequest(AllOf("a"), STOPPED)  # the ask may go on, or end in silence
    echoed = [reported("k", 3), new("k", 3), end(), ended()]

    assert complaints([NODE, APP, ASK, everything, *ASKS_SYNCHRONISED * 2, *echoed]) == []


def test_foreign_allocation_may_be_reported_to_end_with_its_node() -> None:
    ends = [NODE, foreign(4), DECOMMISSION, FOREIGN_ENDED]

    assert complaints([*ends, *ends]) == []


def test_repeated_state_report_is_about_the_same_moment() -> None:
    before, later = updated("Completing", timestamp=5), updated("Completing", timestamp=6)
    recovered = [APP, YES, before, OLD_ITSELF, *FLUSHED, *STEADY]

    assert complaints([*recovered, before, *FLUSHED]) == []
    assert complaints([*recovered, later, *FLUSHED]) != []


def test_other_revisions_have_no_key_lifecycle() -> None:
    exchange = exchange_of([ASK, new(), update(9), new()])

    found = [one.monitor for one in monitors.check(exchange) if one.violation]

    assert "identities_are_unique" in found


def test_report_on_ended_stream_may_be_lost() -> None:
    end = StreamEnded(UpdateKind.ALLOCATIONS)
    rule = "updated_foreign_allocations_hold_their_new_amount"
    processed = [NODE, foreign(2), *CERTAIN, foreign(7), *CERTAIN, end, *CERTAIN, ASK, new()]
    lost = [NODE, foreign(2), *CERTAIN, foreign(7), end, *CERTAIN, ASK, new()]

    assert result(rule, processed).violation is not None
    assert result(rule, lost).violation is None
