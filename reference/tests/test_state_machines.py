"""Every difference between a state table and the specification has a documented reason."""

import re
from pathlib import Path

import msgspec
import pytest
from sireference.core import states
from sireference.core.states import Symbol
from tests import state_machines
from tests.state_machines import (
    COMMAND,
    PAGE,
    ROOT,
    Difference,
    Edge,
    Machine,
    machines,
    main,
    page,
    problems,
)

_NAMED = re.compile(r"\b(?:C-\d{2}|SI-[A-Z]+-\d{3})\b")
LOST = Edge("Running", "CONNECTION_LOST", "Paused")
BACK = Edge("Paused", "REGISTERED", "Running")


def of(table: str) -> Machine:
    return next(machine for machine in machines() if machine.table == table)


def test_every_table_of_states_is_on_the_page() -> None:
    tables = {
        name
        for name, table in vars(states).items()
        if isinstance(table, dict) and all(isinstance(state, Symbol) for state in table)
    }

    assert {machine.table for machine in machines()} == tables


@pytest.mark.parametrize("machine", machines(), ids=lambda machine: machine.table)
def test_every_difference_from_the_specification_has_a_reason(machine: Machine) -> None:
    assert problems(machine) == []


def test_the_committed_page_is_what_the_tables_state() -> None:
    assert PAGE.read_text("utf-8") == page(), f"run {COMMAND}"


def test_what_a_reason_refers_to_exists() -> None:
    known = (ROOT / "docs" / "contradictions.md").read_text("utf-8")
    catalogue = ROOT / "conformance" / "siconform" / "catalogue"
    known += "".join(file.read_text("utf-8") for file in catalogue.glob("*.yaml"))

    assert set(_NAMED.findall(page())) <= set(_NAMED.findall(known))


def test_edge_missing_in_the_specification_needs_a_reason() -> None:
    rm = of("RM_TRANSITIONS")
    undrawn = tuple(one for one in rm.drawn if one.edge != LOST)
    without = msgspec.structs.replace(rm, drawn=undrawn)
    sentence = f"RM_TRANSITIONS: {LOST} is not drawn in the specification, without a reason"

    assert problems(without) == [sentence]
    unexplained = msgspec.structs.replace(without, not_drawn=(Difference(LOST, ""),))
    assert problems(unexplained) == [sentence]
    explained = msgspec.structs.replace(without, not_drawn=(Difference(LOST, "why"),))
    assert problems(explained) == []


def test_edge_missing_in_the_table_needs_a_reason() -> None:
    rm = of("RM_TRANSITIONS")
    more = msgspec.structs.replace(rm, drawn=(*rm.drawn, state_machines.DrawnEdge(*BACK, "again")))

    assert problems(more) == [
        f"RM_TRANSITIONS: {BACK} is drawn in the specification and left out, without a reason"
    ]
    explained = msgspec.structs.replace(more, left_out=(Difference(BACK, "why"),))
    assert problems(explained) == []


def test_a_reason_needs_a_difference() -> None:
    rm = msgspec.structs.replace(of("RM_TRANSITIONS"), not_drawn=(Difference(LOST, "why"),))

    assert problems(rm) == [f"RM_TRANSITIONS: {LOST} has a reason and no difference"]


def test_the_check_writes_nothing_and_fails_on_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(state_machines, "PAGE", tmp_path / "page.md")

    assert main(["--check"]) == 1
    assert "differs from the tables" in capsys.readouterr().err
    assert main([]) == 0
    assert main(["--check"]) == 0
