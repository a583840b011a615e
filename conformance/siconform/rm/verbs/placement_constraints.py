"""Placement constraints as an RM says them, and what it has to know of the scheduler for that."""

from typing import Final

from siconform.expecting.deadlines import Deadlines
from siconform.expecting.observations import Observations
from siconform.outcomes import NotForThisTarget
from siconform.protocol.constraints import Operator, on_nodes, where
from siconform.protocol.notifications import Allocated
from siconform.rm.verbs.allocations import AllocationVerbs
from siconform.rm.verbs.applications import ApplicationVerbs
from siconform.rm.verbs.nodes import NodeVerbs

ONLY_IN_CORRECTED_FORM: Final = (Operator.NOT_IN, Operator.EXIST, Operator.NOT_EXIST)


class PlacementConstraintVerbs:
    """What is special about placement constraints."""

    def __init__(
        self,
        *,
        deadlines: Deadlines,
        observations: Observations,
        nodes: NodeVerbs,
        applications: ApplicationVerbs,
        allocations: AllocationVerbs,
    ) -> None:
        self._deadlines = deadlines
        self._observations = observations
        self._nodes = nodes
        self._applications = applications
        self._allocations = allocations

    def has_operators_read(self) -> None:
        """Given: the scheduler reads operators, which the text as written cannot carry.

        They go out as a corrected schema has them (decision 0001). To one that reads none every
        operator is IN, and the value asked for here no node has. Left out where none of three
        operators makes a difference.
        """
        node = self._nodes.has_node(attributes={"siconform": "there"})
        app = self._applications.has_application()
        keys = {Operator.NOT_EXIST: "siconform-missing"}
        asks = [
            self._allocations.asks(
                app,
                constraint=on_nodes(
                    where(keys.get(operator, "siconform"), "nowhere", operator=operator)
                ),
            )
            for operator in ONLY_IN_CORRECTED_FORM
        ]
        if (
            self._observations.may_be_told(
                *(Allocated(ask) for ask in asks), window=self._deadlines.place
            )
            is None
        ):
            raise NotForThisTarget("the target reads no operator: the text as written has none")
        self._applications.removes_application(app)
        self._nodes.decommissions(node)
