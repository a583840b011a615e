"""Each monitor of RMs reports violations, passes good histories, and checks its precondition."""

from collections.abc import Sequence

import pytest
from selftest.rm_monitor_cases import CASES
from selftest.rm_monitor_cases.case import Part, RmCase, exchange_of
from siconform import monitors
from siconform.catalogue import Side, catalogue
from siconform.monitors import MONITORS_OF, MonitorResult

BROKEN = [(case, message, parts) for case in CASES for message, parts in case.broken]
OLDER = {  # in test_rm_monitors
    *("every_request_names_the_registered_rm", "no_key_names_two_things"),
    *("other_types_of_the_rm_confirm", "ask_releases_of_the_rm_name_a_partition"),
    *("every_field_of_the_rm_has_its_type", "every_field_of_the_rm_is_declared"),
    "the_rm_uses_no_reserved_number",
    *("what_the_rm_means_is_set", "the_rm_sends_a_priority_in_one_way"),
    "a_constraint_of_the_rm_is_simple",
}


def result(case: RmCase, parts: Sequence[Part]) -> MonitorResult:
    exchange = exchange_of([*case.begins, *parts], case.revision)
    found = monitors.check(exchange, side=Side.RM)
    return next(one for one in found if one.monitor == case.monitor)


def test_every_monitor_of_rms_has_a_case() -> None:
    named = {case.monitor for case in CASES}

    assert named | OLDER == {monitor.name for monitor in MONITORS_OF[Side.RM]}


def test_monitors_of_rms_are_about_requirements_on_rms() -> None:
    known = catalogue()
    for monitor in MONITORS_OF[Side.RM]:
        assert all(Side.RM in known[identifier].sides for identifier in monitor.requirements)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.monitor}-{case.revision}")
def test_good_history_passes(case: RmCase) -> None:
    found = result(case, case.holds)

    assert found.violation is None
    assert found.held > 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.monitor}-{case.revision}")
def test_history_without_precondition_is_inconclusive(case: RmCase) -> None:
    found = result(case, case.idle)

    assert found.violation is None
    assert found.held == 0


@pytest.mark.parametrize(
    ("case", "message", "parts"),
    BROKEN,
    ids=[f"{one.monitor}-{n}" for n, (one, _, _) in enumerate(BROKEN)],
)
def test_violation_is_reported(case: RmCase, message: str, parts: Sequence[Part]) -> None:
    found = result(case, parts)

    assert found.violation is not None
    assert message in found.violation
    assert found.held > 0
