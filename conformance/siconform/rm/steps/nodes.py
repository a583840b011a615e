"""Steps with nodes."""

from collections.abc import Mapping

from siwire import Capability

from siconform.expecting.checks import precondition
from siconform.outcomes import NotOffered
from siconform.protocol.handles import Node
from siconform.protocol.notifications import Allocated, Fact, NodeAccepted, NodeRejected, UpdateKind
from siconform.protocol.requests import (
    Action,
    Amounts,
    ExistingAllocationRequest,
    LegacyNodeFields,
    NodeRequest,
    UtilisationRequest,
)
from siconform.rm.clean_up import CleanUp
from siconform.rm.sender import Sender, amounts

NODE_CAPACITY: Amounts = {"memory": 10, "vcore": 10}


class NodeSteps(CleanUp, Sender):
    """Registration, update, drain and decommission of nodes."""

    def registers_node(
        self,
        node: str | None = None,
        *,
        memory: int | None = None,
        vcore: int | None = None,
        resources: Mapping[str, int] | None = None,
        occupied: Mapping[str, int] | None = None,
        attributes: Mapping[str, str] | None = None,
        draining: bool = False,
        existing: tuple[Allocated, ...] = (),
        unknown_field: bool = False,
        legacy_fields: LegacyNodeFields | None = None,
    ) -> Node:
        """CREATE (or CREATE_DRAIN) a node; a known ``node`` is created again with its capacity.

        If the revision cannot report existing allocations with a node, they are sent after its
        acceptance.
        """
        known = node.capacity if isinstance(node, Node) else NODE_CAPACITY
        capacity = amounts(resources, memory, vcore, known)
        if vcore is None and "memory" in capacity:
            capacity.setdefault("vcore", max(10, capacity["memory"]))
        handle = Node(self.new_name("node") if node is None else node, capacity)
        if not isinstance(node, Node):
            self.compensates(lambda: self.decommissions(handle), of_a_node=True)
        together = self.connection.revision.can(Capability.EXISTING_ALLOCATIONS_WITH_NODE)
        self.send(
            NodeRequest(
                str(handle),
                Action.CREATE_DRAINING if draining else Action.CREATE,
                capacity=capacity,
                occupied=occupied,
                attributes=attributes or {},
                existing=existing if together else (),
                unknown_field=unknown_field,
                legacy_fields=legacy_fields,
            )
        )
        if existing and not together:
            self._reports(handle, existing)
        return handle

    def _reports(self, node: Node, existing: tuple[Allocated, ...]) -> None:
        """Report what exists on a new node, once accepted, and wait until it is processed."""
        verdict = self.waits_for(NodeAccepted(node), NodeRejected(node))
        if isinstance(verdict, NodeAccepted):
            self.send(*(ExistingAllocationRequest(one) for one in existing))
            self.barriers(UpdateKind.ALLOCATIONS)

    def has_node(
        self,
        *,
        memory: int | None = None,
        vcore: int | None = None,
        resources: Mapping[str, int] | None = None,
        occupied: Mapping[str, int] | None = None,
        attributes: Mapping[str, str] | None = None,
        draining: bool = False,
    ) -> Node:
        """Given: an accepted node."""
        with precondition("a node is accepted"):
            node = self.registers_node(
                memory=memory,
                vcore=vcore,
                resources=resources,
                occupied=occupied,
                attributes=attributes,
                draining=draining,
            )
            self.expect(NodeAccepted(node))
        return node

    def updates_node(
        self,
        node: str,
        *,
        memory: int | None = None,
        vcore: int | None = None,
        resources: Mapping[str, int] | None = None,
        occupied: Mapping[str, int] | None = None,
        attributes: Mapping[str, str] | None = None,
        existing: tuple[Allocated, ...] = (),
    ) -> None:
        """UPDATE; resources without given amounts are omitted."""
        capacity = amounts(resources, memory, vcore, {}) or None
        if capacity is not None and vcore is None and "memory" in capacity:
            capacity.setdefault("vcore", max(10, capacity["memory"]))
        self.send(
            NodeRequest(str(node), Action.UPDATE, capacity, occupied, attributes or {}, existing)
        )

    def drains(self, node: str) -> None:
        """DRAIN_NODE."""
        self._acts(node, Action.DRAIN)

    def undrains(self, node: str) -> None:
        """DRAIN_TO_SCHEDULABLE."""
        self._acts(node, Action.UNDRAIN)

    def decommissions(self, node: str) -> None:
        """DECOMISSION."""
        self._acts(node, Action.DECOMMISSION)

    def reports_use(self, subject: str, *, memory: int) -> None:
        """Report the utilisation of a node, or of an allocation by its identity (2021-02)."""
        self.send(UtilisationRequest(str(subject), {"memory": memory}))

    def presupposes_recommendation(self, received: Fact | None) -> None:
        """Raise NotOffered if the scheduler recommended nothing, which is optional."""
        if received is None:
            raise NotOffered("the target does not offer recommendations for this")

    def names_node_without_action(
        self,
        node: str,
        *,
        memory: int | None = None,
        occupied: Amounts | None = None,
        attributes: Mapping[str, str] | None = None,
    ) -> None:
        """Send a NodeInfo without an action."""
        capacity = amounts(None, memory, memory, {}) or None
        self.send(NodeRequest(str(node), Action.UNSET, capacity, occupied, attributes or {}))

    def names_node_with_undefined_action(self, node: str) -> None:
        """Send a NodeInfo with an action number that no revision defines."""
        self.compensates(lambda: self.decommissions(node), of_a_node=True)
        self._acts(node, Action.UNDEFINED, dict(NODE_CAPACITY))

    def _acts(self, node: str, action: Action, capacity: Amounts | None = None) -> None:
        self.send(NodeRequest(str(node), action, capacity))
