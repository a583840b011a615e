"""Resource amounts on the wire: the one message all revisions agree on."""

from siconform.protocol.requests import Amounts
from siconform.transport.dialects.messages import Resource


def write_amounts(resource: Resource, amounts: Amounts | None) -> None:
    """Say these amounts: nothing where they are None, an empty message where they are empty."""
    if amounts is None:
        return
    resource.SetInParent()
    for name, amount in amounts.items():
        resource.resources[name].value = amount


def read_amounts(resource: Resource) -> dict[str, int]:
    """Amount by resource type, as the message lists them."""
    return {name: resource.resources[name].value for name in sorted(resource.resources)}
