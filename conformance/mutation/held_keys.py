"""Which keys are allocated, as far as a proxy sees: a release is of one of them, or of a request.

A message looks the same for both where the key is the identity.
"""

from typing import Any, Final

from mutation.lists import exists
from mutation.main_revision import si
from mutation.mutant import Wire

_HELD: Final = "keys that are allocated"


def reported(request: si.AllocationRequest, wire: Wire) -> None:
    """Note the keys of allocations that the RM tells of."""
    wire.memory[_HELD].update(_name(one) for one in request.allocations if exists(one))


def announced(response: si.AllocationResponse, wire: Wire) -> None:
    """Note what is allocated, and what is not any more, when all that is said is known."""
    wire.memory[_HELD].update(_name(one) for one in response.new)
    wire.memory[_HELD].difference_update(_name(one) for one in response.released)


def is_held(one: Any, wire: Wire) -> bool:
    """Whether the key of this release is one of an allocation, and not of a pending request."""
    return _name(one) in wire.memory[_HELD]


def _name(one: Any) -> tuple[str, str]:
    return one.applicationID, one.allocationKey
