"""Results of traces, for tests of what is made of them."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from selftest.monitor_cases.by_key import new
from selftest.sample_histories import ASK, IN_THE_CLUSTER, NODE, by_key
from siconform.baseline import Baseline, KnownDeviation
from siconform.catalogue import Side, find_requirement
from siconform.monitors.trace_context import Surroundings
from siconform.monitors.trace_result import (
    Position,
    RequirementResult,
    Totals,
    TraceResult,
    Violation,
)
from siconform.output.trace_report.document import Check, document
from siconform.output.trace_report.evaluation import evaluate

DRAINING, HELD, IDLE = "SI-NODE-026", "SI-NODE-006", "SI-GANG-021"
SHOULD, MAY = "SI-ASK-026", "SI-FOR-001"
HOSTILE = "</script><script>alert('x')</script><b onclick=y>&"
CHECK = Check(
    ("siconform", "check-trace", "a trace.jsonl"), datetime(2026, 11, 26, tzinfo=UTC), seconds=1.25
)


def requirement(
    identifier: str, *messages: str, held: int = 0, times: int = 0
) -> RequirementResult:
    violations = tuple(
        Violation(
            Position(0, line, "trace.jsonl", 2.0 * line),
            "rm",
            "draining_nodes_get_nothing_new",
            message,
        )
        for line, message in enumerate(messages, start=17)
    )
    return RequirementResult(
        find_requirement(identifier),
        (Side.SCHEDULER,),
        ("draining_nodes_get_nothing_new", "another_rule"),
        held,
        times or len(messages),
        violations,
    )


def result(*requirements: RequirementResult, totals: Totals | None = None) -> TraceResult:
    plain = Totals(lines=40, messages=30, elements=35, rms={"rm": 35}, seconds=3600.5, callbacks=3)
    return TraceResult("trace.jsonl", ("trace.jsonl",), "2024-10", requirements, totals or plain)


def on_draining(key: str, node: str = "node-1") -> str:
    return f"allocation {key} is on {node}, which is draining"


BROKEN = result(
    requirement(DRAINING, on_draining("ask-4"), on_draining("ask-5"), times=1204),
    requirement(HELD, held=12),
    requirement(IDLE),
)
CLEAN = result(requirement(HELD, held=1), requirement(IDLE))


def known(message: str, identifier: str = DRAINING) -> Baseline:
    entry = KnownDeviation(identifier, "fail", message, "Draining is not implemented yet.")
    return Baseline("baseline.yaml", (entry,))


def made(
    checked: TraceResult = BROKEN,
    baseline: Baseline | None = None,
) -> dict[str, Any]:
    return document(evaluate(checked, baseline), CHECK)


def violated_exchange() -> tuple[Surroundings, Violation]:
    """Return an allocation on a node, among others, that a monitor complains about."""
    surroundings = Surroundings()
    history = by_key((*IN_THE_CLUSTER, NODE, ASK, new("other"), new("k"))).everything()
    for line, entry in enumerate(history, start=1):
        surroundings.observe(0, line, entry)
    found = Violation(
        Position(0, len(history), "trace.jsonl"),
        history[-1].rm,
        "draining_nodes_get_nothing_new",
        on_draining("k", "n"),
    )
    surroundings.keep(found)
    return surroundings, found


def drawn_violation() -> TraceResult:
    """Return the result of that exchange."""
    surroundings, found = violated_exchange()
    monitors = ("draining_nodes_get_nothing_new",)
    one = RequirementResult(find_requirement(DRAINING), (Side.SCHEDULER,), monitors, 1, 1, (found,))
    totals = Totals(rms={"rm": 9}, unknown={"rm": 2}, dropped=3)
    return replace(result(one, totals=totals), around=surroundings.around())
