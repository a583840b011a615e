"""Placement constraints as an RM says them, and what it has to know of the scheduler for that."""

from typing import Final

from siconform.outcomes import NotForThisTarget
from siconform.protocol.constraints import Operator, on_nodes, where
from siconform.protocol.notifications import Allocated
from siconform.rm.steps.basic import BasicSteps

ONLY_IN_CORRECTED_FORM: Final = (Operator.NOT_IN, Operator.EXIST, Operator.NOT_EXIST)


class PlacementConstraintSteps(BasicSteps):
    """What is special about placement constraints."""

    def has_operators_read(self) -> None:
        """Given: the scheduler reads operators, which the text as written cannot carry.

        They go out as a corrected schema has them (decision 0001). To one that reads none every
        operator is IN, and the value asked for here no node has. Left out where none of three
        operators makes a difference.
        """
        node = self.has_node(attributes={"siconform": "there"})
        app = self.has_application()
        keys = {Operator.NOT_EXIST: "siconform-missing"}
        asks = [
            self.asks(
                app,
                constraint=on_nodes(
                    where(keys.get(operator, "siconform"), "nowhere", operator=operator)
                ),
            )
            for operator in ONLY_IN_CORRECTED_FORM
        ]
        if (
            self.receive_if_any(*(Allocated(ask) for ask in asks), window=self.deadlines.place)
            is None
        ):
            raise NotForThisTarget("the target reads no operator: the text as written has none")
        self.removes_application(app)
        self.decommissions(node)
