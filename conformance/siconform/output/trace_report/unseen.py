"""What a trace does not show, in sentences."""

from collections.abc import Iterator

from siconform.monitors.trace_result import Totals, TraceResult

Unseen = tuple[str, str]
"""What was not seen, and what follows."""


def unseen(result: TraceResult) -> Iterator[Unseen]:
    """Yield what the trace does not show; the result says nothing about it."""
    totals = result.totals
    if totals.dropped:
        yield (
            f"{totals.dropped:,} dropped message{'' if totals.dropped == 1 else 's'}",
            "the writer lost them: what was known before is unknown from there on",
        )
    yield from _began_before(totals)
    if not totals.callbacks:
        yield (
            "callbacks",
            "none was recorded: predicates, events and scheduling states are not exercised",
        )
    if totals.forgotten:
        yield (
            f"{totals.forgotten:,} late element{'' if totals.forgotten == 1 else 's'}",
            "they are about what ended so long before that it was forgotten; not checked",
        )
    for one in totals.cut_off:
        yield (
            "an incomplete line",
            f"the last line of {one.file} ({one.line}) ends before its line break; not checked",
        )


def _began_before(totals: Totals) -> Iterator[Unseen]:
    means = "elements about what had begun before the record, or before a drop, were not checked"
    for rm, elements in totals.unknown.items():
        if elements:
            yield f"the beginning of {rm}", f"{elements:,} {means}"
