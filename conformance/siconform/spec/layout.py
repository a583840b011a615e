"""Words that every way of showing a report has in common."""

import re
from collections.abc import Iterable, Iterator

from siconform.spec.changes import Change, Kind
from siconform.spec.classes import Evaluation
from siconform.spec.impact import Impact
from siconform.spec.misreading import Form, Reading
from siconform.spec.model import Spec
from siconform.spec.report import Report
from siconform.spec.rules import RuleChange
from siconform.spec.schema import schema_of

_SHOWN = 24  # bytes of a message
_QUOTED = re.compile(r'"([\w.]+?)(?:\.\w+Entry)?"')  # as buf gives names, those of maps, too


def counted(number: int, thing: str, things: str = "") -> str:
    """`1 rule`, `2 rules`."""
    return f"{number} {thing if number == 1 else things or f'{thing}s'}"


def headline(report: Report) -> str:
    """The verdict: what was compared, and whether it breaks somebody."""
    sides = f"{report.old.name} -> {report.new.name}"
    if report.states_the_same:
        return f"NO CHANGE   {sides}"
    if report.broken():
        return f"BREAKING   {sides}"
    return f"COMPATIBLE{', BUT RULES CHANGED' if report.rules_changed else ''}   {sides}"


def counts(report: Report) -> str:
    """How many changes of each class, and how many rules."""
    if report.old is report.new:
        return "both are one and the same: there is nothing to compare"
    if report.states_the_same:
        return f"both declare the same; {_rules_counted(report)}"
    found = [f"{number} {each.value}" for each, number in report.counts.items() if number]
    changes = ", ".join(found) or "no change of the schema"
    beyond = len([*beyond_ours(report)])
    by_buf = f"; {counted(beyond, 'rule')} broken that only buf has" if beyond else ""
    return f"{changes}; {_rules_counted(report)}{by_buf}"


def at_line(line: int, *, of_old_text: bool = False) -> str:
    """`line 7`, or `old line 7` for what only the old text has; "" where the line is not known."""
    return f"{'old ' if of_old_text else ''}line {line}" if line else ""


def _rules_counted(report: Report) -> str:
    silent = [spec.name for spec in (report.old, report.new) if not spec.sentences]
    if silent:
        return f"rules not compared, as {' and '.join(silent)} came without prose"
    return f"{counted(report.rules_changed, 'rule')} changed"


def buf_line(report: Report) -> str:
    """What buf says, in one line."""
    if report.buf_missing:
        return f"buf was not asked: {report.buf_missing}"
    if not report.buf:
        return "buf breaking: no rule is broken"
    names: dict[str, int] = {}
    for rule in report.buf:
        names[rule.rule] = names.get(rule.rule, 0) + 1
    received = ", ".join(f"{name}{f' x {n}' if n > 1 else ''}" for name, n in names.items())
    return f"buf breaking: {counted(len(report.buf), 'broken rule')}: {received}"


def beyond_ours(report: Report) -> Iterator[str]:
    """What buf finds broken in a declaration of which our comparison finds nothing broken."""
    ours = {name for one in report.evaluations if one.breaks for name in _declarations(one.change)}
    for rule in report.buf:
        about = {
            name.removeprefix(f"{report.old.file.package}.")
            for name in _QUOTED.findall(rule.message)
        }
        whole = Kind.PACKAGE in {one.change.kind for one in report.evaluations}
        if not whole and ours.isdisjoint(about):
            yield f"{rule.rule}: {rule.message}"


def _declarations(change: Change) -> Iterator[str]:
    """The names buf may call it by: itself and what it stands in, in full and in part."""
    for place in (change.where, change.old_place):
        names = place.split(".")
        for start in range(len(names)):
            yield from (".".join(names[start:end]) for end in range(start + 1, len(names) + 1))


def bytes_line(reading: Reading) -> str:
    """A message as it travelled, and what became of it."""
    if reading.form is Form.JSON:
        travelled = reading.data.decode(errors="replace")
        shown = travelled if len(travelled) <= 3 * _SHOWN else f"{travelled[: 3 * _SHOWN]}..."
    else:
        more = " ..." if len(reading.data) > _SHOWN else ""
        shown = f"{reading.data[:_SHOWN].hex(' ')}{more}"
    read = " = ".join(part for part in (reading.read_as, reading.read) if part)
    became = f"{reading.outcome.value}{f': {read}' if read else ''}"
    sides = f"{reading.writer} -> {reading.reader}"
    return f"{sides}  {reading.message}.{reading.element}  {shown}  {became}"


def rule_title(change: RuleChange) -> str:
    """A rule that changed: what became of it, where, and who stands on it."""
    place = change.sentence.place or change.sentence.section
    line = at_line(change.sentence.line, of_old_text=change.new is None)
    received = f"{change.kind.value} ({line})" if line else change.kind.value
    return f"{received}: {place}" if place else received


def comment_title(change: Change) -> str:
    """A comment that says something else: what it is about, and where it stands."""
    line = at_line(change.line)
    return f"{change.kind.value}{f' ({line})' if line else ''}: {change.where}"


def advice_of(words: Iterable[Evaluation]) -> Iterable[str]:
    """What to do instead of giving comments another sense: each advice once."""
    return dict.fromkeys(one.advice for one in words if one.advice)


def rule_stands(change: RuleChange) -> str:
    """Which requirements stand on the sentence, before and after."""
    received = []
    if change.old is not None:
        received.append(f"was the ground of {listed(change.carried) or 'no requirement'}")
    if change.new is not None:
        received.append(f"covered by {listed(change.carries) or 'no requirement'}")
    return "; ".join(received)


def extracted(spec: Spec) -> str:
    """How much a text declares."""
    schema = schema_of(spec.file)
    messages, enums = counted(len(schema.messages), "message"), counted(len(schema.enums), "enum")
    return f"{messages}, {enums}, {counted(len(spec.constants), 'constant')}"


def not_compared(new: Spec, before: str | None) -> str:
    """A text without an earlier version to compare with; `before` is one that did not compile."""
    if before is None:
        return f"NEW   {new.name}: {extracted(new)}"
    return f"MENDED   {before} -> {new.name}: it compiles now, and was not compared"


def impact_counts(found: Impact) -> Iterator[str]:
    """What is touched, in numbers."""
    if found.revision is None:
        yield "the old text is like no known revision: no requirement stands on it"
        return
    touched = found.touched
    without = len(found.without_sentence)
    yield f"of the requirements of SI {found.revision}:"
    yield f"  {len(touched)} touched, {without} of them without a sentence now"
    yield f"  {len(found.near)} near a change: worth a look"
    yield f"  {counted(len(found.arriving), 'requirement')} of other revisions begin to hold"
    yield f"  {counted(len(found.uncovered), 'new or changed rule')} that no requirement covers"
    tests = {test for one in touched for test in one.tests}
    cite = "cites" if len(tests) == 1 else "cite"
    yield f"  {counted(len(tests), 'test')} of the suite {cite} those that are touched"
    if not found.has_checkout:
        yield "  code, faults and published results are known in a checkout only"
        return
    code = {usage for change in found.changes for usage in change.code}
    mutants = {mutant for one in touched for mutant in one.mutants}
    places = counted(len(code), "place of the code", "places of the code")
    yield f"  {places} that read or write what is changed"
    yield f"  {counted(len(mutants), 'fault')} made for those that are touched"
    runs = counted(len(found.results), "published result")
    yield f"  {runs} to be run again"


def unseen_line(found: Impact) -> str:
    """How many sentences could not be looked up, and why; "" where all could."""
    if not found.unseen:
        return ""
    return (
        f"{found.unseen} of {counted(found.sources, 'source')} could not be looked up: no text on "
        "one side, or another one than the catalogue was made from"
    )


def listed(words: Iterable[str], most: int = 8) -> str:
    """The first few, and how many there are beside."""
    found = list(words)
    more = f" (+{len(found) - most})" if len(found) > most else ""
    return f"{', '.join(found[:most])}{more}"
