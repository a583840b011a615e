"""Steps by which an RM has a scheduler take over what is running."""

from collections.abc import Mapping

from siconform.expecting.checks import precondition
from siconform.outcomes import PreconditionFailed
from siconform.protocol.handles import Gang, Node
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    NodeAccepted,
    PreemptionPolicy,
    UpdateKind,
)
from siconform.protocol.requests import ExistingAllocationRequest
from siconform.rm.sender import DEFAULT_PARTITION
from siconform.rm.steps.allocations import PLAIN_POLICY, without_usual_policy
from siconform.rm.steps.gangs import TASK_GROUP, GangSteps


class RecoverySteps(GangSteps):
    """Existing allocations: remembered by the RM, reported with a new node or separately."""

    def remembers_allocation(
        self,
        application: str,
        node: str,
        *,
        identity: str | None = None,
        memory: int = 1,
        vcore: int = 1,
        resources: Mapping[str, int] | None = None,
        priority: int = 0,
        task_group: str = "",
        placeholder: bool = False,
        policy: PreemptionPolicy | None = PLAIN_POLICY,
        partition: str = DEFAULT_PARTITION,
    ) -> Allocated:
        """Return an allocation from before, not yet reported; ``resources`` are all its amounts."""
        named, name = self.identity, self.new_name("existing")
        called = named.made_up_for(name) if identity is None else identity
        allocation = Allocated(
            key=named.key_of(called, name),
            application=str(application),
            node=str(node),
            identity=called,
            resource=resources or {"memory": memory, "vcore": vcore},
            task_group=task_group,
            placeholder=placeholder,
            priority=priority,
            tags={},
            partition=partition,
            originator=False,
            preemption_policy=policy,
            queue="",
            priority_class="",
        )
        return without_usual_policy(allocation, self.connection.revision.name)

    def remembers_placeholder(self, gang: Gang, node: str) -> Allocated:
        """Return a placeholder of the gang from before, with complete gang data."""
        return self.remembers_allocation(
            gang, node, memory=gang.member["memory"], task_group=TASK_GROUP, placeholder=True
        )

    def adds_existing(self, allocation: Allocated) -> None:
        """Report an existing allocation separately (2023-08 on) and wait until it is processed."""
        self.send(ExistingAllocationRequest(allocation))
        self.barriers(UpdateKind.ALLOCATIONS)

    def has_recovered_node(self, node: str, *existing: Allocated, memory: int = 10) -> Node:
        """Given: a new node was accepted with the allocations that exist on it."""
        with precondition("a node with existing allocations is accepted"):
            handle = self.registers_node(node, memory=memory, existing=existing)
            self.expect(NodeAccepted(handle))
        rejected = [one for e in existing for one in self.observe(AllocationRejected(e.key))]
        if rejected:
            raise PreconditionFailed(f"an existing allocation was not taken over: {rejected[0]}")
        return handle

    def does_gang_scheduling(self) -> None:
        """Given: the scheduler replaces its own placeholders; NotForThisTarget otherwise.

        Probed once; what the probe created is gone.
        """
        if self.observed.replaces_placeholders:
            return
        with self.aside():
            self.has_node(memory=1)
            replacement = self.has_replacement_under_way(memory=1)
            with precondition("a placeholder that was allocated is replaced"):
                self.expect(Allocated(replacement.real))
        self.observed.replaces_placeholders = True
