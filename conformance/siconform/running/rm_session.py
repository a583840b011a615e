"""The session of a worker with an RM: the kit's scheduler, fresh for each test, and the RM."""

import time
from typing import Final

from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import PreconditionFailed
from siconform.recording.history import Exchange, History
from siconform.scheduler.driven_rm import DrivenRM
from siconform.scheduler.engine import Engine
from siconform.scheduler.simulated_scheduler import SimulatedScheduler
from siconform.targets import TargetUnavailable
from siconform.targets.rm_target import RmTarget
from siconform.transport.rm_driver import RmDriver

_LOOK_AGAIN: Final = 0.5  # seconds between two checks whether the RM still runs


class RmSession:
    """The RM of a worker and the scheduler that it uses, from the first test to the last."""

    def __init__(self, target: RmTarget, deadlines: Deadlines) -> None:
        self._target = target
        self._deadlines = deadlines
        self._engine = Engine(target.revision, History(), target.serve_at)
        address = target.driver
        self._driver = RmDriver(address, deadlines.register) if address else None
        self._was_there = False  # whether it has registered once

    def starts(self) -> None:
        """Serve, and wait for an RM that somebody else starts; remove what it has.

        TargetUnavailable if none registers in time.
        """
        try:
            self._engine.starts()
        except OSError as error:
            raise TargetUnavailable(str(error)) from None
        if self._target.restartable:
            return
        self._target.connect_to(self._engine.address)
        scheduler = self.scheduler(self.exchange(), rm := self.rm("first"))
        self._awaits(scheduler)
        self._was_there = True
        self.leaves(scheduler, rm)

    def exchange(self) -> Exchange:
        """Return the part of the history that begins now."""
        history = self._engine.history
        return Exchange(history, start=len(history))

    def rm(self, prefix: str) -> DrivenRM:
        """Return the RM for one test, with a prefix for the ids that it makes."""
        return DrivenRM(self._driver, prefix, self._deadlines)

    def scheduler(self, exchange: Exchange, rm: DrivenRM) -> SimulatedScheduler:
        """Return the scheduler of one test, with empty state."""
        return SimulatedScheduler(self._engine, exchange, self._deadlines, rm, self._target.alive)

    def registers(self, scheduler: SimulatedScheduler, rm: DrivenRM) -> None:
        """Let the RM register, after a restart if possible; TargetUnavailable if it does not."""
        if not self._restarted(rm):
            if self._target.restartable:
                self._target.connect_to(self._engine.address)
            else:
                scheduler.drops_connections()
        self._awaits(scheduler)
        self._was_there = True

    def leaves(self, scheduler: SimulatedScheduler, rm: DrivenRM) -> list[str]:
        """End the test: remove everything from the RM; return what failed, in words."""
        problems = []
        if rm.has_driver and self._target.alive():
            try:
                rm.resets()
            except PreconditionFailed as failure:
                problems.append(failure.message)
        scheduler.leaves()
        return problems

    def ends(self) -> None:
        """Stop the RM and the scheduler."""
        self._target.stop()
        if self._driver is not None:
            self._driver.close()
        self._engine.close()

    def _restarted(self, rm: DrivenRM) -> bool:
        """Restart the RM by its driver; False if it has none, or it does not do that."""
        if not (rm.has_driver and self._target.alive()):
            return False
        try:
            rm.restarts()
        except PreconditionFailed:
            return False
        return True

    def _awaits(self, scheduler: SimulatedScheduler) -> None:
        """Wait until the RM has registered and opened its streams, as long as it runs."""
        until = time.monotonic() + self._target.patience
        while True:
            try:
                scheduler.awaits_rm(_LOOK_AGAIN)
            except PreconditionFailed:
                if time.monotonic() > until or not self._target.alive():
                    again, called = self._was_there, self._engine.server.unserved_registration()
                    raise self._target.did_not_register(again=again, called=called) from None
            else:
                return
