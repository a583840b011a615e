"""Pending asks of one partition: added, replaced, served and withdrawn."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from sireference.core.model import Ask, ChangeType
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application, AskGroup, PendingAsk
from sireference.core.state.callbacks import Callbacks
from sireference.core.state.gang import Gangs, Replacements
from sireference.core.state.node_index import NodeIndex
from sireference.core.state.preemption import Preemptions, Preemptors
from sireference.core.states import ASK_TRANSITIONS, AskState, AskTrigger, fire

# Module globals, because an Enum lookup for every ask is slow
_INITIAL: Final = AskState.INITIAL
_ASKED: Final = AskTrigger.ASKED
_ALL_ALLOCATED: Final = AskTrigger.ALL_ALLOCATED


class PendingAsks:
    """Keeps every pending ask in its application, in its group and by key.

    All additions and removals go through this class. ``numbers`` gives the partition's order of
    arrival.
    """

    __slots__ = (
        "_by_key",
        "_event_log",
        "_gangs",
        "_node_index",
        "_numbers",
        "_preemptions",
        "_preemptors",
        "_replacements",
        "_states",
    )

    def __init__(
        self,
        numbers: Iterator[int],
        callbacks: Callbacks,
        node_index: NodeIndex,
        *,
        gangs: Gangs,
        replacements: Replacements,
        preemptions: Preemptions,
        preemptors: Preemptors,
    ) -> None:
        self._numbers = numbers
        self._event_log = callbacks.event_log
        self._states = callbacks.states
        self._node_index = node_index
        self._gangs = gangs
        self._replacements = replacements
        self._preemptions = preemptions
        self._preemptors = preemptors
        self._by_key: dict[str, dict[Application, None]] = {}

    def queue_up(self, application: Application, ask: Ask) -> None:
        """Add ``ask`` as pending."""
        state = fire(ASK_TRANSITIONS, _INITIAL, _ASKED)
        self._take_in(PendingAsk(ask, next(self._numbers), application, state=state))
        self._event_log.asked(application, ask)

    def replace(self, earlier: PendingAsk, ask: Ask) -> None:
        """Replace ``earlier`` with ``ask``, if it wants more than was already allocated.

        It waits for the same placeholders if its task group is the same, and for the same victims
        if its size and required node are the same.
        """
        if ask.max_allocations <= earlier.made:
            self.drop(earlier)
            return
        state = fire(ASK_TRANSITIONS, _INITIAL, _ASKED)
        later = earlier.renewed(ask, state)
        awaited = list(self._replacements.of(earlier).values())
        preemption = self._preemptions.of(earlier)
        if preemption is not None and earlier.key.profile == later.key.profile:
            self._preemptions.take_over(preemption, later)
        self._remove(earlier, AskTrigger.WITHDRAWN)
        self._event_log.asked(later.application, ask, ChangeType.SET)
        if ask.task_group == earlier.ask.task_group and not ask.is_placeholder:
            for placeholder in awaited[: ask.max_allocations - earlier.made]:
                self.hold_for_replacement(later, placeholder)
        self._take_in(later)

    def with_key(self, key: str) -> list[Application]:
        """Return the applications with a pending ask with that key, in order of submission."""
        applications = self._by_key.get(key)
        return sorted(applications, key=attrgetter("number")) if applications else []

    def _take_in(self, pending: PendingAsk) -> None:
        application = pending.application
        is_news = not application.pending
        application.pending[pending.ask.key] = pending
        self._by_key.setdefault(pending.ask.key, {})[application] = None
        if pending.ask.is_placeholder:
            self._gangs.begin(application)
            application.placeholders_asked += 1
            is_news = is_news or application.placeholders_asked == 1
        if is_news:
            application.moved()
        if pending.wants_more:
            self.enqueue(pending)

    def enqueue(self, pending: PendingAsk) -> None:
        """Add ``pending`` to its group."""
        application = pending.application
        key = pending.key
        ask_group = application.ask_groups.get(key)
        if ask_group is None:
            need = pending.ask.resource
            ask_group = AskGroup(application, key, need, next(self._numbers))
            application.ask_groups[key] = ask_group
            self._node_index.wanted(ask_group.profile)
        before = pending.ask_group
        ask_group.join(pending)
        self._states.joined(ask_group, pending)
        if before is not None and before is not ask_group:
            self._tidy(before)
        if ask_group.first() is pending:
            if ask_group.waits_in is None:
                application.awakens(ask_group)
            else:
                ask_group.waits_in.moved_up(ask_group)

    def drop(self, pending: PendingAsk, trigger: AskTrigger = AskTrigger.WITHDRAWN) -> None:
        """Remove ``pending``; no ask replaces a placeholder it waited for."""
        self._remove(pending, trigger)
        self._event_log.over(pending, trigger)

    def _remove(self, pending: PendingAsk, trigger: AskTrigger) -> None:
        application = pending.application
        pending.state = fire(ASK_TRANSITIONS, pending.state, trigger)
        key = pending.ask.key
        del application.pending[key]
        with_key = self._by_key[key]
        del with_key[application]
        if not with_key:
            del self._by_key[key]
        self._clear_up(pending)
        self._leave_group(pending)
        is_news = not application.pending
        if pending.ask.is_placeholder:
            application.placeholders_asked -= 1
            is_news = is_news or not application.placeholders_asked
        if is_news:
            application.moved()

    def _clear_up(self, pending: PendingAsk) -> None:
        """End what it waits for: timers, placeholders and any preemption for it."""
        for timer in pending.timers.values():
            timer.cancel()
        if pending.awaiting:
            self._replacements.forget(pending)
        preemption = self._preemptions.of(pending) if pending.is_reserved else None
        if preemption is not None:
            self._preemptions.end(preemption)
        self._preemptors.forget(pending)

    def served(self, pending: PendingAsk) -> None:
        """Count an allocation of ``pending``; the last one ends the ask."""
        pending.made += 1
        if pending.made >= pending.ask.max_allocations:
            self.drop(pending, _ALL_ALLOCATED)
            self._states.moved(pending)
        else:
            self._leave_if_served(pending)

    def hold_for_replacement(self, pending: PendingAsk, placeholder: Allocation) -> None:
        """Let one allocation of ``pending`` wait for the end of ``placeholder``."""
        self._replacements.hold(pending, placeholder)
        self._states.moved(pending)
        self._leave_if_served(pending)

    def hold(self, pending: PendingAsk, allocations: int = 1) -> None:
        """Hold back so many allocations of ``pending``; `requeue` it after reducing ``held``."""
        pending.held += allocations
        self._leave_if_served(pending)

    def requeue(self, pending: PendingAsk) -> None:
        """Add ``pending`` to its group if it wants more and is not there, or in another one."""
        is_elsewhere = pending.ask_group is None or pending.ask_group.key != pending.key
        if pending.wants_more and is_elsewhere:
            self.enqueue(pending)

    def _leave_if_served(self, pending: PendingAsk) -> None:
        """Take ``pending`` out of its group if it wants no more."""
        if not pending.wants_more:
            self._leave_group(pending)

    def _leave_group(self, pending: PendingAsk) -> None:
        ask_group = pending.ask_group
        if ask_group is not None:
            ask_group.leave(pending)
            self._tidy(ask_group)

    def _tidy(self, ask_group: AskGroup) -> None:
        """Remove ``ask_group`` if it is empty."""
        if ask_group.first() is not None:
            return
        ask_group.unblock()
        ask_group.done_with()
        ask_group.application.awake.remove(ask_group)
        if ask_group.application.ask_groups.get(ask_group.key) is ask_group:
            del ask_group.application.ask_groups[ask_group.key]
            self._node_index.unwanted(ask_group.profile)
