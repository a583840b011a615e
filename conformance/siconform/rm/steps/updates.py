"""Steps that update allocations and asks under their key (2024-10 on)."""

from collections.abc import Mapping
from dataclasses import replace

from siconform.expecting.observations import Observations
from siconform.outcomes import NotOffered
from siconform.protocol.handles import Ask
from siconform.protocol.notifications import Allocated, AllocationRejected, AskRejected, UpdateKind
from siconform.protocol.requests import AllocationUpdate
from siconform.rm.sender import Sender, amounts


class UpdateSteps(Observations, Sender):
    """Updates of allocations, and asks that the RM places itself."""

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
        """Update the allocation with the given values and return it as it is to be.

        Amounts that are not given stay the same; ``resources`` replaces them all. An empty ``node``
        omits the node.
        """
        before = allocation.resource if resources is None else resources
        changed = replace(
            allocation,
            resource=amounts(before, memory, vcore, before),
            node=allocation.node if node is None else str(node),
            priority=allocation.priority if priority is None else priority,
        )
        self.send(AllocationUpdate(changed))
        return changed

    def has_updated(
        self,
        allocation: Allocated,
        *,
        memory: int | None = None,
        resources: Mapping[str, int] | None = None,
    ) -> Allocated:
        """Given: an update with these amounts that was accepted and processed.

        Amounts are as in ``updates_allocation``. NotOffered if it is rejected, as the update of a
        live allocation may be.
        """
        changed = self.updates_allocation(allocation, memory=memory, resources=resources)
        if self.is_refused(allocation.key):
            raise NotOffered("the target does not offer to update what is allocated")
        return changed

    def is_refused(self, key: str) -> bool:
        """Return whether the last request under this key is rejected once processed."""
        received = self.receive_if_any(AllocationRejected(key), AskRejected(key))
        return received is not None

    def has_refused(self, key: str) -> None:
        """Given: the last request under this key is rejected; NotOffered otherwise."""
        if not self.is_refused(key):
            raise NotOffered("the target does not offer to reject an update that it may accept")

    def places(self, ask: Ask, node: str, *, memory: int) -> Allocated:
        """Report that a pending ask runs on this node; return the allocation once processed."""
        sent = ask.sent
        placed = Allocated(
            key=sent.key,
            application=sent.application,
            node=str(node),
            identity=sent.key,
            resource=amounts(sent.resource, memory, None, {}),
            task_group=sent.task_group,
            placeholder=sent.placeholder,
            priority=sent.priority,
            tags=sent.tags,
            partition=sent.partition,
            originator=sent.originator,
            preemption_policy=sent.preemption_policy,
            queue="",
            priority_class="",
        )
        self.send(AllocationUpdate(placed))
        self.barriers(UpdateKind.ALLOCATIONS)
        return placed
