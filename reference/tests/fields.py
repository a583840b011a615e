"""Which fields a revision has."""

from siwire import Revision


def has_field(revision: Revision, message: str, field: str) -> bool:
    """Whether ``message`` of the revision has that field."""
    declared = revision.si.DESCRIPTOR.message_types_by_name.get(message)
    return declared is not None and field in declared.fields_by_name


def identity_in(revision: Revision) -> str:
    """The field of an allocation's identity."""
    return "allocationID" if has_field(revision, "Allocation", "allocationID") else "UUID"


def recovers_by_allocations(revision: Revision) -> bool:
    """Whether an AllocationRequest brings existing allocations."""
    return has_field(revision, "AllocationRequest", "allocations")
