"""Resource amounts on the wire: the one message all revisions agree on."""

from typing import Any

from siconform.protocol.requests import Amounts


def resource_of(si: Any, amounts: Amounts) -> Any:
    """A Resource of the message module ``si``."""
    resource = si.Resource()
    for name, amount in amounts.items():
        resource.resources[name].value = amount
    return resource


def amounts_in(resource: Any) -> dict[str, int]:
    """Amount by resource type, as the message lists them."""
    return {name: resource.resources[name].value for name in sorted(resource.resources)}
