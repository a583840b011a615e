"""Cross-decoding: what one peer understands of the bytes that the other one encoded."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, Final

from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    json_format,
    message_factory,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message

from sispec.samples import how_many, put

_KNOWN_FILES: Final = {
    module.DESCRIPTOR.name: module.DESCRIPTOR
    for module in (
        any_pb2,
        descriptor_pb2,
        duration_pb2,
        empty_pb2,
        field_mask_pb2,
        struct_pb2,
        timestamp_pb2,
        wrappers_pb2,
    )
}
_LONGEST: Final = 60  # characters of a value in a sentence
_CUT: Final = "..."


class Form(Enum):
    """Encoding of a message."""

    BYTES = "bytes"
    JSON = "JSON"


class Decoding(Enum):
    """Result of decoding a value, from harmless to worst."""

    SAME = "arrives as it was written"
    UNNAMED = "arrives as a number without a name"
    LOST = "is not seen"
    PARTLY = "arrives in part"
    REFUSED = "cannot be decoded"
    MISREAD = "is read as something else"

    @property
    def badness(self) -> int:
        """Return its rank among the outcomes, 0 for the harmless one."""
        return list(Decoding).index(self)


@dataclass(frozen=True, slots=True)
class Reading:
    """A message that one side encoded and the other one decoded."""

    writer: str  # "old", "new", or an older revision
    reader: str
    message: str  # the writer's name for it
    taken_for: str  # the message the reader decodes it as
    element: str  # the field or enum value that was written
    wrote: str  # its value as text
    data: bytes  # the encoded message
    outcome: Decoding
    read_as: str = ""  # the field or enum value it was decoded as
    read: str = ""  # the decoded value, or the reason there is none
    form: Form = Form.BYTES
    carrier: str = ""  # the field of an enum value, by the reader's name
    inside: tuple[tuple[str, str], ...] = ()
    """Fields inside a message, each with the field it was read as."""

    @property
    def is_cut(self) -> bool:
        """Whether the value is too long for a sentence."""
        return self.wrote.endswith(_CUT)


class Decoder:
    """The messages of one specification, in a separate descriptor pool."""

    def __init__(self, name: str, file: descriptor_pb2.FileDescriptorProto) -> None:
        """`name` identifies the peer that uses them."""
        self.name = name
        self._file = file

    def check(self) -> None:
        """Raise ImportError for an import that is not Google's, TypeError for a broken schema."""
        self._pool.FindFileByName(self._file.name)

    @cached_property
    def _pool(self) -> descriptor_pool.DescriptorPool:
        pool = descriptor_pool.DescriptorPool()
        for dependency in self._file.dependency:
            if dependency not in _KNOWN_FILES:
                raise ImportError(
                    f'"{self._file.name}" imports "{dependency}", which is not available: '
                    "only the files of google/protobuf are."
                )
            known = descriptor_pb2.FileDescriptorProto()
            _KNOWN_FILES[dependency].CopyToProto(known)
            pool.Add(known)
        without_comments = descriptor_pb2.FileDescriptorProto()
        without_comments.CopyFrom(self._file)
        without_comments.ClearField("source_code_info")
        pool.Add(without_comments)
        return pool

    def descriptor(self, message: str) -> Descriptor:
        """Return the message called `message` inside the package."""
        package = self._file.package
        full = f"{package}.{message}" if package else message
        return self._pool.FindMessageTypeByName(full)

    def create(self, message: str) -> Message:
        """Create an empty message called `message` inside the package."""
        return message_factory.GetMessageClass(self.descriptor(message))()

    def field(self, message: str, name: str) -> FieldDescriptor:
        """Return the field `name` of `message`."""
        return self.descriptor(message).fields_by_name[name]


@dataclass(frozen=True, slots=True)
class Route:
    """A message of the writer, and the message the reader decodes it as."""

    writer: Decoder
    reader: Decoder
    message: str
    taken_as: str

    def pass_field(
        self, name: str, expected: str, form: Form = Form.BYTES, *, whole: bool = True
    ) -> Reading:
        """Return the worst result for a message with only the field `name`.

        `expected` is the reader's name of the field, "" if it has none. `whole` also compares the
        contents of nested messages; without it a message in the right field has arrived.
        """
        field = self.writer.field(self.message, name)
        readings = [
            self._pass(field, expected, which, form, whole=whole)
            for which in range(how_many(field))
        ]
        return max(readings, key=lambda reading: reading.outcome.badness)

    def _pass(
        self, field: FieldDescriptor, expected: str, which: int, form: Form, *, whole: bool
    ) -> Reading:
        written = self.writer.create(self.message)
        put(written, field, which)
        wrote = contents(written).get(field.name)
        data, got = self._carry(written, form)
        if isinstance(got, str):
            if form is Form.JSON and field.enum_type is not None:
                wrote = json.loads(data)[field.json_name]  # by name
            return self._reading((field.name, wrote), (data, form), (Decoding.REFUSED, "", got))
        understood = contents(got)
        taken, value = next(iter(understood.items()), ("", None))
        if not understood:
            outcome = Decoding.SAME if wrote is None else Decoding.LOST
        elif taken != expected:
            outcome = Decoding.MISREAD
        else:
            outcome = _arrived(wrote, value) if whole else Decoding.SAME
        read = "" if value is None else sent(value)
        reading = self._reading((field.name, wrote), (data, form), (outcome, taken, read))
        return replace(reading, inside=tuple(_taken_for_others(wrote, value)))

    def pass_together(self, names: Sequence[str]) -> Reading:
        """Return the result for a message with all the fields `names` at once."""
        written = self.writer.create(self.message)
        for name in names:
            put(written, self.writer.field(self.message, name))
        wrote = contents(written)
        data, got = self._carry(written, Form.BYTES)
        element = " and ".join(wrote)
        if isinstance(got, str):
            return self._reading((element, wrote), (data, Form.BYTES), (Decoding.REFUSED, "", got))
        understood = contents(got)
        whole = len(understood) == len(wrote)
        outcome = Decoding.SAME if whole else Decoding.PARTLY
        left = element if whole else " and ".join(understood)
        return self._reading(
            (element, wrote), (data, Form.BYTES), (outcome, left, sent(understood))
        )

    def pass_value(
        self,
        name: str,
        number: int,
        taken_in: str,
        former: str = "",
        form: Form = Form.BYTES,
    ) -> Reading:
        """Return the result for the `number` of an enum in the field `name`.

        The reader calls that field `taken_in`; `former` is its name for the value, if different.
        """
        field = self.writer.field(self.message, name)
        written = self.writer.create(self.message)
        if field.is_repeated:
            getattr(written, name).append(number)
        else:
            setattr(written, name, number)
        wrote = _value_name(field, number)
        data, got = self._carry(written, form)
        if isinstance(got, str):
            understood = Decoding.REFUSED, "", got
        elif form is Form.JSON and not contents(got):
            understood = Decoding.LOST, "", ""
        else:
            value = getattr(got, taken_in)
            read = value[0] if field.is_repeated else value
            read_as = _value_name(self.reader.field(self.taken_as, taken_in), read)
            same = Decoding.SAME if read_as in (wrote, former) else Decoding.MISREAD
            understood = same if read_as else Decoding.UNNAMED, read_as, str(read)
        reading = self._reading((wrote, number), (data, form), understood)
        return replace(reading, carrier=taken_in)

    def _carry(self, written: Message, form: Form) -> tuple[bytes, Message | str]:
        """Return the encoded message, and what the reader decodes, or why it decodes nothing."""
        got = self.reader.create(self.taken_as)
        try:
            if form is Form.BYTES:
                data = written.SerializeToString(deterministic=True)
                got.ParseFromString(data)
            else:
                text = json_format.MessageToJson(written, indent=None)
                data = text.encode()
                json_format.Parse(text, got, ignore_unknown_fields=True)
        except (DecodeError, json_format.ParseError) as error:
            return data, " ".join(str(error).split())
        return data, got

    def _reading(
        self,
        wrote: tuple[str, Any],  # the field or value, and its content
        carried: tuple[bytes, Form],
        understood: tuple[Decoding, str, str],  # with what it was decoded as, and its value
    ) -> Reading:
        (element, value), (data, form), (outcome, read_as, read) = wrote, carried, understood
        return Reading(
            writer=self.writer.name,
            reader=self.reader.name,
            message=self.message,
            taken_for=self.taken_as,
            element=element,
            wrote=sent(value),
            data=data,
            outcome=outcome,
            read_as=read_as,
            read=read,
            form=form,
        )


def contents(message: Message) -> dict[str, Any]:
    """Return what is set in `message`, by field: values, lists and dicts; enums as numbers."""
    return {field.name: _plain(field, value) for field, value in message.ListFields()}


def sent(value: Any) -> str:
    """Format a value for a sentence, truncated if it is long."""
    text = json.dumps(value, ensure_ascii=True, default=lambda raw: raw.hex())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - len(_CUT)]}{_CUT}"


def _plain(field: FieldDescriptor, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: contents(v) if isinstance(v, Message) else v for k, v in value.items()}
    if field.is_repeated:
        return [contents(v) if isinstance(v, Message) else v for v in value]
    return contents(value) if isinstance(value, Message) else value


def _arrived(wrote: Any, read: Any) -> Decoding:
    if _as_map(wrote, read) or _as_map(read, wrote):
        return Decoding.SAME
    if isinstance(wrote, list) and not isinstance(read, list):
        return Decoding.PARTLY if any(_equal(one, read) for one in wrote) else Decoding.MISREAD
    if isinstance(read, list) and not isinstance(wrote, list):
        read = read[0] if len(read) == 1 else read
    return Decoding.SAME if _equal(wrote, read) else Decoding.MISREAD


def _as_map(entries: Any, other: Any) -> bool:
    """Whether these are the entries of that map, as encoded in bytes."""
    if not (isinstance(entries, list) and isinstance(other, Mapping)):
        return False
    if not all(isinstance(one, Mapping) and one.keys() == {"key", "value"} for one in entries):
        return False
    return bool({one["key"]: one["value"] for one in entries} == other)


def _taken_for_others(wrote: Any, read: Any) -> Iterator[tuple[str, str]]:
    """Yield members whose value appears under another name in the decoded message."""
    if isinstance(wrote, list) and isinstance(read, list):
        wrote, read = next(iter(wrote), None), next(iter(read), None)
    if not (isinstance(wrote, Mapping) and isinstance(read, Mapping)):
        return
    for name, value in read.items():
        if name in wrote and _equal(wrote[name], value):
            continue
        source = next((n for n, v in wrote.items() if v == value and n != name), "")
        if source:
            yield source, name


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, bytes):
        return one.encode() == other
    if isinstance(one, bytes) and isinstance(other, str):
        return one == other.encode()
    return bool(one == other)


def _value_name(field: FieldDescriptor, number: int) -> str:
    enum = field.enum_type
    value = enum.values_by_number.get(number) if enum is not None else None
    return value.name if value is not None else ""
