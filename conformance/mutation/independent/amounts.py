"""Amounts of resources, by type."""

from collections.abc import Mapping

from siwire.r2023_12 import si_pb2

Amounts = Mapping[str, int]


def read(resource: si_pb2.Resource) -> Amounts:
    """Return the amounts in a message."""
    return {kind: quantity.value for kind, quantity in resource.resources.items()}


def write(amounts: Amounts, resource: si_pb2.Resource) -> None:
    """Put ``amounts`` into a message."""
    for kind, value in amounts.items():
        resource.resources[kind].value = value


def plus(one: Amounts, other: Amounts) -> Amounts:
    """Return the sum, type by type."""
    return {kind: one.get(kind, 0) + other.get(kind, 0) for kind in {**one, **other}}


def minus(one: Amounts, other: Amounts) -> Amounts:
    """Return the difference, type by type."""
    return {kind: one.get(kind, 0) - other.get(kind, 0) for kind in {**one, **other}}


def fits(wish: Amounts, free: Amounts) -> bool:
    """Return whether ``free`` covers the request; a missing type counts as zero."""
    return all(value <= 0 or value <= free.get(kind, 0) for kind, value in wish.items())


def keeps(wish: Amounts, limit: Amounts) -> bool:
    """Return whether the request is within ``limit``; a missing type is unlimited."""
    return all(
        value <= 0 or kind not in limit or value <= limit[kind] for kind, value in wish.items()
    )


def covers(have: Amounts, goal: Amounts) -> bool:
    """Return whether ``have`` reaches the goal in every type."""
    return all(have.get(kind, 0) >= value for kind, value in goal.items())
