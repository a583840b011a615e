"""The requirements based on a schema element, beyond those whose sources cite it.

An element is a field, an enum value or their declaration. The catalogue, tests, monitors, dialects
and mutants are searched.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from siconform.catalogue import Requirement

from sispec.changes import Change
from sispec.citations import Citation, kit_names
from sispec.impact_reasons import (
    NEW_HERE,
    OF_THE_FILE,
    RESERVED,
    TAKEN_AWAY,
    WORDS_ONLY,
    Reason,
    ReasonKind,
    is_distinct,
)
from sispec.places import name_of
from sispec.schema import Schema

_SILENT: Final = NEW_HERE | RESERVED | OF_THE_FILE | WORDS_ONLY
_OF_PROTOBUF: Final = frozenset({"message", "type", "value"})
"""Fields whose name is used for any message and any field."""
_ID: Final = re.compile(r"SI-[A-Z]+-\d{3}")


@dataclass(frozen=True)
class Traceability:
    """What is known of the requirements of a revision in addition to their sources."""

    schema: Schema
    revision: str
    citations: Sequence[Citation]

    def reasons(self, requirement: Requirement, changes: Iterable[Change]) -> Iterator[Reason]:
        """Yield why a requirement is based on changed elements."""
        sent = _Sent(requirement, self.revision)
        citations = self.by_requirement.get(requirement.id, ())
        for change in changes:
            if change.kind not in _SILENT:
                for element in self._elements(change):
                    kind = self._reason_kind(element, sent, citations)
                    if kind is not None:
                        yield Reason(kind, element, change)

    def _reason_kind(
        self, element: str, sent: "_Sent", citations: Sequence[Citation]
    ) -> ReasonKind | None:
        owner, _, name = element.rpartition(".")
        if self._is_stated(owner, name, sent):
            return ReasonKind.STATED
        if self._is_meant(owner, name, sent):
            ours = self._kit_names.get(name, frozenset())
            if ours and any(ours & one.uses or name in one.sets for one in citations):
                return ReasonKind.USED
        if any(name in one.sets and owner in self._reached(one.words) for one in citations):
            return ReasonKind.ALTERED
        return None

    def _is_stated(self, owner: str, name: str, sent: "_Sent") -> bool:
        """Whether a rule has a name that is not an English word, or a value of the field."""
        if not sent.words.isdisjoint(self._values_of(owner, name)):
            return sent.names(owner)
        if name not in sent.words:
            return False
        if sent.names_within(owner, name):
            return True
        is_only = len(self._owners[name]) == 1 or sent.names(owner)
        return is_only and (is_distinct(name) or (owner in self.schema.enums and name.isupper()))

    def _is_meant(self, owner: str, name: str, sent: "_Sent") -> bool:
        """Whether a rule has the word that is the field's name, and may mean the field."""
        if name not in sent.words - _OF_PROTOBUF:
            return False
        return sent.names(owner) or (len(self._owners[name]) == 1 and self._is_alone(name))

    def _values_of(self, owner: str, name: str) -> Iterable[str]:
        """Return the values of an enum field."""
        message = self.schema.messages.get(owner)
        enum = self.schema.enums.get(message.fields[name].type) if message else None
        return enum.values if enum else ()

    def _is_alone(self, name: str) -> bool:
        """Whether nothing else in the SI has a kit name of this field."""
        ours = self._kit_names.get(name, frozenset())
        others = (names for other, names in self._kit_names.items() if other != name)
        return not any(ours & names for names in others)

    def _elements(self, change: Change) -> Iterator[str]:
        """Yield the field or value that a change is about; all values of a removed enum."""
        place = change.old_place
        if place in self.schema.enums and change.kind in TAKEN_AWAY:
            yield from (f"{place}.{value}" for value in self.schema.enums[place].values)
        elif place in self._declared:
            yield place

    @cached_property
    def _declared(self) -> frozenset[str]:
        fields = (f"{m.name}.{name}" for m in self.schema.messages.values() for name in m.fields)
        values = (f"{e.name}.{name}" for e in self.schema.enums.values() for name in e.values)
        return frozenset((*fields, *values))

    @cached_property
    def _owners(self) -> Mapping[str, list[str]]:
        owners: defaultdict[str, list[str]] = defaultdict(list)
        for element in self._declared:
            owner, _, name = element.rpartition(".")
            owners[name].append(owner)
        return owners

    @cached_property
    def _kit_names(self) -> Mapping[str, frozenset[str]]:
        """Return kit names of fields with a meaning themselves, without lists of such fields."""
        messages = self.schema.messages
        fields = [field for one in messages.values() for field in one.fields.values()]
        return kit_names(
            field.name
            for field in fields
            if not (field.cardinality == "repeated" and field.type in messages)
        )

    @cached_property
    def by_requirement(self) -> Mapping[str, Sequence[Citation]]:
        """Return the tests, monitors and mutants that cite each requirement."""
        found: defaultdict[str, list[Citation]] = defaultdict(list)
        for one in self.citations:
            for identifier in one.requirements:
                found[identifier].append(one)
        return found

    def _reached(self, words: frozenset[str]) -> set[str]:
        """Return the named messages, and those in their fields that are named, too."""
        waiting = [name for name in self.schema.messages if name in words]
        found = set(waiting)
        while waiting:
            for field in self.schema.messages[waiting.pop()].fields.values():
                if field.name in words and field.type in self.schema.messages.keys() - found:
                    found.add(field.type)
                    waiting.append(field.type)
        return found


class _Sent:
    """The words of a requirement in the catalogue, and the places it names."""

    def __init__(self, requirement: Requirement, revision: str) -> None:
        one = requirement
        text = f"{one.text} {one.given} {one.when} {one.then} {one.control}"
        self._text = _ID.sub("", text)
        self.words = frozenset(re.findall(r"\w+", self._text))
        self._places = {name_of(s.where) for s in one.sources if s.revision == revision}

    def names(self, owner: str) -> bool:
        """Whether a message or an enum is named, or the thing it is about: `ask`."""
        if owner in self.words or any(f"{p}.".startswith(f"{owner}.") for p in self._places):
            return True
        *before, last = re.findall(r"[A-Z][a-z]*", owner.rpartition(".")[2])
        needed = [word for word in before if word.endswith("ed")] + [last]  # `rejected`, `node`
        return all({word.lower(), f"{word.lower()}s"} & self.words for word in needed)

    def names_within(self, owner: str, name: str) -> bool:
        """Whether a member is named together with its declaration: `NodeInfo.action`."""
        place = f"{owner.rpartition('.')[2]}.{name}"
        return re.search(rf"\b{re.escape(place)}\b", self._text) is not None
