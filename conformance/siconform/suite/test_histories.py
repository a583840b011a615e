"""Random histories: after any legal RM behaviour all capacity is free again and no rule is broken.

The monitors check every history; ``siconform explore`` generates more of them.
"""

from typing import TYPE_CHECKING

from siconform.marks import explores, removals_are_a_race, requirement, waits

if TYPE_CHECKING:
    from siconform.exploring.exploration import Exploration


@waits
@explores
@removals_are_a_race
@requirement("SI-ALLOC-010", "SI-APP-018", "SI-REL-001")
def test_whatever_ended_its_nodes_and_queues_can_be_filled_again(
    exploration: "Exploration",
) -> None:
    exploration.finds_nothing()
