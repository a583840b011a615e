"""A dialect: converts one RM's requests to bytes of a revision, and bytes to facts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any, Final

from google.protobuf.message import Message
from siwire import Revision

from siconform.protocol.availability import lacking
from siconform.protocol.events import Detail
from siconform.protocol.fact_text import field_names
from siconform.protocol.matchers import ANY, UNSUPPORTED
from siconform.protocol.notifications import Fact, NotInSpec, Termination, UpdateKind
from siconform.protocol.requests import Registration, Request
from siconform.protocol.subjects import Identity
from siconform.transport.dialects.registry import tables_of
from siconform.transport.dialects.schema import schema_of
from siconform.transport.dialects.tables import Inexpressible, Payload, Tables


class Dialect:
    """The dialect of one connection of one RM, never shared.

    So its tables may keep state: in a revision that answers for a key alone, the meaning of an
    answer depends on what this RM sent before. Such tables are created for each dialect, and their
    writers and readers are methods of one object. Requests are written in the order in which they
    are sent, each before it is sent; responses are read by the threads of the streams.
    """

    def __init__(self, revision: Revision, tables: Tables, edited: bytes = b"") -> None:
        self.revision: Final = revision
        self.schema: Final = schema_of(revision, tables.messages, edited)
        self._tables = tables

    @property
    def identity(self) -> Identity:
        """Whether the RM or the scheduler names allocations."""
        return self._tables.identity

    @property
    def ask_releases_state_why(self) -> bool:
        """Whether a release of an ask has a termination type."""
        return self._tables.ask_releases_state_why

    @property
    def applications_start(self) -> bool:
        """Whether an application may be in a separate state before it is running."""
        return self._tables.applications_start

    def defines(self, detail: Detail) -> bool:
        """Return whether the revision defines this detail of an event."""
        details = self.schema.own("EventRecord").ChangeDetail
        return detail.value in details.keys()  # noqa: SIM118  # not a mapping

    @property
    def payloads(self) -> Mapping[int, Payload]:
        """Payloads of callbacks, by their kind."""
        return self._tables.payloads

    def method(self, kind: UpdateKind) -> str:
        """Return the name of the streaming method that carries this conversation."""
        return self._tables.conversations[kind].method

    def forget(self, key: str) -> None:
        """Forget what a key stands for, which ended so long ago that nothing comes about it."""
        self._tables.forget(key)

    def foreign_method(self) -> str:
        """Return the name of an update method of another generation of the service."""
        return self._tables.foreign_method

    def registration(self, registration: Registration) -> Message:
        """Return the registration request; NotForThisTarget if the revision cannot express it."""
        request = self.schema.new("RegisterResourceManagerRequest")
        self._tables.registers(request, registration)
        return self.schema.sent(request)

    def request(self, kind: UpdateKind, rm_id: str, requests: Sequence[Request]) -> Message:
        """Return one message with all ``requests``, which belong to ``kind``.

        LookupError if the revision cannot express one, NotExpressible if an edited spec cannot.
        """
        name = self._tables.conversations[kind].request
        message: Message = self.schema.own(name)(rmID=rm_id)
        for sent in requests:
            self._write(message, sent)
        return self.schema.sent(message)

    def response(self, kind: UpdateKind, data: bytes) -> Message:
        """Parse the response; DecodeError if the bytes are not one."""
        return self.schema.read(self._tables.conversations[kind].response, data)

    def facts(self, kind: UpdateKind, message: Message) -> list[Fact]:
        """Return all facts of a response of this conversation, in the order of its fields."""
        read, losses = self.schema.observed(message)
        return [*self._read(kind, read), *(NotInSpec(kind, *lost) for lost in losses.items())]

    def parsed_registration(self, data: bytes) -> Message:
        """Parse a registration request; DecodeError if the bytes are not one."""
        return self.schema.read("RegisterResourceManagerRequest", data)

    def registered(self, message: Message) -> Registration:
        """Return the registration of an RM."""
        return self._tables.reads_registration(self.schema.observed(message)[0])

    def parsed_request(self, kind: UpdateKind, data: bytes) -> Message:
        """Parse an update request; DecodeError if the bytes are not one."""
        return self.schema.read(self._tables.conversations[kind].request, data)

    def requests(self, kind: UpdateKind, message: Message) -> list[Request | NotInSpec]:
        """Return all requests of an RM's message of this conversation."""
        read, losses = self.schema.observed(message)
        lost = (NotInSpec(kind, *one, sent=True) for one in losses.items())
        legacy = self._tables.legacy_requests.get(kind, _no_legacy_requests)
        return [*self._read_requests(kind, read), *legacy(message), *lost]

    def registration_response(self) -> Message:
        """Return the answer to a registration, which has no fields."""
        return self.schema.sent(self.schema.new("RegisterResourceManagerResponse"))

    def response_with(self, kind: UpdateKind, facts: Sequence[Fact]) -> Message:
        """Return one response with all ``facts``, which belong to ``kind``; ANY is left unset.

        LookupError if the revision cannot express one, NotExpressible if an edited spec cannot.
        """
        message = self.schema.new(self._tables.conversations[kind].response)
        for fact in facts:
            self._write_fact(message, filled(fact))
        return self.schema.sent(message)

    def _write_fact(self, message: Message, fact: Fact) -> None:
        writer = self._tables.fact_writers.get(type(fact))
        lacked = ", ".join(lacking(fact, self.revision.name))
        if writer is None or lacked:
            what = f"{lacked} of {fact}" if lacked else fact
            raise Inexpressible(f"SI {self.revision} cannot express {what}")
        writer.write(getattr(message, writer.field).add() if writer.field else message, fact)

    def _read_requests(self, kind: UpdateKind, message: Message) -> Iterator[Request]:
        for path, read in self._tables.request_readers[kind].items():
            yield from map(read, _getter(path)(message))

    def _write(self, message: Message, sent: Request) -> None:
        write = self._tables.writers.get(type(sent), _no_words)
        unknown = [*lacking(sent, self.revision.name)]
        try:
            (_no_words if unknown else write)(message, sent)
        except Inexpressible:
            what = f"{', '.join(unknown)} of {sent}" if unknown else sent
            raise Inexpressible(f"SI {self.revision} cannot express {what}") from None

    def _read(self, kind: UpdateKind, message: Message) -> Iterator[Fact]:
        for field, read in self._tables.readers[kind].items():
            for element in _elements(getattr(message, field)):
                if (fact := read(element)) is not None:
                    yield fact


_UNSET: Final[Mapping[str, Any]] = {
    "resource": {},
    "tags": {},
    "placeholder": False,
    "originator": False,
    "preemption_policy": None,
    "priority": 0,
    "timestamp": 0,
    "termination": Termination.UNKNOWN,
}
"""Values of unset fields that are not strings."""


def filled(fact: Fact) -> Fact:
    """Return the fact with every field unset that is ANY or UNSUPPORTED."""
    kind: type = type(fact)
    unset = {
        name: _UNSET.get(name, "")
        for name in field_names(kind)
        if getattr(fact, name) is ANY or getattr(fact, name) is UNSUPPORTED
    }
    return replace(fact, **unset)


def _no_legacy_requests(_message: Message) -> Iterator[Request]:
    return iter(())


def _no_words(_message: Message, _sent: Request) -> None:
    raise Inexpressible


def _elements(value: Any) -> Sequence[Any]:
    is_sequence = _is_sequence(type(value))  # type: ignore[arg-type]  # a type is hashable
    return value if is_sequence else (value,)


@cache
def _is_sequence(kind: type[object]) -> bool:
    return issubclass(kind, Sequence)


@cache
def _getter(path: str) -> Callable[[Message], Any]:
    return attrgetter(path)


def dialect_for(revision: Revision, edited: bytes = b"") -> Dialect:
    """Return a new dialect of this revision, with the messages of an edited spec if given.

    The edited spec is a serialized descriptor set.
    """
    return Dialect(revision, tables_of(revision), edited)


def lost_in(revision: Revision, edited: bytes) -> Mapping[str, str]:
    """Return all that a revision can express and an edited spec cannot: full name to why."""
    return schema_of(revision, tables_of(revision).messages, edited).losses()
