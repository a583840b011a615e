"""Elements of a history as JSON values, and back: what a file of it can be replayed from."""

from collections.abc import Mapping
from typing import Any, Final, cast, get_args

import msgspec

from siconform.protocol.fact_text import field_names
from siconform.protocol.matchers import UNSAID
from siconform.protocol.notifications import ANY, CONNECTION_FACTS, CONVERSATIONS, Fact
from siconform.protocol.requests import Request

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})  # as JSON has them
_IS: Final = "is"  # the key that names the kind of element
_REQUESTS: Final[Mapping[str, type[Request]]] = {kind.__name__: kind for kind in get_args(Request)}
_FACTS: Final[Mapping[str, type[Fact]]] = {
    kind.__name__: kind for kind in (*CONVERSATIONS, *CONNECTION_FACTS)
}


class Unreplayable(ValueError):
    """A record that does not say what it was; the message is a sentence."""


def element(content: Request | Fact) -> dict[str, Any]:
    """The kind and the fields of an element, without those that may be anything or are unsaid."""
    return {_IS: type(content).__name__, **_sent(content)}


def _sent(content: Request | Fact) -> dict[str, Any]:
    """The fields that say something; of what is part of another, too."""
    kind: type = type(content)
    return {
        name: _sent(value)
        if isinstance(value, Fact)
        else value
        if type(value) in _PLAIN
        else msgspec.to_builtins(value, enc_hook=_plain)
        for name in field_names(kind)
        if (value := getattr(content, name)) is not ANY and value is not UNSAID
    }


def request_of(record: Mapping[str, Any]) -> Request:
    """What the RM said; Unreplayable where the record is of nothing of the kind."""
    return cast("Request", _read(record, _REQUESTS))


def fact_of(record: Mapping[str, Any]) -> Fact:
    """What the RM was told, or the pattern it expected; Unreplayable as above."""
    return cast("Fact", _read(record, _FACTS))


def _read(record: Mapping[str, Any], kinds: Mapping[str, type]) -> object:
    name = record.get(_IS, "nothing")
    if name not in kinds:
        raise Unreplayable(f'"{name}" is none of {", ".join(kinds)}')
    named = {key: value for key, value in record.items() if key != _IS}
    try:
        return msgspec.convert(named, kinds[name])
    except (msgspec.ValidationError, TypeError) as error:
        raise Unreplayable(f"this is no {name}: {error}") from None


def _plain(value: Any) -> str:
    """Ids are texts that remember more than their letters."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"{type(value).__name__} has no place in a record")
