"""docs/rules.md leads from a requirement to what is about it."""

import re
from collections.abc import Callable
from inspect import signature
from typing import Any

from proof.altering import Inside, function_of
from proof.fault import CHANGES
from proof.known import load
from proof.rules import PAGE, functions_replaced, page


def test_what_the_committed_page_names_is_there() -> None:
    """It may lack what is new; `nox -s generate` adds that."""
    there, made = rows_of(PAGE.read_text("utf-8")), rows_of(page())
    gone = {name: names - made.get(name, set()) for name, names in there.items()}

    assert there
    assert there.keys() <= made.keys()
    assert {name: names for name, names in gone.items() if names} == {}, "run: nox -s generate"


def rows_of(text: str) -> dict[str, set[str]]:
    """The names in the row of each requirement."""
    rows = (line for line in text.splitlines() if line.startswith("| SI-"))
    return {row.split()[1]: set(re.findall(r"`([^`]+)`", row)) for row in rows}


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
        "`test_registration.py`",
        "`paused-goes-on`",
    ):
        assert part in row


class Fitted(Inside):
    """Notes the replacements that do not take what the function they replace is called with."""

    def __init__(self) -> None:
        super().__init__()
        self.misfits: list[str] = []

    def instead_of(self, target: Any, replacement: Callable[..., Any]) -> None:
        plain = function_of(target)
        parameters = signature(plain).parameters.values()
        places = [
            one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.VAR_POSITIONAL)
        ]
        names = {one.name: None for one in parameters if one.kind is one.KEYWORD_ONLY}
        try:
            signature(replacement).bind(plain, *places, **names)
        except TypeError as error:
            self.misfits.append(f"{plain.__qualname__}: {error}")


def test_what_replaces_a_function_takes_what_it_is_called_with() -> None:
    load()
    fitted = Fitted()
    for change in CHANGES.values():
        change.alter(fitted)

    assert fitted.misfits == []


def test_a_replacement_that_takes_less_is_found() -> None:
    fitted = Fitted()

    fitted.instead_of(function_of, lambda original: original)

    assert fitted.misfits == ["function_of: too many positional arguments"]
