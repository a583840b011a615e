"""Verdicts on a requirement: the table behind all output, and how verdicts combine."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final, Self

from siconform.catalogue import Side


class Role(StrEnum):
    """The meaning of a colour; the value is its terminal name, pages use `role-<name>`."""

    GOOD = "green"
    BAD = "red"
    OPEN = "yellow"
    KNOWN = "cyan"
    ERROR = "magenta"
    NEUTRAL = ""


@dataclass(frozen=True, slots=True)
class Row:
    """The properties of a verdict."""

    label: str  # for display; JSON has the name
    meaning: str  # one line
    role: Role
    mark: str  # in terminal bars
    plural: str = ""  # of the label after a number, if different
    exit_code: int = 0  # of a run in which a MUST has this verdict
    tested: bool = False  # whether it states something about the target
    bad: bool = False  # whether its pytest test fails, unless the baseline explains it
    catalogued: bool = False  # whether the catalogue alone decides it


class Labelled(StrEnum):
    """A verdict with the properties of its ``Row``; the value is the JSON name."""

    _value_: str
    row: Row

    def __new__(cls, value: str, row: Row | None = None) -> Self:
        """Create a member, or look it up by its value: Verdict("fail")."""
        member = str.__new__(cls, value)
        member._value_ = value
        if row is not None:
            member.row = row
        return member

    @property
    def label(self) -> str:
        """The label for display."""
        return self.row.label

    def label_for(self, number: int) -> str:
        """Return the label after this number."""
        return self.label if number == 1 else self.row.plural or self.label

    def counted(self, number: int) -> str:
        """Return a count with the label: `1 fail`, `2 known failures`."""
        return f"{number} {self.label_for(number)}"

    def detail(self, reason: str) -> str:
        """Return what a reason adds to the label, with which it may begin."""
        return "" if reason == self.label else reason.removeprefix(f"{self.label}: ")

    def explained(self, reason: str) -> str:
        """Return the label and the reason."""
        return f"{self.label}: {self.detail(reason)}".removesuffix(": ")


class Verdict(Labelled):
    """The result of a requirement in a run, worst first; the value is the JSON name."""

    # fmt: off
    KIT_ERROR = "kit-error", Row(
        "kit error", "internal error: no statement about the target",
        Role.ERROR, "!", exit_code=13, bad=True)
    FAIL = "fail", Row(
        "fail", "the target violates the requirement",
        Role.BAD, "!", exit_code=1, tested=True, bad=True)
    LATE = "late", Row(
        "late", "the target fulfils the requirement only after the deadline",
        Role.BAD, "!", exit_code=1, tested=True, bad=True)
    COULD_NOT_RUN = "could-not-run", Row(
        "inconclusive", "a precondition failed: no statement about the requirement",
        Role.OPEN, "?", exit_code=10, bad=True)
    NOT_REACHED = "not-reached", Row(
        "not reached", "the run ended before its tests",
        Role.OPEN, "-", exit_code=10)
    BASELINED = "baselined", Row(
        "known failure", "it fails exactly as recorded in the target's baseline",
        Role.KNOWN, "~", plural="known failures", tested=True)
    CHALLENGED = "challenged", Row(
        "challenged", "it fails, but the requirement or the test is disputed",
        Role.OPEN, "%")
    PASS = "pass", Row(
        "pass", "every test and monitor observed the required behaviour",
        Role.GOOD, "#", tested=True)
    NOT_APPLICABLE = "not-applicable", Row(
        "not applicable", "the target does not offer what the requirement needs",
        Role.NEUTRAL, ".")
    NOT_SELECTED = "not-selected", Row(
        "not selected", "left out of the run by options or because of the target",
        Role.NEUTRAL, ".")
    EXCLUDED = "excluded", Row(
        "excluded", "not testable; the catalogue gives the reason",
        Role.NEUTRAL, ".", catalogued=True)
    NO_TEST_YET = "no-test-yet", Row(
        "not tested yet", "the suite has no test for it, or had none at the time of the record",
        Role.NEUTRAL, ".", catalogued=True)
    OF_THE_RM = "of-the-rm", Row(
        "applies to resource managers", "no scheduler can violate it",
        Role.NEUTRAL, ".", plural="apply to resource managers", catalogued=True)
    OF_THE_SCHEDULER = "of-the-scheduler", Row(
        "applies to schedulers", "no resource manager can violate it",
        Role.NEUTRAL, ".", plural="apply to schedulers", catalogued=True)
    # fmt: on


SHOWN: Final = (Verdict.PASS, *(one for one in Verdict if one is not Verdict.PASS))
"""The display order of counts."""

BAD: Final = frozenset(one for one in Verdict if one.row.bad)
REACHED: Final = frozenset(one for one in Verdict if one.row.tested)
CATALOGUED: Final = frozenset(one for one in Verdict if one.row.catalogued)
FAILED: Final = frozenset(one for one in Verdict if one.row.role is Role.BAD)
"""Unexplained violations of the requirement."""

VIOLATED: Final = FAILED | {Verdict.BASELINED}
"""All violations of the requirement, expected or not."""

OTHER_SIDE: Final[Mapping[Side, Verdict]] = {
    Side.SCHEDULER: Verdict.OF_THE_RM,
    Side.RM: Verdict.OF_THE_SCHEDULER,
}
"""The verdict of requirements that do not apply to the tested side."""

OF_ONE_SIDE: Final = frozenset(OTHER_SIDE.values())

LISTED: Final = FAILED | {Verdict.KIT_ERROR}
"""Verdicts that are reported individually and immediately."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The result of a test, or of a monitor during a test, for a requirement."""

    requirement: str
    verdict: Verdict
    test: str  # node id
    message: str = ""
    seconds: float = 0.0
    monitor: str = ""
    recorded: tuple[str, ...] = ()  # choices that the specification leaves to the target
    history: str = ""  # the file with the exchange, in the results folder

    @property
    def bad(self) -> bool:
        """Whether it makes its test fail, unless the baseline explains it.

        A monitor whose precondition never held is not a failure.
        """
        return self.verdict in BAD and not self.of_an_absent_precondition

    @property
    def of_an_absent_precondition(self) -> bool:
        """Whether it is from a monitor whose precondition never held."""
        return bool(self.monitor) and self.verdict is Verdict.COULD_NOT_RUN

    @property
    def implemented_by(self) -> str:
        """The test or the monitor that it is from."""
        return f"monitor {self.monitor}" if self.monitor else self.test

    def record(self) -> dict[str, Any]:
        """Return JSON values to send from a worker to the controller."""
        return {**asdict(self), "verdict": self.verdict.value}

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Self:
        """Read what ``record()`` returned."""
        verdict, recorded = Verdict(record["verdict"]), tuple(record["recorded"])
        return cls(**{**record, "verdict": verdict, "recorded": recorded})


def decisive(evidence: Iterable[Evidence]) -> Evidence | None:
    """Return the evidence that decides a requirement's verdict: the worst, or None.

    A monitor whose precondition never held counts only if there is no other evidence. Of equals
    that of the first test by name counts: tests end in any order.
    """
    received = worst_first(sorted(evidence, key=lambda e: e.test))
    spoke = [e for e in received if not e.of_an_absent_precondition]
    return next(iter(spoke or received), None)


def tally(verdicts: Iterable[Verdict]) -> dict[Verdict, int]:
    """Count each verdict in the order of display, including zeros.

    Verdicts of runs against schedulers had no OF_THE_SCHEDULER: a zero of it is left out.
    """
    found = Counter(verdicts)
    absent = {Verdict.OF_THE_SCHEDULER} - found.keys()
    return {verdict: found[verdict] for verdict in SHOWN if verdict not in absent}


def worst_first(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Sort by verdict, keeping the order of equals."""
    ranks = list(Verdict)
    return sorted(evidence, key=lambda e: ranks.index(e.verdict))


def of_monitors_alone(evidence: Iterable[Evidence]) -> bool:
    """Return whether there is bad evidence, all of it from monitors."""
    bad = [one for one in evidence if one.bad]
    return bool(bad) and all(one.monitor for one in bad)
