"""Wording shared by all report formats."""

import re
from collections.abc import Iterable, Iterator

from sispec.changes import Change, Kind
from sispec.classes import Evaluation
from sispec.impact import Impact
from sispec.misreading import Form, Reading
from sispec.model import Spec
from sispec.report import Report
from sispec.rules import RuleChange
from sispec.schema import schema_of

_SHOWN = 24  # bytes of a message
_QUOTED = re.compile(r'"([\w.]+?)(?:\.\w+Entry)?"')  # names in messages of buf, including maps


def counted(number: int, thing: str, things: str = "") -> str:
    """Format a count: `1 rule`, `2 rules`."""
    return f"{number} {thing if number == 1 else things or f'{thing}s'}"


def headline(report: Report) -> str:
    """Return the verdict: what was compared, and whether it breaks something."""
    sides = f"{report.old.name} -> {report.new.name}"
    if report.states_the_same:
        return f"NO CHANGE   {sides}"
    if report.broken():
        return f"BREAKING   {sides}"
    return f"COMPATIBLE{', BUT RULES CHANGED' if report.rules_changed else ''}   {sides}"


def counts(report: Report) -> str:
    """Return how many changes each class has, and how many rules changed."""
    if report.old is report.new:
        return "both are identical: nothing to compare"
    if report.states_the_same:
        return f"the declarations are identical; {_rules_counted(report)}"
    found = [f"{number} {each.value}" for each, number in report.counts.items() if number]
    changes = ", ".join(found) or "no schema change"
    beyond = len([*beyond_ours(report)])
    by_buf = f"; {counted(beyond, 'rule')} broken according to buf only" if beyond else ""
    return f"{changes}; {_rules_counted(report)}{by_buf}"


def at_line(line: int, *, of_old_text: bool = False) -> str:
    """Return `line 7`, or `old line 7` for the old specification; "" if it is unknown."""
    return f"{'old ' if of_old_text else ''}line {line}" if line else ""


def _rules_counted(report: Report) -> str:
    silent = [spec.name for spec in (report.old, report.new) if not spec.sentences]
    if silent:
        has = "has" if len(silent) == 1 else "have"
        return f"rules not compared: {' and '.join(silent)} {has} no prose"
    return f"{counted(report.rules_changed, 'rule')} changed"


def buf_line(report: Report) -> str:
    """Summarise buf's findings in one line."""
    if report.buf_missing:
        return f"buf was not run: {report.buf_missing}"
    if not report.buf:
        return "buf breaking: no broken rules"
    names: dict[str, int] = {}
    for rule in report.buf:
        names[rule.rule] = names.get(rule.rule, 0) + 1
    received = ", ".join(f"{name}{f' x {n}' if n > 1 else ''}" for name, n in names.items())
    return f"buf breaking: {counted(len(report.buf), 'broken rule')}: {received}"


def beyond_ours(report: Report) -> Iterator[str]:
    """Yield buf's findings on declarations for which our comparison has none."""
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
    """Yield the names buf may use: of the declaration and its parents, in full and in part."""
    for place in (change.where, change.old_place):
        names = place.split(".")
        for start in range(len(names)):
            yield from (".".join(names[start:end]) for end in range(start + 1, len(names) + 1))


def bytes_line(reading: Reading) -> str:
    """Return the bytes of a message, and the result of decoding them."""
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
    """Describe a changed rule: what happened to it, and where."""
    place = change.sentence.place or change.sentence.section
    line = at_line(change.sentence.line, of_old_text=change.new is None)
    received = f"{change.kind.value} ({line})" if line else change.kind.value
    return f"{received}: {place}" if place else received


def comment_title(change: Change) -> str:
    """Describe a comment that changed its meaning: its declaration and line."""
    line = at_line(change.line)
    return f"{change.kind.value}{f' ({line})' if line else ''}: {change.where}"


def advice_of(words: Iterable[Evaluation]) -> Iterable[str]:
    """Return the alternatives to changed comments, each once."""
    return dict.fromkeys(one.advice for one in words if one.advice)


def rule_stands(change: RuleChange) -> str:
    """Return the requirements based on the sentence, before and after."""
    received = []
    if change.old is not None:
        received.append(f"was cited by {listed(change.carried) or 'no requirement'}")
    if change.new is not None:
        received.append(f"now covered by {listed(change.carries) or 'no requirement'}")
    return "; ".join(received)


def extracted(spec: Spec) -> str:
    """Count the declarations of a specification."""
    schema = schema_of(spec.file)
    messages, enums = counted(len(schema.messages), "message"), counted(len(schema.enums), "enum")
    return f"{messages}, {enums}, {counted(len(spec.constants), 'constant')}"


def not_compared(new: Spec, before: str | None) -> str:
    """Describe a specification without an earlier version; `before` did not compile."""
    if before is None:
        return f"NEW   {new.name}: {extracted(new)}"
    return f"FIXED   {before} -> {new.name}: it compiles now; nothing to compare with"


def impact_counts(found: Impact) -> Iterator[str]:
    """Yield the impact in numbers."""
    if found.revision is None:
        yield "the old specification resembles no known revision: no requirement is affected"
        return
    touched = found.touched
    without = len(found.without_sentence)
    yield f"of the requirements of SI {found.revision}:"
    yield f"  {len(touched)} affected, {without} of them without a sentence now"
    yield f"  {len(found.near)} near a change: worth a review"
    yield f"  {counted(len(found.arriving), 'requirement')} of other revisions apply now"
    yield f"  {counted(len(found.uncovered), 'new or changed rule')} that no requirement covers"
    tests = {test for one in touched for test in one.tests}
    cite = "cites" if len(tests) == 1 else "cite"
    yield f"  {counted(len(tests), 'test')} of the suite {cite} affected requirements"
    if not found.has_checkout:
        yield "  code, mutants and published results are known in a checkout only"
        return
    code = {usage for change in found.changes for usage in change.code}
    mutants = {mutant for one in touched for mutant in one.mutants}
    places = counted(len(code), "code location", "code locations")
    yield f"  {places} that read or write changed elements"
    yield f"  {counted(len(mutants), 'mutant')} of affected requirements"
    runs = counted(len(found.results), "published result")
    yield f"  {runs} to repeat"


def unseen_line(found: Impact) -> str:
    """Return how many sentences could not be checked, and why; "" if all could."""
    if not found.unseen:
        return ""
    return (
        f"{found.unseen} of {counted(found.sources, 'source')} could not be checked: no prose on "
        "one side, or another edition than the catalogue's"
    )


def listed(words: Iterable[str], most: int = 8) -> str:
    """Join the first few, with the number of the others."""
    found = list(words)
    more = f" (+{len(found) - most})" if len(found) > most else ""
    return f"{', '.join(found[:most])}{more}"
