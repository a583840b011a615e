"""Builds the page of a recorded exchange from its results."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from siconform.catalogue import Level, catalogue
from siconform.listing import STATED
from siconform.reporting.html.histories import Drawn, Message, embedded
from siconform.reporting.html.listing import areas_of, counts_of, opened, source_in
from siconform.reporting.html.views import (
    ExchangeFacts,
    FailureView,
    RequirementView,
    SideBySide,
    TestView,
    TracePage,
    Wording,
)
from siconform.trace_outcomes import TraceOutcome

WORDS: Final = Wording(
    failures="Violations",
    decisive="Only MUSTs decide the exit code, and SHOULDs with --fail-on SHOULD.",
    indented="Indented messages are from the scheduler.",
    exchange="the exchange",
    repeat="Check the exchange again",
    as_text="Complete violation as text",
    checks="Monitors",
)
_SERVICE: Final = "service"  # lifeline of messages without a stream


def trace_page(results: Mapping[str, Any]) -> TracePage:
    """Build the page from the results of ``check-trace``."""
    violations = dict(_violations(results))
    requirements = opened(_requirement(one, violations, results) for one in results["requirements"])
    recorded = results["trace"]
    return TracePage(
        words=WORDS,
        trace=recorded["source"],
        revision=results["revision"],
        verdict=results["verdict"],
        sentence=results["sentence"],
        exercised=results["exercised"],
        counts=counts_of(one.verdict for one in requirements),
        facts=tuple((name, value) for name, value in _facts(results) if value),
        command=results["command"],
        ended_early=results["ended_early"],
        notes=(*results["baseline"]["not_seen"], *results["notes"]),
        levels=tuple(level.value for level in Level),
        areas=tuple(areas_of(requirements)),
        requirements=tuple(requirements),
        unseen=tuple((one["what"], one["means"]) for one in results["unseen"]),
        rms=tuple(_rm(one) for one in recorded["rms"]),
        histories=embedded(_drawn(name, one) for name, one in violations.items()),
        not_drawn=0,
    )


def _violations(results: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each violation with the name of its drawing."""
    for place, one in enumerate(results["violations"], start=1):
        yield f"{one['requirement']}-{place}", one


def _requirement(
    one: Mapping[str, Any],
    violations: Mapping[str, Mapping[str, Any]],
    results: Mapping[str, Any],
) -> RequirementView:
    known = catalogue().get(one["id"])
    own = {name: found for name, found in violations.items() if found["requirement"] == one["id"]}
    verdict = TraceOutcome(one["verdict"])
    return RequirementView(
        id=one["id"],
        title=one["title"],
        area=one["area"],
        level=one["level"],
        authority=STATED[known.authority] if known else one["authority"],
        source=source_in(known, results["revision"]),
        text=known.text if known else "",
        reading=known.interpretation if known else "",
        verdict=verdict,
        reason=one["reason"],
        tests=tuple(_monitors(one, verdict, own)),
        known=(),
        failures=tuple(_card(name, found, results["command"]) for name, found in own.items()),
        badge=_times(verdict, one),
    )


def _monitors(
    one: Mapping[str, Any], verdict: TraceOutcome, own: Mapping[str, Mapping[str, Any]]
) -> Iterator[TestView]:
    """Yield the violations with their diagrams, else the monitors."""
    for name, found in own.items():
        yield _monitor(found["monitor"], TraceOutcome(found["verdict"]), name)
    for monitor in one["monitors"] if not own else ():
        yield _monitor(monitor, verdict)


def _monitor(monitor: str, verdict: TraceOutcome, drawing: str = "") -> TestView:
    name = monitor.replace("_", " ")
    return TestView(name, verdict, "", 0.0, monitor, (), history=drawing, file="")


def _times(verdict: TraceOutcome, one: Mapping[str, Any]) -> str:
    """Return the badge of a requirement: how often it was violated or held."""
    counted = {TraceOutcome.VIOLATED: one["violated"], TraceOutcome.HELD: one["held"]}
    number = counted.get(verdict)
    if number is None:
        return ""
    return f"{verdict.label} {number:,} time{'' if number == 1 else 's'}"


def _card(name: str, found: Mapping[str, Any], command: str) -> FailureView:
    return FailureView(
        test=f"{found['monitor'].replace('_', ' ')}, {found['where']}",
        anchor=name,
        expected="",
        happened=found["happened"],
        rows=tuple(
            SideBySide(row["at"], row["text"], "-", differs=False, is_wrong=row["is_violation"])
            for row in found["rows"]
        ),
        has_reference=False,
        again=command,
        text=found["text"],
    )


def _drawn(name: str, found: Mapping[str, Any]) -> Drawn:
    messages = (
        Message(
            row["at"],
            row["rm"],
            row["from"] == "rm",
            row["stream"] or _SERVICE,
            row["text"].strip(),
            is_wrong=row["is_violation"],
        )
        for row in found["rows"]
    )
    return Drawn(name, tuple(messages))


def _rm(one: Mapping[str, Any]) -> ExchangeFacts:
    return ExchangeFacts(one["name"], one["elements"], one["unknown"])


def _facts(results: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    recorded = results["trace"]
    yield "exchange", recorded["source"]
    yield "SI revision", results["revision"]
    yield "files", f"{len(recorded['files']):,}"
    yield "messages", f"{recorded['messages']:,} with {recorded['elements']:,} elements"
    yield "from first to last", f"{recorded['seconds']:,.1f} s"
    yield "checked with", f"siconform {results['kit']}"
    yield "checked", results["started"].replace("T", " ")
    yield "took", f"{results['seconds']:.1f} s"
    yield "fails on", results["conditions"]["fail_on"]
    yield f"{TraceOutcome.BASELINED.label_for(2)} in", results["baseline"]["file"]
    yield "not offered", ", ".join(results["without"])
