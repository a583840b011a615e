"""Redaction: messages as they may be logged, without fields the SI marks as secret."""

from collections.abc import MutableMapping
from functools import cache
from typing import Any, Final

from google.protobuf import json_format, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from sireference.codec.extra_config import may_be_secret

_OPTIONS: Final = "google.protobuf.FieldOptions"
_MARK: Final = "si.v1.si_secret"
_SETTINGS: Final = "extraConfig"


def loggable(message: Message, *, shows_extra_config: bool = False) -> dict[str, Any]:
    """Return ``message`` as JSON values by field name; secret fields are left out.

    Possible secrets in ``extraConfig``, which the specification does not mark, are left out too,
    unless they are to be shown.
    """
    has_settings = not shows_extra_config and _SETTINGS in message.DESCRIPTOR.fields_by_name
    if has_settings or _has_secrets(message.DESCRIPTOR):
        stripped = type(message)()
        stripped.CopyFrom(message)
        _strip(stripped)
        if has_settings:
            _strip_settings(getattr(stripped, _SETTINGS))
        message = stripped
    readable: dict[str, Any] = json_format.MessageToDict(message, preserving_proto_field_name=True)
    return readable


def _strip(message: Any) -> None:
    for field, value in message.ListFields():
        if is_secret(field):
            message.ClearField(field.name)
        elif field.message_type is not None and _has_secrets(field.message_type):
            for part in _parts(field, value):
                _strip(part)


def _strip_settings(settings: MutableMapping[str, str]) -> None:
    for key in filter(may_be_secret, list(settings)):
        del settings[key]


def _parts(field: FieldDescriptor, value: Any) -> list[Any]:
    """Return the messages in the value of a field that holds messages."""
    if not field.is_repeated:
        return [value]
    is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
    return list(value.values()) if is_map else list(value)


@cache
def _has_secrets(kind: Descriptor) -> bool:
    """Return whether a message of this kind can hold a secret, at any depth."""
    seen: set[str] = set()
    waiting = [kind]
    while waiting:
        one = waiting.pop()
        if one.full_name in seen:
            continue
        seen.add(one.full_name)
        for field in one.fields:
            if is_secret(field):
                return True
            if field.message_type is not None:
                waiting.append(field.message_type)
    return False


@cache
def is_secret(field: FieldDescriptor) -> bool:
    """Return whether the field is marked ``[(si.v1.si_secret) = true]``.

    A message of a private pool carries the mark as an unknown field of the options that protobuf
    returns, so it is parsed with the options of that pool.
    """
    described: Any = field  # its stub has no ``file``
    pool = described.file.pool
    try:
        mark = pool.FindExtensionByName(_MARK)
        options_type = pool.FindMessageTypeByName(_OPTIONS)
    except KeyError:
        return False
    options: Any = message_factory.GetMessageClass(options_type)
    read = options.FromString(field.GetOptions().SerializeToString())
    return bool(read.Extensions[mark])
