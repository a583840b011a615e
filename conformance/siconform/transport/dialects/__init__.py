"""Dialects: how an RM's requests become bytes of one revision, and the scheduler's bytes facts."""

from collections.abc import Sequence
from typing import Protocol

from google.protobuf.message import Message
from siwire import Capability, Revision

from siconform.protocol.notifications import Fact, UpdateKind
from siconform.protocol.requests import Registration, Request
from siconform.transport.dialects.one_stream import OneStream
from siconform.transport.dialects.three_streams import ThreeStreams


class Dialect(Protocol):
    """One revision's way of said things."""

    revision: Revision

    def method(self, kind: UpdateKind) -> str:
        """Name of the streaming method that carries this conversation."""
        ...

    def foreign_method(self) -> str:
        """Name of an update method that only another generation of the service has."""
        ...

    def registration(self, registration: Registration) -> Message:
        """The registration request."""
        ...

    def request(self, kind: UpdateKind, rm_id: str, requests: Sequence[Request]) -> Message:
        """One request carrying all ``requests``, which belong to ``kind``."""
        ...

    def response(self, kind: UpdateKind, data: bytes) -> Message:
        """The response in these bytes; DecodeError where they are none."""
        ...

    def facts(self, kind: UpdateKind, message: Message) -> list[Fact]:
        """Everything a response of this conversation tells, in the order of its fields."""
        ...


def dialect_for(revision: Revision) -> Dialect:
    """The dialect of a revision."""
    if revision.can(Capability.ONE_UPDATE_STREAM):
        return OneStream(revision)
    return ThreeStreams(revision)
