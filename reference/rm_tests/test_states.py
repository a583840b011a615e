"""State machines of the RM as tables."""

from enum import Enum

import pytest
from sirm.core.states import (
    APPLICATION,
    CONNECTION,
    CONTAINER,
    ApplicationState,
    ConnectionState,
    ContainerState,
    ContainerTrigger,
    NotAllowedError,
    fire,
)


@pytest.mark.parametrize(
    ("table", "states"),
    [
        (CONNECTION, ConnectionState),
        (CONTAINER, ContainerState),
        (APPLICATION, ApplicationState),
    ],
)
def test_a_table_lists_every_state_and_one_is_final(
    table: dict[Enum, dict[Enum, Enum]], states: type[Enum]
) -> None:
    assert set(table) == set(states)
    assert len([state for state, edges in table.items() if not edges]) == 1


def test_a_transition_that_is_not_in_the_table_is_an_error() -> None:
    with pytest.raises(NotAllowedError, match="allocated is not possible in state over"):
        fire(CONTAINER, ContainerState.OVER, ContainerTrigger.ALLOCATED)
