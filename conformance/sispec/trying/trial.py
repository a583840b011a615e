"""Evaluates a trial of an edited specification from the results of its runs.

A test that passes with the edited specification needs nothing else. A test that does not pass is
run with the known revision, too: if it does not pass there either, the change is not the cause.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from siconform.outcomes import inexpressible_in
from siconform.verdicts import CATALOGUED, Verdict

Results = Mapping[str, Any]
"""Contents of a results.json."""

_NOT_EVALUATED: Final = CATALOGUED | {Verdict.NOT_SELECTED}
_FINE: Final = _NOT_EVALUATED | {Verdict.PASS, Verdict.BASELINED}
_MONITORED: Final = 8  # tests run again for each requirement in which only a monitor complains


class TrialVerdict(Enum):
    """Outcome of a requirement in the trial, the worst first."""

    FAILS = "fail because of the change"
    UNSAID = "can no longer be sent"
    UNJUDGED = "could not be tested"
    PASSES = "still pass"
    AS_BEFORE = "fail without the change, too"


BROKEN: Final = (TrialVerdict.FAILS, TrialVerdict.UNSAID)


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """How a test ended for a requirement, or what a monitor reported in it."""

    test: str
    verdict: Verdict
    message: str = ""
    monitor: str = ""

    @property
    def lost(self) -> tuple[str, ...]:
        """Return the elements that the edited specification lacks, if it ended for that."""
        return inexpressible_in(self.message) if self.verdict is Verdict.COULD_NOT_RUN else ()

    @property
    def is_suspect(self) -> bool:
        """Whether it is a test that ran and did not pass."""
        return not (self.verdict in _FINE or self.is_left_open)

    @property
    def is_left_open(self) -> bool:
        """Whether the test did not run, or it is a monitor whose precondition never held."""
        return self.verdict is Verdict.NOT_REACHED or self.test.startswith("monitor ")


@dataclass(frozen=True, slots=True)
class Finding:
    """A requirement, its outcome, and the test outcomes it is based on."""

    requirement: str
    title: str
    level: str
    came: TrialVerdict
    outcomes: tuple[TrialOutcome, ...] = ()

    @property
    def lost(self) -> tuple[str, ...]:
        """Return the elements it needs that the edited specification cannot express."""
        return tuple(dict.fromkeys(name for outcome in self.outcomes for name in outcome.lost))


@dataclass(frozen=True, slots=True)
class Trial:
    """An edited specification, the revision whose suite was run with it, and the outcome."""

    name: str
    revision: str
    target: str
    findings: tuple[Finding, ...] = ()
    losses: tuple[tuple[str, str], ...] = ()
    """Every element of the revision that the edited specification lacks, with the reason."""
    stopped: str = ""
    """Why not every test was run; "" if all were."""
    guesses: tuple[str, ...] = ()

    def of(self, came: TrialVerdict) -> tuple[Finding, ...]:
        """Return the requirements with this outcome, in the order of the catalogue."""
        return tuple(finding for finding in self.findings if finding.came is came)

    @property
    def breaks(self) -> bool:
        """Whether anything fails because of the change, or can no longer be sent."""
        return any(finding.came in BROKEN for finding in self.findings)

    @property
    def unneeded(self) -> tuple[tuple[str, str], ...]:
        """Return the losses that no test needed."""
        needed = {name for finding in self.findings for name in finding.lost}
        return tuple(loss for loss in self.losses if loss[0] not in needed)


def suspects(edited: Results) -> tuple[str, ...]:
    """List the tests to run again without the change: those that did not pass with it.

    If only a monitor complains in them, a few tests per requirement are enough.
    """
    found: dict[str, None] = {}
    for requirement in edited["requirements"]:
        outcomes = [outcome for outcome in _outcomes(requirement) if outcome.is_suspect]
        monitored = [outcome for outcome in outcomes if outcome.monitor]
        others = [outcome for outcome in outcomes if not outcome.monitor]
        found.update(dict.fromkeys(o.test for o in (*others, *monitored[:_MONITORED])))
    return tuple(found)


def findings(
    edited: Results, plain: Results | None = None, again: Results | None = None
) -> tuple[Finding, ...]:
    """Return the outcome of each tested requirement, in the order of the catalogue.

    `plain` are the results of the suspects with the known revision, `again` those of a second run
    with the edited specification: what passes in it is not blamed on the change.
    """
    compared = _Compared(_Ended(plain), _Ended(again))
    return tuple(
        compared.finding(requirement)
        for requirement in edited["requirements"]
        if Verdict(requirement["verdict"]) not in _NOT_EVALUATED
    )


class _Ended:
    """How tests ended in one run."""

    def __init__(self, results: Results | None) -> None:
        self._outcomes: dict[tuple[str, str], list[TrialOutcome]] = {}
        self._tests: set[str] = set()
        for requirement in results["requirements"] if results is not None else ():
            for outcome in _outcomes(requirement):
                at = requirement["id"], outcome.test
                self._outcomes.setdefault(at, []).append(outcome)
                if not outcome.is_left_open:
                    self._tests.add(outcome.test)

    def ran(self, test: str) -> bool:
        return test in self._tests

    def went_well(self, requirement: str, test: str) -> bool:
        """Whether the test ran, and neither it nor a monitor in it failed."""
        outcomes = self._outcomes.get((requirement, test), ())
        return self.ran(test) and all(o.verdict is Verdict.PASS for o in outcomes)


@dataclass(frozen=True, slots=True)
class _Compared:
    plain: _Ended
    again: _Ended

    def finding(self, requirement: Mapping[str, Any]) -> Finding:
        identifier = requirement["id"]
        by_class: dict[TrialVerdict, list[TrialOutcome]] = {}
        for outcome in _outcomes(requirement):
            by_class.setdefault(self._came(identifier, outcome), []).append(outcome)
        came = next((came for came in TrialVerdict if came in by_class), TrialVerdict.UNJUDGED)
        if came is TrialVerdict.UNJUDGED and requirement["verdict"] == Verdict.PASS:
            came = TrialVerdict.PASSES  # a monitor saw no precondition, tests did
        return Finding(
            identifier,
            requirement["title"],
            requirement["level"],
            came,
            tuple(by_class.get(came, ())),
        )

    def _came(self, requirement: str, outcome: TrialOutcome) -> TrialVerdict:
        if outcome.verdict is Verdict.PASS:
            return TrialVerdict.PASSES
        if outcome.verdict in _FINE:
            return TrialVerdict.AS_BEFORE
        if outcome.is_left_open or not self.plain.ran(outcome.test):
            return TrialVerdict.UNJUDGED
        if not self.plain.went_well(requirement, outcome.test):
            return TrialVerdict.AS_BEFORE
        if self.again.went_well(requirement, outcome.test):
            return TrialVerdict.PASSES
        return TrialVerdict.UNSAID if outcome.lost else TrialVerdict.FAILS


def _outcomes(requirement: Mapping[str, Any]) -> Iterator[TrialOutcome]:
    for test in requirement["tests"]:
        yield TrialOutcome(test["id"], Verdict(test["verdict"]), test["says"], test["monitor"])
