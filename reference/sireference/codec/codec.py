"""What a codec is: one revision's functions and tables, and what they are for."""

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


def _reports(_: Answer) -> bool:
    return True


def _states_nothing(_: Refused) -> list[Message]:
    """No revision but 2021-02 has words for it: the status of the stream says it (C-05)."""
    return []


@dataclass(frozen=True)
class Stream:
    """One update stream: how its requests are read, and what its responses tell.

    ``slots`` say where an answer stands; one that has none is not told, nor one that ``reports``
    leaves out.
    """

    read: Callable[[Any, Policies], Iterator[Event]]
    response: type[Message]
    slots: Mapping[type, Slot]
    reports: Callable[[Answer], bool] = _reports


@dataclass(frozen=True)
class Codec:
    """Between wire and core: how one revision says what the core means.

    What gRPC hands over is a message of the revision, which types cannot say here; the functions of
    a revision name what they take. ``policies`` are what the operator configured.
    """

    revision: Revision
    registration: Callable[[Any, Policies], Register]
    streams: Mapping[str, Stream]  # by method; what no stream has words for counts to the first
    callbacks: CallbackCodec
    refusal: Callable[[Refused], list[Message]] = _states_nothing
    rules: Rules = field(default_factory=Rules)  # for the core, from the registration on
    policies: Policies = field(default_factory=Policies)

    @property
    def update_methods(self) -> tuple[str, ...]:
        """The methods that are update streams."""
        return tuple(self.streams)

    def register(self, message: Any) -> Register:
        """The event in a registration.

        Raises ConfigurationError for an unusable configuration, NoPolicyError for a policy group
        that is not configured.
        """
        return replace(self.registration(message, self.policies), rules=self.rules)

    def events(self, method: str, message: Any) -> Iterator[Event]:
        """The events in one request of the stream ``method``, in the order to handle them.

        A large request is read bit by bit, as the events are taken.
        """
        return self.streams[method].read(message, self.policies)

    def method_of(self, answer: Answer) -> str:
        """The stream that ``answer`` travels on, whatever caused it (SI-CONN-014)."""
        return self._method_by_answer.get(type(answer), self._first_method)

    def responses(self, method: str, answers: Sequence[Answer]) -> Iterator[Message]:
        """Messages of the stream ``method`` that say ``answers``, in their order."""
        stream = self.streams[method]
        return pack(stream.response, stream.slots, [one for one in answers if stream.reports(one)])

    def refusal_messages(self, refused: Refused) -> list[Message]:
        """Messages to say before a stream ends because its request was ``refused``."""
        return self.refusal(refused)

    @cached_property
    def _method_by_answer(self) -> Mapping[type, str]:
        return {kind: method for method, stream in self.streams.items() for kind in stream.slots}

    @cached_property
    def _first_method(self) -> str:
        return next(iter(self.streams))
