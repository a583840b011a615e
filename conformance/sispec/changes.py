"""All changes between two specifications: schema, constants, Go API and comments."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from sispec.comments import comments_of, states_otherwise
from sispec.compiling import line_of_path
from sispec.go_code import types_of
from sispec.model import Spec
from sispec.naming import Rename, rename_of
from sispec.pairing import (
    constant_partners,
    field_partners,
    in_interface,
    interface_partners,
    only,
    paired,
    translated,
)
from sispec.schema import Enumeration, Field, Message, Method, Reserved, schema_of

_PACKAGE, _SYNTAX, _GO_PACKAGE = 2, 12, (8, 11)  # in FileDescriptorProto


class Kind(Enum):
    """Kind of a change, as reports name it."""

    PACKAGE = "package changed"
    OPTION = "file option changed"
    SERVICE_ADDED = "service added"
    SERVICE_REMOVED = "service removed"
    METHOD_ADDED = "method added"
    METHOD_REMOVED = "method removed"
    METHOD_TYPES = "method messages changed"
    METHOD_STREAMING = "streaming changed"
    MESSAGE_ADDED = "message added"
    MESSAGE_REMOVED = "message removed"
    MESSAGE_RENAMED = "message renamed"
    FIELD_ADDED = "field added"
    FIELD_REMOVED = "field removed"
    FIELD_RENAMED = "field renamed"
    FIELD_REPLACED = "number reused by another field"
    FIELD_NUMBER = "field renumbered"
    FIELD_TYPE = "type changed"
    FIELD_CARDINALITY = "cardinality changed"
    FIELD_ONEOF = "oneof changed"
    FIELD_JSON_NAME = "JSON name changed"
    FIELD_OPTION = "field option changed"
    FIELD_ROLE = "comment changed its meaning"
    ENUM_ADDED = "enum added"
    ENUM_REMOVED = "enum removed"
    ENUM_MOVED = "enum moved or renamed"
    VALUE_ADDED = "enum value added"
    VALUE_REMOVED = "enum value removed"
    VALUE_RENAMED = "enum value renamed"
    VALUE_REPLACED = "number reused by another enum value"
    VALUE_NUMBER = "enum value renumbered"
    RESERVED_ADDED = "reserved"
    RESERVED_REMOVED = "no longer reserved"
    EXTENSION_ADDED = "extension added"
    EXTENSION_REMOVED = "extension removed"
    EXTENSION_CHANGED = "extension changed"
    CONSTANT_ADDED = "constant added"
    CONSTANT_REMOVED = "constant removed"
    CONSTANT_VALUE = "constant value changed"
    CONSTANT_RENAMED = "constant renamed"
    API_RENAMED = "Go API interface renamed"
    API_ADDED = "Go API method added"
    API_REMOVED = "Go API method removed"
    API_SIGNATURE = "Go API method signature changed"
    API_PARAMETERS = "Go API parameter names changed"
    API_COMMENT = "comment of the Go API changed"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one declaration."""

    kind: Kind
    where: str
    """Name inside the package, as in `Sentence.place`: `NodeInfo.nodeID`, `Scheduler.UpdateNode`,
    `NodeInfo.ActionFromRM.CREATE`. The new name, or the old one if it was removed."""
    old: str = ""  # declaration in the old specification, "" for none
    new: str = ""
    line: int = 0  # in the new specification, or in the old one if removed; 0 if unknown
    was: str = ""  # its old name, if that differs
    rename: Rename | None = None  # for what is renamed or replaced
    taken_from: str = ""  # the old constant that has the value of this one

    @property
    def old_place(self) -> str:
        """Return its name in the old specification."""
        return self.was or self.where

    def __str__(self) -> str:
        sides = " -> ".join(side for side in (self.old, self.new) if side)
        suffix = f": {sides}" if sides.startswith("(") else f" ({sides})" if sides else ""
        received = f"{self.where}: {self.kind.value}{suffix}"
        same = (
            self.kind is Kind.MESSAGE_RENAMED and self.rename is Rename.MEANING
        )  # its fields stay
        return received if self.rename is None or same else f"{received}: {self.rename.value}"


def compare(old: Spec, new: Spec) -> list[Change]:
    """List the changes from `old` to `new`: services, messages, enums, constants, Go API."""
    return [*_Comparison(old, new).changes()]


class _Comparison:
    def __init__(self, old: Spec, new: Spec) -> None:
        self.old, self.new = old, new
        self.before, self.after = schema_of(old.file), schema_of(new.file)
        self.old_comments, self.new_comments = comments_of(old.file), comments_of(new.file)
        self.pairs = paired(self.before, self.after)

    def changes(self) -> Iterator[Change]:
        yield from self._file()
        yield from self._services()
        yield from self._messages()
        yield from self._enums()
        yield from self._extensions()
        yield from self._constants()
        yield from self._api()

    def _added(self, kind: Kind, where: str, new: str = "") -> Change:
        return Change(kind, where, "", new, self.new.line_of(self.after.full(where)))

    def _removed(self, kind: Kind, where: str, old: str = "") -> Change:
        return Change(kind, where, old, "", self.old.line_of(self.before.full(where)))

    def _changed(
        self,
        kind: Kind,
        places: tuple[str, str],
        old: object,
        new: object,
        how: Rename | None = None,
    ) -> Change:
        was, where = places
        line = self.new.line_of(self.after.full(where))
        return Change(kind, where, str(old), str(new), line, was if was != where else "", how)

    def _file(self) -> Iterator[Change]:
        if self.before.package != self.after.package:
            sides = self.before.package, self.after.package
            yield Change(Kind.PACKAGE, "package", *sides, line_of_path(self.new.file, (_PACKAGE,)))
        for name, path in (("syntax", (_SYNTAX,)), ("go_package", _GO_PACKAGE)):
            old, new = (
                getattr(s.file if name == "syntax" else s.file.options, name)
                for s in (self.old, self.new)
            )
            if old != new:
                yield Change(Kind.OPTION, name, old, new, line_of_path(self.new.file, path))

    def _services(self) -> Iterator[Change]:
        before, after = self.before, self.after
        for name in only(before.services, after.services):
            yield self._removed(Kind.SERVICE_REMOVED, name)
        for name in only(after.services, before.services):
            yield self._added(Kind.SERVICE_ADDED, name)
        for name in only(before.methods, after.methods):
            yield self._removed(Kind.METHOD_REMOVED, name, before.methods[name].shape)
        for name, method in after.methods.items():
            was = before.methods.get(name)
            if was is None:
                yield self._added(Kind.METHOD_ADDED, name, method.shape)
            else:
                yield from self._method(was, method)

    def _method(self, was: Method, method: Method) -> Iterator[Change]:
        places = (was.name, method.name)
        if (was.client_streams, was.server_streams) != (
            method.client_streams,
            method.server_streams,
        ):
            yield self._changed(Kind.METHOD_STREAMING, places, was.shape, method.shape)
        now = tuple(self.pairs.get(name, name) for name in (was.input, was.output))
        if now != (method.input, method.output):
            yield self._changed(Kind.METHOD_TYPES, places, was.shape, method.shape)

    def _messages(self) -> Iterator[Change]:
        for name, message in self.before.messages.items():
            if name not in self.pairs:
                yield self._removed(Kind.MESSAGE_REMOVED, name, message.members)
        back = {new: old for old, new in self.pairs.items()}
        for name, message in self.after.messages.items():
            was = self.before.messages.get(back.get(name, ""))
            if was is None:
                yield self._added(Kind.MESSAGE_ADDED, name, message.members)
                continue
            if was.name != name:
                yield self._changed(
                    Kind.MESSAGE_RENAMED,
                    (was.name, name),
                    was.name,
                    name,
                    rename_of(was.name, name),
                )
            yield from self._fields(was, message)
            yield from self._reserved(was.name, name, was.reserved, message.reserved)

    def _fields(self, was: Message, message: Message) -> Iterator[Change]:
        partners = field_partners(was, message)
        for name, f in was.fields.items():
            if name not in partners:
                yield self._removed(Kind.FIELD_REMOVED, f"{was.name}.{name}", str(f))
        back = {new: old for old, new in partners.items()}
        for name, f in message.fields.items():
            if name not in back:
                yield self._added(Kind.FIELD_ADDED, f"{message.name}.{name}", str(f))
            else:
                yield from self._field(was, message, was.fields[back[name]], f)

    def _field(self, was: Message, message: Message, old: Field, new: Field) -> Iterator[Change]:
        places = (f"{was.name}.{old.name}", f"{message.name}.{new.name}")
        remarks = self.old_comments.get(places[0], ""), self.new_comments.get(places[1], "")
        if old.name != new.name:
            how = rename_of(old.name, new.name, *remarks)
            if how is Rename.MEANING:
                sides = f"{old.name} = {old}", f"{new.name} = {new}"
                yield self._changed(Kind.FIELD_REPLACED, places, *sides, how)
                return
            yield self._changed(Kind.FIELD_RENAMED, places, old.name, new.name, how)
        elif old.json_name != new.json_name:
            yield self._changed(Kind.FIELD_JSON_NAME, places, old.json_name, new.json_name)
        if old.number != new.number:
            yield self._changed(Kind.FIELD_NUMBER, places, old, new)
        if translated(old.type, self.pairs) != new.type:
            yield self._changed(Kind.FIELD_TYPE, places, *_types_sent(old, new))
        if old.cardinality != new.cardinality and "map<" not in old.type + new.type:
            sides = old.cardinality or "singular", new.cardinality or "singular"
            yield self._changed(Kind.FIELD_CARDINALITY, places, *sides)
        if old.oneof != new.oneof:
            sides = old.oneof or "in no oneof", new.oneof or "in no oneof"
            yield self._changed(Kind.FIELD_ONEOF, places, *sides)
        if old.options != new.options:
            sides = self.before.options_sent(old.options), self.after.options_sent(new.options)
            yield self._changed(Kind.FIELD_OPTION, places, *sides)
        if all(remarks) and states_otherwise(*remarks):
            yield self._changed(Kind.FIELD_ROLE, places, *remarks)

    def _enums(self) -> Iterator[Change]:
        for name, enum in self.before.enums.items():
            if name not in self.pairs:
                yield self._removed(Kind.ENUM_REMOVED, name, enum.members)
        back = {new: old for old, new in self.pairs.items()}
        for name, enum in self.after.enums.items():
            was = self.before.enums.get(back.get(name, ""))
            if was is None:
                yield self._added(Kind.ENUM_ADDED, name, enum.members)
                continue
            if was.name != name:
                yield self._changed(Kind.ENUM_MOVED, (was.name, name), was.name, name)
            yield from self._values(was, enum)
            yield from self._reserved(was.name, name, was.reserved, enum.reserved)

    def _values(self, was: Enumeration, enum: Enumeration) -> Iterator[Change]:
        gone = {n: was.values[n] for n in only(was.values, enum.values)}
        for name, number in enum.values.items():
            place = f"{enum.name}.{name}"
            if name in was.values:
                places = (f"{was.name}.{name}", place)
                if was.values[name] != number:
                    yield self._changed(Kind.VALUE_NUMBER, places, was.values[name], number)
                continue
            former = next((n for n, k in gone.items() if k == number), "")
            if not former:
                yield self._added(Kind.VALUE_ADDED, place, str(number))
                continue
            del gone[former]
            how = rename_of(former, name)
            kind = Kind.VALUE_REPLACED if how is Rename.MEANING else Kind.VALUE_RENAMED
            sides = f"{former} = {number}", f"{name} = {number}"
            yield self._changed(kind, (f"{was.name}.{former}", place), *sides, how)
        for name, number in gone.items():
            yield self._removed(Kind.VALUE_REMOVED, f"{was.name}.{name}", str(number))

    def _reserved(self, was: str, name: str, old: Reserved, new: Reserved) -> Iterator[Change]:
        less, more = old.without(new), new.without(old)
        if str(more):
            yield self._changed(Kind.RESERVED_ADDED, (was, name), "", more)
        if str(less):
            yield self._changed(Kind.RESERVED_REMOVED, (was, name), less, "")

    def _extensions(self) -> Iterator[Change]:
        before, after = self.before.extensions, self.after.extensions
        for name in only(before, after):
            yield self._removed(Kind.EXTENSION_REMOVED, name, str(before[name]))
        for name, extension in after.items():
            if name not in before:
                yield self._added(Kind.EXTENSION_ADDED, name, str(extension))
            elif before[name] != extension:
                sides = before[name], extension
                yield self._changed(Kind.EXTENSION_CHANGED, (name, name), *sides)

    def _constants(self) -> Iterator[Change]:
        before, after = self.old.constants, self.new.constants
        if not (before or self.old.has_text) or not (after or self.new.has_text):
            return  # a schema alone has no constants
        partners = constant_partners(before, after)
        for name, constant in after.items():
            former = partners.get(name, "")
            if not former:
                yield Change(Kind.CONSTANT_ADDED, name, "", constant.value, constant.line)
                continue
            was = former if former != name else ""
            if before[former].value != constant.value:
                taken = next((n for n, c in before.items() if c.value == constant.value), "")
                place = name, before[former].value, constant.value, constant.line, was
                yield Change(Kind.CONSTANT_VALUE, *place, taken_from=taken)
            elif was:
                yield Change(Kind.CONSTANT_RENAMED, name, former, name, constant.line, was)
        for name in only(before, partners.values()):
            yield Change(Kind.CONSTANT_REMOVED, name, before[name].value, "", before[name].line)

    def _api(self) -> Iterator[Change]:
        if not (self.old.has_constants and self.new.has_constants):
            return
        has_comments = self.old.has_text and self.new.has_text
        renamed = interface_partners(self.old.api, self.new.api)
        for former, interface in renamed.items():
            first = (m.line for name, m in self.new.api.items() if name.startswith(f"{interface}."))
            yield Change(Kind.API_RENAMED, interface, former, interface, min(first), former)
        before = {in_interface(name, renamed): method for name, method in self.old.api.items()}
        for name in only(before, self.new.api):
            method = before[name]
            yield Change(Kind.API_REMOVED, method.name, method.signature, "", method.line)
        for name, method in self.new.api.items():
            was = before.get(name)
            if was is None:
                yield Change(Kind.API_ADDED, name, "", method.signature, method.line)
                continue
            former = was.name if was.name != name else ""
            if was.signature != method.signature:
                sides = was.signature, method.signature
                same = types_of(was.signature) == types_of(method.signature)
                kind = Kind.API_PARAMETERS if same else Kind.API_SIGNATURE
                yield Change(kind, name, *sides, method.line, former)
            elif has_comments and was.comment.split() != method.comment.split():
                sides = was.comment, method.comment
                yield Change(Kind.API_COMMENT, name, *sides, method.line, former)


def _types_sent(old: Field, new: Field) -> tuple[str, str]:
    """Return the types of a field; with their entries, if one of them is a map."""
    if "map<" not in old.type + new.type:
        return old.type, new.type
    return f"{old.cardinality} {old.type}".strip(), f"{new.cardinality} {new.type}".strip()
