"""Labels come from the table of verdicts: a change there shows everywhere."""

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from selftest.stored_runs import document, folder_of, requirement
from selftest.test_summary import every_verdict, everything, run
from siconform import results
from siconform.output import summary
from siconform.reporting.html.rendering import render
from siconform.reporting.html.run_page import run_page
from siconform.verdicts import CATALOGUED, OF_ONE_SIDE, VIOLATED, Verdict

from .commands import invoke

NONSENSE = "frobnicated"
NAMED = VIOLATED | {Verdict.COULD_NOT_RUN, Verdict.NOT_APPLICABLE, Verdict.NOT_REACHED}
JUNIT = """
@requirement("SI-NODE-004")
def test_fails(target): raise ConformanceFailure("no")
@requirement("SI-NODE-005")
def test_is_late(target): raise CameLate("no")
@requirement("SI-NODE-006")
def test_is_inconclusive(target): raise PreconditionFailed("no")
@requirement("SI-CONN-006")
def test_is_not_offered(target): raise NotOffered("no")
@requirement("SI-NODE-008")
def test_is_known(target): raise ConformanceFailure("no")
@requirement("SI-NODE-009")
def test_interrupts(target): pytest.exit("no")
"""
KNOWN = "- {requirement: SI-NODE-008, outcome: fail, says: 'no', reason: it does}\n"


class Words(HTMLParser):
    """Collects the visible text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.is_hidden = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  # not used
        self.is_hidden = tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self.is_hidden:
            self.seen.append(data)


def console(_: Verdict, __: Path) -> str:
    shown = run(every_verdict("why"))
    received = [
        *everything(shown),
        *summary.challenged(shown.requirements),
    ]
    return "\n".join([*received, shown.evaluation.sentence])


def report(_: Verdict, folder: Path) -> str:
    page = run_page(results.document(run(every_verdict("why"))), folder)
    ours = tuple(replace(one, text="", reading="") for one in page.requirements)
    return "\n".join(Words(render(replace(page, requirements=ours))).seen)


def compare(verdict: Verdict, folder: Path) -> str:
    known = [{"outcome": "fail", "says": "x", "reason": "x", "issue": ""}]
    other = requirement("SI-NODE-006", "challenged")
    former = "fail" if verdict is Verdict.PASS else "pass"
    before = document(other, requirement("SI-NODE-004", former))
    after = document(other, requirement("SI-NODE-004", verdict.value, known=known))
    folders = folder_of(before, folder / "1"), folder_of(after, folder / "2")
    return invoke("compare", *map(str, folders)).stdout


def listing(_: Verdict, __: Path) -> str:
    return invoke("list").stdout


def explanation(_: Verdict, __: Path) -> str:
    ids = ("SI-CONN-005", "SI-CONN-007", "SI-NODE-014")
    return invoke("explain", *ids).stdout


SHOWN: dict[Callable[[Verdict, Path], str], frozenset[Verdict]] = {
    console: frozenset(Verdict) - {Verdict.KIT_ERROR},  # the run as a whole has it, too
    report: frozenset(Verdict) - {Verdict.KIT_ERROR},
    compare: frozenset(Verdict) - {Verdict.BASELINED},  # compared unchanged
    listing: CATALOGUED - OF_ONE_SIDE,
    explanation: frozenset({Verdict.BASELINED, Verdict.COULD_NOT_RUN, Verdict.OF_THE_RM}),
}


def renamed(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> str:
    """Change the label; return the old one."""
    former = verdict.label
    monkeypatch.setattr(verdict, "row", replace(verdict.row, label=NONSENSE, plural=""))
    return former


def has(text: str, label: str) -> bool:
    return bool(re.search(rf"(?<![\w-]){re.escape(label)}(?![\w-])", text, re.IGNORECASE))


@pytest.mark.parametrize(
    ("surface", "verdict"),
    [(surface, verdict) for surface, verdicts in SHOWN.items() for verdict in sorted(verdicts)],
)
def test_a_label_is_changed_in_one_place(
    surface: Callable[[Verdict, Path], str],
    verdict: Verdict,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    former = renamed(verdict, monkeypatch)

    text = " ".join(surface(verdict, tmp_path).split())

    assert has(text, NONSENSE)
    assert not has(text, former)


@pytest.mark.parametrize("verdict", sorted(NAMED))
def test_a_label_is_changed_in_junit_and_on_the_screen(
    verdict: Verdict, conformance: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("known.yaml").write_text(KNOWN, "utf-8")
    former = renamed(verdict, monkeypatch)

    outcome = conformance(JUNIT, "--baseline", "known.yaml", "-v")

    junit = ET.parse(outcome.folder / "junit.xml").getroot()  # noqa: S314  # our own
    received = [element.get("message", "") + (element.text or "") for element in junit.iter()]
    for text in (" ".join(received), outcome.out):
        assert has(text, NONSENSE)
        assert not has(re.sub(r"(?<=outcome: )[\w-]+", "", text), former)
