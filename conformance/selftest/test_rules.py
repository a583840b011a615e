"""docs/rules.md leads from a requirement to what is about it, and is as it would be written."""

from proof.fault import CHANGES
from proof.known import load
from proof.rules import PAGE, functions_replaced, page


def test_the_committed_page_is_fresh() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: nox -s generate"


def test_the_function_that_keeps_a_rule_is_the_one_a_fault_replaces() -> None:
    load()

    assert functions_replaced(CHANGES["paused-goes-on"]) == ["core/scheduler.py::Scheduler.handle"]


def test_a_fault_on_the_wire_replaces_nothing() -> None:
    load()

    assert functions_replaced(CHANGES["created-drained-is-open"]) == []


def test_a_requirement_is_beside_its_test_its_rule_and_its_fault() -> None:
    (row,) = [line for line in page().splitlines() if line.startswith("| SI-CONN-009 ")]

    for part in (
        "`test_connections.py::test_nothing_is_allocated_for_an_rm_without_connection`",
        "`core/scheduler.py::Scheduler.handle`",
        "`paused-goes-on`",
    ):
        assert part in row
