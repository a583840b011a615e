"""State tables, edge by edge against their sources, and the transition function."""

from enum import Enum
from typing import Any

import pytest
from sireference.core import states
from sireference.core.states import (
    APPLICATION_TRANSITIONS,
    NODE_TRANSITIONS,
    RM_TRANSITIONS,
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


def edges(table: Any) -> set[tuple[str, str, str]]:
    return {
        (state.value, trigger.name, after.value)
        for state, ways in table.items()
        for trigger, after in ways.items()
    }


@pytest.mark.parametrize("name", TABLES)
def test_every_state_stands_in_its_table(name: str) -> None:
    table, kind = TABLES[name]
    known: set[Enum] = set(kind)
    assert set(table) == known
    assert {after for ways in table.values() for after in ways.values()} <= known


# requirement: SI-CONN-001, SI-CONN-006, SI-CONN-007, SI-CONN-008, SI-CONN-010
def test_the_life_of_an_rm_is_the_one_drawn() -> None:
    assert edges(RM_TRANSITIONS) == {
        ("init", "REGISTERED", "Running"),
        ("Running", "CONNECTION_LOST", "Paused"),
        ("Paused", "CONNECTION_LOSS_TIMEOUT", "Stopped"),
        ("Running", "SHUT_DOWN", "Stopped"),
    }


def test_the_life_of_a_node_is_the_one_drawn() -> None:
    drawn = {
        ("SCHEDULABLE", "DRAIN_NODE", "DRAINING"),
        ("DRAINING", "DRAIN_TO_SCHEDULABLE", "SCHEDULABLE"),
        ("DRAINING", "DECOMMISSION", "REMOVED"),
    }
    by_comment = {
        ("unknown", "CREATE", "SCHEDULABLE"),
        ("unknown", "CREATE_DRAIN", "DRAINING"),
        ("SCHEDULABLE", "UPDATE", "SCHEDULABLE"),
        ("SCHEDULABLE", "DECOMMISSION", "REMOVED"),
        ("DRAINING", "UPDATE", "DRAINING"),
        ("DRAINING", "DRAIN_NODE", "DRAINING"),
    }
    assert edges(NODE_TRANSITIONS) == drawn | by_comment


def test_the_life_of_an_ask_is_the_one_drawn() -> None:
    assert edges(states.ASK_TRANSITIONS) == {
        ("Initial", "ASKED", "Pending"),
        ("Initial", "REFUSED", "Rejected"),
        ("Pending", "ALL_ALLOCATED", "Allocated"),
        ("Pending", "WITHDRAWN", "Rejected"),
        ("Pending", "TIMED_OUT", "Expired"),
    }


# requirement: SI-ALLOC-009
def test_the_life_of_an_allocation_is_the_one_drawn_and_replacement() -> None:
    assert edges(states.ALLOCATION_TRANSITIONS) == {
        ("Allocated", "STOPPED_BY_RM", "Completed"),
        ("Allocated", "PREEMPTED_BY_SCHEDULER", "Preempted"),
        ("Allocated", "TIMEOUT", "Expired"),
        ("Allocated", "PLACEHOLDER_REPLACED", "Replaced"),
    }


def test_the_life_of_an_application_is_the_one_of_core_1_5() -> None:
    assert edges(APPLICATION_TRANSITIONS) == {
        ("New", "RUN", "Accepted"),
        ("New", "RESUME", "Resuming"),
        ("New", "FAIL", "Failing"),
        ("Accepted", "RUN", "Starting"),
        ("Accepted", "COMPLETE", "Completing"),
        ("Accepted", "RESUME", "Resuming"),
        ("Accepted", "FAIL", "Failing"),
        ("Starting", "RUN", "Running"),
        ("Starting", "COMPLETE", "Completing"),
        ("Starting", "FAIL", "Failing"),
        ("Running", "COMPLETE", "Completing"),
        ("Running", "FAIL", "Failing"),
        ("Resuming", "RUN", "Accepted"),
        ("Completing", "RUN", "Running"),
        ("Completing", "COMPLETE", "Completed"),
        ("Completed", "EXPIRE", "Expired"),
        ("Failing", "FAIL", "Failed"),
        ("Failed", "EXPIRE", "Expired"),
    }


def test_without_starting_an_application_runs_from_its_first_allocation_on() -> None:
    starting = {edge for edge in edges(APPLICATION_TRANSITIONS) if "Starting" in edge}

    assert edges(states.WITHOUT_STARTING) == {
        *(edges(APPLICATION_TRANSITIONS) - starting),
        ("Accepted", "RUN", "Running"),
    }


def test_fire_follows_the_table_or_raises() -> None:
    moved = fire(NODE_TRANSITIONS, NodeState.SCHEDULABLE, NodeAction.DRAIN_NODE)
    assert moved is NodeState.DRAINING
    assert not allows(NODE_TRANSITIONS, NodeState.REMOVED, NodeAction.CREATE)
    with pytest.raises(NotAllowedError, match="DRAIN_TO_SCHEDULABLE is not possible in state"):
        fire(NODE_TRANSITIONS, NodeState.SCHEDULABLE, NodeAction.DRAIN_TO_SCHEDULABLE)
