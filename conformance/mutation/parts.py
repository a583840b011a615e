"""Edits of the parts of a message: the elements of a list, or its payloads.

Field names are checked when a mutant is defined: an unknown one raises LookupError.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message
from siconform.doctor.change import keep
from siwire.ext import extension_pb2 as ext


@dataclass(frozen=True)
class Edit:
    """What is done to each message of one type."""

    message: type[Message]
    make: Callable[[Any], None]

    def after(self, first: Callable[[Any], None]) -> "Edit":
        """Return an edit that makes the other one first, then this."""

        def make(message: Any) -> None:
            first(message)
            self.make(message)

        return Edit(self.message, make)


class Parts(ABC):
    """Parts of messages of one type, all of one message type themselves."""

    @abstractmethod
    def each(self, change: Callable[[Any], None]) -> Edit:
        """Change every part with this function."""

    @abstractmethod
    def only(self, wanted: Callable[[Any], bool]) -> Edit:
        """Keep only the parts that satisfy the condition."""

    @property
    @abstractmethod
    def fields(self) -> Collection[str]:
        """The field names of a part."""

    def where(self, is_meant: Callable[[Any], bool]) -> "Parts":
        """Restrict the edits to parts that satisfy the condition."""
        return _Some(self, is_meant)

    def none(self) -> Edit:
        """Drop all parts."""
        return self.only(lambda _: False)

    def without(self, *fields: str) -> Edit:
        """Clear these fields in every part."""
        self._find(*fields)

        def change(part: Any) -> None:
            for field in fields:
                part.ClearField(field)

        return self.each(change)

    def put(self, **values: Any) -> Edit:
        """Set fields of every part to these values."""
        self._find(*values)

        def change(part: Any) -> None:
            for field, value in values.items():
                setattr(part, field, value)

        return self.each(change)

    def copy(self, field: str, *, to: str) -> Edit:
        """Copy the value of one field to another in every part."""
        self._find(field, to)
        return self.each(lambda part: setattr(part, to, getattr(part, field)))

    def change(self, field: str, to: Callable[[Any], Any]) -> Edit:
        """Set a field of every part to what ``to`` makes of its value."""
        self._find(field)
        return self.each(lambda part: setattr(part, field, to(getattr(part, field))))

    def amounts(self, field: str, to: Callable[[int], int]) -> Edit:
        """Set every amount of a resource to what ``to`` makes of it."""
        self._find(field)

        def change(part: Any) -> None:
            for quantity in getattr(part, field).resources.values():
                quantity.value = to(quantity.value)

        return self.each(change)

    def turn(self, field: str, others: Mapping[Any, Any]) -> Edit:
        """Replace the values of a field that are keys of ``others``."""
        self._find(field)

        def change(part: Any) -> None:
            value = getattr(part, field)
            if value in others:
                setattr(part, field, others[value])

        return self.each(change)

    def _find(self, *fields: str) -> None:
        unknown = set(fields) - set(self.fields)
        if unknown:
            raise LookupError(f"{self} has no field {', '.join(sorted(unknown))}")


@dataclass(frozen=True)
class Elements(Parts):
    """The elements of a list in a message.

    ``path`` is the name of its field. Dots lead into messages, and into each element of a list:
    ``nodes.existingAllocations``.
    """

    message: type[Message]
    path: str

    def each(self, change: Callable[[Any], None]) -> Edit:
        """Change every element with this function."""

        def make(message: Any) -> None:
            for repeated in self._lists(message):
                for element in repeated:
                    change(element)

        return Edit(self.message, make)

    def only(self, wanted: Callable[[Any], bool]) -> Edit:
        """Keep only the elements that satisfy the condition."""

        def make(message: Any) -> None:
            for repeated in self._lists(message):
                keep(repeated, wanted)

        return Edit(self.message, make)

    def twice(self) -> Edit:
        """Append a copy of all elements."""

        def make(message: Any) -> None:
            for repeated in self._lists(message):
                repeated.extend(list(repeated))

        return Edit(self.message, make)

    @property
    def fields(self) -> Collection[str]:
        """The field names of an element."""
        found: Any = self.message.DESCRIPTOR
        for name in self.path.split("."):
            found = found.fields_by_name[name].message_type
        return frozenset(found.fields_by_name)

    def _lists(self, message: Message) -> Iterator[Any]:
        *above, last = self.path.split(".")
        parents: list[Any] = [message]
        for name in above:
            found = [getattr(parent, name) for parent in parents]
            parents = [one for each in found for one in _several(each)]
        return (getattr(parent, last) for parent in parents)


@dataclass(frozen=True)
class Payloads(Parts):
    """The messages of one SI type in callbacks of one kind, which travel as bytes."""

    kind: int
    type: type[Message]

    def each(self, change: Callable[[Any], None]) -> Edit:
        """Change every message with this function."""

        def make(received: Any) -> None:
            for payload in received.payloads if received.kind == self.kind else ():
                part = self.type.FromString(payload.data)
                change(part)
                payload.data = part.SerializeToString()

        return Edit(ext.ToRm, make)

    def only(self, wanted: Callable[[Any], bool]) -> Edit:
        """Keep only the messages that satisfy the condition."""

        def make(received: Any) -> None:
            if received.kind == self.kind:
                keep(received.payloads, lambda one: wanted(self.type.FromString(one.data)))

        return Edit(ext.ToRm, make)

    @property
    def fields(self) -> Collection[str]:
        """The field names of these messages."""
        return frozenset(self.type.DESCRIPTOR.fields_by_name)


@dataclass(frozen=True)
class _Some(Parts):
    """Some of the parts; the others stay unchanged."""

    every: Parts
    is_meant: Callable[[Any], bool]

    def each(self, change: Callable[[Any], None]) -> Edit:
        """Change each of them with this function."""
        return self.every.each(lambda part: change(part) if self.is_meant(part) else None)

    def only(self, wanted: Callable[[Any], bool]) -> Edit:
        """Drop those of them that do not satisfy the condition."""
        return self.every.only(lambda part: not self.is_meant(part) or wanted(part))

    @property
    def fields(self) -> Collection[str]:
        """The field names of a part."""
        return self.every.fields


def _several(found: Any) -> Any:
    """Return the elements of a list, or the single message as a list."""
    return (found,) if isinstance(found, Message) else found
