"""Subjects of a release: which allocations or asks it is about, as decided by the codec."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OneAllocation:
    """The allocation with this identity; ``key`` is the ask key sent with it, if any."""

    application_id: str
    identity: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class OneOfKey:
    """What has this ask key in the application.

    In the release of an ask: the pending ask. In the release of an allocation: the pending ask or
    the allocation with this key, or both.
    """

    application_id: str
    key: str


@dataclass(frozen=True, slots=True)
class EachOfKey:
    """The pending asks with this key in all applications."""

    key: str


@dataclass(frozen=True, slots=True)
class AllOfApplication:
    """Everything of that kind in the application."""

    application_id: str


@dataclass(frozen=True, slots=True)
class AskedAndHeld:
    """All asks and all allocations of the application."""

    application_id: str


@dataclass(frozen=True, slots=True)
class Everything:
    """Everything in the partition."""


AllocationSubject = OneAllocation | OneOfKey | AllOfApplication | AskedAndHeld
AskSubject = OneOfKey | EachOfKey | AllOfApplication | Everything
