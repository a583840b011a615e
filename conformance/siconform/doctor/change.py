"""One thing a scheduler does otherwise, made in the messages between it and the kit."""

import inspect
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.message import Message
from siwire import find_revision
from siwire.ext import extension_pb2 as ext

from siconform.doctor.revision import NAME


@dataclass
class Wire:
    """What a change can do beside changing the message at hand."""

    to_rm: Callable[[Message], None]  # on the same stream, before what comes next
    to_scheduler: Callable[[Message], None]  # the same, after the message at hand
    later: Callable[[Message, float], None]  # to the scheduler, at the next whole cycle of seconds
    memory: defaultdict[str, Any]  # of the whole life of a proxy; sets, unless put otherwise
    pause: float = 0.0  # seconds before the message at hand goes on, and what comes after it
    is_dropped: bool = False  # the message at hand does not go on


@dataclass
class Change:
    """A fault or a liberty.

    A fault ``breaks`` the sentences of these requirements; their areas and ``more_areas`` are
    judged. A liberty breaks none, the texts leave it free, and nobody may notice; it was once
    ``misjudged_by`` requirements that took it for a fault, ``received`` options of a run by which
    its user says what the kit cannot know, and ``departs_from`` the SHOULDs that it does not
    follow.
    """

    name: str
    summary: str
    breaks: tuple[str, ...] = ()
    more_areas: tuple[str, ...] = ()
    misjudged_by: tuple[str, ...] = ()
    received: tuple[str, ...] = ()
    departs_from: tuple[str, ...] = ()
    revision: str = NAME
    is_variant: bool = False
    messages: dict[Any, Callable[..., None]] = field(default_factory=dict)

    @property
    def areas(self) -> tuple[str, ...]:
        """Whose requirements are judged; all of them where it is empty."""
        of_breaks = (identifier.split("-")[1] for identifier in self.breaks)
        return tuple(dict.fromkeys((*of_breaks, *self.more_areas)))

    @property
    def makers(self) -> tuple[Callable[..., None], ...]:
        """The functions that make it."""
        return tuple(self.messages.values())

    @property
    def sources(self) -> list[Path]:
        """The files that say what is different."""
        return sorted({Path(inspect.getfile(maker)) for maker in self.makers})

    @property
    def is_on_the_wire(self) -> bool:
        """Whether a proxy has to stand between the kit and the reference."""
        return bool(self.messages)

    def touches(self, kind: Any) -> bool:
        """Whether messages of this type are changed."""
        return kind in self.messages

    def change(self, message: Message, wire: Wire) -> None:
        """Make it, in place."""
        change = self.messages[type(message)]
        change(message, *[wire][: len(inspect.signature(change).parameters) - 1])

    def also(self, change: Callable[..., None]) -> Callable[..., None]:
        """A decorator: another type of message is changed, that of the first argument."""
        (kind, *_) = inspect.get_annotations(change).values()
        self.changes_messages_of(kind, change)
        return change

    def changes_messages_of(self, kind: type[Message], change: Callable[..., None]) -> None:
        """Messages of this type are changed by this function.

        ValueError where neither its revision nor the extension has the type.
        """
        pools = (find_revision(self.revision).si.DESCRIPTOR.pool, ext.DESCRIPTOR.pool)
        if all(kind.DESCRIPTOR.file.pool is not pool for pool in pools):
            sent = f"{self.name} is for SI {self.revision}"
            raise ValueError(f"{sent} and changes a {kind.DESCRIPTOR.name} of another revision")
        self.messages[kind] = change


def keep(repeated: Any, wanted: Callable[[Any], bool]) -> list[Any]:
    """Leave only the elements that are ``wanted``; what went.

    Where none goes the message stays as it was: also an emptied list would say that what it is in
    is there.
    """
    gone = [element for element in repeated if not wanted(element)]
    kept = [element for element in repeated if wanted(element)]
    if gone:
        del repeated[:]
        repeated.extend(kept)
    return gone
