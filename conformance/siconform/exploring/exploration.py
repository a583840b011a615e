"""An exploration: many arbitrary histories with one target, and the smallest that goes wrong."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Final, NoReturn

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.errors import Flaky
from hypothesis.reporting import with_reporter
from hypothesis.stateful import run_state_machine_as_test

from siconform.catalogue.features import Feature
from siconform.exploring.counterexample import Counterexample, raised_for, smallest, violations
from siconform.exploring.leak_check import REQUIREMENTS, Missing, ends_everything, fills_again
from siconform.exploring.model_state import ModelState
from siconform.exploring.model_state_by_key import ModelStateByKey
from siconform.exploring.rules import ArbitraryRM
from siconform.exploring.rules_by_key import ArbitraryRMByKey
from siconform.outcomes import Outcome, PreconditionFailed, TargetLost
from siconform.protocol.notifications import UpdateKind
from siconform.protocol.subjects import Identity
from siconform.recording.history import Exchange
from siconform.rm.session import Session

_OFTEN_ENOUGH: Final = 20  # times the longest placement seen, and it would have come
_TRIES: Final = 120  # at something smaller, before it is taken as it is
_AT_LEAST: Final = 0.1  # of the deadline of a placement


@dataclass(frozen=True, slots=True)
class Budget:
    """How much is tried; whichever of ``histories`` and ``seconds`` is used up first ends it."""

    histories: int
    steps: int  # in each history, at most
    seconds: float


@dataclass
class ExplorationProgress:
    """What was done so far."""

    histories: int = 0  # that came to an end, good or bad
    when_found: int = 0  # how many it took to find something; the others made it smaller
    steps: int = 0
    elements: int = 0  # said and told, without fences
    preconditions: dict[str, int] = field(default_factory=dict)  # monitor to how often it judged
    out_of_time: bool = False


class Exploration:
    """Makes histories until the budget is used up or something is found; then makes that smaller.

    ``reports`` is called after every history.
    """

    def __init__(
        self,
        session: Session,
        budget: Budget,
        number: int,
        reports: Callable[["Exploration"], None] = lambda _: None,
    ) -> None:
        self.session = session
        self.budget = budget
        self.seed = number
        self.progress = ExplorationProgress()
        self.last: Exchange | None = None
        self._found: dict[str, Counterexample] = {}
        self._first = ""
        self._reports = reports
        self._began = time.monotonic()
        self._longest_placement = 0.0
        self._needs_another_session = False
        self._numbers = count(1)
        self._current = self._last_better = 0
        self._over: _Over | None = None

    @property
    def _by_key(self) -> bool:
        return self.session.history.identity is Identity.KEY_OF_THE_ASK

    def _lacks(self) -> frozenset[str]:
        return self.session.observed.lacks(self.session.target.terms.without)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def counterexamples(self) -> list[Counterexample]:
        """What was found, smallest of its name each; what was found first comes first."""
        return sorted(
            smallest(self._found), key=lambda counterexample: counterexample.name != self._first
        )

    def evaluated(self) -> Exchange | None:
        """The history that went wrong, or the last one that did not."""
        found = self.counterexamples()
        return found[0].exchange if found else self.last

    def finds_nothing(self) -> None:
        """Explore, and raise what an expectation found; what a monitor found it says itself."""
        try:
            self.explores()
        finally:
            self.session.observed.others["arbitrary histories"] = self._received()
        if self._found and not self.session.serves_several():
            self.session.renew()  # what is wrong with it is not for other tests to meet
        for counterexample in self.counterexamples():
            if counterexample.outcome is not None:
                raise counterexample.outcome

    def _received(self) -> str:
        """What was done, in words."""
        what = "something wrong with the last" if self._found else "nothing wrong with any"
        done = self.progress.when_found or self.progress.histories
        return f"{done} of up to {self.budget.steps} steps, seed {self.seed}, {what}"

    def explores(self) -> None:
        """Use up the budget. TargetLost when there is no target to begin with."""
        self.session.resource_manager("x").leaves()  # it would go on confirming for the others
        self._began = time.monotonic()
        any(self._explored(number) for number in count(self.seed))
        if isinstance(self._over, _Abandoned) and not self._found:
            raise self._over.why from self._over

    def _explored(self, number: int) -> bool:
        """Use up what is left of the budget with the histories of this number.

        False where some of it is left because Hypothesis gave them up: it takes the choices of a
        history that is said again for arbitrary ones if the target answers at another pace, as a
        busy one may. Every counterexample was kept when it was made.
        """
        left = self.budget.histories - self.progress.histories
        if left <= 0:
            return True
        chosen = settings(
            max_examples=left,
            stateful_step_count=self.budget.steps,
            database=None,
            deadline=None,
            derandomize=False,
            print_blob=False,
            phases=(Phase.generate, Phase.shrink),
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )
        rules = ArbitraryRMByKey if self._by_key else ArbitraryRM
        machine = seed(number)(lambda: rules(self))
        try:
            with with_reporter(lambda _: None):
                run_state_machine_as_test(machine, settings=chosen)  # type: ignore[arg-type]  # a factory does
        except (_Over, Exception) as error:
            if self._found or self._over is not None:
                return True
            if isinstance(error, Flaky):
                return False
            raise
        return True

    def begins(self) -> ModelState:
        """The RM of the next history, with nothing."""
        if self._over is not None:
            raise self._over
        number = next(self._numbers)
        self.progress.out_of_time = self.seconds > self.budget.seconds
        small_enough = bool(self._found) and number > self._last_better + _TRIES
        if self.progress.out_of_time or small_enough:
            self._ends(_Over())
        try:
            self.session.starts_over()
            rm = self.session.resource_manager(f"x{number}")
        except TargetLost as lost:
            self._ends(_Abandoned(lost))
        self._needs_another_session, self._current = False, number
        if not self._by_key:
            return ModelState(rm)
        return ModelStateByKey(rm, reports_foreign=Feature.FOREIGN_ALLOCATIONS not in self._lacks())

    def goes_on(self, has: ModelState, step: Callable[[], None]) -> None:
        """One more step, and everything it said seen processed; none when the time is over."""
        if self.seconds > self.budget.seconds:
            return
        before = len(has.rm.exchange.history)
        try:
            step()
            has.rm.synchronise_all()
            if self._by_key and len(has.rm.exchange.history) > before:
                has.rm.barriers(UpdateKind.ALLOCATIONS)  # so that updates are certain at once
        except Outcome as outcome:
            self._evaluates(has, outcome)
        self.progress.steps += 1

    def ends(self, has: ModelState) -> None:
        """The monitors look at it; then everything ends and all is given away once more."""
        self._evaluates(has, None)
        try:
            ends_everything(has)
            took = fills_again(has, self._placement_timeout())
            has.rm.synchronise_all()
        except Outcome as outcome:
            self._evaluates(has, outcome)
        else:
            self._longest_placement = max(self._longest_placement, took)
            self._evaluates(has, None, self.progress.preconditions)
        self.progress.histories += 1

    def breaks_off(self, has: ModelState) -> None:
        """Leave the target as it was found, or as well as it can be had."""
        exchange = self.last = has.rm.exchange
        if exchange.end is None:
            exchange.end = len(exchange.history)
        self.progress.elements += sum(not entry.barrier for entry in exchange.entries())
        if self._needs_another_session:
            self.session.renew()
        else:
            has.rm.leaves()
        self._reports(self)

    def _evaluates(
        self, has: ModelState, outcome: Outcome | None, preconditions: dict[str, int] | None = None
    ) -> None:
        """Keep what is wrong with this history and raise the worst of it; nothing wrong: return.

        Of several violations the first is told: the others may follow from it.
        """
        exchange = has.rm.exchange
        found = violations(exchange, {} if preconditions is None else preconditions, self._lacks())
        if outcome is not None:
            found.append(_of_outcome(exchange, outcome))
        if not found:
            return
        exchange.end = len(exchange.history)
        self.progress.histories += 1
        self._needs_another_session = (
            isinstance(outcome, PreconditionFailed) or not self.session.serves_several()
        )
        self._first = self._first or found[0].name
        self.progress.when_found = self.progress.when_found or self.progress.histories
        for counterexample in found:
            known = self._found.get(counterexample.name)
            if known is None or counterexample.size < known.size:
                self._found[counterexample.name] = counterexample
                self._last_better = self._current
        raise raised_for(found[0].name)(found[0].message)

    def _ends(self, over: "_Over") -> NoReturn:
        """No further history; Hypothesis may ask for more, and is told the same again."""
        self._over = over
        raise over

    def _placement_timeout(self) -> float:
        """In full until something is found; smaller histories are then tried at a good pace."""
        full = self.session.deadlines.place
        if not self._found:
            return full
        return min(full, max(full * _AT_LEAST, self._longest_placement * _OFTEN_ENOUGH))


class _Over(BaseException):  # not to be taken for a failure
    """The budget is used up, or what was found did not become smaller for a while."""


class _Abandoned(_Over):
    """There is no target any more."""

    def __init__(self, why: TargetLost) -> None:
        super().__init__(why.message)
        self.why = why


def _of_outcome(exchange: Exchange, outcome: Outcome) -> Counterexample:
    if isinstance(outcome, Missing):
        name, requirements = "capacity_is_given_away_again", REQUIREMENTS
        return Counterexample(
            name, outcome.message, requirements, exchange, outcome, outcome.pattern
        )
    name = "the_scheduler_lives" if isinstance(outcome, TargetLost) else "the_scheduler_answers"
    return Counterexample(name, outcome.message, (), exchange, outcome)
