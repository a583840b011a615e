"""Output of ``siconform compare``: a heading per kind of change, a line per change."""

from collections.abc import Iterator

from siconform.reporting.evaluated_run import EvaluatedRun
from siconform.reporting.regressions import Changed, Comparison, Kind
from siconform.verdicts import Verdict

WIDTH = 100


def lines_of(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of a comparison; the last one has the counts."""
    yield f"before  {_run(comparison.before)}"
    yield f"after   {_run(comparison.after)}"
    for kind in Kind:
        changes = comparison.of(kind)
        if changes:
            yield f"{kind.heading}:"
            yield from map(_changed, changes)
    if comparison.slower:
        yield "slower:"
    for one in comparison.slower:
        yield (
            f"  {one.deadline:<12} median {one.after.median:.2g} s, before "
            f"{one.before.median:.2g} s, allowed {one.after.allowed:g} s"
        )
    yield from _not_compared(comparison)
    yield _counted(comparison)


def _run(run: EvaluatedRun) -> str:
    version = "" if run.version in run.target else f" {run.version}"
    partial = ", partial run" if run.partial else ""
    return f"{run.target}{version}, SI {run.revision}{partial}   ({run.where})"


def _changed(change: Changed) -> str:
    before, after = change.before.verdict.label, change.after.verdict.label
    received = change.before if change.kind is Kind.FIXED else change.after
    reason = f": {' '.join(received.reason.split())}" if received.reason else ""
    line = f"  {change.requirement:<12} {change.after.level:<6} {before}, now {after}"
    return _clipped(line if change.kind is Kind.FIXED else line + reason)


def _not_compared(comparison: Comparison) -> Iterator[str]:
    received = [
        f"{Verdict.NOT_SELECTED.counted(count)} {when}"
        for count, when in zip(comparison.not_selected, ("before", "after"), strict=True)
        if count
    ]
    received += [
        f"{len(only)} only {when}"
        for only, when in zip(comparison.only_in, ("before", "after"), strict=True)
        if only
    ]
    if received:
        yield f"not compared: {', '.join(received)}"
    if comparison.times:
        yield f"times not compared: {comparison.times}"


def _counted(comparison: Comparison) -> str:
    number = comparison.compared
    compared = f"{number} requirement{'' if number == 1 else 's'} compared"
    received = [kind.counted(len(comparison.of(kind))) for kind in Kind] if number else []
    if not comparison.times:
        received.append(f"{len(comparison.slower) or 'none'} slower")
    return f"{compared}: {', '.join(received)}" if received else compared


def _clipped(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 3] + "..."
