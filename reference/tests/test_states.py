"""The state tables, edge by edge against their sources, and the function that moves."""

from enum import Enum
from typing import Any

import pytest
from sireference.core import states
from sireference.core.states import (
    NODE_TRANSITIONS,
    NodeAction,
    NodeState,
    NotAllowedError,
    allows,
    fire,
)

TABLES: dict[str, tuple[Any, type[Enum]]] = {
    "rm": (states.RM_TRANSITIONS, states.RMState),
    "node": (states.NODE_TRANSITIONS, states.NodeState),
    "ask": (states.ASK_TRANSITIONS, states.AskState),
    "allocation": (states.ALLOCATION_TRANSITIONS, states.AllocationState),
    "application": (states.APPLICATION_TRANSITIONS, states.ApplicationState),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_state_is_in_its_table(name: str) -> None:
    table, kind = TABLES[name]
    known: set[Enum] = set(kind)
    assert set(table) == known
    assert {after for ways in table.values() for after in ways.values()} <= known


def test_fire_moves_along_the_table_or_raises_an_error() -> None:
    moved = fire(NODE_TRANSITIONS, NodeState.SCHEDULABLE, NodeAction.DRAIN_NODE)
    assert moved is NodeState.DRAINING
    assert not allows(NODE_TRANSITIONS, NodeState.REMOVED, NodeAction.CREATE)
    with pytest.raises(NotAllowedError, match="DRAIN_TO_SCHEDULABLE is not possible in state"):
        fire(NODE_TRANSITIONS, NodeState.SCHEDULABLE, NodeAction.DRAIN_TO_SCHEDULABLE)
