"""Amounts of resources, by type."""

from collections.abc import Mapping

from siwire.r2023_12 import si_pb2

Amounts = Mapping[str, int]


def read(resource: si_pb2.Resource) -> Amounts:
    """The amounts a message holds."""
    return {kind: quantity.value for kind, quantity in resource.resources.items()}


def write(amounts: Amounts, resource: si_pb2.Resource) -> None:
    """Put ``amounts`` into a message."""
    for kind, value in amounts.items():
        resource.resources[kind].value = value


def plus(one: Amounts, other: Amounts) -> Amounts:
    """The sum, type by type."""
    return {kind: one.get(kind, 0) + other.get(kind, 0) for kind in {**one, **other}}


def minus(one: Amounts, other: Amounts) -> Amounts:
    """The difference, type by type."""
    return {kind: one.get(kind, 0) - other.get(kind, 0) for kind in {**one, **other}}


def fits(wish: Amounts, free: Amounts) -> bool:
    """Whether ``free`` holds the wish; a type it does not have is none."""
    return all(value <= 0 or value <= free.get(kind, 0) for kind, value in wish.items())


def keeps(wish: Amounts, limit: Amounts) -> bool:
    """Whether the wish is within ``limit``; a type it does not have is without limit."""
    return all(
        value <= 0 or kind not in limit or value <= limit[kind] for kind, value in wish.items()
    )


def covers(have: Amounts, goal: Amounts) -> bool:
    """Whether ``have`` reaches the goal in every type."""
    return all(have.get(kind, 0) >= value for kind, value in goal.items())
