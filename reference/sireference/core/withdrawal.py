"""Withdrawal: the RM ends one pending ask."""

from sireference.core import application_lifecycle
from sireference.core.model import AskRelease, Effect, ReleasedAsk
from sireference.core.state.application import PendingAsk
from sireference.core.state.partition import Partition
from sireference.core.states import AskTrigger, TerminationType

BY_THE_RM = (TerminationType.STOPPED_BY_RM, TerminationType.UNSET)


def withdraw(partition: Partition, pending: PendingAsk, now: float) -> list[Effect]:
    """End the ask and confirm with STOPPED_BY_RM (C-04)."""
    application = pending.application
    partition.asks.drop(pending, AskTrigger.WITHDRAWN)
    effects = application_lifecycle.settle(partition, application, now)
    confirmation = AskRelease(
        partition.name,
        application.application_id,
        pending.ask.key,
        TerminationType.STOPPED_BY_RM,
        "withdrawn by the RM",
    )
    return [*effects, ReleasedAsk(partition.rm_id, confirmation)]
