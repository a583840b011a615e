"""Packing of answers into messages: elements whose order does not matter share one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from google.protobuf.message import Message

from sireference.core.model import Answer

# Well below the default limit of 4 MiB of a gRPC client
_MOST_BYTES: Final = 1 << 20
_MOST_ANSWERS: Final = 10_000  # ordinary ones have so many bytes together

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
    placed = [(slots[type(answer)], answer) for answer in answers if type(answer) in slots]
    for _, of_one_batch in groupby(placed, key=lambda one: one[0].batch):
        together = list(of_one_batch)
        for first in range(0, len(together), _MOST_ANSWERS):
            yield from _messages(message, together[first : first + _MOST_ANSWERS])


def _messages(message: type[Message], placed: Sequence[tuple[Slot, Answer]]) -> Iterator[Message]:
    """Return one message with these answers, or several if it would be too large.

    The whole is measured: measuring each answer takes a third of the time to write it.
    """
    response = message()
    for slot, answer in placed:
        slot.write(answer, response)
    if len(placed) == 1 or response.ByteSize() <= _MOST_BYTES:
        yield response
        return
    half = len(placed) // 2
    yield from _messages(message, placed[:half])
    yield from _messages(message, placed[half:])
