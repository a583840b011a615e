"""What a release is about, by the fields that are set, as the texts up to 2023-12 have it."""

from sireference.core.model import (
    AllocationSubject,
    AllOfApplication,
    AskSubject,
    EachOfKey,
    Everything,
    OneAllocation,
    OneOfKey,
)


def allocations_meant(application_id: str, identity: str, key: str = "") -> AllocationSubject:
    """One allocation; without identity every allocation of the application (SI-REL-003)."""
    if identity:
        return OneAllocation(application_id, identity, key or None)
    return AllOfApplication(application_id)


def asks_meant(application_id: str, key: str) -> AskSubject:
    """Key and application narrow it, both are optional: without both it is all (C-13)."""
    if not key:
        return AllOfApplication(application_id) if application_id else Everything()
    return OneOfKey(application_id, key) if application_id else EachOfKey(key)
