"""Randomised testing of one target: random histories, with failures minimised."""

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
from siconform.exploring.rules import RandomRM
from siconform.exploring.rules_by_key import RandomRMByKey
from siconform.outcomes import Outcome, PreconditionFailed, TargetLost
from siconform.protocol.notifications import UpdateKind
from siconform.protocol.subjects import Identity
from siconform.recording.history import Exchange
from siconform.rm.session import Session

_OFTEN_ENOUGH: Final = 20  # times the longest placement seen
_TRIES: Final = 120  # at shrinking without success
_AT_LEAST: Final = 0.1  # of the deadline of a placement


@dataclass(frozen=True, slots=True)
class Budget:
    """The effort of a run, which ends as soon as ``histories`` or ``seconds`` is used up."""

    histories: int
    steps: int  # in each history, at most
    seconds: float


@dataclass
class ExplorationProgress:
    """What has been done so far."""

    histories: int = 0  # completed, passed or failed
    when_found: int = 0  # histories until the first failure; later ones minimise it
    steps: int = 0
    elements: int = 0  # sent and received, without barriers
    preconditions: dict[str, int] = field(default_factory=dict)  # evaluations by monitor
    out_of_time: bool = False


class Exploration:
    """Generates histories until the budget is used up or one fails; then minimises the failure.

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
        """The seconds since the start."""
        return time.monotonic() - self._began

    def counterexamples(self) -> list[Counterexample]:
        """Return the smallest counterexample of each name: most binding first, then first found."""
        return sorted(
            smallest(self._found),
            key=lambda one: (one.rank, one.name != self._first),
        )

    def evaluated(self) -> Exchange | None:
        """Return the failed history, else the last one."""
        found = self.counterexamples()
        return found[0].exchange if found else self.last

    def finds_nothing(self) -> None:
        """Explore and raise failed expectations; violations are reported by their monitors."""
        try:
            self.explores()
        finally:
            self.session.observed.others["random histories"] = self._summary()
        if self._found and not self.session.serves_several():
            self.session.renew()  # other tests get a target in a clean state
        for counterexample in self.counterexamples():
            if counterexample.outcome is not None:
                raise counterexample.outcome

    def _summary(self) -> str:
        """Return a summary of what was done."""
        what = "the last one failed" if self._found else "no failure"
        done = self.progress.when_found or self.progress.histories
        return f"{done} of up to {self.budget.steps} steps, seed {self.seed}, {what}"

    def explores(self) -> None:
        """Use up the budget; raise TargetLost if there is no target from the start."""
        self.session.resource_manager("x").leaves()  # else it would confirm for the others
        self._began = time.monotonic()
        any(self._explored(number) for number in count(self.seed))
        if isinstance(self._over, _Abandoned) and not self._found:
            raise self._over.why from self._over

    def _explored(self, number: int) -> bool:
        """Use up the rest of the budget with the histories of this seed.

        False if some is left because Hypothesis gave up: it calls a repeated history flaky if the
        target answers with another latency, as a busy one may. Counterexamples are kept anyway.
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
        rules = RandomRMByKey if self._by_key else RandomRM
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
        """Return the empty state of the next history's RM."""
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
        """Make one step and wait until it is processed; skip it if the time is up."""
        if self.seconds > self.budget.seconds:
            return
        before = len(has.rm.exchange.history)
        try:
            step()
            has.rm.synchronise_all()
            if self._by_key and len(has.rm.exchange.history) > before:
                has.rm.barriers(UpdateKind.ALLOCATIONS)  # makes updates certain at once
        except Outcome as outcome:
            self._evaluates(has, outcome)
        self.progress.steps += 1

    def ends(self, has: ModelState) -> None:
        """Check the monitors, then end everything and allocate all capacity again."""
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
        """Restore the target's state as far as possible."""
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
        """Keep the failures of this history and raise the first one, if any.

        Later violations may follow from the first.
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
        """Stop; if Hypothesis asks for another history, ``begins`` raises the same again."""
        self._over = over
        raise over

    def _placement_timeout(self) -> float:
        """Return the full timeout until a failure is found, then a shorter one for shrinking."""
        full = self.session.deadlines.place
        if not self._found:
            return full
        return min(full, max(full * _AT_LEAST, self._longest_placement * _OFTEN_ENOUGH))


class _Over(BaseException):  # not a failure
    """The budget is used up, or shrinking has made no progress for a while."""


class _Abandoned(_Over):
    """The target is lost."""

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
