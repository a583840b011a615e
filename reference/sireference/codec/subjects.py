"""Subject of a release, by the fields that are set."""

from sireference.core.model import (
    AllocationSubject,
    AllOfApplication,
    AskedAndHeld,
    AskSubject,
    EachOfKey,
    Everything,
    OneAllocation,
    OneOfKey,
)


def allocations_meant(application_id: str, identity: str, key: str = "") -> AllocationSubject:
    """Up to 2023-12: one allocation; without identity all of the application (SI-REL-003)."""
    if identity:
        return OneAllocation(application_id, identity, key or None)
    return AllOfApplication(application_id)


def asks_meant(application_id: str, key: str) -> AskSubject:
    """Up to 2023-12: asks by optional key and application; without both, all asks (C-13)."""
    if not key:
        return AllOfApplication(application_id) if application_id else Everything()
    return OneOfKey(application_id, key) if application_id else EachOfKey(key)


def keyed_meant(application_id: str, key: str) -> AllocationSubject:
    """From 2024-10 on: by key; without key all asks and allocations of the application (C-47)."""
    return OneOfKey(application_id, key) if key else AskedAndHeld(application_id)
