"""A fault: one thing a scheduler does wrong, made on the wire between the kit and the reference."""

import inspect
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf.message import Message


@dataclass
class Wire:
    """What a fault can do beside changing the message at hand."""

    to_rm: Callable[[Message], None]  # on the same stream, before what comes next
    to_scheduler: Callable[[Message], None]  # the same, after the message at hand
    memory: defaultdict[str, Any]  # of the whole life of a proxy; sets, unless put otherwise


@dataclass
class Fault:
    """``breaks`` says as a sentence what is wrong; ``areas`` are those that could notice.

    A liberty is none: it looks like a fault, the texts leave it free, and nobody may notice.
    """

    name: str
    breaks: str
    areas: tuple[str, ...]
    is_liberty: bool = False
    _changes: dict[Any, Callable[..., None]] = field(default_factory=dict)

    def touches(self, kind: Any) -> bool:
        """Whether messages of this type are changed."""
        return kind in self._changes

    def change(self, message: Message, wire: Wire) -> None:
        """Make the fault, in place."""
        change = self._changes[type(message)]
        change(message, *[wire][: len(inspect.signature(change).parameters) - 1])

    def also(self, change: Callable[..., None]) -> Callable[..., None]:
        """A decorator: the fault takes another type of message, too, that of the first argument."""
        (kind, *_) = inspect.get_annotations(change).values()
        self._changes[kind] = change
        return change


FAULTS: Final[dict[str, Fault]] = {}


def fault(
    name: str, breaks: str, *areas: str, is_liberty: bool = False
) -> Callable[[Callable[..., None]], Fault]:
    """A decorator: a function that makes this fault in a message, the type of its argument."""

    def makes(change: Callable[..., None]) -> Fault:
        made = Fault(name, breaks, areas, is_liberty)
        made.also(change)
        if name in FAULTS:
            raise ValueError(f"there are two faults {name}")
        FAULTS[name] = made
        return made

    return makes


def liberty(name: str, takes: str, *areas: str) -> Callable[[Callable[..., None]], Fault]:
    """The same for what a scheduler may do."""
    return fault(name, takes, *areas, is_liberty=True)


def keep(repeated: Any, wanted: Callable[[Any], bool]) -> list[Any]:
    """Leave only the elements that are ``wanted``; what went."""
    gone = [element for element in repeated if not wanted(element)]
    kept = [element for element in repeated if wanted(element)]
    del repeated[:]
    repeated.extend(kept)
    return gone
