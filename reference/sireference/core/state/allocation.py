"""One live allocation: what was told about it, and where it stands."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sireference.core.model import AllocationRecord, Release, partition_name
from sireference.core.state.timers import Timer
from sireference.core.states import AllocationState, TerminationType

if TYPE_CHECKING:
    from sireference.core.state.application import Application
    from sireference.core.state.ask_group import PendingAsk
    from sireference.core.state.node import Node
    from sireference.core.state.preemption import Preemption


@dataclass(slots=True, eq=False)
class Allocation:
    """An allocation in the books.

    ``open_release`` is the type of a release the scheduler asked for and the RM has not yet
    confirmed; until then the allocation keeps its room (SI-REL-011). ``replaced_by`` is the real
    ask that waits for this placeholder to end, ``preempted_for`` what it is a victim of.
    """

    record: AllocationRecord
    application: "Application"
    node: "Node"
    state: AllocationState = AllocationState.ALLOCATED
    open_release: TerminationType | None = None
    timer: Timer | None = None
    number: int = 0  # counts allocations in the order they were booked
    replaced_by: "PendingAsk | None" = None
    preempted_for: "Preemption | None" = None

    @property
    def is_placeholder(self) -> bool:
        """Whether it keeps room for a member of a task group."""
        return self.record.ask.is_placeholder

    def release(self, termination: TerminationType, message: str) -> Release:
        """What tells the RM that it ends."""
        ask = self.record.ask
        return Release(
            partition=partition_name(ask.partition),
            application_id=ask.application_id,
            identity=self.record.identity,
            termination=termination,
            key=ask.key,
            message=message,
        )

    def ask_for_release(self, termination: TerminationType, message: str) -> Release:
        """What asks the RM to end it; it ends when the RM has confirmed (SI-REL-011)."""
        self.open_release = termination
        if self.application.gang is not None:
            self.application.gang.marked(self)
        return self.release(termination, message)
