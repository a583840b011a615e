"""Which fields a revision has."""

from typing import Any

from siwire import Capability, Revision


def has_field(revision: Revision, message: str, field: str) -> bool:
    """Whether ``message`` of the revision has that field."""
    declared = revision.si.DESCRIPTOR.message_types_by_name.get(message)
    return declared is not None and field in declared.fields_by_name


def identity_in(revision: Revision) -> str:
    """The field of an allocation's identity."""
    fields = ("allocationID", "UUID", "allocationKey")
    return next(field for field in fields if has_field(revision, "Allocation", field))


def identified(revision: Revision, identity: str) -> dict[str, str]:
    """The fields with key and identity of an allocation."""
    return {"allocationKey": "k", identity_in(revision): identity}


def recovers_by_allocations(revision: Revision) -> bool:
    """Whether an AllocationRequest brings existing allocations."""
    return has_field(revision, "AllocationRequest", "allocations")


def asked(revision: Revision, resource: Any, **fields: Any) -> tuple[str, Any]:
    """The field of an AllocationRequest for what is asked for, and an element of it."""
    if revision.can(Capability.ASKS_APART):
        return "asks", revision.si.AllocationAsk(resourceAsk=resource, maxAllocations=1, **fields)
    if "tags" in fields:
        fields["allocationTags"] = fields.pop("tags")
    return "allocations", revision.si.Allocation(resourcePerAlloc=resource, **fields)
