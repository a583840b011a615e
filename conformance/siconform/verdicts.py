"""What a test says about a requirement, and how several of them combine to one verdict."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self


class Verdict(StrEnum):
    """What a run found out about one requirement."""

    PASS = "pass"  # noqa: S105  # no password
    FAIL = "fail"
    LATE = "late"
    NOT_APPLICABLE = "not-applicable"
    COULD_NOT_RUN = "could-not-run"
    KIT_ERROR = "kit-error"
    BASELINED = "baselined"
    CHALLENGED = "challenged"  # it fails, and whether it should is disputed
    EXCLUDED = "excluded"  # no test can show it; the catalogue says why
    NO_TEST_YET = "no-test-yet"
    NOT_SELECTED = "not-selected"
    NOT_REACHED = "not-reached"  # it was to run, and the run ended before
    OF_THE_RM = "of-the-rm"  # only a resource manager can break it

    @property
    def words(self) -> str:
        """As people write it."""
        return self.value.replace("-", " ")


BAD = frozenset({Verdict.FAIL, Verdict.LATE, Verdict.COULD_NOT_RUN, Verdict.KIT_ERROR})
"""Verdicts that make a pytest test fail unless the baseline explains them."""

REACHED = frozenset({Verdict.PASS, Verdict.FAIL, Verdict.LATE, Verdict.BASELINED})
"""Verdicts that say something about the target: what "tested" counts."""

_WORST_FIRST = (
    Verdict.KIT_ERROR,
    Verdict.FAIL,
    Verdict.LATE,
    Verdict.COULD_NOT_RUN,
    Verdict.NOT_REACHED,
    Verdict.BASELINED,
    Verdict.CHALLENGED,
    Verdict.PASS,
    Verdict.NOT_APPLICABLE,
    Verdict.NOT_SELECTED,
    Verdict.EXCLUDED,
    Verdict.NO_TEST_YET,
    Verdict.OF_THE_RM,
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one test, or one monitor during it, says about one requirement."""

    requirement: str
    verdict: Verdict
    test: str  # node id
    says: str = ""
    seconds: float = 0.0
    monitor: str = ""
    recorded: tuple[str, ...] = ()  # how the target uses a freedom the text leaves it
    history: str = ""  # the file with what was said, in the results folder

    @property
    def bad(self) -> bool:
        """Whether it makes its test fail, unless the baseline explains it.

        A monitor that never saw its premise has nothing to complain of.
        """
        return self.verdict in BAD and not self.of_an_absent_premise

    @property
    def of_an_absent_premise(self) -> bool:
        """Whether it is a monitor's word that its premise never held."""
        return bool(self.monitor) and self.verdict is Verdict.COULD_NOT_RUN

    @property
    def is_counted(self) -> bool:
        """Whether it is only counted: a monitor without complaint, of which there are many."""
        return bool(self.monitor) and self.verdict in (Verdict.PASS, Verdict.COULD_NOT_RUN)

    @property
    def spoken_by(self) -> str:
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
    told = worst_first(evidence)
    spoke = [e for e in told if not e.of_an_absent_premise]
    return next(iter(spoke or told), None)


def worst_first(evidence: Iterable[Evidence]) -> list[Evidence]:
    """By verdict; among equals in the order given."""
    return sorted(evidence, key=lambda e: _WORST_FIRST.index(e.verdict))


def of_monitors_alone(evidence: Iterable[Evidence]) -> bool:
    """Whether nothing that is bad comes from the test itself, and something does."""
    bad = [one for one in evidence if one.bad]
    return bool(bad) and all(one.monitor for one in bad)
