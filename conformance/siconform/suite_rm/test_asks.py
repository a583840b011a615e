"""SI-ASK: an RM waits for the allocation of what it asks for, and copes with a late rejection."""

from siconform.marks import requirement
from siconform.scheduler.driven_rm import DrivenRM
from siconform.scheduler.simulated_scheduler import SimulatedScheduler


@requirement("SI-ASK-021")
def test_an_ask_is_answered_by_nothing_but_its_allocation(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()

    with scheduler.placing_nothing(), scheduler.reporting_no_states():
        app = rm.submits()
        first = scheduler.pending_of(app)[0]
        scheduler.waits()  # longer than any answer to an ask would take
        pending = scheduler.expects_pending(app)
        allocation = scheduler.allocates(pending.key)

    rm.expects(lambda view: allocation.key in view.running, f"{allocation.key} starts")
    repeated = len(scheduler.requests_of(app)) - 1
    under = "its key" if pending.key == first.key else "a new key"
    scheduler.records(f"a pending ask is repeated {repeated} times, under {under}")


@requirement("SI-ASK-023")
def test_a_pending_ask_may_be_rejected(rm: DrivenRM, scheduler: SimulatedScheduler) -> None:
    rm.adds_node()

    with scheduler.placing_nothing():
        app = rm.submits()
        ask = scheduler.pending_of(app)[0]
        scheduler.expects_none()  # it has been pending for a while
        scheduler.rejects(ask.key)

        scheduler.expects_none()
        rm.stays(lambda view: not view.started(app), f"nothing of {app} starts")
        again = "again" if scheduler.requests_of(app)[1:] else "no more"
        scheduler.records(f"what was rejected late is asked for {again}")

    another = rm.submits()
    rm.expects(lambda view: bool(view.started(another)), f"the container of {another} starts")
    scheduler.stays_connected()
