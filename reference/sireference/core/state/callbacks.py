"""Callbacks of one RM, and what waits to be sent."""

from collections.abc import Callable, Iterator

from sireference.core.model import Answered, Call, Callback, ChangeType, Effect, Rules, SentEvents
from sireference.core.resources import Resource
from sireference.core.state import user_group_log
from sireference.core.state.allocation import Allocation
from sireference.core.state.cache_sync import CacheSync
from sireference.core.state.event_log import EventLog
from sireference.core.state.scheduling_states import SchedulingStates

Listener = Callable[[Answered, float], list[Effect]]


class Callbacks:
    """The callbacks of one registration. Only what the RM takes is collected."""

    __slots__ = (
        "_asked",
        "_questions",
        "_rm_id",
        "cache",
        "event_log",
        "offered",
        "states",
    )

    def __init__(self, rm_id: str, rules: Rules) -> None:
        self._rm_id = rm_id
        self.offered: frozenset[Callback] = frozenset()
        self.event_log = EventLog(rules.event_details)
        self.states = SchedulingStates(rm_id)
        self.cache = CacheSync(rm_id)
        self._asked = 0
        self._questions: dict[int, Listener] = {}  # open ones, by number

    def offer(self, callbacks: frozenset[Callback]) -> None:
        """Set the callbacks that the RM takes; open questions will not be answered."""
        self.offered = callbacks
        self._questions.clear()
        self.event_log.is_read = Callback.EVENTS in callbacks
        self.states.is_read = Callback.CONTAINER_STATE in callbacks
        self.states.forget()
        self.cache.start(is_read=Callback.CACHE_SYNC in callbacks)

    def ask(self, listener: Listener) -> int:
        """Return the number of a new question; ``listener`` gets the answer and its time."""
        self._asked += 1
        self._questions[self._asked] = listener
        return self._asked

    def answered(self, answer: Answered, now: float) -> list[Effect]:
        """Return the effects of an answer; none if the question is no longer open."""
        listener = self._questions.pop(answer.number, None)
        return [] if listener is None else listener(answer, now)

    def allocation_added(self, allocation: Allocation) -> None:
        """Record a new allocation."""
        if self.event_log.is_read:
            application, resource = allocation.application, allocation.record.ask.resource
            self.event_log.allocation_added(allocation)
            user_group_log.used(self.event_log, application, ChangeType.ADD, resource)
        self.cache.allocation_added(allocation)

    def allocation_resized(self, allocation: Allocation, before: Resource) -> None:
        """Record a change of amount from ``before``."""
        application, after = allocation.application, allocation.record.ask.resource
        user_group_log.usage_changed(self.event_log, application, before, after)

    def allocation_removed(self, allocation: Allocation) -> None:
        """Record the end of an allocation."""
        user_group_log.used(
            self.event_log,
            allocation.application,
            ChangeType.REMOVE,
            allocation.record.ask.resource,
        )
        self.cache.allocation_removed(allocation)

    def take(self, now: float) -> Iterator[Call]:
        """Return and clear what is to be sent for everything that happened ``now``."""
        records = self.event_log.take(now)
        if records:
            yield SentEvents(self._rm_id, records)
        yield from self.states.take()
        yield from self.cache.take()
