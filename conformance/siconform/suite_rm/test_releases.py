"""SI-REL: an RM carries out releases of the scheduler, confirms them, and begins its own."""

from contextlib import suppress

import pytest

from siconform.expecting.checks import precondition
from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure, NotOffered, PreconditionFailed
from siconform.protocol.notifications import Allocated, Termination
from siconform.protocol.requests import AskReleaseRequest, ReleaseRequest
from siconform.protocol.subjects import AllOf, OneAllocation
from siconform.scheduler.driven_rm import DrivenRM, Group
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler

of_each_type = pytest.mark.parametrize(
    "termination", [Termination.TIMEOUT, Termination.PREEMPTED_BY_SCHEDULER], ids=lambda t: t.name
)


@requirement("SI-REL-008")
@of_each_type
def test_a_release_of_the_scheduler_is_carried_out_and_confirmed(
    rm: DrivenRM, scheduler: SimulatedScheduler, termination: Termination
) -> None:
    app = rm.runs()
    allocation = scheduler.allocation_of(app)

    scheduler.releases(allocation, termination=termination)

    scheduler.expects_confirmation(allocation, termination)
    is_gone(rm, allocation.key)


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
    is_gone(rm, placeholder.key)


@requirement("SI-REL-008")
@of_each_type
def test_a_release_is_confirmed_once_the_container_is_gone(
    rm: DrivenRM, scheduler: SimulatedScheduler, termination: Termination
) -> None:
    takes = scheduler.deadlines.release / 4
    rm.adds_node()
    app = rm.submits(Group(stopping=takes))
    rm.awaits_started(app)
    allocation = scheduler.allocation_of(app)

    scheduler.releases(allocation, termination=termination)

    is_confirmed_when_gone(rm, scheduler, allocation, termination, takes)


@requirement("SI-REL-008")
@pytest.mark.usefixtures("gang")
def test_a_replaced_placeholder_is_confirmed_once_it_is_gone(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    takes = scheduler.deadlines.release / 4
    rm.adds_node()
    with scheduler.replacing_nothing():
        app = rm.submits(Group(name=rm.new_name("group"), real_containers=1, stopping=takes))
        placeholder = scheduler.allocation_of(app)
        rm.awaits_running(placeholder.key)

        scheduler.releases(placeholder, termination=Termination.PLACEHOLDER_REPLACED)

        is_confirmed_when_gone(rm, scheduler, placeholder, Termination.PLACEHOLDER_REPLACED, takes)


def is_confirmed_when_gone(
    rm: DrivenRM,
    scheduler: SimulatedScheduler,
    allocation: Allocated,
    termination: Termination,
    takes: float,
) -> None:
    """Check the confirmation of a container that takes so many seconds to stop."""
    scheduler.expects_confirmation(
        allocation, termination, timeout=scheduler.deadlines.release + takes
    )
    is_gone(rm, allocation.key)


@requirement("SI-REL-008")
def test_several_releases_in_one_message_are_each_confirmed(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    released = {
        kind: [scheduler.allocation_of(rm.runs()) for _ in range(3)]
        for kind in (Termination.TIMEOUT, Termination.PREEMPTED_BY_SCHEDULER)
    }

    for kind, allocations in released.items():
        scheduler.releases(*allocations, termination=kind)

    for kind, allocations in released.items():
        for allocation in allocations:
            scheduler.expects_confirmation(allocation, kind)
            is_gone(rm, allocation.key)


@requirement("SI-REL-008")
@pytest.mark.usefixtures("gang")
def test_several_replaced_placeholders_are_each_confirmed(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    with scheduler.replacing_nothing():
        app = rm.submits_gang(members=2)
        placeholders = scheduler.allocations_of(app, at_least=2)[:2]

        scheduler.releases(*placeholders, termination=Termination.PLACEHOLDER_REPLACED)

        for placeholder in placeholders:
            scheduler.expects_confirmation(placeholder, Termination.PLACEHOLDER_REPLACED)
            is_gone(rm, placeholder.key)


@requirement("SI-REL-010", "SI-WIRE-009")  # in 2021-02 STOPPED_BY_RM is number 0, which is not sent
def test_a_confirmation_of_the_scheduler_is_not_answered(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    app = rm.runs(containers=4)
    one, *several = scheduler.allocations_of(app, at_least=4)[:3]
    with scheduler.confirming_nothing():
        for allocation in (one, *several):
            rm.stops_container(allocation.key)
            with precondition("the RM releases what has ended"):
                scheduler.expects(*ways_to_release(allocation))
        scheduler.raises_barrier()  # what an RM repeats by itself has come

    with scheduler.only_new():
        for together in ([one], several):
            scheduler.confirms(*together)

            ways = [way for allocation in together for way in ways_to_release(allocation)]
            scheduler.expects_none(*ways)
    scheduler.stays_connected()


@requirement("SI-REL-012")
def test_what_an_rm_ends_itself_is_stopped_by_the_rm(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    exited, preempted, lost = (scheduler.allocation_of(rm.runs()) for _ in range(3))
    ended = rm.runs()

    rm.stops_container(exited.key)
    with precondition("the RM releases a container that has ended"):
        scheduler.expects(Sent(ReleaseRequest))
    scheduler.releases(preempted, termination=Termination.PREEMPTED_BY_SCHEDULER)
    scheduler.expects_confirmation(preempted, Termination.PREEMPTED_BY_SCHEDULER)
    rm.ends_application(ended)
    with suppress(PreconditionFailed):  # a driver without this action
        rm.removes_node(lost.node)

    scheduler.raises_barrier()  # what it has sent is checked by the monitor


@requirement("SI-REL-012")
@pytest.mark.usefixtures("gang")
def test_placeholders_that_an_rm_ends_itself_are_stopped_by_the_rm(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    with scheduler.replacing_nothing():
        app = rm.submits_gang(members=2)
        placeholder = scheduler.allocation_of(app)
        rm.awaits_running(placeholder.key)

        rm.ends_application(app)

        scheduler.comes(Sent(ReleaseRequest), within=scheduler.deadlines.release)
        scheduler.raises_barrier()  # what it has sent is checked by the monitor


@requirement("SI-REL-020")
def test_a_withdrawn_ask_is_released_with_its_partition(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    with scheduler.placing_nothing():
        app = rm.submits()
        scheduler.pending_of(app)

        rm.ends_application(app)

        if not scheduler.comes(Sent(AskReleaseRequest), within=scheduler.deadlines.release):
            raise NotOffered("the RM withdraws no ask when its application ends")
        # the monitor checks it


@requirement("SI-REL-020")
@pytest.mark.usefixtures("gang")
def test_an_answered_ask_release_names_the_partition(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    with scheduler.placing_nothing():
        app = rm.submits_gang(members=1)
        key = placeholder_of(app, scheduler)

        scheduler.releases_requests(key)

        with precondition("the RM answers with a release of the ask"):
            scheduler.expects_confirmation_of_ask(app, key)  # the monitor checks it


@requirement("SI-REL-022")
def test_a_release_without_identity_covers_the_application(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    app, other = rm.runs(containers=3), rm.runs()
    released = scheduler.allocations_of(app, at_least=3)
    kept = scheduler.allocation_of(other)

    scheduler.releases_all_of(app, Termination.PREEMPTED_BY_SCHEDULER)

    for allocation in released:
        scheduler.expects_confirmation(allocation, Termination.PREEMPTED_BY_SCHEDULER)
        is_gone(rm, allocation.key)
    scheduler.expects_none(*ways_to_release(kept))
    rm.stays(lambda view: kept.key in view.running, f"{kept.key} runs")


@requirement("SI-REL-024")
@pytest.mark.usefixtures("gang")
def test_an_ask_release_of_the_scheduler_is_carried_out_and_answered(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    with scheduler.placing_nothing():
        app = rm.submits_gang(members=2)
        key = placeholder_of(app, scheduler)

        scheduler.releases_requests(key, termination=Termination.TIMEOUT)

        scheduler.expects_confirmation_of_ask(app, key, Termination.TIMEOUT)
        is_gone(rm, key)


def placeholder_of(app: str, scheduler: SimulatedScheduler) -> str:
    """Wait for a pending placeholder; return its key."""
    with precondition("the RM asks for placeholders"):
        return scheduler.expects_members(app, 1, placeholder=True)[0].key


def ways_to_release(allocation: Allocated) -> list[Sent[ReleaseRequest]]:
    """Return the releases of an RM that cover an allocation, whatever their type."""
    app = allocation.application
    subjects = OneAllocation(app, allocation.identity), AllOf(app)
    return [Sent(ReleaseRequest, subject=one) for one in subjects]


def is_gone(rm: DrivenRM, key: str) -> None:
    """Check that a container is over, or given up, when its release has been confirmed."""
    if any(one.key == key for one in rm.looks().containers):
        raise ConformanceFailure(
            f"{key} is still there after its release was confirmed",
            expected="a container that is gone when its release is confirmed",
        )
