"""Tables of what a revision can express; a newer one replaces entries of an older one."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from siwire import Revision

from siconform.protocol.notifications import Fact, UpdateKind
from siconform.protocol.requests import Registration, Request
from siconform.protocol.subjects import Identity

Writer = Callable[[Any, Any], None]
"""Writes a request of one type into a message of its conversation; may raise NoWords.

Typed by the function itself: the message classes it is for, and the type of request.
"""
Reader = Callable[[Any], Fact | None]
"""Reads one element of a response field as a fact, if it is one."""
CallReader = Callable[[Any, int], Iterator[Fact]]
"""Reads the facts of one callback payload, for the offer of this number."""


class NoWords(LookupError):
    """The revision cannot express this."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The method that carries a conversation, with its request and response messages."""

    method: str
    request: str
    response: str


@dataclass(frozen=True, slots=True)
class Payload:
    """The message of a callback and its reader."""

    message: str
    read: CallReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Writers and readers of one revision. Requests without an entry cannot be sent in it."""

    messages: Callable[[Revision], Any] = lambda revision: revision.si
    """The message classes by name; they are looked up only here."""
    conversations: Mapping[UpdateKind, Conversation]
    foreign_method: str  # an update method of another generation of the service
    registers: Callable[[Any, Registration], None]
    writers: Mapping[type[Request], Writer]
    readers: Mapping[UpdateKind, Mapping[str, Reader]]  # by response field, in order
    payloads: Mapping[int, Payload]  # by callback kind
    identity: Identity = Identity.GIVEN_BY_THE_SCHEDULER
    ask_releases_state_why: bool = True  # a release of an ask has a termination type
    applications_start: bool = True  # there is a state between being accepted and running
