"""Compares the rules of two specifications: sentences added, removed or changed in strength.

A rule is a sentence with modal words (`Sentence.is_rule`). All other prose is ignored.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum, IntEnum
from itertools import chain
from typing import Final

from siconform.catalogue import Requirement
from siconform.catalogue.texts import normalised

from sispec.model import Sentence, Spec
from sispec.places import Carriers, SpecIndex, name_of, nearest_revision, sources_of

ALIKE_HERE: Final = 0.5
"""Minimum share of common words for a reworded sentence in the same place."""
ALIKE_ELSEWHERE: Final = 0.75
"""The same for sentences of different places, where accidental similarity is common."""
_NEGATIONS: Final = re.compile(
    r"\b(?:not|never|no|none|neither|nor|cannot|without|unless|n't)\b|n['\u2019]t\b", re.IGNORECASE
)

_NUMBERED: Final = re.compile(r"(?<=\")(?:\d+\.)*\d+\.?\s+|^(?:\d+\.)*\d+\.?\s+")
"""The number of a heading, which changes with headings before it."""
_SIGNS: Final = re.compile(r"[<>]=?(?=\s*-?\d)|[!=]=|(?<![\w-])-(?=\d)")


class Strength(IntEnum):
    """How binding a sentence is, by its strongest modal word."""

    STATES = 0
    PERMITS = 1
    RECOMMENDS = 2
    DEMANDS = 3


_STRENGTHS: Final = {
    "may": Strength.PERMITS,
    "should": Strength.RECOMMENDS,
    "should not": Strength.RECOMMENDS,
}
"""Modal verbs that do not demand; "may not" forbids."""
_VERDICTS: Final = frozenset({"reject", "error", "ignored"})
"""Modal words that are not modal verbs: what should be rejected is recommended."""


class RuleChangeKind(Enum):
    """What happened to a rule."""

    APPEARED = "appeared"
    VANISHED = "vanished"
    RAISED = "is more binding"
    LOWERED = "is less binding"
    NEGATED = "gained or lost a negation"
    REWORDED = "is worded differently"
    MOVED = "stands elsewhere"


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A changed rule: its sentence before and after, and the requirements that cite it."""

    kind: RuleChangeKind
    old: Sentence | None  # None if it appeared
    new: Sentence | None  # None if it vanished
    carried: tuple[str, ...] = ()
    """Requirements of the old revision that cite the old sentence."""
    carries: tuple[str, ...] = ()
    """Requirements of any revision that cite the new sentence."""

    @property
    def is_uncovered(self) -> bool:
        """Whether there is a new sentence that no requirement covers."""
        return self.new is not None and not self.carries

    @property
    def sentence(self) -> Sentence:
        """Return the new sentence, or the old one if it vanished."""
        found = self.new or self.old
        if found is None:
            raise ValueError("a change of a rule has a sentence before or after")
        return found


def strength(sentence: Sentence) -> Strength:
    """Return the strength of its strongest modal verb, or a demand if it has none."""
    steps = [word for word in sentence.words if word not in _VERDICTS]
    if steps:
        return max(_STRENGTHS.get(step, Strength.DEMANDS) for step in steps)
    return Strength.DEMANDS if sentence.words else Strength.STATES


def compare_rules(
    old: Spec, new: Spec, requirements: Sequence[Requirement] = ()
) -> tuple[RuleChange, ...]:
    """Return the rules that changed, in the order of the new specification, then vanished ones.

    Nothing if one side is a schema alone, and only comments if one is a .proto file: its silence
    does not remove a rule. Given requirements, each change lists those citing it.
    """
    if not (old.sentences and new.sentences):
        return ()
    comments_alone = not (old.has_text and new.has_text)
    sent = [
        [one for one in spec.sentences if name_of(one.place)] if comments_alone else spec.sentences
        for spec in (old, new)
    ]
    changes = [change for before, after in _pairs(*sent) if (change := _change(before, after))]
    changes.sort(key=lambda change: (change.new is None, change.sentence.line))
    if not requirements:
        return tuple(changes)
    return tuple(_with_carriers(changes, old, new, requirements))


def _with_carriers(
    changes: Iterable[RuleChange], old: Spec, new: Spec, requirements: Sequence[Requirement]
) -> Iterator[RuleChange]:
    before, after = SpecIndex(old), SpecIndex(new)
    revision = nearest_revision(before, requirements)
    of_old = Carriers(before, sources_of(requirements, revision))
    of_new = Carriers(after, sources_of(requirements))
    for change in changes:
        carried = of_old.of(change.old.text, change.old.place) if change.old else ()
        carries = of_new.of(change.new.text, change.new.place) if change.new else ()
        yield RuleChange(change.kind, change.old, change.new, carried, carries)


def _change(old: Sentence | None, new: Sentence | None) -> RuleChange | None:
    """Return the change of one sentence; None if it is not a rule or unchanged."""
    if old is None or new is None:
        present = new or old
        if present is None or not _is_rule(present):
            return None
        kind = RuleChangeKind.VANISHED if new is None else RuleChangeKind.APPEARED
        return RuleChange(kind, old, new)
    if not (_is_rule(old) or _is_rule(new)):
        return None
    how = _reworded(old, new)
    return None if how is None else RuleChange(how, old, new)


def _reworded(old: Sentence, new: Sentence) -> RuleChangeKind | None:
    """Return the difference between two versions of a rule; None if there is none."""
    if _sent(old) == _sent(new):
        return RuleChangeKind.MOVED if _place(old) != _place(new) else None
    negated = _negations(old) % 2 != _negations(new) % 2
    if negated and _without_not(old) == _without_not(new):
        return RuleChangeKind.NEGATED
    if strength(old) is not strength(new):
        raised = strength(new) > strength(old)
        return RuleChangeKind.RAISED if raised else RuleChangeKind.LOWERED
    return RuleChangeKind.NEGATED if negated else RuleChangeKind.REWORDED


Pair = tuple[Sentence | None, Sentence | None]


def _pairs(old: Sequence[Sentence], new: Sequence[Sentence]) -> Iterator[Pair]:
    """Pair each sentence: identical ones first, then the most similar, then unpaired ones."""
    left_old, left_new, same = _without_equal(list(old), list(new))
    yield from same
    for least, same_place in ((ALIKE_HERE, True), (ALIKE_ELSEWHERE, False)):
        alike = _alike(left_old, left_new, least, same_place=same_place)
        yield from alike
        paired = {id(sentence) for pair in alike for sentence in pair}
        left_old = [sentence for sentence in left_old if id(sentence) not in paired]
        left_new = [sentence for sentence in left_new if id(sentence) not in paired]
    yield from ((before, None) for before in left_old)
    yield from ((None, after) for after in left_new)


def _without_equal(
    old: list[Sentence], new: list[Sentence]
) -> tuple[list[Sentence], list[Sentence], list[Pair]]:
    """Return the rest after pairing identical sentences of one place, then of any place."""
    pairs: list[Pair] = []
    for with_place in (True, False):
        waiting: defaultdict[tuple[str, str], list[Sentence]] = defaultdict(list)
        for sentence in new:
            waiting[_identity(sentence, with_place=with_place)].append(sentence)
        left: list[Sentence] = []
        for sentence in old:
            like = waiting[_identity(sentence, with_place=with_place)]
            if like:
                pairs.append((sentence, like.pop(0)))
            else:
                left.append(sentence)
        old = left
        new = sorted((s for like in waiting.values() for s in like), key=lambda one: one.line)
    return old, new, pairs


def _alike(
    old: Sequence[Sentence], new: Sequence[Sentence], least: float, *, same_place: bool
) -> list[tuple[Sentence, Sentence]]:
    """Yield pairs with a rule and enough words in common, each sentence once."""
    words_of = [normalised(one.text).split() for one in new]
    having: defaultdict[tuple[str, str, int], list[int]] = defaultdict(list)
    for j, after in enumerate(new):
        for token in _tokens(after, words_of[j], same_place=same_place):
            having[token].append(j)
    found: list[tuple[float, int, int]] = []
    for i, before in enumerate(old):
        words = normalised(before.text).split()
        tokens = _tokens(before, words, same_place=same_place)
        common = Counter(chain.from_iterable(having.get(token, ()) for token in tokens))
        for j, shared in common.items():
            most = 2 * shared / (len(words) + len(words_of[j]))  # upper bound of the ratio
            if most >= least and (_is_rule(before) or _is_rule(new[j])):
                matcher = SequenceMatcher(None, words, words_of[j], autojunk=False)
                found.append((matcher.ratio(), i, j))
    return _best(found, old, new, least)


def _tokens(
    sentence: Sentence, words: Sequence[str], *, same_place: bool
) -> Iterator[tuple[str, str, int]]:
    """Return the words, with the place if that matters, each with its occurrence number."""
    place = _place(sentence) if same_place else ""
    times: Counter[str] = Counter()
    for word in words:
        times[word] += 1
        yield place, word, times[word]


def _best(
    found: Iterable[tuple[float, int, int]],
    old: Sequence[Sentence],
    new: Sequence[Sentence],
    least: float,
) -> list[tuple[Sentence, Sentence]]:
    """Yield the most similar first; ties in document order."""
    pairs: list[tuple[Sentence, Sentence]] = []
    taken_old: set[int] = set()
    taken_new: set[int] = set()
    for ratio, i, j in sorted(found, key=lambda one: (-one[0], one[1], one[2])):
        if ratio < least or i in taken_old or j in taken_new:
            continue
        taken_old.add(i)
        taken_new.add(j)
        pairs.append((old[i], new[j]))
    return pairs


def _is_rule(sentence: Sentence) -> bool:
    """Whether it demands something; a caption, `Rejected allocation:`, does not."""
    is_caption = sentence.text.rstrip().endswith(":") and _VERDICTS.issuperset(sentence.words)
    return sentence.is_rule and not is_caption


def _sent(sentence: Sentence) -> str:
    """Return the words, and the signs and comparisons between them that affect the meaning."""
    return f"{normalised(sentence.text)} {' '.join(_SIGNS.findall(sentence.text))}"


def _identity(sentence: Sentence, *, with_place: bool) -> tuple[str, str]:
    return _sent(sentence), _place(sentence) if with_place else ""


def _place(sentence: Sentence) -> str:
    """Return its place; a respelled name is the same place."""
    name = name_of(sentence.place).replace("_", "").lower()
    return name or _NUMBERED.sub("", sentence.place) or _NUMBERED.sub("", sentence.section)


def _without_not(sentence: Sentence) -> list[str]:
    return [word.removesuffix(" not") for word in sentence.words]


def _negations(sentence: Sentence) -> int:
    return len(_NEGATIONS.findall(sentence.text))
