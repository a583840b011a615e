"""Fields that each revision has."""

from typing import Any

from siwire import Capability, Revision


def has_field(revision: Revision, message: str, field: str) -> bool:
    """Return whether ``message`` of the revision has that field."""
    declared = revision.si.DESCRIPTOR.message_types_by_name.get(message)
    return declared is not None and field in declared.fields_by_name


def identity_in(revision: Revision) -> str:
    """Return the field of an allocation's identity."""
    fields = ("allocationID", "UUID", "allocationKey")
    return next(field for field in fields if has_field(revision, "Allocation", field))


def identified(revision: Revision, identity: str) -> dict[str, str]:
    """Return the fields with key and identity of an allocation."""
    return {"allocationKey": identity, identity_in(revision): identity}


def recovers_by_allocations(revision: Revision) -> bool:
    """Return whether an AllocationRequest carries existing allocations."""
    return has_field(revision, "AllocationRequest", "allocations")


def asked(revision: Revision, resource: Any, **fields: Any) -> tuple[str, Any]:
    """Return the field of an AllocationRequest for asks, and an element of it."""
    if revision.can(Capability.ASKS_APART):
        return "asks", revision.si.AllocationAsk(resourceAsk=resource, maxAllocations=1, **fields)
    if "tags" in fields:
        fields["allocationTags"] = fields.pop("tags")
    return "allocations", revision.si.Allocation(resourcePerAlloc=resource, **fields)


def refused_keys(response: Any) -> list[str]:
    """Return the keys of the asks that an AllocationResponse of any revision rejects."""
    lists = ("rejected", "rejectedAllocations")
    return [one.allocationKey for name in lists for one in getattr(response, name, ())]


def withdrawal(revision: Revision, application_id: str, key: str) -> Any:
    """Return an AllocationReleasesRequest of any revision that withdraws an ask."""
    of_ask = {"applicationID": application_id, "allocationKey": key}
    request = revision.si.AllocationReleasesRequest
    if revision.can(Capability.ASKS_APART):
        return request(allocationAsksToRelease=[revision.si.AllocationAskRelease(**of_ask)])
    return request(allocationsToRelease=[revision.si.AllocationRelease(**of_ask)])


def begun(revision: Revision) -> str:
    """Return the state of an application with its first allocation."""
    return "Starting" if revision.can(Capability.ASKS_APART) else "Running"
