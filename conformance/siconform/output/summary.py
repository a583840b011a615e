"""The printed summary of a run: areas, failures, counts and next commands."""

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from siconform.catalogue import AREAS, Level, Side, find_requirement
from siconform.config.command_line import CommandLine
from siconform.config.last_failed import LastFailed
from siconform.config.option_list import RM_COMMAND, SIDE
from siconform.output.live.terminal import WIDTH
from siconform.policy import ExitCode, RequirementResult
from siconform.results import Run
from siconform.targets.traits import RACES, REMOVES_MEANWHILE
from siconform.verdicts import LISTED, OF_ONE_SIDE, REACHED, SHOWN, Evidence, Labelled, Verdict

_BAR: Final = 20
_SHORT_BAR: Final = 8
_WIDE: Final = 72  # minimum columns for a long bar
_ALWAYS_COUNTED: Final = frozenset({Verdict.PASS, Verdict.FAIL, Verdict.COULD_NOT_RUN})
_GROUPS: Final = 8  # maximum number of reasons shown
_NAMED: Final = 20  # maximum number of requirements named for a reason
_SHOWN_APART: Final = REACHED | LISTED | {Verdict.CHALLENGED} | OF_ONE_SIDE
_NOT_OFFERED: Final = "the target does not offer"


def by_area(results: Sequence[RequirementResult], width: int = WIDTH) -> Iterator[str]:
    """Yield a line per area: a bar and the counts of verdicts."""
    for area in AREAS:
        counts: Counter[Labelled] = Counter(
            f.verdict
            for f in results
            if f.requirement.area == area and f.verdict not in OF_ONE_SIDE
        )
        yield from area_line(area, counts, SHOWN, width)


def area_line(
    area: str, counts: Counter[Labelled], shown: Sequence[Labelled], width: int = WIDTH
) -> Iterator[str]:
    """Yield a bar and the counts of verdicts of one area, in the order shown."""
    if not counts:
        return
    received = "   ".join(f"{n:>3} {v.label_for(n)}" for v in shown if (n := counts[v]))
    head = f" {area:<6} {_bar(counts, shown, _BAR if width >= _WIDE else _SHORT_BAR)}  "
    yield from textwrap.wrap(
        received,
        width,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        drop_whitespace=False,
    )


def chosen(words: str, ids: Collection[str] | None, width: int = WIDTH) -> Iterator[str]:
    """Yield a line about the selection, if there is one."""
    if ids is not None:
        many = f"{len(ids)} requirement{'' if len(ids) == 1 else 's'}"
        yield _clipped(f"selected: {words} ({many})", width)


def last_failed(
    found: LastFailed | None, ids: Collection[str], width: int = WIDTH
) -> Iterator[str]:
    """Yield what --last-failed selected, and the run in which it failed."""
    if found is not None:
        undecided = Verdict.COULD_NOT_RUN.label
        line = f"{', '.join(sorted(ids))}: failed or {undecided} in the run of {found.run}"
        yield from textwrap.wrap(
            line,
            width,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )


def failing(results: Sequence[RequirementResult], width: int = WIDTH) -> Iterator[str]:
    """Yield failures, MUST first, then worst first."""
    for result in worst_first(results):
        yield from _failing(result, width)


def untested(run: Run, width: int = WIDTH) -> Iterator[str]:
    """Yield requirements without a verdict, by reason; each by its name if some were selected."""
    results = run.requirements
    if run.status.chosen is not None:
        for verdict in (one for one in Verdict if one not in _SHOWN_APART):
            yield from _by_reason(run.asked(), verdict, width, _NAMED)
        return
    yield from _by_reason(results, Verdict.COULD_NOT_RUN, width)
    yield from _by_reason(results, Verdict.NOT_REACHED, width)
    silent = [f for f in results if f.reason.startswith(_NOT_OFFERED)]
    yield from _by_reason(silent, Verdict.NOT_APPLICABLE, width)
    yield from _by_reason(run.asked_by_name(), Verdict.EXCLUDED, width)


def recorded(results: Sequence[RequirementResult], width: int = WIDTH) -> Iterator[str]:
    """Yield known failures."""
    for result in results:
        if result.verdict is Verdict.BASELINED:
            yield from _failing(result, width)


def failure(evidence: Evidence, width: int) -> str:
    """Return a line about a violated requirement."""
    level = find_requirement(evidence.requirement).level
    head = f"{evidence.verdict.label.upper():<5} {evidence.requirement:<12} {level:<6}"
    return _clipped(f"{head} {evidence.message}".rstrip(), width)


def challenged(results: Sequence[RequirementResult], width: int = WIDTH) -> Iterator[str]:
    """Yield challenged requirements."""
    for result in results:
        if result.verdict is Verdict.CHALLENGED:
            yield from _failing(result, width)


def counts(run: Run, width: int = WIDTH) -> Iterator[str]:
    """Yield the counts of verdicts of the tested side's requirements, and the duration."""
    of_side = [one for one in run.requirements if run.status.side in one.requirement.sides]
    found = Counter(one.verdict for one in of_side)
    received = ", ".join(v.counted(found[v]) for v in SHOWN if found[v] or v in _ALWAYS_COUNTED)
    if run.status.chosen is None:
        all_found = run.counts()
        others = [v.counted(all_found[v]) for v in SHOWN if v in OF_ONE_SIDE and all_found.get(v)]
        received += "".join(f"; {count}" for count in others)
    lines = textwrap.wrap(received, width - 14, initial_indent="  ", subsequent_indent="  ")
    lines[-1] = f"{lines[-1]:<{width - 12}}{run.seconds:>8.1f} s"
    yield from lines


def not_explored(run: Run, seconds: float, command: CommandLine) -> Iterator[str]:
    """Yield that randomised testing was disabled, or skipped because it would be flaky."""
    if run.status.side is Side.RM:
        return
    if not seconds:
        yield "  randomised testing disabled (--explore SECONDS)"
    elif RACES[REMOVES_MEANWHILE] in run.left_out.values():
        why = RACES[REMOVES_MEANWHILE].partition(":")[0]
        yield f"  randomised testing skipped: {why} (see {command.of_the_kit('explore')})"


def next_steps(run: Run, command: CommandLine) -> Iterator[str]:
    """Yield the next commands."""
    failed = worst_first(run.requirements)
    if failed:
        yield f"Look closer:  {command.of_the_kit('explain', failed[0].requirement.id)}"
        yield f"Run one:      {command.again(failed[0].requirement.id)}"
    elif run.evaluation.exit_code is ExitCode.OK and not command.options:
        yield f"Test your scheduler:  {command.with_options('--target', 'HOST:PORT')}"
    elif run.evaluation.exit_code is ExitCode.OK and command.options == (SIDE, Side.RM.value):
        yield f"Test your RM:  {command.with_options(RM_COMMAND, '... {address} {driver}')}"


def observed(run: Run, width: int = WIDTH) -> Iterator[str]:
    """Yield the probed behaviour of the target and the features it lacks."""
    received = "; ".join(f"{name}: {value}" for name, value in run.observed.items())
    for what, words in (("observed", received), ("without", ", ".join(run.without))):
        if words:
            yield from textwrap.wrap(
                f"{what}: {words}", width, initial_indent="  ", subsequent_indent="    "
            )


def stale(sentences: Iterable[str], width: int = WIDTH) -> Iterator[str]:
    """Yield stale baseline entries."""
    for sentence in sentences:
        yield f"  STALE  {_clipped(sentence, width - 9)}"


def flaky(sentences: Iterable[str], width: int = WIDTH) -> Iterator[str]:
    """Yield flaky baseline entries."""
    for sentence in sentences:
        yield f"  FLAKY  {_clipped(sentence, width - 9)}"


def worst_first(results: Sequence[RequirementResult]) -> list[RequirementResult]:
    """Return the failed requirements, MUST first, then by verdict."""
    failed = [f for f in results if f.verdict in LISTED]
    levels, ranks = list(Level), list(Verdict)
    return sorted(failed, key=lambda f: (levels.index(f.requirement.level), ranks.index(f.verdict)))


def _bar(counts: Counter[Labelled], shown: Sequence[Labelled], columns: int) -> str:
    """Return the bar of an area; each verdict has at least one character."""
    total = counts.total()
    parts: Counter[str] = Counter()
    for verdict in shown:
        parts[verdict.row.mark] += counts[verdict]
    lengths = {mark: max(1, round(n * columns / total)) for mark, n in parts.items() if n}
    while sum(lengths.values()) != columns:
        longest = max(lengths, key=lambda mark: lengths[mark])
        lengths[longest] += 1 if sum(lengths.values()) < columns else -1
    return "".join(mark * length for mark, length in lengths.items())


def _failing(result: RequirementResult, width: int) -> Iterator[str]:
    requirement = result.requirement
    label = result.verdict.label.upper()
    head = f"  {label:<5} {requirement.id:<12} {requirement.level:<6} {requirement.title}"
    if len(head) + 3 + len(result.reason) <= width:
        yield f"{head}   {result.reason}".rstrip()
    else:
        yield _clipped(head, width)
        yield _clipped(f"{'':<8}{result.reason}", width)


def _by_reason(
    results: Sequence[RequirementResult], verdict: Verdict, width: int, named: int = 1
) -> Iterator[str]:
    reasons: dict[str, list[RequirementResult]] = {}
    for result in results:
        if result.verdict is verdict:
            reasons.setdefault(verdict.detail(result.reason), []).append(result)
    if reasons:
        yield f"  {verdict.label}:"
    for reason, affected in list(reasons.items())[:_GROUPS]:
        ids = ", ".join(one.requirement.id for one in affected[:named])
        more = f" and {len(affected) - named} more" if len(affected) > named else ""
        *rows, last = textwrap.wrap(
            f"{ids}{more}{reason and ':'}",
            width,
            initial_indent="    ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
        if "," in ids and len(last) + 1 + len(reason) > width:
            rows, last = [*rows, last], " " * 5
        yield from rows
        yield _clipped(f"{last} {reason}".rstrip(), width)
    if len(reasons) > _GROUPS:
        yield f"    {len(reasons) - _GROUPS} more reasons are in results.json"


def _clipped(text: str, width: int) -> str:
    line = " ".join(text.split("\n"))
    return line if len(line) <= width else line[: width - 3] + "..."
