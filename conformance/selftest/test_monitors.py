"""Each monitor reports violations, passes good histories, and checks its precondition."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import pytest
from selftest.monitor_cases import BY_KEY_CASES, CASES
from selftest.monitor_cases.case import Case
from selftest.sample_histories import (
    APP,
    ASK,
    ASKS_SYNCHRONISED,
    FULL,
    IN_THE_CLUSTER,
    LIMITED,
    NODE,
    OLD,
    OLD_ITSELF,
    OLD_WITH_NODE,
    PLACEHOLDER,
    REMOVAL,
    Part,
    allocated,
    ask_released,
    by_key,
    exchange_of,
    released,
    released_by_rm,
    updated,
    withdrawn,
)
from siconform import monitors
from siconform.catalogue import catalogue
from siconform.catalogue.features import Feature
from siconform.expecting.probed_behaviour import ProbedBehaviour
from siconform.monitors import MONITORS, MonitorResult
from siconform.protocol.notifications import (
    AllocationRejected,
    AskRejected,
    Fact,
    NodeAccepted,
    NodeRejected,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.registration import RegistrationAnswered
from siconform.recording.history import Exchange, History
from siwire import find_revision

TWO_BARRIERS = ASKS_SYNCHRONISED * 2
Exchanges: TypeAlias = Callable[[Sequence[Part]], Exchange]

TRIED: list[tuple[Case, Exchanges]] = [
    *((case, exchange_of) for case in CASES),
    *((case, by_key) for case in BY_KEY_CASES),
]
BROKEN = [
    (case.monitor, message, of, parts) for case, of in TRIED for message, parts in case.broken
]

with_each_case = pytest.mark.parametrize(
    ("case", "of"), TRIED, ids=[f"{case.monitor}-{of.__name__}" for case, of in TRIED]
)


def result(name: str, exchange: Exchange) -> MonitorResult:
    return next(f for f in monitors.check(exchange) if f.monitor == name)


def test_every_monitor_has_a_case() -> None:
    cases = {case.monitor for case in (*CASES, *BY_KEY_CASES)}
    elsewhere = {  # test_isolation
        *("responses_go_to_their_rm", "requests_end_nothing_of_another_rm"),
        "registrations_get_an_empty_answer",
    }

    assert cases | elsewhere == {monitor.name for monitor in MONITORS}


def test_every_monitor_names_requirements_of_the_catalogue() -> None:
    named = [identifier for monitor in MONITORS for identifier in monitor.requirements]

    assert named
    assert set(named) <= set(catalogue())


@with_each_case
def test_good_history_passes(case: Case, of: Exchanges) -> None:
    found = result(case.monitor, of(case.holds))

    assert found.violation is None
    assert found.held > 0


@with_each_case
def test_history_without_precondition_is_inconclusive(case: Case, of: Exchanges) -> None:
    found = result(case.monitor, of(case.idle))

    assert found.violation is None
    assert found.held == 0


@pytest.mark.parametrize(("monitor", "message", "of", "parts"), BROKEN)
def test_violation_is_reported(
    monitor: str, message: str, of: Exchanges, parts: Sequence[Part]
) -> None:
    found = result(monitor, of(parts))

    assert found.violation is not None
    assert message in found.violation
    assert found.held > 0


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([OLD_ITSELF, allocated()], id="not synchronised"),
        pytest.param([OLD_ITSELF, *ASKS_SYNCHRONISED, allocated()], id="its effects not received"),
        pytest.param([OLD_WITH_NODE, *TWO_BARRIERS, allocated()], id="its node not accepted"),
        pytest.param([OLD_WITH_NODE, NodeRejected("n", "no"), *TWO_BARRIERS], id="refused"),
        pytest.param(
            [OLD_ITSELF, AllocationRejected("old", "a", "no"), *TWO_BARRIERS], id="reject"
        ),
        pytest.param([OLD_ITSELF, *TWO_BARRIERS, AllocationRejected("old", "a", "no")], id="late"),
        pytest.param([OLD_ITSELF, released_by_rm("o"), *TWO_BARRIERS], id="released"),
        pytest.param([OLD_ITSELF, *TWO_BARRIERS, released_by_rm("o")], id="released late"),
        pytest.param(
            [allocated(identity="1"), OLD_ITSELF, *TWO_BARRIERS], id="beyond the capacity"
        ),
        pytest.param([allocated(identity="1"), OLD_ITSELF, OLD], id="announced beyond it"),
    ],
)
def test_existing_allocation_counts_only_while_recovered(parts: Sequence[Part]) -> None:
    history = exchange_of([NODE, *parts, allocated(identity="new")])

    assert result("nodes_are_not_overfilled", history).violation is None


def test_allocation_crossing_removal_holds_no_capacity() -> None:
    of_another = (allocated("k", identity, application="b") for identity in "23")
    late = exchange_of([NODE, REMOVAL, allocated("k", "1"), *of_another])
    new_life = exchange_of([NODE, REMOVAL, APP, *(allocated("k", identity) for identity in "123")])

    assert result("nodes_are_not_overfilled", late).violation is None
    assert result("nodes_are_not_overfilled", new_life).violation is not None


@pytest.mark.parametrize(("monitor", "message", "of", "parts"), BROKEN)
def test_entries_before_the_test_are_context(
    monitor: str,
    message: str,  # noqa: ARG001  # shared with the test above
    of: Exchanges,
    parts: Sequence[Part],
) -> None:
    exchange = of(parts)
    exchange.start = len(exchange.history)

    found = result(monitor, exchange)

    assert found.violation is None
    assert found.held == 0


def test_registration_resets_state() -> None:
    again = RegistrationAnswered("rm", "OK")

    found = result("identities_are_unique", exchange_of([again, allocated(), again, allocated()]))

    assert found.violation is None


def test_application_update_may_follow_new_registration() -> None:
    again = RegistrationAnswered("rm", "OK")

    found = result("state_changes_are_complete", exchange_of([again, APP, again, updated()]))

    assert found.held == 1
    assert found.violation is None


@pytest.mark.parametrize(
    ("monitor", "parts", "late"),
    [
        ("releases_name_what_was_announced", [allocated()], released()),
        ("rejections_of_asks_are_complete", [ASK], AskRejected("k", "a", "registered again")),
        ("released_asks_were_asked_for", [APP, ASK], ask_released()),
    ],
)
def test_release_from_earlier_registration_is_allowed(
    monitor: str, parts: Sequence[Part], late: Fact
) -> None:
    again = RegistrationAnswered("rm", "OK")

    found = result(monitor, exchange_of([again, *parts, again, late]))

    assert found.held == 1
    assert found.violation is None


ONLY_THE_RM_KNOWS = [
    pytest.param("allocations_carry_their_ask", [ASK], allocated(), id="ask"),
    pytest.param("nodes_of_allocations_exist", [NODE], allocated(), id="node"),
]


@pytest.mark.parametrize("of", [exchange_of, by_key])
@pytest.mark.parametrize(("monitor", "parts", "late"), ONLY_THE_RM_KNOWS)
def test_allocation_may_be_in_flight_at_a_registration(
    monitor: str, parts: Sequence[Part], late: Fact, of: Exchanges
) -> None:
    again = RegistrationAnswered("rm", "OK")

    found = result(monitor, of([again, *parts, again, late]))

    assert found.violation is None


@pytest.mark.parametrize(
    "arrived",
    [
        pytest.param(ASKS_SYNCHRONISED, id="barrier answered"),
        pytest.param([StreamEnded(UpdateKind.ALLOCATIONS)], id="stream ended"),
        pytest.param([replace(NODE, node="other")], id="message of the RM"),
    ],
)
@pytest.mark.parametrize(("monitor", "parts", "late"), ONLY_THE_RM_KNOWS)
def test_nothing_is_in_flight_any_more(
    monitor: str, parts: Sequence[Part], late: Fact, arrived: Sequence[Part]
) -> None:
    again = RegistrationAnswered("rm", "OK")

    found = result(monitor, exchange_of([again, *parts, again, *arrived, late]))

    assert found.violation is not None


def test_first_registration_has_nothing_in_flight() -> None:
    found = result("allocations_carry_their_ask", exchange_of([*IN_THE_CLUSTER, allocated()]))

    assert found.violation is not None


def test_failed_registration_does_not_reset_state() -> None:
    refused = RegistrationAnswered("rm", "INVALID_ARGUMENT")

    found = result("identities_are_unique", exchange_of([allocated(), refused, allocated()]))

    assert found.violation is not None


def test_rms_are_checked_separately() -> None:
    history = History()
    exchange_of([allocated()], rm="one", history=history)

    found = result("identities_are_unique", exchange_of([allocated()], "other", history))

    assert found.violation is None
    assert found.held == 2


def test_uuid_is_declared_by_revision() -> None:
    si: Any = find_revision("2023-08").si
    message = si.AllocationResponse(new=[si.Allocation(UUID="u")])

    for name in ("every_field_is_declared", "reserved_numbers_are_not_used"):
        assert result(name, exchange_of([message])).violation is None


def test_reserved_numbers_are_those_of_the_revision() -> None:
    si: Any = find_revision("2024-10").si
    before: Any = find_revision("2023-12").si
    with_identity = si.Allocation.FromString(b"\x6a\x01x")  # field 13
    used = {
        "AllocationResponse 3": si.AllocationResponse.FromString(b"\x1a\x00"),
        "Allocation 13": si.AllocationResponse(new=[with_identity]),
        "EventRecord.ChangeDetail 301": si.EventRecord(eventChangeDetail=301),
    }

    for number, message in used.items():
        found = result("reserved_numbers_are_not_used", exchange_of([message])).violation
        assert found is not None
        assert f"reserved number: si.v1.{number}" in found
    declared = before.EventRecord(eventChangeDetail=301)
    assert result("reserved_numbers_are_not_used", exchange_of([declared])).violation is None


def test_undeclared_enum_value_is_found_except_in_events() -> None:
    si: Any = find_revision("2024-10").si
    ends = si.AllocationResponse(released=[si.AllocationRelease(terminationType=99)])
    fine = si.AllocationResponse(released=[si.AllocationRelease(terminationType=si.TIMEOUT)])

    found = result("every_field_has_its_type", exchange_of([ends])).violation
    assert found is not None
    assert "undeclared number 99 of si.v1.TerminationType" in found
    for message in (fine, si.EventRecord(type=99)):
        assert result("every_field_has_its_type", exchange_of([message])).violation is None


@pytest.mark.parametrize("lacking", [Feature.QUOTAS, Feature.QUEUES])
def test_monitor_skips_scheduler_without_required_feature(lacking: Feature) -> None:
    broken = exchange_of([*IN_THE_CLUSTER, LIMITED, PLACEHOLDER, *FULL])

    lacks = ProbedBehaviour().lacks({lacking})

    evaluated = {f.monitor for f in monitors.check(broken, lacks)}
    assert "placeholders_count_against_the_quota" not in evaluated
    assert "identities_are_unique" in evaluated


def test_scheduler_that_ignores_maxima_lacks_feature() -> None:
    assert Feature.QUOTAS in ProbedBehaviour(enforces_quotas=False).lacks(())
    assert Feature.QUOTAS not in ProbedBehaviour(enforces_quotas=True).lacks(())


REPORTED = replace(NODE, node="m", existing=(allocated(identity="old", node="m"),))
ECHOED = (REPORTED, NodeAccepted("m"), allocated(identity="old", node="m"))


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([*ECHOED, ASK, AskRejected("k", "a", "used")], id="a later ask is rejected"),
        pytest.param([ASK, AskRejected("k", "a", "no"), *ECHOED], id="an ask was rejected"),
        pytest.param(
            [ASK, withdrawn("k"), *ASKS_SYNCHRONISED * 2, *ECHOED], id="an ask was withdrawn"
        ),
    ],
)
def test_echo_of_existing_allocation_is_not_one_of_an_ask_with_its_key(
    parts: Sequence[Part],
) -> None:
    violations = [one.violation for one in monitors.check(exchange_of([APP, NODE, *parts]))]

    assert not any(violations)
