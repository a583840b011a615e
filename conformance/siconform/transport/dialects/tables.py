"""Tables of what a revision can express; a newer one replaces entries of an older one."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from siwire import Revision

from siconform.protocol.notifications import Fact, UpdateKind
from siconform.protocol.requests import Registration, Request
from siconform.protocol.subjects import Identity

Writer = Callable[[Any, Any], None]
"""Writes a request of one type into a message of its conversation; may raise Inexpressible.

Typed by the function itself: the message classes it is for, and the type of request.
"""
Reader = Callable[[Any], Fact | None]
"""Reads one element of a response field as a fact, if it is one."""
RequestReader = Callable[[Any], Request]
"""Reads one element of a request field."""
CallReader = Callable[[Any, int], Iterator[Fact]]
"""Reads the facts of one callback payload, for the offer of this number."""


class Inexpressible(LookupError):
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


@dataclass(frozen=True, slots=True)
class FactWriter:
    """The response field of a fact, and the writer of its element; "" is the response itself."""

    field: str
    write: Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Writers and readers of one revision. What has no entry cannot be sent in it.

    An RM uses ``registers``, ``writers`` and ``readers``; a scheduler the other three.
    """

    messages: Callable[[Revision], Any] = lambda revision: revision.si
    """The message classes by name; they are looked up only here."""
    conversations: Mapping[UpdateKind, Conversation]
    foreign_method: str  # an update method of another generation of the service
    registers: Callable[[Any, Registration], None]
    writers: Mapping[type[Request], Writer]
    readers: Mapping[UpdateKind, Mapping[str, Reader]]  # by response field, in order
    reads_registration: Callable[[Any], Registration]
    request_readers: Mapping[UpdateKind, Mapping[str, RequestReader]]  # by field path, in order
    legacy_requests: Mapping[UpdateKind, Callable[[Any], Iterator[Request]]] = field(
        default_factory=dict
    )  # in fields that the revision does not have
    fact_writers: Mapping[type[Fact], FactWriter]
    payloads: Mapping[int, Payload]  # by callback kind
    identity: Identity = Identity.GIVEN_BY_THE_SCHEDULER
    ask_releases_state_why: bool = True  # a release of an ask has a termination type
    applications_start: bool = True  # there is a state between being accepted and running
    forget: Callable[[str], None] = lambda _key: None  # drop what is remembered of a key
