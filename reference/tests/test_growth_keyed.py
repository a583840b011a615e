"""Memory growth where the key is the identity: updates and foreign allocations."""

from collections.abc import Callable

import pytest
from tests.keyed import Keyed
from tests.test_growth import FEW, gives_up_all, grown, left_to_the_collector

pytestmark = pytest.mark.usefixtures("_only_new_objects_are_collected")


def updated(rm: Keyed, number: int) -> None:
    rm.runs("lifecycles", memory=1 + number % 5)


def placed_by_the_rm(rm: Keyed, number: int) -> None:
    rm.wants(f"k{number}", memory=1000 + number)
    rm.runs(f"k{number}", memory=1)
    rm.ends(f"k{number}")


def seen_and_gone(rm: Keyed, number: int) -> None:
    rm.sees(f"f{number}", memory=1)
    rm.sees(f"f{number}", memory=2)
    rm.ends(f"f{number}", "")


def seen_on_another_node(rm: Keyed, number: int) -> None:
    rm.sees("f", f"n{1 + number % 2}", memory=1)


def gone_with_its_node(rm: Keyed, number: int) -> None:
    rm.creates(f"x{number}", memory=1)
    rm.sees(f"f{number}", f"x{number}", memory=1)
    rm.decommissions(f"x{number}")


@pytest.mark.parametrize(
    "lifecycle",
    [updated, placed_by_the_rm, seen_and_gone, seen_on_another_node, gone_with_its_node],
)
def test_updated_and_ended_keys_leave_nothing_behind(
    lifecycle: Callable[[Keyed, int], None],
) -> None:
    rm = Keyed()
    rm.creates("n1", memory=60)
    rm.creates("n2", memory=60)
    rm.submits("a1")
    rm.runs("lifecycles", memory=1)
    rm.wants("waits", memory=999)

    assert grown(rm, lifecycle) == {}


@pytest.mark.parametrize("end", [gives_up_all, Keyed.registers])
def test_replaced_registration_is_freed_without_cycle_collection(
    end: Callable[[Keyed], object],
) -> None:
    rm = Keyed()

    def registration() -> None:
        rm.registers()
        rm.creates("n1", memory=60)
        rm.submits("a1")
        for number in range(FEW):
            rm.sees(f"f{number}", memory=1)
            rm.runs(f"k{number}", memory=1)
            rm.runs(f"k{number}", memory=2)
            rm.wants(f"w{number}", memory=99)
        end(rm)

    assert left_to_the_collector(registration) < FEW
