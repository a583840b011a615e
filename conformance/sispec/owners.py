"""Owners of numbers: fields and enum values by number, over all known revisions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from siwire import REVISIONS

from sispec.misreading import Decoder
from sispec.naming import Rename, rename_of
from sispec.pairing import paired
from sispec.schema import Reserved, Schema, revision_file, revision_schema

_FORBIDDEN = range(19000, 20000)  # numbers that protobuf reserves


@dataclass(frozen=True, slots=True)
class Owner:
    """A field or enum value that has or had a number."""

    declaration: str  # the message or enum, by the name in those revisions
    name: str
    type: str  # "" for an enum value
    revisions: tuple[str, ...]  # in which it had the number, oldest first

    @property
    def last(self) -> str:
        """Return the newest of them."""
        return self.revisions[-1]

    def __str__(self) -> str:
        first = self.revisions[0]
        span = first if first == self.last else f"{first} to {self.last}"
        return f"{self.declaration}.{self.name} ({span})"


class Memory:
    """The owners of every number in some revisions, by the current names of a schema."""

    def __init__(self, schema: Schema, revisions: Sequence[str]) -> None:
        """`schema` gives the names; `revisions` are those that count, oldest first."""
        self._schema = schema
        self.revisions = tuple(revisions)

    @cached_property
    def _owners(self) -> Mapping[tuple[str, int], tuple[Owner, ...]]:
        found: dict[tuple[str, int], dict[tuple[str, str, str], list[str]]] = {}
        for revision in self.revisions:
            schema = revision_schema(revision)
            now = paired(schema, self._schema)
            for name, message in schema.messages.items():
                for f in message.fields.values():
                    owners = found.setdefault((now.get(name, name), f.number), {})
                    owners.setdefault((name, f.name, f.type), []).append(revision)
            for name, enum in schema.enums.items():
                for value, number in enum.values.items():
                    owners = found.setdefault((now.get(name, name), number), {})
                    owners.setdefault((name, value, ""), []).append(revision)
        return {
            place: tuple(Owner(*who, tuple(when)) for who, when in owners.items())
            for place, owners in found.items()
        }

    def owners(self, declaration: str, number: int) -> tuple[Owner, ...]:
        """Return everything that had `number` in the message or enum, oldest first."""
        return self._owners.get((declaration, number), ())

    def others(self, declaration: str, number: int, name: str) -> tuple[Owner, ...]:
        """Return the owners that `name` is not a respelling of."""
        same = (Rename.SPELLING, Rename.TYPO)
        return tuple(
            owner
            for owner in self.owners(declaration, number)
            if owner.name != name and rename_of(owner.name, name) not in same
        )

    def next_free(self, declaration: str, taken: Collection[int], reserved: Reserved) -> int:
        """Return the lowest unreserved number above `taken` and all former numbers there."""
        owned = {number for where, number in self._owners if where == declaration}
        free = max(owned.union(taken), default=0) + 1
        while free in _FORBIDDEN or reserved.holds(free):
            free += 1
        return free


def memory_before(old: Schema, new: Schema) -> Memory:
    """Return the owners that count for a change from `old` to `new`.

    They are those of every revision up to the one that `old` resembles most: later history was
    unknown then.
    """
    names = sorted(REVISIONS)
    ours = _members(old)
    nearest = max(names, key=lambda name: _resemblance(ours, _members_of(name)))
    if _resemblance(ours, _members_of(nearest)) == 0:
        return Memory(new, ())
    return Memory(new, names[: names.index(nearest) + 1])


@cache
def revision_decoder(name: str) -> Decoder:
    """Return the messages of a known revision."""
    return Decoder(name, revision_file(name))


def _resemblance(ours: set[str], theirs: set[str]) -> float:
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 0.0


@cache
def _members_of(revision: str) -> set[str]:
    return _members(revision_schema(revision))


def _members(schema: Schema) -> set[str]:
    fields = {f"{m.name}.{f.name} {f}" for m in schema.messages.values() for f in m.fields.values()}
    values = {f"{e.name}.{v} {n}" for e in schema.enums.values() for v, n in e.values.items()}
    return fields | values | set(schema.methods)
