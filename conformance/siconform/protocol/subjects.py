"""What a release is about, and who gives an allocation the name it is released by.

The kinds are tagged, as the records of a history have to tell them apart.
"""

from enum import Enum, auto
from typing import ClassVar

import msgspec


class Identity(Enum):
    """Who names an allocation."""

    GIVEN_BY_THE_SCHEDULER = auto()
    KEY_OF_THE_ASK = auto()

    def made_up_for(self, key: str) -> str:
        """What an allocation is called that an RM makes up, under this key."""
        return key if self is Identity.KEY_OF_THE_ASK else f"{key}-identity"

    def key_of(self, identity: str, key: str) -> str:
        """The key of an allocation called ``identity``: ``key``, unless that is its name."""
        return identity if self is Identity.KEY_OF_THE_ASK else key


class OneAllocation(msgspec.Struct, frozen=True, tag=True):
    """The allocation of this identity; its key goes with it where the text has a field for it."""

    application: str
    identity: str
    key: str = ""


class OneAsk(msgspec.Struct, frozen=True, tag=True):
    """The ask of this key; of any application where none is named."""

    application: str
    key: str


class AllOf(msgspec.Struct, frozen=True, tag=True):
    """All that an application has; a key beside it names nothing."""

    application: str
    key: str = ""


class AllThereIs(msgspec.Struct, frozen=True, tag=True):
    """All that a partition has."""

    application: ClassVar = ""
