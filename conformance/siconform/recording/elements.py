"""Elements of a history as JSON values and back, so that its file can be replayed."""

from collections.abc import Mapping
from typing import Any, Final, cast, get_args

import msgspec

from siconform.protocol.fact_text import field_names
from siconform.protocol.matchers import ANY, UNSUPPORTED
from siconform.protocol.notifications import CONNECTION_FACTS, CONVERSATIONS, Fact
from siconform.protocol.requests import Request

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})  # native in JSON
_IS: Final = "is"  # the key of the element's type
_REQUESTS: Final[Mapping[str, type[Request]]] = {kind.__name__: kind for kind in get_args(Request)}
_FACTS: Final[Mapping[str, type[Fact]]] = {
    kind.__name__: kind for kind in (*CONVERSATIONS, *CONNECTION_FACTS)
}


class Unreplayable(ValueError):
    """A record that cannot be read as an element; the message is a sentence."""


def element(content: Request | Fact) -> dict[str, Any]:
    """Return the type and fields of an element, except those that are ANY or UNSUPPORTED."""
    return {_IS: type(content).__name__, **_sent(content)}


def _sent(content: Request | Fact) -> dict[str, Any]:
    """Return the fields with a value, also of nested facts."""
    kind: type = type(content)
    return {
        name: _sent(value)
        if isinstance(value, Fact)
        else value
        if type(value) in _PLAIN
        else msgspec.to_builtins(value, enc_hook=_plain)
        for name in field_names(kind)
        if (value := getattr(content, name)) is not ANY and value is not UNSUPPORTED
    }


def request_of(record: Mapping[str, Any]) -> Request:
    """Read a request; Unreplayable if the record is not one."""
    return cast("Request", _read(record, _REQUESTS))


def fact_of(record: Mapping[str, Any]) -> Fact:
    """Read a received fact or an expected pattern; Unreplayable if the record is not one."""
    return cast("Fact", _read(record, _FACTS))


def _read(record: Mapping[str, Any], kinds: Mapping[str, type]) -> object:
    name = record.get(_IS, "nothing")
    if name not in kinds:
        raise Unreplayable(f'"{name}" is not one of {", ".join(kinds)}')
    named = {key: value for key, value in record.items() if key != _IS}
    try:
        return msgspec.convert(named, kinds[name])
    except (msgspec.ValidationError, TypeError) as error:
        raise Unreplayable(f"not a valid {name}: {error}") from None


def _plain(value: Any) -> str:
    """Convert ids, which are strings with attributes, to plain strings."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"{type(value).__name__} cannot be written to a record")
