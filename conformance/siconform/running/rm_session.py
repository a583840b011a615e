"""The session of a worker with an RM: the kit's scheduler, fresh for each test, and the RM."""

from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import PreconditionFailed
from siconform.recording.history import Exchange, History
from siconform.scheduler.driven_rm import DrivenRM
from siconform.scheduler.server import SchedulerServer
from siconform.scheduler.simulated_scheduler import SimulatedScheduler
from siconform.targets.rm_target import RmTarget
from siconform.transport.dialects import dialect_for
from siconform.transport.rm_driver import RmDriver


class RmSession:
    """The RM of a worker and the server that it uses, from the first test to the last."""

    def __init__(self, target: RmTarget, deadlines: Deadlines) -> None:
        self._target = target
        self._deadlines = deadlines
        history = History(identity=dialect_for(target.revision).identity)
        self.server = SchedulerServer(target.revision, history, target.serve_at)
        self._driver: RmDriver | None = None
        self._is_new = True  # whether no RM has registered yet

    def exchange(self) -> Exchange:
        """Return the part of the history that begins now."""
        return Exchange(self.server.history, start=len(self.server.history))

    def scheduler(self, exchange: Exchange) -> SimulatedScheduler:
        """Return the scheduler of one test, to which the RM has registered.

        TargetUnavailable if the RM does not register in time.
        """
        if self._is_new:
            self.server.starts()
        scheduler = SimulatedScheduler(
            self.server, exchange, self._deadlines, alive=self._target.alive
        )
        if not self._restarts():
            self._begins()
        try:
            scheduler.awaits_rm(self._target.patience)
        except PreconditionFailed:
            raise self._target.did_not_register() from None
        self._is_new = False
        return scheduler

    def rm(self, prefix: str) -> DrivenRM:
        """Return the RM for one test, with a prefix for the ids that it generates."""
        return DrivenRM(self._driver, prefix, self._deadlines)

    def leaves(self, scheduler: SimulatedScheduler) -> list[str]:
        """End the test: remove everything from the RM; return what failed, in words."""
        problems = []
        try:
            if self._driver is not None and self._target.alive():
                self.rm("").resets()
        except PreconditionFailed as failure:
            problems.append(failure.message)
        scheduler.leaves()
        return problems

    def ends(self) -> None:
        """Stop the server and the RM."""
        self._target.stop()
        if self._driver is not None:
            self._driver.close()
        self.server.stops()

    def _restarts(self) -> bool:
        """Restart the RM by its driver; False if this is the first test or it cannot."""
        if self._is_new or self._driver is None or not self._target.alive():
            return False
        try:
            self.rm("").restarts()
        except PreconditionFailed:
            return False
        return True

    def _begins(self) -> None:
        """Start a fresh process of the RM, or let the RM that others started connect again."""
        if self._driver is not None:
            self._driver.close()
        if not self._is_new and not self._target.restartable:
            self.server.drops_connections()
        self._target.connect_to(self.server.address)
        address = self._target.driver
        self._driver = RmDriver(address, self._deadlines.register) if address else None
