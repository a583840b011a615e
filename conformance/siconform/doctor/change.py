"""A modification of scheduler behaviour, made in the messages between scheduler and kit."""

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
    """Actions of a change other than modifying the message at hand."""

    to_rm: Callable[[Message], None]  # on the same stream, before what comes next
    to_scheduler: Callable[[Message], None]  # the same, after the message at hand
    later: Callable[[Message, float], None]  # to the scheduler, at the next cycle of these seconds
    memory: defaultdict[str, Any]  # lives as long as the proxy; sets by default
    pause: float = 0.0  # seconds that the message at hand and later ones are delayed
    is_dropped: bool = False  # the message at hand is not forwarded


@dataclass
class Change:
    """A mutant or a permitted variant.

    A mutant ``breaks`` these requirements; their areas and ``more_areas`` are tested. A permitted
    variant breaks none and must not be detected; it was once ``once_failed_by`` requirements that
    took it for a mutant, ``received`` options of a run that state what the kit cannot know, and
    ``departs_from`` the SHOULDs that it does not follow.
    """

    name: str
    summary: str
    breaks: tuple[str, ...] = ()
    more_areas: tuple[str, ...] = ()
    once_failed_by: tuple[str, ...] = ()
    received: tuple[str, ...] = ()
    departs_from: tuple[str, ...] = ()
    revision: str = NAME
    is_variant: bool = False
    messages: dict[Any, Callable[..., None]] = field(default_factory=dict)

    @property
    def areas(self) -> tuple[str, ...]:
        """Return the areas whose requirements are tested; all of them if it is empty."""
        of_breaks = (identifier.split("-")[1] for identifier in self.breaks)
        return tuple(dict.fromkeys((*of_breaks, *self.more_areas)))

    @property
    def makers(self) -> tuple[Callable[..., None], ...]:
        """Return the functions that make the change."""
        return tuple(self.messages.values())

    @property
    def sources(self) -> list[Path]:
        """Return the files that define the change."""
        return sorted({Path(inspect.getfile(inspect.unwrap(maker))) for maker in self.makers})

    @property
    def is_on_the_wire(self) -> bool:
        """Whether it needs a proxy between the kit and the reference."""
        return bool(self.messages)

    def touches(self, kind: Any) -> bool:
        """Whether it changes messages of this type."""
        return kind in self.messages

    def change(self, message: Message, wire: Wire) -> None:
        """Change the message in place."""
        change = self.messages[type(message)]
        change(message, *[wire][: len(inspect.signature(change).parameters) - 1])

    def also(self, change: Callable[..., None]) -> Callable[..., None]:
        """Decorate a function that changes another message type, that of its first argument."""
        (kind, *_) = inspect.get_annotations(change).values()
        self.changes_messages_of(kind, change)
        return change

    def changes_messages_of(self, kind: type[Message], change: Callable[..., None]) -> None:
        """Register this function for messages of this type.

        ValueError if neither its revision nor the extension has the type.
        """
        pools = (find_revision(self.revision).si.DESCRIPTOR.pool, ext.DESCRIPTOR.pool)
        if all(kind.DESCRIPTOR.file.pool is not pool for pool in pools):
            sent = f"{self.name} is for SI {self.revision}"
            raise ValueError(f"{sent} and changes a {kind.DESCRIPTOR.name} of another revision")
        self.messages[kind] = change


def keep(repeated: Any, wanted: Callable[[Any], bool]) -> list[Any]:
    """Leave only the ``wanted`` elements; return the removed ones.

    If none is removed the message is unchanged: an emptied list would still mark its parent as
    present.
    """
    gone = [element for element in repeated if not wanted(element)]
    kept = [element for element in repeated if wanted(element)]
    if gone:
        del repeated[:]
        repeated.extend(kept)
    return gone
