"""What a revision has words for, as tables: a newer revision replaces entries of an older one."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from siwire import Revision

from siconform.protocol.notifications import Fact, UpdateKind
from siconform.protocol.requests import Registration, Request
from siconform.protocol.subjects import Identity

Writer = Callable[[Any, Any], None]
"""Writes a request of one type into a message of the conversation it belongs to; may raise NoWords.

Typed by the function itself: the message classes it is for, and the type of request.
"""
Reader = Callable[[Any], Fact | None]
"""What one element of a response's field tells, if anything."""
CallReader = Callable[[Any, int], Iterator[Fact]]
"""What one payload of a callback tells, on the offer of this number."""


class NoWords(LookupError):
    """The revision cannot say this."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The method that carries a conversation, and the messages up and down."""

    method: str
    request: str
    response: str


@dataclass(frozen=True, slots=True)
class Payload:
    """What a callback carries, and who reads it."""

    message: str
    read: CallReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """One revision's words for what is said and told. What has no entry cannot be said in it."""

    messages: Callable[[Revision], Any] = lambda revision: revision.si
    """The message classes by name: the one place where they are looked up."""
    conversations: Mapping[UpdateKind, Conversation]
    foreign_method: str  # of an update that only another generation of the service has
    registers: Callable[[Any, Registration], None]
    writers: Mapping[type[Request], Writer]
    readers: Mapping[UpdateKind, Mapping[str, Reader]]  # by the field of the response, in order
    payloads: Mapping[int, Payload]  # by the kind of callback
    identity: Identity = Identity.GIVEN_BY_THE_SCHEDULER
    ask_releases_state_why: bool = True  # a release of an ask has a termination type
    applications_start: bool = True  # there is a state between being accepted and running
