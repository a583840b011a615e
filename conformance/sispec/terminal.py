"""A report for terminals: styled lines, at most `width` wide."""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sispec import layout
from sispec.classes import Class, Evaluation
from sispec.impact import Impact, RequirementImpact
from sispec.report import Entry, Report

WIDTH = 100
_IN = "    "
_DETAIL = "        "
_COLOURS = {
    Class.MISREAD: "red",
    Class.WIRE_BREAKING: "red",
    Class.JSON_BREAKING: "yellow",
    Class.SOURCE_BREAKING: "yellow",
    Class.COMPATIBLE: "green",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the screen and its colour, "" for none."""

    text: str
    colour: str = ""


def report_lines(report: Report, *, details: bool = False, width: int = WIDTH) -> Iterator[Line]:
    """Format verdict and counts first, then what breaks, worst first, then rules, buf, impact.

    Details are the decoded bytes, compatible changes in full, and their impact.
    """
    colour = "red" if report.broken() else "green"
    yield Line(layout.headline(report), colour)
    yield from _wrapped(layout.counts(report), "  ", width)
    for spec in (report.old, report.new):
        for guess in spec.guesses:
            yield from _wrapped(f"{spec.name}: {guess}", "  ", width, "yellow")
    if report.states_the_same:
        return
    yield from _classes(report, details=details, width=width)
    yield from _rules(report, width)
    yield Line("")
    yield from _wrapped(layout.buf_line(report), "", width)
    for beyond in layout.beyond_ours(report):
        yield from _wrapped(f"buf only: {beyond}", _IN, width, "yellow")
    if report.impact is not None:
        yield from _impact(report.impact, details=details, width=width)


def _classes(report: Report, *, details: bool, width: int) -> Iterator[Line]:
    heading = None
    for entry in report.entries:
        if entry.worst is not heading:
            heading = entry.worst
            yield Line("")
            yield Line(heading.value, _COLOURS[heading])
        if heading is Class.COMPATIBLE and not details:
            yield from _wrapped(entry.title, "  ", width)
            if entry.advice:
                yield from _wrapped(f"instead: {entry.advice}", "      ", width, "cyan")
        else:
            yield from _entry(entry, report.impact, details=details, width=width)


def _entry(entry: Entry, found: Impact | None, *, details: bool, width: int) -> Iterator[Line]:
    line = layout.at_line(entry.line, of_old_text=entry.is_of_old_text)
    at = f"   {line}" if line else ""
    others = [each.value for each in entry.classes if each is not entry.worst]
    also = f"   (also {', '.join(others)})" if others else ""
    yield from _wrapped(f"{entry.title}{at}{also}", "  ", width)
    for one in entry.evaluations:
        if len(entry.evaluations) > 1:
            yield from _wrapped(str(one.change), _IN, width)
        yield from _evaluation(one, details=details, width=width)
        if found is not None:
            yield from _touched(one, found, details=details, width=width)
    if entry.advice:
        yield from _wrapped(f"instead: {entry.advice}", "      ", width, "cyan")


def _evaluation(one: Evaluation, *, details: bool, width: int) -> Iterator[Line]:
    for sentence in (one.old_peer, one.new_peer):
        yield from _wrapped(sentence, "      ", width)
    if details:
        for reading in one.readings:
            yield from _wrapped(layout.bytes_line(reading), _DETAIL, width)


def _touched(one: Evaluation, found: Impact, *, details: bool, width: int) -> Iterator[Line]:
    for change in found.changes:
        if change.change == one.change and (change.touched or change.near or change.code):
            most = 1000 if details else 6
            received = [f"affects: {layout.listed(change.touched, most)}"] if change.touched else []
            received += [f"near: {layout.listed(change.near, most)}"] if change.near else []
            received += (
                [f"code: {layout.counted(len(change.code), 'location')}"] if change.code else []
            )
            yield from _wrapped("; ".join(received), "      ", width)
            for usage in change.code if details else ():
                yield from _wrapped(str(usage), _DETAIL, width)


def _rules(report: Report, width: int) -> Iterator[Line]:
    if not report.rules_changed:
        return
    yield Line("")
    yield Line("rules changed", "yellow")
    for change in report.rules:
        yield from _wrapped(layout.rule_title(change), "  ", width)
        for mark, sentence in (("-", change.old), ("+", change.new)):
            if sentence is not None:
                yield from _wrapped(f"{mark} {' '.join(sentence.text.split())}", _IN, width)
        yield from _wrapped(layout.rule_stands(change), "      ", width)
    for one in report.words:
        yield from _wrapped(layout.comment_title(one.change), "  ", width)
        for mark, sent in (("-", one.change.old), ("+", one.change.new)):
            if sent:
                yield from _wrapped(f"{mark} {' '.join(sent.split())}", _IN, width)
    for advice in layout.advice_of(report.words):
        yield from _wrapped(f"instead: {advice}", "      ", width, "cyan")


def _impact(found: Impact, *, details: bool, width: int) -> Iterator[Line]:
    yield Line("")
    yield Line("impact", "bold")
    for received in layout.impact_counts(found):
        yield from _wrapped(received, "  ", width)
    if unseen := layout.unseen_line(found):
        yield from _wrapped(unseen, _IN, width, "yellow")
    if not details:
        yield from _wrapped("--details lists them", _IN, width)
        return
    yield from _requirements("affected", found.touched, width)
    yield from _requirements("near a change", found.near, width)
    if found.arriving:
        yield Line("  apply now")
        for requirement in found.arriving:
            yield from _wrapped(f"{requirement.id}  {requirement.title}", _IN, width)
    if found.results:
        yield Line("  runs to repeat")
        for run in found.results:
            received = layout.counted(len(run.requirements), "affected requirement")
            yield from _wrapped(f"{run.published.file}: {received}", _IN, width)
            yield from _wrapped(run.published.command, _DETAIL, width)


def _requirements(heading: str, found: Iterable[RequirementImpact], width: int) -> Iterator[Line]:
    for at, one in enumerate(found):
        if not at:
            yield Line(f"  {heading}")
        gone = "   (no sentence is left)" if one.has_lost_all else ""
        yield from _wrapped(f"{one.requirement.id}  {one.requirement.title}{gone}", _IN, width)
        why = dict.fromkeys(f"{reason.kind.value}: {reason.where}" for reason in one.reasons)
        yield from _wrapped(layout.listed(why, 3), _DETAIL, width)
        if one.tests:
            yield from _wrapped(f"tests: {layout.listed(one.tests, 3)}", _DETAIL, width)
        if one.mutants:
            received = layout.listed(one.mutants, 4)
            yield from _wrapped(f"mutants: {received}", _DETAIL, width)


def _wrapped(text: str, indent: str, width: int, colour: str = "") -> Iterator[Line]:
    printable = "".join(c if c.isprintable() or c.isspace() else "?" for c in text)
    lines = textwrap.wrap(
        printable,
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_on_hyphens=False,
    )
    for line in lines:
        yield Line(line, colour)
