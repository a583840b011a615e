"""A gang in the books: what an application has of its task groups."""

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from sireference.core.books.live import LiveAllocation
from sireference.core.books.pending import Outlook
from sireference.core.books.sleepers import Sleepers
from sireference.core.books.timers import Timer
from sireference.core.model import SchedulingState

_PATIENT: Final = Outlook(
    SchedulingState.SKIPPED, "its application has to settle its placeholders first"
)


@dataclass(slots=True, eq=False)
class Gang:
    """What one application has of all its task groups."""

    asked: int = 0  # placeholder asks that are pending
    held: int = 0  # placeholders that are allocated
    # those not marked for release, by task group and identity, the oldest first; the first is taken
    # again and again, which a plain dict is slow at
    replaceable: dict[str, OrderedDict[str, LiveAllocation]] = field(default_factory=dict)
    # lines that wait for the placeholders
    patient: Sleepers = field(default_factory=partial(Sleepers, _PATIENT, is_gate=True))
    timer: Timer | None = None
    is_clearing_up: bool = False  # waiting is over, the leftovers have to go
    has_passed: bool = False  # it gathered nothing in its turn, and holds up nobody

    def book(self, live: LiveAllocation) -> None:
        """One placeholder more."""
        self.held += 1
        group = live.allocation.ask.task_group
        self.replaceable.setdefault(group, OrderedDict())[live.allocation.identity] = live

    def marked(self, live: LiveAllocation) -> None:
        """``live`` is about to be released; if it is a placeholder nobody can replace it again."""
        group = live.allocation.ask.task_group
        members = self.replaceable.get(group, OrderedDict())
        if live.allocation.identity in members:
            del members[live.allocation.identity]
            if not members:
                del self.replaceable[group]

    def unbook(self, live: LiveAllocation) -> None:
        """One placeholder less; with the last one there is nothing left that could time out."""
        self.marked(live)
        self.held -= 1
        if not self.held:
            self.stop_timer()

    def stop_timer(self) -> None:
        """The placeholders may stay."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
