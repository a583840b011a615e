"""SI-REL: an RM carries out releases of the scheduler and confirms them."""

import pytest

from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure
from siconform.protocol.notifications import Allocated, Termination
from siconform.scheduler.driven_rm import DrivenRM
from siconform.scheduler.simulated_scheduler import SimulatedScheduler


@requirement("SI-REL-008")
@pytest.mark.parametrize(
    "termination", [Termination.TIMEOUT, Termination.PREEMPTED_BY_SCHEDULER], ids=lambda t: t.name
)
def test_a_release_of_the_scheduler_is_carried_out_and_confirmed(
    rm: DrivenRM, scheduler: SimulatedScheduler, termination: Termination
) -> None:
    app = rm.runs()
    allocation = scheduler.allocation_of(app)

    scheduler.releases(allocation, termination=termination)

    scheduler.expects_confirmation(allocation, termination)
    is_stopped(rm, allocation)


@requirement("SI-REL-008")
@pytest.mark.usefixtures("gang")
def test_a_replaced_placeholder_is_stopped_and_confirmed(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    with scheduler.replacing_nothing():
        app = rm.submits_gang(members=1)
        placeholder = scheduler.allocation_of(app)

    scheduler.releases(placeholder, termination=Termination.PLACEHOLDER_REPLACED)

    scheduler.expects_confirmation(placeholder, Termination.PLACEHOLDER_REPLACED)
    is_stopped(rm, placeholder)


def is_stopped(rm: DrivenRM, allocation: Allocated) -> None:
    """Check that the container of an allocation no longer runs."""
    if allocation.key in rm.running():
        raise ConformanceFailure(
            f"{allocation.key} still runs after its release was confirmed",
            expected="a container that is gone when its release is confirmed",
        )
