"""A dialect: how one RM's requests become bytes of a revision, and the scheduler's bytes facts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message
from siwire import Revision

from siconform.protocol.events import Detail
from siconform.protocol.notifications import Fact, NotInTheText, UpdateKind
from siconform.protocol.requests import Registration, Request
from siconform.protocol.subjects import Identity
from siconform.transport.dialects.registry import tables_of
from siconform.transport.dialects.schema import schema_of
from siconform.transport.dialects.tables import NoWords, Payload, Tables


class Dialect:
    """What one connection of one RM speaks. The connection makes it; it is never shared.

    So its tables may remember: where a text answers for a key alone, what the answer is about
    depends on what this RM said before. Such tables are made anew for each dialect, and their
    writers and readers are methods of one object. Requests are written in the order in which they
    are sent, each before it is sent; responses are read by the threads of the streams.
    """

    def __init__(self, revision: Revision, tables: Tables, edited: bytes = b"") -> None:
        self.revision: Final = revision
        self.schema: Final = schema_of(revision, tables.messages, edited)
        self._tables = tables

    @property
    def identity(self) -> Identity:
        """Who names an allocation."""
        return self._tables.identity

    @property
    def ask_releases_state_why(self) -> bool:
        """Whether a release of an ask has a termination type."""
        return self._tables.ask_releases_state_why

    @property
    def applications_start(self) -> bool:
        """Whether an application may be in a state of its own before it is running."""
        return self._tables.applications_start

    def defines(self, detail: Detail) -> bool:
        """Whether the revision has a number for this detail of an event."""
        details = self.schema.own("EventRecord").ChangeDetail
        return detail.value in details.keys()  # noqa: SIM118  # no mapping

    @property
    def payloads(self) -> Mapping[int, Payload]:
        """What callbacks carry, by their kind."""
        return self._tables.payloads

    def method(self, kind: UpdateKind) -> str:
        """Name of the streaming method that carries this conversation."""
        return self._tables.conversations[kind].method

    def foreign_method(self) -> str:
        """Name of an update method that only another generation of the service has."""
        return self._tables.foreign_method

    def registration(self, registration: Registration) -> Message:
        """The registration request; NotForThisTarget where the revision cannot say it."""
        request = self.schema.new("RegisterResourceManagerRequest")
        self._tables.registers(request, registration)
        return self.schema.sent(request)

    def request(self, kind: UpdateKind, rm_id: str, requests: Sequence[Request]) -> Message:
        """One request carrying all ``requests``, which belong to ``kind``.

        LookupError where the revision has no words for one of them, NotExpressible where an edited
        text of it has not.
        """
        name = self._tables.conversations[kind].request
        message: Message = self.schema.own(name)(rmID=rm_id)
        for sent in requests:
            self._write(message, sent)
        return self.schema.sent(message)

    def response(self, kind: UpdateKind, data: bytes) -> Message:
        """The response in these bytes; DecodeError where they are none."""
        return self.schema.read(self._tables.conversations[kind].response, data)

    def facts(self, kind: UpdateKind, message: Message) -> list[Fact]:
        """Everything a response of this conversation tells, in the order of its fields."""
        read, losses = self.schema.observed(message)
        return [*self._read(kind, read), *(NotInTheText(kind, *lost) for lost in losses.items())]

    def _write(self, message: Message, sent: Request) -> None:
        write = self._tables.writers.get(type(sent), _no_words)
        try:
            write(message, sent)
        except NoWords:
            raise NoWords(f"SI {self.revision} has no words for {sent}") from None

    def _read(self, kind: UpdateKind, message: Message) -> Iterator[Fact]:
        for field, read in self._tables.readers[kind].items():
            for element in _elements(getattr(message, field)):
                if (fact := read(element)) is not None:
                    yield fact


def _no_words(_message: Message, _sent: Request) -> None:
    raise NoWords


def _elements(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) else (value,)


def dialect_for(revision: Revision, edited: bytes = b"") -> Dialect:
    """A new dialect of this revision, which speaks the messages of an edited text if one is given.

    That is a serialized descriptor set.
    """
    return Dialect(revision, tables_of(revision), edited)


def lost_in(revision: Revision, edited: bytes) -> Mapping[str, str]:
    """All that a revision can say and an edited text cannot: full name to why."""
    return schema_of(revision, tables_of(revision).messages, edited).losses()
