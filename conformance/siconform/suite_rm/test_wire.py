"""SI-WIRE: an RM copes with the streams and messages of a scheduler.

Rules for every message of an RM (SI-WIRE-006, -008, -010, -012) are checked during all tests by
``siconform.monitors.rm_wire``.
"""

from siconform.expecting.checks import precondition
from siconform.marks import requirement
from siconform.protocol.notifications import Termination
from siconform.protocol.requests import AskRequest
from siconform.scheduler.driven_rm import DrivenRM, Group
from siconform.scheduler.gang_steps import keys_of
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler


@requirement("SI-WIRE-005")
def test_an_rm_takes_decisions_that_answer_nothing(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    with scheduler.placing_nothing():
        app = rm.submits(Group(members=3))
        with precondition("the RM asks for all its containers"):
            keys = keys_of(scheduler.expects_members(app, 3))

        allocations = [scheduler.allocates(key) for key in keys]
        rm.expects(lambda view: {*keys} <= {*view.running}, f"{', '.join(keys)} run")
        scheduler.releases(
            *allocations, termination=Termination.PREEMPTED_BY_SCHEDULER, separately=True
        )

        for allocation in allocations:
            scheduler.expects_confirmation(allocation, Termination.PREEMPTED_BY_SCHEDULER)
    scheduler.stays_connected()


@requirement("SI-WIRE-005")
def test_an_rm_asks_for_more_while_an_ask_is_pending(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    with scheduler.placing_nothing():
        waits = rm.submits()
        scheduler.pending_of(waits)

        app = rm.submits()

        scheduler.expects(Sent(AskRequest, application=app))
    scheduler.stays_connected()


@requirement("SI-WIRE-007")
def test_an_rm_ignores_unknown_fields_and_takes_the_rest(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.runs()

    with scheduler.adding_unknown_fields():
        rm.adds_node()
        app = rm.submits()
        scheduler.expects(Sent(AskRequest, application=app))
        rm.expects(lambda view: bool(view.started(app)), f"the container of {app} starts")
    scheduler.stays_connected()


@requirement("SI-WIRE-012")
def test_a_priority_is_sent_in_one_way(rm: DrivenRM, scheduler: SimulatedScheduler) -> None:
    rm.adds_node()
    app = rm.submits(Group(priority=7))

    with precondition("the RM asks for the container"):
        scheduler.expects(Sent(AskRequest, application=app))  # the monitor checks it
