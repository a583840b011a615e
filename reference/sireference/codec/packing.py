"""Answers packed into messages: elements that may be read in any order share one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from google.protobuf.message import Message

from sireference.core.model import Answer

# Well below the 4 MiB a gRPC client takes unless told otherwise
_MOST_BYTES: Final = 1 << 20

Write = Callable[[Any, Any], Message]  # of an answer and the response, each of its own type


class Slot(NamedTuple):
    """Where an answer stands in a response: what adds its element, and its company.

    The lists of one message have no order among each other. So only answers of one company share a
    message: those that mean the same whichever list is read first.
    """

    write: Write
    company: str


def pack(
    message: type[Message], slots: Mapping[type, Slot], answers: Sequence[Answer]
) -> Iterator[Message]:
    """Messages that say ``answers`` in order: a run of one company shares a message.

    A message ends before it grows too large for the RM. Answers without a slot, for which the
    revision has no words, are left out.
    """
    response: Message | None = None
    company = ""
    size = 0
    for answer in answers:
        slot = slots.get(type(answer))
        if slot is None:
            continue
        if response is None or slot.company != company or size > _MOST_BYTES:
            if response is not None:
                yield response
            response, size, company = message(), 0, slot.company
        size += slot.write(answer, response).ByteSize()
    if response is not None:
        yield response
