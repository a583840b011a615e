"""The simulated scheduler of a test: one class with all steps."""

from siconform.scheduler.recovery_steps import RecoverySteps


class SimulatedScheduler(RecoverySteps):
    """What the ``scheduler`` fixture returns: the engine with empty state, for one test.

    It is correct by default. A test switches parts of it off in blocks, and decides by hand:

        with scheduler.placing_nothing():
            app = rm.submits(Group(members=2))
            first, second = scheduler.pending_of(app, at_least=2)
            allocation = scheduler.allocates(first.key)
        scheduler.releases(allocation, termination=Termination.PREEMPTED_BY_SCHEDULER)
        scheduler.expects_confirmation(allocation, Termination.PREEMPTED_BY_SCHEDULER)

    The RM of the test before may still be connected: let it register again (``rm.restarts()``),
    then ``awaits_rm()``. Reset it before this is made: what it releases later is unknown here.
    """
