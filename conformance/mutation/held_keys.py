"""Tracks which keys are allocated, as far as a proxy sees.

Where the key is the identity, releases of allocations and of requests look the same.
"""

from typing import Any, Final

from mutation.lists import exists
from mutation.main_revision import si
from mutation.mutant import Wire

_HELD: Final = "keys that are allocated"


def reported(request: si.AllocationRequest, wire: Wire) -> None:
    """Note the keys of allocations that the RM reports."""
    wire.memory[_HELD].update(_name(one) for one in request.allocations if exists(one))


def announced(response: si.AllocationResponse, wire: Wire) -> None:
    """Note what was allocated or released, once the whole message is known."""
    wire.memory[_HELD].update(_name(one) for one in response.new)
    wire.memory[_HELD].difference_update(_name(one) for one in response.released)


def is_held(one: Any, wire: Wire) -> bool:
    """Return whether a release is of an allocation, not of a pending request."""
    return _name(one) in wire.memory[_HELD]


def _name(one: Any) -> tuple[str, str]:
    return one.applicationID, one.allocationKey
