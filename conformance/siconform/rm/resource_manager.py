"""The simulated resource manager of a test: one class with all steps."""

from contextlib import suppress

from siconform.expecting import checks
from siconform.expecting.endpoint import Endpoint
from siconform.expecting.event_checks import EventChecks
from siconform.rm.steps.application_states import ApplicationStateSteps
from siconform.rm.steps.configuration import ConfigurationSteps
from siconform.rm.steps.draining import DrainingSteps
from siconform.rm.steps.events import EventSteps
from siconform.rm.steps.foreign import ForeignSteps
from siconform.rm.steps.gang_styles import GangStyleSteps
from siconform.rm.steps.legacy_messages import LegacyMessageSteps
from siconform.rm.steps.metrics import MetricsSteps
from siconform.rm.steps.order import OrderSteps
from siconform.rm.steps.placement_constraints import PlacementConstraintSteps
from siconform.rm.steps.prerequisites import PrerequisiteSteps
from siconform.rm.steps.recovery import RecoverySteps
from siconform.rm.steps.service import ServiceSteps
from siconform.rm.steps.updates import UpdateSteps


class ResourceManager(
    GangStyleSteps,
    ApplicationStateSteps,
    EventSteps,
    RecoverySteps,
    DrainingSteps,
    OrderSteps,
    PlacementConstraintSteps,
    PrerequisiteSteps,
    ForeignSteps,
    UpdateSteps,
    ConfigurationSteps,
    LegacyMessageSteps,
    MetricsSteps,
    ServiceSteps,
    EventChecks,
):
    """One test's view of a registered RM: its steps, expectations and ids.

    It confirms releases that the scheduler initiates, of allocations and asks, with the same type
    and once each; inside ``confirming_nothing`` only those of asks.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self.connection.listeners.append(self.confirms_by_itself)

    def leaves(self) -> list[str]:
        """Clean up and stop listening; return the problems in words."""
        try:
            return self.clears_up()
        finally:
            with suppress(ValueError):  # already replaced by another listener
                self.connection.listeners.remove(self.confirms_by_itself)

    control = staticmethod(checks.control)
    precondition = staticmethod(checks.precondition)
    states_reason = staticmethod(checks.states_reason)
    agrees = staticmethod(checks.agrees)
    expect_none_of = staticmethod(checks.expect_none_of)
    agrees_if_repeated = staticmethod(checks.agrees_if_repeated)
    has_at_least = staticmethod(checks.has_at_least)
    needs_some = staticmethod(checks.needs_some)
    have_different_identities = staticmethod(checks.have_different_identities)
    come_in_order_of_time = staticmethod(checks.come_in_order_of_time)
