"""The verdicts on a requirement: the table all output derives from, and how several combine."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final, Self


class Role(StrEnum):
    """What a colour means; the value is its name on a terminal, pages have `role-<name>`."""

    GOOD = "green"
    BAD = "red"
    OPEN = "yellow"
    KNOWN = "cyan"
    ERROR = "magenta"
    NEUTRAL = ""


@dataclass(frozen=True, slots=True)
class Row:
    """What there is to know about one verdict."""

    label: str  # for people; JSON has the name
    meaning: str  # one line
    role: Role
    mark: str  # in the bars of a terminal
    plural: str = ""  # of the label after a number, where it is another
    exit_code: int = 0  # of a run in which a MUST has it
    tested: bool = False  # it says something about the target
    bad: bool = False  # a pytest test that ends with it fails, unless the baseline explains it
    catalogued: bool = False  # it stands in the catalogue; no run has to find it out


class Verdict(StrEnum):
    """What a run found out about one requirement, the worst first; the value is the JSON name."""

    # fmt: off
    KIT_ERROR = "kit-error", Row(
        "kit error", "the kit itself failed: nothing is said about the target",
        Role.ERROR, "!", exit_code=13, bad=True)
    FAIL = "fail", Row(
        "fail", "the target violates the requirement",
        Role.BAD, "!", exit_code=1, tested=True, bad=True)
    LATE = "late", Row(
        "late", "the target does what is demanded, after the deadline",
        Role.BAD, "!", exit_code=1, tested=True, bad=True)
    COULD_NOT_RUN = "could-not-run", Row(
        "inconclusive", "a precondition failed: nothing is said about the requirement",
        Role.OPEN, "?", exit_code=10, bad=True)
    NOT_REACHED = "not-reached", Row(
        "not reached", "the run ended before its tests",
        Role.OPEN, "-", exit_code=10)
    BASELINED = "baselined", Row(
        "known failure", "it fails exactly as the baseline of the target records",
        Role.KNOWN, "~", plural="known failures", tested=True)
    CHALLENGED = "challenged", Row(
        "challenged", "it fails, and whether it should is disputed",
        Role.OPEN, "%")
    PASS = "pass", Row(
        "pass", "every test and monitor saw what the requirement demands",
        Role.GOOD, "#", tested=True)
    NOT_APPLICABLE = "not-applicable", Row(
        "not applicable", "the target does not offer what the requirement needs",
        Role.NEUTRAL, ".")
    NOT_SELECTED = "not-selected", Row(
        "not selected", "the run left it out, by choice or because of the target",
        Role.NEUTRAL, ".")
    EXCLUDED = "excluded", Row(
        "excluded", "no test can show it; the catalogue gives the reason",
        Role.NEUTRAL, ".", catalogued=True)
    NO_TEST_YET = "no-test-yet", Row(
        "not tested yet", "the suite has no test of it, or the stored record is older",
        Role.NEUTRAL, ".", catalogued=True)
    OF_THE_RM = "of-the-rm", Row(
        "applies to resource managers", "no scheduler can violate it",
        Role.NEUTRAL, ".", plural="apply to resource managers", catalogued=True)
    # fmt: on

    _value_: str
    row: Row

    def __new__(cls, value: str, row: Row | None = None) -> Self:
        """A member of the table; Verdict("fail") finds one by its name."""
        member = str.__new__(cls, value)
        member._value_ = value
        if row is not None:
            member.row = row
        return member

    @property
    def label(self) -> str:
        """How people read it."""
        return self.row.label

    def label_for(self, number: int) -> str:
        """The label after this number."""
        return self.label if number == 1 else self.row.plural or self.label

    def counted(self, number: int) -> str:
        """So many requirements with it: `1 fail`, `2 known failures`."""
        return f"{number} {self.label_for(number)}"


SHOWN: Final = (Verdict.PASS, *(one for one in Verdict if one is not Verdict.PASS))
"""The order in which numbers are shown."""

BAD: Final = frozenset(one for one in Verdict if one.row.bad)
REACHED: Final = frozenset(one for one in Verdict if one.row.tested)
CATALOGUED: Final = frozenset(one for one in Verdict if one.row.catalogued)
FAILED: Final = frozenset(one for one in Verdict if one.row.role is Role.BAD)
"""Verdicts that say the target violates the requirement, and nothing explains it."""

VIOLATED: Final = FAILED | {Verdict.BASELINED}
"""Verdicts that say the target violates the requirement, whatever was expected."""

LISTED: Final = FAILED | {Verdict.KIT_ERROR}
"""Verdicts that are shown at once and one by one."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one test, or one monitor during it, says about one requirement."""

    requirement: str
    verdict: Verdict
    test: str  # node id
    message: str = ""
    seconds: float = 0.0
    monitor: str = ""
    recorded: tuple[str, ...] = ()  # how the target uses a freedom the text leaves it
    history: str = ""  # the file with what was said, in the results folder

    @property
    def bad(self) -> bool:
        """Whether it makes its test fail, unless the baseline explains it.

        A monitor that never saw its premise has nothing to complain of.
        """
        return self.verdict in BAD and not self.of_an_absent_precondition

    @property
    def of_an_absent_precondition(self) -> bool:
        """Whether it is a monitor's word that its premise never held."""
        return bool(self.monitor) and self.verdict is Verdict.COULD_NOT_RUN

    @property
    def is_counted(self) -> bool:
        """Whether it is only counted: a monitor without complaint, of which there are many."""
        return bool(self.monitor) and self.verdict in (Verdict.PASS, Verdict.COULD_NOT_RUN)

    @property
    def implemented_by(self) -> str:
        """Who says it: a test, or a monitor wherever it saw it."""
        return f"monitor {self.monitor}" if self.monitor else self.test

    def record(self) -> dict[str, Any]:
        """JSON values, for the way from a worker to the controller."""
        return {**asdict(self), "verdict": self.verdict.value}

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Self:
        """The evidence ``record()`` wrote."""
        verdict, recorded = Verdict(record["verdict"]), tuple(record["recorded"])
        return cls(**{**record, "verdict": verdict, "recorded": recorded})


def decisive(evidence: Iterable[Evidence]) -> Evidence | None:
    """The one that settles a requirement's verdict: the worst; None where there is none.

    A monitor that never saw its premise is heard only when nothing else speaks.
    """
    received = worst_first(evidence)
    spoke = [e for e in received if not e.of_an_absent_precondition]
    return next(iter(spoke or received), None)


def worst_first(evidence: Iterable[Evidence]) -> list[Evidence]:
    """By verdict; among equals in the order given."""
    ranks = list(Verdict)
    return sorted(evidence, key=lambda e: ranks.index(e.verdict))


def of_monitors_alone(evidence: Iterable[Evidence]) -> bool:
    """Whether nothing that is bad comes from the test itself, and something does."""
    bad = [one for one in evidence if one.bad]
    return bool(bad) and all(one.monitor for one in bad)
