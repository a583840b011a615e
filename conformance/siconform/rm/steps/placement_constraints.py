"""Steps with placement constraints."""

from typing import Final

from siconform.outcomes import NotForThisTarget
from siconform.protocol.constraints import Operator, on_nodes, where
from siconform.protocol.notifications import Allocated
from siconform.rm.steps.basic import BasicSteps

ONLY_IN_CORRECTED_FORM: Final = (Operator.NOT_IN, Operator.EXIST, Operator.NOT_EXIST)


class PlacementConstraintSteps(BasicSteps):
    """Preconditions of tests of placement constraints."""

    def has_operators_read(self) -> None:
        """Given: the scheduler evaluates operators, which the schema as published cannot carry.

        They are sent as in a corrected schema (decision 0001). A scheduler that ignores them reads
        every operator as IN, with a value that no node has. NotForThisTarget if none of three
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
            raise NotForThisTarget("the target reads no operator: the published schema has none")
        self.removes_application(app)
        self.decommissions(node)
