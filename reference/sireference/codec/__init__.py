"""Between wire and core: messages of a revision as events, effects as messages of a revision."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from siwire import Capability, Revision

from sireference.codec.one_stream import OneStream
from sireference.codec.policies import NoPolicyError, Policies
from sireference.codec.three_streams import ThreeStreams
from sireference.core.model import Answer, Event, Refused, Register

__all__ = ["Codec", "NoPolicyError", "Policies", "codec_for"]


class Codec(Protocol):
    """How one revision says what the core means."""

    @property
    def revision(self) -> Revision:
        """The revision spoken."""

    @property
    def policies(self) -> Policies:
        """What the operator configured."""

    @property
    def update_methods(self) -> tuple[str, ...]:
        """The methods that are update streams."""

    def register(self, message: Any) -> Register:
        """The event in a registration.

        Raises ConfigurationError for an unusable configuration, NoPolicyError for a policy group
        that is not configured.
        """

    def events(self, method: str, message: Any) -> Iterator[Event]:
        """The events in one request of the stream ``method``, in the order to handle them.

        A large request is read bit by bit, as the events are taken.
        """

    def method_of(self, answer: Answer) -> str:
        """The stream that ``answer`` travels on."""

    def responses(self, method: str, answers: Sequence[Answer]) -> Iterator[Any]:
        """Messages of the stream ``method`` that say ``answers``, in their order."""

    def farewell(self, refused: Refused) -> Sequence[Any]:
        """Messages to say before a stream ends because its request was ``refused``."""


def codec_for(revision: Revision, policies: Policies | None = None) -> Codec:
    """The codec of ``revision``; ``policies`` are what the operator configured."""
    policies = policies or Policies()
    if revision.can(Capability.ONE_UPDATE_STREAM):
        return OneStream(revision, policies)
    return ThreeStreams(revision, policies)
