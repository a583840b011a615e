"""A gang in the books: what an application has of its task groups."""

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from sireference.core.model import SchedulingState
from sireference.core.state.allocation import Allocation
from sireference.core.state.ask_group import WaitReason
from sireference.core.state.timers import Timer
from sireference.core.state.wait_queue import WaitQueue

_WAITS: Final = WaitReason(
    SchedulingState.SKIPPED, "its application has to settle its placeholders first"
)


@dataclass(slots=True, eq=False)
class Gang:
    """What one application has of all its task groups."""

    asked: int = 0  # placeholder asks that are pending
    held: int = 0  # placeholders that are allocated
    # those not marked for release, by task group and identity, the oldest first; the first is taken
    # again and again, which a plain dict is slow at
    replaceable: dict[str, OrderedDict[str, Allocation]] = field(default_factory=dict)
    # lines that wait for the placeholders
    waiting_for_placeholders: WaitQueue = field(
        default_factory=partial(WaitQueue, _WAITS, is_gate=True)
    )
    timer: Timer | None = None
    is_clearing_up: bool = False  # waiting is over, the leftovers have to go
    has_passed: bool = False  # it gathered nothing in its turn, and holds up nobody

    def book(self, allocation: Allocation) -> None:
        """One placeholder more."""
        self.held += 1
        group = allocation.record.ask.task_group
        self.replaceable.setdefault(group, OrderedDict())[allocation.record.identity] = allocation

    def marked(self, allocation: Allocation) -> None:
        """``live`` is about to be released; if it is a placeholder nobody can replace it again."""
        group = allocation.record.ask.task_group
        members = self.replaceable.get(group, OrderedDict())
        if allocation.record.identity in members:
            del members[allocation.record.identity]
            if not members:
                del self.replaceable[group]

    def unbook(self, allocation: Allocation) -> None:
        """One placeholder less; with the last one there is nothing left that could time out."""
        self.marked(allocation)
        self.held -= 1
        if not self.held:
            self.stop_timer()

    def stop_timer(self) -> None:
        """The placeholders may stay."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
