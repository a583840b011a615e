"""Subjects of releases, and the party that names allocations.

The types are tagged, so that records of a history distinguish them.
"""

from enum import Enum, auto
from typing import ClassVar

import msgspec


class Identity(Enum):
    """Whether the RM or the scheduler names allocations."""

    GIVEN_BY_THE_SCHEDULER = auto()
    KEY_OF_THE_ASK = auto()

    def made_up_for(self, key: str) -> str:
        """Return the identity of an allocation that an RM invents under this key."""
        return key if self is Identity.KEY_OF_THE_ASK else f"{key}-identity"

    def key_of(self, identity: str, key: str) -> str:
        """Return the key of an allocation: ``key``, or ``identity`` if that is the key."""
        return identity if self is Identity.KEY_OF_THE_ASK else key


class OneAllocation(msgspec.Struct, frozen=True, tag=True):
    """The allocation of this identity; the key is sent where the revision has a field for it."""

    application: str
    identity: str
    key: str = ""


class OneAsk(msgspec.Struct, frozen=True, tag=True):
    """The ask of this key, of any application if none is named."""

    application: str
    key: str


class AllOf(msgspec.Struct, frozen=True, tag=True):
    """Everything of an application; an additional key has no meaning."""

    application: str
    key: str = ""


class AllThereIs(msgspec.Struct, frozen=True, tag=True):
    """Everything of a partition."""

    application: ClassVar = ""


def ask_subject(application: str, key: str) -> OneAsk | AllOf | AllThereIs:
    """Return what ends: without a key, every ask of the application, or of the partition."""
    if key:
        return OneAsk(application, key)
    return AllOf(application) if application else AllThereIs()
