"""Gangs: placeholders of applications, and the asks that replace them."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from sireference.core.model import SchedulingState
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application, PendingAsk
from sireference.core.state.timers import Timer, cancel
from sireference.core.state.wait_queue import WaitQueue
from sireference.core.state.wait_reason import WaitReason

_UNSETTLED: Final = WaitReason(
    SchedulingState.SKIPPED, "its application is waiting for its placeholders"
)


@dataclass(slots=True, eq=False)
class Gang:
    """The placeholders of one application in all its task groups."""

    # those not marked for release, by task group and identity, the oldest first; a plain dict is
    # slow when the first is taken again and again
    replaceable: dict[str, OrderedDict[str, Allocation]] = field(default_factory=dict)
    # asks that wait until the placeholders are settled
    unsettled: WaitQueue[Any] = field(default_factory=partial(WaitQueue, _UNSETTLED, is_gate=True))
    timer: Timer | None = None
    is_clearing_up: bool = False  # waiting is over, leftover placeholders must end

    def book(self, placeholder: Allocation) -> None:
        """Count an allocated placeholder."""
        group = placeholder.record.ask.task_group
        self.replaceable.setdefault(group, OrderedDict())[placeholder.record.identity] = placeholder

    def mark(self, placeholder: Allocation) -> None:
        """Exclude ``placeholder``, which is about to be released, from replacement."""
        group, identity = placeholder.record.ask.task_group, placeholder.record.identity
        members = self.replaceable.get(group, OrderedDict())
        if identity in members:
            del members[identity]
            if not members:
                del self.replaceable[group]

    def stop_timer(self) -> None:
        """Cancel the placeholder timeout: the placeholders may stay."""
        cancel(self.timer)
        self.timer = None


class Gangs(dict[Application, Gang]):
    """Gangs by application, from the first placeholder or placeholder ask on."""

    def begin(self, application: Application) -> Gang:
        """Return the gang of ``application``, created if needed."""
        gang = self.get(application)
        if gang is None:
            application.is_gang = True
            gang = self[application] = Gang()
        return gang


_NONE: Final[Mapping[str, Allocation]] = MappingProxyType({})


class Replacements:
    """Asks that wait for the end of placeholders that they replace."""

    __slots__ = ("_placeholders", "by_placeholder")

    def __init__(self) -> None:
        self.by_placeholder: dict[Allocation, PendingAsk] = {}
        self._placeholders: dict[PendingAsk, dict[str, Allocation]] = {}

    def of(self, pending: PendingAsk) -> Mapping[str, Allocation]:
        """Return the placeholders whose end ``pending`` waits for, by identity."""
        return self._placeholders.get(pending, _NONE)

    def hold(self, pending: PendingAsk, placeholder: Allocation) -> None:
        """Let one allocation of ``pending`` wait for the end of ``placeholder``."""
        self._placeholders.setdefault(pending, {})[placeholder.record.identity] = placeholder
        self.by_placeholder[placeholder] = pending
        pending.awaiting += 1

    def resume(self, placeholder: Allocation) -> PendingAsk | None:
        """Return the ask that waited for the end of ``placeholder``, and end its wait."""
        pending = self.by_placeholder.pop(placeholder, None)
        if pending is not None:
            pending.awaiting -= 1
            del self._placeholders[pending][placeholder.record.identity]
            if not pending.awaiting:
                del self._placeholders[pending]
        return pending

    def forget(self, pending: PendingAsk) -> None:
        """End all waits of ``pending``: no ask replaces those placeholders."""
        for placeholder in self._placeholders.pop(pending, {}).values():
            del self.by_placeholder[placeholder]
        pending.awaiting = 0

    def clear(self) -> None:
        """Remove all waits: the partition ends."""
        self.by_placeholder.clear()
        self._placeholders.clear()
