"""Makes the golden messages of a revision: those of the one before it, and what is new."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from siconform.spec.laying.wire_lines import wire_bytes, wire_lines
from siconform.spec.misreading import Decoder
from siconform.spec.samples import put
from siconform.spec.schema import schema_of

_LEAST_KEPT: Final = 0.5
"""Share of a message's values that have to be left for it to go on as a golden message."""


@dataclass(slots=True)
class GoldenMessages:
    """The golden messages of a revision, by MESSAGE-CASE, and what became of the older ones."""

    said: dict[str, str] = field(default_factory=dict)
    """Each as the text of its JSON file."""
    wire: dict[str, str] = field(default_factory=dict)
    """Each as the text of its hex file."""
    cut: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Those that lost fields or values, and which."""
    dropped: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Those that do not go on: too little is left of them."""
    added: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """New ones, and what travels in them only."""
    untravelled: tuple[str, ...] = ()
    """Fields for which no value was found that travels."""

    def add(self, case: str, said: str, message: Message) -> None:
        """Takes a message, whose bytes a library's decoder has to read as it is.

        Raises ValueError where it does not.
        """
        lines = wire_lines(message)
        if type(message).FromString(wire_bytes(lines)) != message:
            raise ValueError(f"the bytes written for {case} are not read as the message")
        self.said[case], self.wire[case] = said, lines


def golden_messages(
    file: FileDescriptorProto, before: FileDescriptorProto, older: Mapping[str, str]
) -> GoldenMessages:
    """The messages of `file`: those of the revision `before` it as far as they go, and new ones.

    `older` are the JSON files of those by MESSAGE-CASE. What travels in none of them gets a
    message of its own: fields, and values of enums that were there before.
    """
    decoder = Decoder("", file)
    found = GoldenMessages()
    messages = [message.name for message in file.message_type]
    for case, said in older.items():
        _carry_on(found, decoder, case, said, set(messages))
    tried: set[tuple[str, str]] = set()
    left = _untravelled(found, decoder, messages)
    while any((name, one) not in tried for name, fields in left.items() for one in fields):
        name = next(
            name for name, fields in left.items() if any((name, f) not in tried for f in fields)
        )
        tried |= {(name, one) for one in _add_fields(found, decoder, name, left[name])}
        left = _untravelled(found, decoder, messages)
    found.untravelled = tuple(f"{name}.{one}" for name, fields in left.items() for one in fields)
    _add_values(found, decoder, file, before)
    return found


def _carry_on(
    found: GoldenMessages, decoder: Decoder, case: str, said: str, messages: set[str]
) -> None:
    name = case.partition("-")[0]
    if name not in messages:
        found.dropped[case] = (name,)
        return
    lost: list[str] = []
    was = json.loads(said)
    now = _fitting(was, decoder.descriptor(name), lost)
    if lost and _leaves(now) < _LEAST_KEPT * _leaves(was):
        found.dropped[case] = tuple(dict.fromkeys(lost))
        return
    if lost:
        found.cut[case] = tuple(dict.fromkeys(lost))
    message = json_format.ParseDict(now, decoder.create(name))
    is_same = not lost and json_format.MessageToDict(message) == was
    found.add(case, said if is_same else _json(message), message)


def _fitting(data: Mapping[str, Any], kind: Descriptor, lost: list[str]) -> dict[str, Any]:
    """What a message can still say; what it cannot is noted in `lost`."""
    by_name = {one.json_name: one for one in kind.fields}
    kept: dict[str, Any] = {}
    for name, value in data.items():
        member = by_name.get(name)
        place = f"{kind.full_name.partition('.v1.')[2] or kind.name}.{name}"
        if member is None:
            lost.append(place)
            continue
        inner = member.message_type
        if inner is not None and not inner.GetOptions().map_entry:
            entries = value if isinstance(value, list) else [value]
            if member.is_repeated is not isinstance(value, list) or not all(
                isinstance(one, dict) for one in entries
            ):
                lost.append(place)
                continue
            entries = [_fitting(one, inner, lost) for one in entries]
            value = entries if member.is_repeated else entries[0]  # noqa: PLW2901 - what is kept
        if _can_say(kind, name, value):
            kept[name] = value
        else:
            lost.append(f"{place} {json.dumps(value)}")
    return kept


def _can_say(kind: Descriptor, name: str, value: object) -> bool:
    try:
        json_format.ParseDict({name: value}, _class_of(kind))
    except (json_format.ParseError, ValueError, TypeError):
        return False
    return True


def _class_of(kind: Descriptor) -> Message:
    return GetMessageClass(kind)()


def _leaves(value: object) -> int:
    if isinstance(value, dict):
        return sum(map(_leaves, value.values())) or 1
    if isinstance(value, list):
        return sum(map(_leaves, value)) or 1
    return 1


def _json(message: Message) -> str:
    said = json_format.MessageToDict(message)
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def _untravelled(
    found: GoldenMessages, decoder: Decoder, messages: list[str]
) -> dict[str, list[str]]:
    """The fields of each message that travel in no golden message yet."""
    travelled: set[str] = set()
    for case, said in found.said.items():
        message = json_format.Parse(said, decoder.create(case.partition("-")[0]))
        travelled |= {one.full_name for one in _fields_within(message)}
    left: dict[str, list[str]] = {}
    for name in messages:
        fields = decoder.descriptor(name).fields
        missing = [one.name for one in fields if one.full_name not in travelled]
        if missing:
            left[name] = missing
    return left


def _fields_within(message: Message) -> Iterator[FieldDescriptor]:
    for one, value in message.ListFields():
        yield one
        if one.message_type is None:
            continue
        if one.message_type.GetOptions().map_entry:
            values = [entry for entry in value.values() if isinstance(entry, Message)]
        else:
            values = list(value) if one.is_repeated else [value]
        for entry in values:
            yield from _fields_within(entry)


def _add_fields(
    found: GoldenMessages, decoder: Decoder, name: str, fields: list[str]
) -> Iterator[str]:
    """A message with these fields of it, one of each oneof; the fields that are in it."""
    message = decoder.create(name)
    chosen: dict[str, str] = {}  # by oneof, or by themselves
    for one in fields:
        within = decoder.field(name, one).containing_oneof
        chosen.setdefault(one if within is None else f"oneof {within.name}", one)
    for one in chosen.values():
        put(message, decoder.field(name, one))
    case = _free(found, f"{name}-new-fields")
    found.add(case, _json(message), message)
    found.added[case] = tuple(f"{name}.{one}" for one in chosen.values())
    yield from chosen.values()


def _add_values(
    found: GoldenMessages,
    decoder: Decoder,
    file: FileDescriptorProto,
    before: FileDescriptorProto,
) -> None:
    """A message for each value that an enum has beside its older ones."""
    now, then = schema_of(file), schema_of(before)
    carriers = {
        one.type: (message.name, one.name)
        for message in reversed(list(now.messages.values()))
        if message.name in {top.name for top in file.message_type}
        for one in message.fields.values()
    }
    for name, enum in now.enums.items():
        older = then.enums.get(name)
        if older is None or name not in carriers:
            continue
        for value, number in enum.values.items():
            if number and number not in older.values.values():
                message_name, carrier = carriers[name]
                message = decoder.create(message_name)
                target = getattr(message, carrier)
                if decoder.field(message_name, carrier).is_repeated:
                    target.append(number)
                else:
                    setattr(message, carrier, number)
                word = re.sub(r"[^a-z0-9]+", "-", value.lower())
                case = _free(found, f"{message_name}-{word}")
                found.add(case, _json(message), message)
                found.added[case] = (f"{name}.{value}",)


def _free(found: GoldenMessages, case: str) -> str:
    number, free = 1, case
    while free in found.said:
        number += 1
        free = f"{case}-{number}"
    return free
