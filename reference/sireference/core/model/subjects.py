"""What a release is about: the codec says which, as only the text of its revision knows."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OneAllocation:
    """The allocation of this identity; ``key`` is the ask key that the RM gave with it, if any."""

    application_id: str
    identity: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class OneOfKey:
    """What has this ask key in the application.

    In the release of an ask that is the pending ask. In the release of an allocation it is the
    pending ask, and the allocation that this key identifies, whichever there is.
    """

    application_id: str
    key: str


@dataclass(frozen=True, slots=True)
class EachOfKey:
    """The pending asks of this key, whatever their applications."""

    key: str


@dataclass(frozen=True, slots=True)
class AllOfApplication:
    """All that the application has of the kind."""

    application_id: str


@dataclass(frozen=True, slots=True)
class AskedAndHeld:
    """All that the application asks for and all that it has."""

    application_id: str


@dataclass(frozen=True, slots=True)
class Everything:
    """All there are in the partition."""


AllocationSubject = OneAllocation | OneOfKey | AllOfApplication | AskedAndHeld
AskSubject = OneOfKey | EachOfKey | AllOfApplication | Everything
