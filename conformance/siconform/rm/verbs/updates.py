"""What an RM does with allocations whose size changes (2024-10 on)."""

from collections.abc import Mapping
from dataclasses import replace

from siconform.expecting.fencing import Fencing
from siconform.protocol.notifications import Allocated, UpdateKind
from siconform.protocol.requests import AllocationUpdate
from siconform.rm.sender import Sender, amounts


class UpdateVerbs:
    """Allocations that hold something else from now on, under the key they have."""

    def __init__(self, *, fencing: Fencing, sender: Sender) -> None:
        self._fencing = fencing
        self._sender = sender

    def updates_allocation(
        self,
        allocation: Allocated,
        *,
        memory: int | None = None,
        vcore: int | None = None,
        resources: Mapping[str, int] | None = None,
        node: str | None = None,
        priority: int | None = None,
    ) -> Allocated:
        """Say the allocation again with what is given; the allocation as it is to be.

        Amounts that are not given stay, with ``resources`` nothing but these is said. An empty
        ``node`` leaves its node out.
        """
        before = allocation.resource if resources is None else resources
        changed = replace(
            allocation,
            resource=amounts(before, memory, vcore, before),
            node=allocation.node if node is None else str(node),
            priority=allocation.priority if priority is None else priority,
        )
        self._sender.says(AllocationUpdate(changed))
        return changed

    def has_updated(self, allocation: Allocated, *, memory: int) -> Allocated:
        """The allocation was said again with this amount, and that was processed."""
        changed = self.updates_allocation(allocation, memory=memory)
        self._fencing.fences(UpdateKind.ALLOCATIONS)
        return changed
