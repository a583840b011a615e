"""The application states the kit expects match the table of the reference."""

from pathlib import Path
from typing import Final

import msgspec
import pytest
from siconform.monitors.applications import ACTIVE
from siconform.protocol import application_states
from siconform.protocol.application_states import COMPLETED, FAILED, KNOWN, State

DRAWN: Final = Path(__file__).parents[2] / "fixtures" / "drawn-states.yaml"
NAMES: Final = {
    name: state
    for name, state in vars(application_states).items()
    if isinstance(state, State) and state is not KNOWN
}


class Undrawn(msgspec.Struct):
    """A transition without a source in the specification: from, trigger, to."""

    edge: tuple[str, str, str]


class Machine(msgspec.Struct):
    """The part of the state machine file that is used here."""

    table: str
    drawn: list[tuple[str, str, str, str]]
    not_drawn: list[Undrawn] = []
    kit: dict[str, list[str]] = {}


def application() -> Machine:
    machines = msgspec.yaml.decode(DRAWN.read_text("utf-8"), type=list[Machine])
    return next(one for one in machines if one.table == "APPLICATION_TRANSITIONS")


def edges() -> list[tuple[str, str]]:
    """Return the transitions of an application in the reference."""
    machine = application()
    drawn = [(state, after) for state, _, after, _ in machine.drawn]
    return drawn + [(one.edge[0], one.edge[2]) for one in machine.not_drawn]


def states() -> list[str]:
    return sorted({state for edge in edges() for state in edge})


def accepted_by(state: State) -> list[str]:
    return [name for name in states() if state.accepts(name)]


def test_state_names_match_documentation() -> None:
    shown = application().kit

    assert {name: sorted(of) for name, of in shown.items()} == {
        name: accepted_by(state) for name, state in NAMES.items()
    }


def test_reference_states_have_names_in_kit() -> None:
    assert accepted_by(KNOWN) == states()


@pytest.mark.parametrize("final", [COMPLETED, FAILED], ids=str)
def test_final_states_have_no_way_back(final: State) -> None:
    after = [after for state, after in edges() if final.accepts(state)]

    assert after
    assert not [name for name in after if any(active.accepts(name) for active in ACTIVE)]
