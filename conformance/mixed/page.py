"""docs/mixed-revisions.md: what pairs of revisions make of each other, with the bytes."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from siwire import REVISIONS, Capability

from mixed.bridge import carried
from mixed.experiment import Pair, Results, worst
from mixed.outcomes import Finding, Outcome
from mixed.play import Result
from mixed.sentences import BRIDGE, BYTES, HEAD, MEANINGS, NO_WORDS
from mixed.steps import STEPS

_STEPS: Final = {step.name: step for step in STEPS}
_UNKNOWN: Final = re.compile(
    r"(?<![\w\"])(\d+)(?=: | \{)"
)  # fields of which only the number is seen


Gist = tuple[object, ...]


@dataclass
class Bytes:
    """One message for each thing that is misread, by their numbers on the page."""

    examples: dict[Gist, Finding] = field(default_factory=dict)
    pairs: defaultdict[Gist, dict[Pair, None]] = field(default_factory=lambda: defaultdict(dict))

    def told(self, pairs: Iterable[Pair], finding: Finding) -> str:
        """The sentence, with the number of a message that shows the same."""
        exchange = finding.exchange
        if exchange is None or finding.outcome is not Outcome.MISREAD:
            return _cell(finding.says)
        unseen = frozenset(_UNKNOWN.findall(exchange.reads))
        gist = (finding.gist, exchange.by_rm, exchange.message, exchange.read_as, unseen)
        self.examples.setdefault(gist, finding)
        self.pairs[gist].update(dict.fromkeys(pairs))
        number = list(self.examples).index(gist) + 1
        return f"{_cell(finding.says)} ([{number}](#message-{number}))"


def page(results: Results) -> str:
    """The whole page in Markdown."""
    shown = Bytes()
    parts = [
        HEAD,
        "\n".join(_meanings()),
        "\n".join(_matrix(results)),
        *_groups(results, shown),
        NO_WORDS,
        "\n".join(_without_words(results)),
        BRIDGE,
        *_bridges(results, shown),
        BYTES,
        *_bytes(shown),
    ]
    return "\n\n".join(parts) + "\n"


def _meanings() -> Iterator[str]:
    yield "| outcome | what it is |\n|---|---|"
    for outcome in sorted(Outcome, key=lambda one: one.badness):
        yield f"| {outcome.value} | {MEANINGS[outcome]} |"


def _matrix(results: Results) -> Iterator[str]:
    names = list(dict.fromkeys(pair.rm for pair in results))
    yield "## Pairs\n"
    yield "The worst outcome of each: a row is the RM's revision, a column the scheduler's.\n"
    yield f"| RM \\ scheduler | {' | '.join(names)} |"
    yield "|---" * (len(names) + 1) + "|"
    for rm in names:
        outcomes = [worst(results[Pair(rm, scheduler)]) for scheduler in names]
        yield f"| **{rm}** | {' | '.join(one.value for one in outcomes)} |"


# Pairs of equal outcome


def _groups(results: Results, shown: Bytes) -> Iterator[str]:
    groups: defaultdict[tuple[object, ...], list[Pair]] = defaultdict(list)
    for pair, of_pair in results.items():
        groups[_signature(of_pair)].append(pair)
    ordered = sorted(groups.values(), key=lambda pairs: _order(results, pairs[0]))
    for pairs in ordered:
        yield f"### {_named(pairs)}: {worst(results[pairs[0]]).value}"
        yield "\n".join(_group(results[pairs[0]], pairs, shown))


def _order(results: Results, pair: Pair) -> tuple[int, str, str]:
    return -worst(results[pair]).badness, pair.rm, pair.scheduler


def _signature(results: Mapping[str, Result]) -> tuple[object, ...]:
    """What is equal of pairs that are told together: everything but what has no words."""
    return tuple(
        (name, result.outcome, tuple(one.says for one in result.findings))
        for name, result in results.items()
        if result.outcome not in (Outcome.NO_WORDS, Outcome.UNDERSTOOD)
    )


def _named(pairs: Iterable[Pair]) -> str:
    """The pairs as "A, B with C, D", those of the same schedulers together."""
    schedulers: defaultdict[str, list[str]] = defaultdict(list)
    for pair in sorted(pairs, key=lambda one: (one.rm, one.scheduler)):
        schedulers[pair.rm].append(pair.scheduler)
    rms: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for rm, of_it in schedulers.items():
        rms[tuple(of_it)].append(rm)
    return "; ".join(f"{', '.join(rm)} with {', '.join(of_it)}" for of_it, rm in rms.items())


def _group(results: Mapping[str, Result], pairs: Sequence[Pair], shown: Bytes) -> Iterator[str]:
    rows: defaultdict[tuple[Outcome, tuple[str, ...]], list[str]] = defaultdict(list)
    for name, result in results.items():
        if result.outcome not in (Outcome.NO_WORDS, Outcome.UNDERSTOOD):
            told = tuple(shown.told(pairs, one) for one in result.findings)
            rows[result.outcome, told].append(name)
    if not rows:
        yield "Every step is understood as it is meant, as far as the RM has words for it."
        return
    yield "| what the RM does | outcome | what shows it |\n|---|---|---|"
    for (outcome, told), names in sorted(rows.items(), key=lambda row: -row[0][0].badness):
        titles = "<br>".join(_titles(names, results))
        yield f"| {titles} | {outcome.value} | {'<br>'.join(told)} |"
    understood = [name for name, one in results.items() if one.outcome is Outcome.UNDERSTOOD]
    titles = "; ".join(_STEPS[name].title for name in understood)
    yield f"\nUnderstood as it is meant ({len(understood)} of {_with_words(results)}): {titles}."


def _with_words(results: Mapping[str, Result]) -> int:
    return sum(1 for one in results.values() if one.outcome is not Outcome.NO_WORDS)


def _titles(names: Sequence[str], results: Mapping[str, Result]) -> Iterator[str]:
    """Their titles; where they are all there is of an area, and several, that is said instead."""
    for area in dict.fromkeys(step.area for step in STEPS):
        here = [name for name in names if _STEPS[name].area == area]
        of_area = [
            name
            for name, one in results.items()
            if _STEPS[name].area == area and one.outcome is not Outcome.NO_WORDS
        ]
        if here == of_area and len(here) > 1:
            yield f"everything about {area} ({len(here)} steps)"
        else:
            yield from (_STEPS[name].title for name in here)


def _without_words(results: Results) -> Iterator[str]:
    yield "| revision | what its RM cannot say |\n|---|---|"
    for pair, of_pair in results.items():
        if pair.rm == pair.scheduler:
            says = [
                result.findings[0].says
                for result in of_pair.values()
                if result.outcome is Outcome.NO_WORDS
            ]
            yield f"| {pair.rm} | {'; '.join(dict.fromkeys(says))} |"


# Between one stream and three


def _bridges(results: Results, shown: Bytes) -> Iterator[str]:
    groups: defaultdict[tuple[tuple[Outcome, str], ...], list[Pair]] = defaultdict(list)
    findings: dict[Pair, list[Finding]] = {}
    for pair in results:
        rm, scheduler = REVISIONS[pair.rm], REVISIONS[pair.scheduler]
        one_stream = Capability.ONE_UPDATE_STREAM
        if rm.can(one_stream) != scheduler.can(one_stream):
            said = results[Pair(pair.rm, pair.rm)].values()
            answered = results[Pair(pair.scheduler, pair.scheduler)].values()
            findings[pair] = [
                *carried(rm, scheduler, said, by_rm=True),
                *carried(scheduler, rm, answered, by_rm=False),
            ]
            groups[tuple((one.outcome, one.says) for one in findings[pair])].append(pair)
    for pairs in groups.values():
        yield f"### {_named(pairs)}, with a bridge"
        rows = sorted(findings[pairs[0]], key=lambda one: -one.outcome.badness)
        lines = [f"| {one.outcome.value} | {shown.told(pairs, one)} |" for one in rows]
        yield "\n".join(["| outcome | what shows it |\n|---|---|", *lines])


# The messages


def _bytes(shown: Bytes) -> Iterator[str]:
    for number, (gist, finding) in enumerate(shown.examples.items(), start=1):
        exchange = finding.exchange
        assert exchange is not None  # noqa: S101  # of such findings only
        sender, receiver = ("RM", "scheduler") if exchange.by_rm else ("scheduler", "RM")
        yield (
            f'<a id="message-{number}"></a>**{number}.** {_named(shown.pairs[gist])}: '
            f"{_cell(finding.says)}.\n\n"
            f"- {exchange.message}, by the {sender}: `{exchange.shown.hex()}`\n"
            f"- as the {sender} means it: {_code(exchange.means)}\n"
            f"- as the {receiver} reads it ({exchange.read_as}): {_code(exchange.reads)}"
        )


def _code(text: str) -> str:
    return f"`{text.strip()}`" if text.strip() else "nothing"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
