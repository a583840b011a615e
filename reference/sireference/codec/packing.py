"""Packing of answers into messages: elements whose order does not matter share one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from google.protobuf.message import Message

from sireference.core.model import Answer

# Well below the default limit of 4 MiB of a gRPC client
_MOST_BYTES: Final = 1 << 20

Write = Callable[[Any, Any], Message]  # of an answer and the response, each with its own type


class Slot(NamedTuple):
    """The place of an answer in a response: the function that adds it, and its batch.

    The lists of one message have no order among each other. So only answers of one batch share a
    message: those that mean the same whichever list is read first.
    """

    write: Write
    batch: str


def pack(
    message: type[Message], slots: Mapping[type, Slot], answers: Sequence[Answer]
) -> Iterator[Message]:
    """Return messages with ``answers`` in order: consecutive answers of one batch share one.

    Messages are limited in size. Answers without a slot, which the revision cannot express, are
    left out.
    """
    response: Message | None = None
    batch = ""
    size = 0
    for answer in answers:
        slot = slots.get(type(answer))
        if slot is None:
            continue
        if response is None or slot.batch != batch or size > _MOST_BYTES:
            if response is not None:
                yield response
            response, size, batch = message(), 0, slot.batch
        size += slot.write(answer, response).ByteSize()
    if response is not None:
        yield response
