"""What a person must decide about a new revision, each with what there is to go by."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from siconform.catalogue import Requirement
from siconform.spec.changes import Change, Kind
from siconform.spec.grounds import NEW_HERE, OF_THE_FILE, RESERVED, TAKEN_AWAY
from siconform.spec.laying.golden_messages import GoldenMessages
from siconform.spec.laying.requirement_work import RequirementWork, SourceWork
from siconform.spec.laying.wire_records import ConstantWork, Succession, python_name
from siconform.spec.model import Sentence
from siconform.spec.places import Standing
from siconform.spec.sources import text_name

_OF_API: Final = frozenset({Kind.API_ADDED, Kind.API_REMOVED, Kind.API_SIGNATURE})
_PLACES_SHOWN: Final = 3


class Topic(Enum):
    """What a decision is about, in the order in which they are made."""

    TEXT = "how the text was read"
    NEW = "new, and no rule says what it is for: who reads and writes it?"
    CHANGED = "other than before: does it mean the same?"
    GONE = "gone: which code and which rule did with it?"
    CAPABILITY = "capabilities"
    CONSTANT = "constants"
    END = "requirements none of whose sentences is left: `until` and `retired`, or a new source"
    GO_ON = "requirements with sentences that are gone or read differently: the same rule?"
    BACK = "requirements that had ended and whose sentences are back"
    RULE = "rules that no requirement covers"
    MESSAGE = "messages that codec and dialect use and that are other ones now"
    GOLDEN = "golden messages"
    TEST = "files that name the revision before, and may have to name this one"
    NAME = "names and the default"


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing a person must decide, as a sentence."""

    topic: Topic
    says: str


def of_changes(changes: Iterable[Change]) -> Iterator[Decision]:
    """The declarations that are new, other or gone; what is reserved is settled by the text."""
    for change in changes:
        if change.kind in _OF_API:
            says = (
                f"{change}: conformance/siconform/spec/go_api.py has the methods of each revision"
            )
            yield Decision(Topic.CHANGED, says)
        elif change.kind.name.startswith("CONSTANT"):
            continue
        elif change.kind in NEW_HERE:
            yield Decision(Topic.NEW, str(change))
        elif change.kind in RESERVED:
            if change.kind is Kind.RESERVED_REMOVED:
                yield Decision(Topic.CHANGED, str(change))
        elif change.kind in TAKEN_AWAY and not change.new:
            yield Decision(Topic.GONE, str(change))
        elif change.kind not in OF_THE_FILE:
            yield Decision(Topic.CHANGED, str(change))
        else:
            yield Decision(Topic.CHANGED, f"{change}: proto/tests compare it with the table")


def of_capabilities(gone: Sequence[str], new: Sequence[str]) -> Iterator[Decision]:
    """Capabilities that were recorded, and the question whether there are new ones."""
    for name in gone:
        yield Decision(Topic.CAPABILITY, f"{name} is recorded as gone: which verbs ask for it?")
    for name in new:
        yield Decision(Topic.CAPABILITY, f"{name} is recorded: do its messages mean the same?")
    says = "does anybody who is neither codec nor dialect ask for something new of this text?"
    yield Decision(Topic.CAPABILITY, f"{says} Then it is a Capability, and DECLARED has it")


def of_constants(work: ConstantWork) -> Iterator[Decision]:
    """Constants that are gone and new, and those that cannot be recorded."""
    for one in work.gone:
        yield Decision(Topic.CONSTANT, f'{one.name} ("{one.value}") is gone: who goes by it?')
    for one in work.new:
        says = f'{one.name} ("{one.value}") is new: what is it for?'
        ours = python_name(one.name)
        if text_name(ours) != one.name:
            says += (
                f" Its name is {ours} in Python, which conformance/siconform/spec/sources.py would "
                f"take for {text_name(ours)}"
            )
        yield Decision(Topic.CONSTANT, says)
    for was, one in work.revalued:
        says = (
            f'{one.name} is "{one.value}" and was "{was.value}": siwire.constants has one value by '
            "name, so it is not recorded"
        )
        yield Decision(Topic.CONSTANT, says)


def of_requirements(work: Iterable[RequirementWork], of: Succession) -> Iterator[Decision]:
    """Requirements with sources that do not stand any more."""
    for one in work:
        identifier = f"{one.requirement.id} ({one.requirement.title})"
        if one.has_lost_all:
            places = _places([source.source.where for source in one.sources])
            yield Decision(Topic.END, f"{identifier}: {places}; it ends with {of.before}?")
        elif one.to_decide:
            stand = len(one.sources) - len(one.to_decide)
            said = [_said(source, of.name) for source in one.to_decide]
            says = f"{identifier}, {stand} of {len(one.sources)} sources stand: {'; '.join(said)}"
            yield Decision(Topic.GO_ON, says)
        for moved in one.moved:
            says = (
                f"{one.requirement.id}: {moved.source.where} is {moved.moved_to} from {of.name} "
                "on, written: the same rule there?"
            )
            yield Decision(Topic.GO_ON, says)


def _said(work: SourceWork, name: str) -> str:
    if work.standing is Standing.GONE:
        return f"{work.source.where} is gone"
    if work.reads:
        entry = f"{{where: {work.source.where}, since: {name}, sha256: {work.reads}}}"
        return f"{work.source.where} reads differently: {entry} if it is the same rule"
    return f"{work.source.where} does not have the sentence"


def of_returning(requirements: Iterable[Requirement]) -> Iterator[Decision]:
    """Requirements that had ended and whose sentences the text has again."""
    for one in requirements:
        yield Decision(Topic.BACK, f"{one.id} ({one.title}), which ended: {one.retired}")


def of_rules(sentences: Iterable[Sentence]) -> Iterator[Decision]:
    """Rule sentences by their place; the text itself is not repeated."""
    for one in sentences:
        words = f"{', '.join(one.words)}" if one.words else "a rule"
        yield Decision(Topic.RULE, f"line {one.line}, {one.place or one.section}: {words}")


def of_messages(left: Mapping[str, Sequence[str]], changed: Iterable[str]) -> Iterator[Decision]:
    """Unions that a message left, by path, and messages that changed otherwise."""
    for name in changed:
        yield Decision(Topic.MESSAGE, f"{name} has other fields than before")
    for path, unions in left.items():
        for union in unions:
            says = f"{path}: {union} is left at the older revisions, as the message lost something"
            yield Decision(Topic.MESSAGE, says)


def of_golden(found: GoldenMessages) -> Iterator[Decision]:
    """What became of the golden messages of the revision before."""
    for case, lost in found.dropped.items():
        yield Decision(Topic.GOLDEN, f"{case} does not go on, without {_places(lost)}")
    for case, lost in found.cut.items():
        yield Decision(Topic.GOLDEN, f"{case} goes on without {_places(lost)}: telling still?")
    for case, only in found.added.items():
        yield Decision(Topic.GOLDEN, f"{case} has made-up values, for {_places(only)}: telling?")
    for field in found.untravelled:
        yield Decision(Topic.GOLDEN, f"{field} has no value that travels: it needs a message")


def of_tests(files: Mapping[str, str], of: Succession) -> Iterator[Decision]:
    """Files of tests and pages that name the revision before."""
    named = re.compile(rf"{re.escape(of.before)}|\b{of.package_before}\b")
    for path, text in sorted(files.items()):
        lines = [str(at) for at, line in enumerate(text.split("\n"), 1) if named.search(line)]
        if lines:
            shown = ", ".join(lines[:_PLACES_SHOWN])
            more = len(lines) - _PLACES_SHOWN
            says = f"{path}, line{'s' if len(lines) > 1 else ''} {shown}"
            yield Decision(Topic.TEST, says + (f" and {more} more" if more > 0 else ""))
    says = "conformance/selftest/test_catalogue.py counts requirements by revision, in COUNTS"
    yield Decision(Topic.TEST, says)


def of_names(of: Succession) -> Iterator[Decision]:
    """Aliases, near lines and the default, about which a text says nothing."""
    yield Decision(Topic.NAME, f"which release lines have exactly {of.name}? They are its aliases")
    yield Decision(Topic.NAME, "which ones come near? They are in NEAR_LINES, with what differs")
    says = f"{of.name} is not the default: DEFAULT_REVISION and doctor/revision.py say which is"
    yield Decision(Topic.NAME, says)
    says = f"proto/si/{of.name}/si.proto has no comments: a text's own do not carry over"
    yield Decision(Topic.NAME, says)


def _places(names: Iterable[str]) -> str:
    known = list(dict.fromkeys(names))
    more = len(known) - _PLACES_SHOWN
    shown = ", ".join(known[:_PLACES_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown
