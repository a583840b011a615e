"""Dialects: how an RM's sayings become bytes of one revision, and the scheduler's bytes facts."""

from collections.abc import Sequence
from typing import Protocol

from google.protobuf.message import Message
from siwire import Capability, Revision

from siconform.protocol.notifications import Fact, Kind
from siconform.protocol.requests import Registration, Saying
from siconform.transport.dialects.one_stream import OneStream
from siconform.transport.dialects.three_streams import ThreeStreams


class Dialect(Protocol):
    """One revision's way of saying things."""

    revision: Revision

    def method(self, kind: Kind) -> str:
        """Name of the streaming method that carries this conversation."""
        ...

    def foreign_method(self) -> str:
        """Name of an update method that only another generation of the service has."""
        ...

    def registration(self, registration: Registration) -> Message:
        """The registration request."""
        ...

    def request(self, kind: Kind, rm_id: str, sayings: Sequence[Saying]) -> Message:
        """One request carrying all ``sayings``, which belong to ``kind``."""
        ...

    def response(self, kind: Kind, data: bytes) -> Message:
        """The response in these bytes; DecodeError where they are none."""
        ...

    def facts(self, kind: Kind, message: Message) -> list[Fact]:
        """Everything a response of this conversation tells, in the order of its fields."""
        ...


def dialect_for(revision: Revision) -> Dialect:
    """The dialect of a revision."""
    if revision.can(Capability.ONE_UPDATE_STREAM):
        return OneStream(revision)
    return ThreeStreams(revision)
