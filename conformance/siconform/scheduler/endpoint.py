"""The scheduler's end in one test, and the base class of its steps."""

from collections.abc import Callable, Iterator

from siwire.constants import KNOWN_IN

from siconform.expecting.deadlines import Deadlines
from siconform.recording.history import Entry, Exchange
from siconform.scheduler.driven_rm import DrivenRM
from siconform.scheduler.engine import Engine
from siconform.scheduler.switches import Switches


class SchedulerSteps:
    """Base of every class of steps; a scheduler inherits from all of them.

    ``rm`` is the RM under test, if it has a driver: barriers drive it. ``alive`` tells whether its
    process still runs, as far as is known.
    """

    def __init__(
        self,
        engine: Engine,
        exchange: Exchange,
        deadlines: Deadlines,
        rm: DrivenRM | None = None,
        alive: Callable[[], bool] = lambda: True,
    ) -> None:
        self.engine = engine
        self.exchange = exchange
        self.deadlines = deadlines
        self.switches = Switches()
        self._rm = rm
        self._alive = alive
        engine.begins(self.switches)
        self._registrations = engine.registrations
        self._begun = exchange.start

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        return self.engine.address

    def rm_runs(self) -> bool:
        """Return whether the process of the RM still runs, as far as is known."""
        return self._alive()

    @property
    def well_known_names(self) -> frozenset[str]:
        """The constants of the revision."""
        return KNOWN_IN[self.engine.revision.name]

    def records(self, what: str) -> None:
        """Record what the specification leaves open and this RM does."""
        self.exchange.recorded.append(what)

    def received(self) -> Iterator[tuple[int, Entry]]:
        """Yield all the RM sent in this test, except for barriers, in the order of arrival.

        The test begins with the registration that ``awaits_rm`` has seen.
        """
        entries = self.exchange.history.between(self._begun, self.exchange.until())
        for index, entry in enumerate(entries, self._begun):
            if entry.sent_by_rm and not entry.barrier:
                yield index, entry
