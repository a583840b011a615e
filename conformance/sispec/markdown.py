"""A report in Markdown, for a pull request or a page."""

import re
from collections.abc import Iterable, Iterator

from sispec import layout
from sispec.classes import Class, Evaluation
from sispec.impact import Impact, RequirementImpact
from sispec.report import Entry, Report

_BLANK = re.compile(r"\n{3,}")
_SPECIAL = re.compile(r"([\\`*<|\[\]]|(?<!\w)_|_(?!\w))")


def to_markdown(
    report: Report,
    *,
    heading: str = "What this SI change breaks",
    extra: Iterable[str] = (),
) -> str:
    """Format verdict and counts first, then a section per class, rules, buf and impact.

    `extra` are lines in Markdown before the impact.
    """
    lines = [f"# {heading}", "", f"**{escaped(layout.headline(report))}**", ""]
    lines += [f"{layout.counts(report)}.", ""]
    for spec in (report.old, report.new):
        lines += [f"- {escaped(f'{spec.name}: {guess}')}" for guess in spec.guesses]
    if not report.states_the_same:
        lines += [*_classes(report), *_rules(report), *extra, *_buf(report)]
        if report.impact is not None:
            lines += _impact(report.impact)
    return _BLANK.sub("\n\n", "\n".join(lines)).rstrip() + "\n"


def escaped(text: str) -> str:
    """Escape text for Markdown, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _classes(report: Report) -> Iterator[str]:
    heading = None
    for entry in report.entries:
        if entry.worst is not heading:
            heading = entry.worst
            yield from ("", f"## {heading.value[:1].upper()}{heading.value[1:]}", "")
        if heading is Class.COMPATIBLE:
            yield f"- {escaped(entry.title)}"
            if entry.advice:
                yield f"  - *Instead:* {escaped(entry.advice)}"
        else:
            yield from _entry(entry, report.impact)
    yield ""


def _entry(entry: Entry, found: Impact | None) -> Iterator[str]:
    line = layout.at_line(entry.line, of_old_text=entry.is_of_old_text)
    at = f" ({line})" if line else ""
    others = [each.value for each in entry.classes if each is not entry.worst]
    also = f" Also {', '.join(others)}." if others else ""
    yield f"- **{escaped(entry.title)}**{at}.{also}"
    many = len(entry.evaluations) > 1
    for one in entry.evaluations:
        indent = "  "
        if many:
            yield f"  - {escaped(str(one.change))}"
            indent = "    "
        received = [escaped(sentence) for sentence in (one.old_peer, one.new_peer) if sentence]
        received += _touched(one, found) if found is not None else []
        yield from (f"{indent}- {sentence}" for sentence in received)
    if entry.advice:
        yield f"  - *Instead:* {escaped(entry.advice)}"


def _touched(one: Evaluation, found: Impact) -> Iterator[str]:
    for change in found.changes:
        if change.change == one.change:
            if change.touched:
                yield f"Affects: {', '.join(change.touched)}"
            if change.near:
                yield f"Near: {', '.join(change.near)}"
            if change.code:
                places = [f"`{usage.path}` {usage.function}" for usage in change.code]
                yield f"Code: {layout.listed(places, 6)}"


def _rules(report: Report) -> Iterator[str]:
    if not report.rules_changed:
        return
    yield from ("## Rules changed", "")
    for change in report.rules:
        yield f"- **{escaped(layout.rule_title(change))}** ({layout.rule_stands(change)})"
        for label, sentence in (("was", change.old), ("is", change.new)):
            if sentence is not None:
                yield f"  - {label}: {escaped(sentence.text)}"
    for one in report.words:
        yield f"- **{escaped(layout.comment_title(one.change))}**"
        for label, sent in (("was", one.change.old), ("is", one.change.new)):
            if sent:
                yield f"  - {label}: {escaped(sent)}"
    for advice in layout.advice_of(report.words):
        yield from ("", f"*Instead:* {escaped(advice)}")
    yield ""


def _buf(report: Report) -> Iterator[str]:
    yield from ("## buf", "", f"{escaped(layout.buf_line(report))}.", "")
    yield from (f"- buf only: {escaped(beyond)}" for beyond in layout.beyond_ours(report))
    yield ""


def _impact(found: Impact) -> Iterator[str]:
    yield from ("## Impact", "")
    for received in layout.impact_counts(found):
        indented = received.startswith("  ")
        yield (
            f"- {escaped(received)}"
            if indented
            else f"{received[:1].upper()}{escaped(received[1:])}"
        )
        if not indented:
            yield ""
    if unseen := layout.unseen_line(found):
        yield f"- {unseen}"
    yield ""
    yield from _requirements("Affected", found.touched)
    yield from _requirements("Near a change", found.near)
    if found.arriving:
        yield from ("### Apply now", "")
        yield from (f"- {one.id}: {escaped(one.title)}" for one in found.arriving)
        yield ""
    if found.results:
        yield from ("### Runs to repeat", "")
        for run in found.results:
            received = layout.counted(len(run.requirements), "affected requirement")
            yield f"- `{run.published.file}`: {received}"
        yield ""


def _requirements(heading: str, found: Iterable[RequirementImpact]) -> Iterator[str]:
    rows = [*found]
    if not rows:
        return
    yield from (
        f"### {heading}",
        "",
        "| requirement | why | tests | mutants |",
        "|---|---|---|---|",
    )
    for one in rows:
        gone = " (no sentence is left)" if one.has_lost_all else ""
        why = dict.fromkeys(map(str, one.reasons))
        received = f"{one.requirement.id}: {escaped(one.requirement.title)}{gone}"
        tests, mutants = len(one.tests), len(one.mutants)
        yield f"| {received} | {escaped(layout.listed(why, 2))} | {tests} | {mutants} |"
    yield ""
