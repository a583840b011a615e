"""Codec: the functions and tables of one revision."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from google.protobuf.message import Message
from siwire import Revision

from sireference.codec.callbacks import CallbackCodec
from sireference.codec.packing import Slot, pack
from sireference.codec.policies import Policies
from sireference.core.model import Answer, Event, Refused, Register, Rules


def _states_nothing(_: Refused) -> list[Message]:
    """Return no message: only 2021-02 has one; later revisions use the stream status (C-05)."""
    return []


@dataclass(frozen=True)
class Stream:
    """One update stream: how requests are read and responses written.

    ``slots`` give the place of an answer in a response; answers without a slot, or left out by
    ``reports`` if given, are not sent.
    """

    read: Callable[[Any, Policies], Iterator[Event]]
    response: type[Message]
    slots: Mapping[type, Slot]
    reports: Callable[[Answer], bool] | None = None


@dataclass(frozen=True)
class Codec:
    """Conversion between the messages of one revision and the core.

    gRPC passes messages of the revision, which cannot be typed here; the functions of a revision
    declare their types. ``policies`` are the operator's.
    """

    revision: Revision
    registration: Callable[[Any, Policies], Register]
    streams: Mapping[str, Stream]  # by method; the first gets what no stream has messages for
    callbacks: CallbackCodec
    refusal: Callable[[Refused], list[Message]] = _states_nothing
    rules: Rules = field(default_factory=Rules)  # for the core, from the registration on
    policies: Policies = field(default_factory=Policies)

    @property
    def update_methods(self) -> tuple[str, ...]:
        """Return the methods that are update streams."""
        return tuple(self.streams)

    def register(self, message: Any) -> Register:
        """Return the event in a registration.

        Raises ConfigurationError for an unusable configuration, NoPolicyError for a policy group
        that is not configured.
        """
        return replace(self.registration(message, self.policies), rules=self.rules)

    def events(self, method: str, message: Any) -> Iterator[Event]:
        """Yield the events in one request of the stream ``method``, in the order to handle them.

        A large request is read lazily, as the events are taken.
        """
        return self.streams[method].read(message, self.policies)

    def method_of(self, answer: Answer) -> str:
        """Return the stream that ``answer`` travels on, for any cause (SI-CONN-014)."""
        return self._method_by_answer.get(type(answer), self._first_method)

    def responses(self, method: str, answers: Sequence[Answer]) -> Iterator[Message]:
        """Return messages of the stream ``method`` with ``answers`` in order."""
        stream = self.streams[method]
        sent = answers if stream.reports is None else list(filter(stream.reports, answers))
        return pack(stream.response, stream.slots, sent)

    def refusal_messages(self, refused: Refused) -> list[Message]:
        """Return messages to send before a stream ends because its request was ``refused``."""
        return self.refusal(refused)

    @cached_property
    def _method_by_answer(self) -> Mapping[type, str]:
        return {kind: method for method, stream in self.streams.items() for kind in stream.slots}

    @cached_property
    def _first_method(self) -> str:
        return next(iter(self.streams))
