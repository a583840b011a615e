"""Messages encoded with one specification and decoded with the other, for each change."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sispec.changes import Change, Kind
from sispec.misreading import Decoder, Decoding, Form, Reading, Route
from sispec.model import Spec, SpecError, UnreadableSpec
from sispec.owners import Memory, Owner, memory_before, revision_decoder
from sispec.pairing import field_partners, paired
from sispec.schema import Field, Message, Reserved, Schema, revision_schema, schema_of

OLD, NEW = "old", "new"
_BOTH_HAVE_IT = frozenset(
    {
        Kind.FIELD_RENAMED,
        Kind.FIELD_REPLACED,
        Kind.FIELD_NUMBER,
        Kind.FIELD_TYPE,
        Kind.FIELD_CARDINALITY,
        Kind.FIELD_ONEOF,
        Kind.FIELD_JSON_NAME,
    }
)
OF_VALUES = frozenset(
    {
        Kind.VALUE_ADDED,
        Kind.VALUE_REMOVED,
        Kind.VALUE_RENAMED,
        Kind.VALUE_REPLACED,
        Kind.VALUE_NUMBER,
    }
)


@dataclass(frozen=True, slots=True)
class Carrier:
    """A field of both specifications that holds values of one enum."""

    message: str
    field: str
    new_message: str
    new_field: str


class Exchange:
    """Two peers, one built from the old specification and one from the new one."""

    def __init__(self, old: Spec, new: Spec) -> None:
        """Raises UnreadableSpec for a schema from which no peer can be built."""
        self.old, self.new = old, new
        self.before, self.after = schema_of(old.file), schema_of(new.file)
        self.pairs = paired(self.before, self.after)
        self._back = {b: a for a, b in self.pairs.items()}
        self._old, self._new = _decoder(OLD, old), _decoder(NEW, new)
        self.memory: Memory = memory_before(self.before, self.after)

    def readings(self, change: Change) -> tuple[Reading, ...]:
        """Return what each peer decodes of the other's messages; empty if no message shows it."""
        if change.kind in OF_VALUES:
            between, older = self._values(change), self._older_values(change)
        elif change.kind in _BOTH_HAVE_IT:
            between, older = self._fields(change), self._older_fields(change)
        elif change.kind is Kind.FIELD_ADDED:
            between, older = self._added(change), self._older_fields(change)
        elif change.kind is Kind.FIELD_REMOVED:
            return tuple(self._removed(change))
        elif change.kind is Kind.METHOD_TYPES:
            return tuple(self._methods(change))
        else:
            return ()
        found = tuple(between)
        if any(reading.outcome is Decoding.MISREAD for reading in found):
            return found  # peers of older revisions add nothing
        return (*found, *older)

    def number(self, change: Change) -> int:
        """Return the number of the field or enum value in the new specification."""
        declaration, name = split(change.where)
        return dict(self.members(declaration))[name]

    def old_number(self, change: Change) -> int:
        """Return its number in the old specification."""
        declaration, name = split(change.old_place)
        return dict(_members(self.before, declaration))[name]

    def members(self, declaration: str) -> list[tuple[str, int]]:
        """Return fields or values of a new message or enum, with their numbers."""
        return _members(self.after, declaration)

    def old_members(self, declaration: str) -> list[tuple[str, int]]:
        """Return fields or values of an old declaration; empty for a new one."""
        return _members(self.before, self._back.get(declaration, declaration))

    def message_of(self, side: str, place: str) -> str:
        """Return the message that contains a place, or one with values of its enum; "" if none."""
        schema = self.before if side == OLD else self.after
        inner = place
        while inner and inner not in schema.messages:
            inner = split(inner)[0]
        if inner:
            return inner
        enums = (place, split(place)[0])
        uses = (m.name for m in schema.messages.values() if _has_one_of(m, enums))
        return next(uses, "")

    def named(self, enum: str, number: int) -> str:
        """Return the first old name of a number of a new enum."""
        return self.before.enums[self._back[enum]].named(number)

    def next_free(self, change: Change) -> int:
        """Return the lowest number above every other number in use, used before, or reserved."""
        declaration, name = split(change.where)
        before = {n for n, _ in self.old_members(declaration)}
        meanwhile = {k for n, k in self.members(declaration) if n not in before and n != name}
        taken = meanwhile | {number for _, number in self.old_members(declaration)}
        return self.memory.next_free(declaration, taken, self.reserved(declaration))

    def reserved(self, declaration: str) -> Reserved:
        """Return what a new message or enum reserves."""
        found = self.after.messages.get(declaration) or self.after.enums.get(declaration)
        return found.reserved if found is not None else Reserved()

    def _methods(self, change: Change) -> Iterator[Reading]:
        """Yield every field of the messages of a method whose messages changed."""
        was, now = self.before.methods[change.old_place], self.after.methods[change.where]
        for old_message, new_message in ((was.input, now.input), (was.output, now.output)):
            old, new = self.before.messages[old_message], self.after.messages[new_message]
            if self.pairs.get(old_message) == new_message:
                continue
            there, back = self._route(old_message, new_message)
            for route, ours, theirs in ((there, old, new), (back, new, old)):
                for name, field in ours.fields.items():
                    other = theirs.fields.get(name)
                    same = other is not None and self._is_one_type(field.type, other.type)
                    yield route.pass_field(name, name if same else "", whole=False)

    def _is_one_type(self, one: str, other: str) -> bool:
        """Whether two types, one of each specification, are the same."""
        return one == other or other in (self.pairs.get(one), self._back.get(one))

    def _route(self, old_message: str, new_message: str) -> tuple[Route, Route]:
        """Return the route from old to new, and back."""
        return (
            Route(self._old, self._new, old_message, new_message),
            Route(self._new, self._old, new_message, old_message),
        )

    def _added(self, change: Change) -> Iterator[Reading]:
        message, name = split(change.where)
        _, back = self._route(self._back[message], message)
        yield back.pass_field(name, "")

    def _removed(self, change: Change) -> Iterator[Reading]:
        message, name = split(change.old_place)
        there, _ = self._route(message, self.pairs[message])
        yield there.pass_field(name, "")
        yield there.pass_field(name, "", Form.JSON)

    def _fields(self, change: Change) -> Iterator[Reading]:
        old_message, old_name = split(change.old_place)
        new_message, new_name = split(change.where)
        there, back = self._route(old_message, new_message)
        other = change.kind is Kind.FIELD_REPLACED
        whole = change.kind is not Kind.FIELD_NUMBER
        for form in Form:
            yield there.pass_field(old_name, "" if other else new_name, form, whole=whole)
            yield back.pass_field(new_name, "" if other else old_name, form, whole=whole)
        if change.kind is Kind.FIELD_ONEOF:
            yield from self._together(old_message, new_message)

    def _together(self, old_message: str, new_message: str) -> Iterator[Reading]:
        """Yield messages with one member of each oneof of the writer, and all other fields."""
        before, after = self.before.messages[old_message], self.after.messages[new_message]
        partners = field_partners(before, after)
        back = {b: a for a, b in partners.items()}
        there, return_ = self._route(old_message, new_message)
        sides = (there, before, after, partners), (return_, after, before, back)
        for route, ours, theirs, known in sides:
            in_oneof = [n for n in ours.fields if n in known and theirs.fields[known[n]].oneof]
            names = _settable([ours.fields[n] for n in in_oneof])
            if len(names) > 1:
                yield route.pass_together(names)

    def _values(self, change: Change) -> Iterator[Reading]:
        old_enum, old_name = split(change.old_place)
        new_enum, new_name = split(change.where)
        if change.kind is Kind.VALUE_ADDED:
            old_enum = self._back[new_enum]
        elif change.kind is Kind.VALUE_REMOVED:
            new_enum = self.pairs[old_enum]
        carrier = find_carrier((self.before, old_enum), (self.after, new_enum), self.pairs)
        if carrier is None:
            return
        there, back = self._route(carrier.message, carrier.new_message)
        same = change.kind is not Kind.VALUE_REPLACED
        before, after = self.before.enums[old_enum], self.after.enums[new_enum]
        if old_name in before.values:
            number, former = before.values[old_name], new_name if same else ""
            if change.kind is Kind.VALUE_REMOVED and self.is_alias(change):
                former = after.named(number)
                yield there.pass_value(
                    carrier.field, number, carrier.new_field, former, form=Form.JSON
                )
            yield there.pass_value(carrier.field, number, carrier.new_field, former)
        if new_name in after.values:
            number, former = after.values[new_name], old_name if same else ""
            if self.is_alias(change):
                former = before.named(number)
                yield back.pass_value(
                    carrier.new_field, number, carrier.field, former, form=Form.JSON
                )
            yield back.pass_value(carrier.new_field, number, carrier.field, former)

    def is_alias(self, change: Change) -> bool:
        """Whether an added or removed value is another name of a number that keeps a name."""
        if change.kind not in (Kind.VALUE_ADDED, Kind.VALUE_REMOVED):
            return False
        (old, name), (new, _) = split(change.old_place), split(change.where)
        came = change.kind is Kind.VALUE_ADDED
        before = self.before.enums[self._back[new] if came else old]
        after = self.after.enums[new if came else self.pairs[old]]
        number = (after if came else before).values[name]
        return any(k == number and after.values.get(n) == k for n, k in before.values.items())

    def former_owner(self, change: Change) -> Owner | None:
        """Return the last owner of an added field's number, if the old specification frees it."""
        message, name = split(change.where)
        was, number = self._back.get(message, ""), self.number(change)
        if was not in self.before.messages or self.before.messages[was].owner(number):
            return None
        return next(reversed(self.memory.others(message, number, name)), None)

    def _older_fields(self, change: Change) -> Iterator[Reading]:
        """Yield what peers of older revisions decode if the number belonged to another field."""
        message, name = split(change.where)
        number = self.after.messages[message].fields[name].number
        for owner in self.memory.others(message, number, name):
            before = self.before.messages[self._back[message]].owner(number)
            if before is not None and before.name == owner.name:
                continue  # the old specification has it too: its readings show it
            reader = revision_decoder(owner.last)
            route = Route(self._new, reader, message, owner.declaration)
            reading = route.pass_field(name, "")
            if reading.outcome in (Decoding.MISREAD, Decoding.REFUSED):
                yield reading

    def _older_values(self, change: Change) -> Iterator[Reading]:
        enum, name = split(change.where)
        now = self.after.enums.get(enum)
        if now is None or name not in now.values:
            return
        number = now.values[name]
        if self.is_alias(change):
            return  # peers that misread it did so before
        for owner in self.memory.others(enum, number, name):
            if self.before.enums[self._back[enum]].named(number) == owner.name:
                continue  # the old specification has it too
            older = revision_schema(owner.last)
            then = paired(self.after, older)
            carrier = find_carrier((self.after, enum), (older, owner.declaration), then)
            if carrier is not None:
                reader = revision_decoder(owner.last)
                route = Route(self._new, reader, carrier.message, carrier.new_message)
                yield route.pass_value(carrier.field, number, carrier.new_field)


def _decoder(side: str, spec: Spec) -> Decoder:
    decoder = Decoder(side, spec.file)
    try:
        decoder.check()
    except (ImportError, TypeError) as error:
        message = f"no peer can use this schema: {' '.join(str(error).split())}"
        raise UnreadableSpec(spec.name, [SpecError(message)]) from error
    return decoder


def _members(schema: Schema, declaration: str) -> list[tuple[str, int]]:
    if declaration in schema.enums:
        return list(schema.enums[declaration].values.items())
    message = schema.messages.get(declaration)
    return [(f.name, f.number) for f in message.fields.values()] if message is not None else []


def find_carrier(
    old: tuple[Schema, str], new: tuple[Schema, str], pairs: Mapping[str, str]
) -> Carrier | None:
    """Find a field with one number in both schemas that holds values of the named enums."""
    (before, old_enum), (after, new_enum) = old, new
    for name, message in before.messages.items():
        other = after.messages.get(pairs.get(name, ""))
        if other is None:
            continue
        partners = field_partners(message, other)
        for f in message.fields.values():
            g = other.fields.get(partners.get(f.name, ""))
            if g is not None and (f.type, g.type) == (old_enum, new_enum) and _fits(f, g):
                return Carrier(name, f.name, other.name, g.name)
    return None


def split(place: str) -> tuple[str, str]:
    """Split a place into declaration and member: `NodeInfo.nodeID` is NodeInfo, nodeID."""
    declaration, _, member = place.rpartition(".")
    return declaration, member


def _has_one_of(message: Message, types: Sequence[str]) -> bool:
    return any(f.type in types for f in message.fields.values())


def _fits(old: Field, new: Field) -> bool:
    return (old.number, old.cardinality == "repeated") == (
        new.number,
        new.cardinality == "repeated",
    )


def _settable(fields: Sequence[Field]) -> list[str]:
    """Return the fields that can be set together: one of each oneof, and all others."""
    chosen: list[str] = []
    oneofs: set[str] = set()
    for f in fields:
        if f.oneof not in oneofs:
            chosen.append(f.name)
        if f.oneof:
            oneofs.add(f.oneof)
    return chosen
