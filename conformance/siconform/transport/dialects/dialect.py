"""A dialect: how one RM's requests become bytes of a revision, and the scheduler's bytes facts."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from google.protobuf.message import Message
from siwire import Revision

from siconform.protocol.events import Detail
from siconform.protocol.notifications import Fact, UpdateKind
from siconform.protocol.requests import Registration, Request
from siconform.protocol.subjects import Identity
from siconform.transport.dialects.registry import tables_of
from siconform.transport.dialects.tables import NoWords, Tables


class Dialect:
    """What one connection of one RM speaks. The connection makes it; it is never shared.

    So its tables may remember: where a text answers for a key alone, what the answer is about
    depends on what this RM said before. Such tables are made anew for each dialect, and their
    writers and readers are methods of one object. Requests are written in the order in which they
    are sent, each before it is sent; responses are read by the threads of the streams.
    """

    def __init__(self, revision: Revision, tables: Tables) -> None:
        self.revision: Final = revision
        self._tables = tables
        self._si = tables.messages(revision)

    @property
    def identity(self) -> Identity:
        """Who names an allocation."""
        return self._tables.identity

    @property
    def ask_releases_say_why(self) -> bool:
        """Whether a release of an ask has a termination type."""
        return self._tables.ask_releases_say_why

    @property
    def applications_start(self) -> bool:
        """Whether an application may be in a state of its own before it is running."""
        return self._tables.applications_start

    def defines(self, detail: Detail) -> bool:
        """Whether the revision has a number for this detail of an event."""
        return detail.value in self._si.EventRecord.ChangeDetail.keys()  # noqa: SIM118  # no mapping

    def method(self, kind: UpdateKind) -> str:
        """Name of the streaming method that carries this conversation."""
        return self._tables.conversations[kind].method

    def foreign_method(self) -> str:
        """Name of an update method that only another generation of the service has."""
        return self._tables.foreign_method

    def registration(self, registration: Registration) -> Message:
        """The registration request; NotForThisTarget where the revision cannot say it."""
        request: Message = self._si.RegisterResourceManagerRequest()
        self._tables.registers(request, registration)
        return request

    def request(self, kind: UpdateKind, rm_id: str, requests: Sequence[Request]) -> Message:
        """One request carrying all ``requests``, which belong to ``kind``.

        LookupError where the revision has no words for one of them.
        """
        name = self._tables.conversations[kind].request
        message: Message = getattr(self._si, name)(rmID=rm_id)
        for said in requests:
            self._write(message, said)
        return message

    def response(self, kind: UpdateKind, data: bytes) -> Message:
        """The response in these bytes; DecodeError where they are none."""
        name = self._tables.conversations[kind].response
        message: Message = getattr(self._si, name).FromString(data)
        return message

    def facts(self, kind: UpdateKind, message: Message) -> list[Fact]:
        """Everything a response of this conversation tells, in the order of its fields."""
        return list(self._read(kind, message))

    def _write(self, message: Message, said: Request) -> None:
        write = self._tables.writers.get(type(said), _no_words)
        try:
            write(message, said)
        except NoWords:
            raise NoWords(f"SI {self.revision} has no words for {said}") from None

    def _read(self, kind: UpdateKind, message: Message) -> Iterator[Fact]:
        for field, read in self._tables.readers[kind].items():
            for element in _elements(getattr(message, field)):
                if (fact := read(element)) is not None:
                    yield fact


def _no_words(_message: Message, _said: Request) -> None:
    raise NoWords


def _elements(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) else (value,)


def dialect_for(revision: Revision) -> Dialect:
    """A new dialect of this revision."""
    return Dialect(revision, tables_of(revision))
