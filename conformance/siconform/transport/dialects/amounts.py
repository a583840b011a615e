"""Resource amounts on the wire, in the one message that all revisions share."""

from typing import Any

from siconform.protocol.requests import Amounts
from siconform.transport.dialects.messages import Resource


def write_amounts(resource: Resource, amounts: Amounts | None) -> None:
    """Write these amounts: nothing for None, an empty message for an empty mapping."""
    if amounts is None:
        return
    resource.SetInParent()
    for name, amount in amounts.items():
        resource.resources[name].value = amount


def read_optional(message: Any, field: str) -> dict[str, int] | None:
    """Return the amounts in a resource field; None if it was omitted."""
    return read_amounts(getattr(message, field)) if message.HasField(field) else None


def read_amounts(resource: Resource) -> dict[str, int]:
    """Return the amount by resource type, sorted by name."""
    amounts: Any = resource.resources
    return {name: amounts[name].value for name in sorted(amounts)}
