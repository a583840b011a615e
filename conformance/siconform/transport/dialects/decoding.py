"""Decoding of both directions of an exchange, for a scheduler and for a recorder in between."""

from dataclasses import dataclass

from google.protobuf.message import DecodeError, Message

from siconform.protocol.notifications import Fact, Nothing, Unreadable, UpdateKind
from siconform.protocol.requests import Request, StreamOpening
from siconform.transport.dialects.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Decoded:
    """A message and its elements; None for bytes that are not a message of its type."""

    message: Message | None
    contents: tuple[Request | Fact, ...]

    @property
    def rm_id(self) -> str:
        """The rmID of an RM's message; "" if it has none."""
        return getattr(self.message, "rmID", "")


def decode(
    dialect: Dialect, kind: UpdateKind, data: bytes, *, sent_by_rm: bool, opens: bool = False
) -> Decoded:
    """Decode a message of an update stream; ``opens``: it is the first of its stream.

    The dialect belongs to one registration of an RM, and sees the messages of both directions in
    the order in which they were sent: it remembers what a key stands for.
    """
    try:
        if sent_by_rm:
            message = dialect.parsed_request(kind, data)
            contents: list[Request | Fact] = [*dialect.requests(kind, message)]
        else:
            message = dialect.response(kind, data)
            contents = [*dialect.facts(kind, message)]
    except DecodeError as error:
        return Decoded(None, (Unreadable(kind, f"{error}: {data.hex()}"),))
    empty = StreamOpening(kind) if sent_by_rm and opens else Nothing(kind)
    return Decoded(message, tuple(contents) or (empty,))
