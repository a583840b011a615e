"""What became of a step of an RM, and what shows it."""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

_ESCAPED: Final = re.compile(r"\\u[0-9a-f]{4}|\\.")
_NUMBER: Final = re.compile(r"\d+")
_KEY: Final = re.compile(r"\b(?:k|p|existing-)#")


class Outcome(Enum):
    """From harmless to worst; what nobody notices is worse than what somebody is told."""

    NO_WORDS = "no words"
    UNDERSTOOD = "understood"
    PARTLY_LOST = "partly lost"
    REFUSED = "refused"
    NOT_HEARD = "not heard"
    MISREAD = "misread"

    @property
    def badness(self) -> int:
        """Its rank, 0 for the harmless one."""
        return list(Outcome).index(self)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One message as it travelled, and what each side makes of the same bytes.

    In ``shown`` names that a scheduler made up and times are replaced, so that they are the same
    each time; the readings are of those bytes.
    """

    by_rm: bool
    message: str  # the sender's name of its type
    data: bytes
    shown: bytes
    means: str  # as the sender reads it
    read_as: str  # the receiver's name of its type, "" where it has no such method
    reads: str  # as the receiver reads it


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was meant, in one sentence, with the message that shows it."""

    outcome: Outcome
    says: str
    exchange: Exchange | None = None

    @property
    def gist(self) -> str:
        """What it says of any key and any amount."""
        return _KEY.sub("key", _NUMBER.sub("#", _ESCAPED.sub("", self.says)))
