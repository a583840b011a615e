"""Calls to resource managers: effects and callbacks become calls of their callback objects."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import Message

from sireference.api.callback import (
    CachePlugin,
    ContainerStatePlugin,
    EventPlugin,
    PredicatesPlugin,
    PreemptionPredicatesPlugin,
    SIError,
)
from sireference.codec.callbacks import CallbackCodec
from sireference.core.model import (
    Answered,
    Call,
    Callback,
    ContainerState,
    PredicatesQuestion,
    PreemptionQuestion,
    SentEvents,
    SyncedCache,
)

_LOGGER: Final = logging.getLogger("sireference.api")
_PLUGINS: Final[dict[Callback, type]] = {
    Callback.PREDICATES: PredicatesPlugin,
    Callback.PREEMPTION_PREDICATES: PreemptionPredicatesPlugin,
    Callback.EVENTS: EventPlugin,
    Callback.CONTAINER_STATE: ContainerStatePlugin,
    Callback.CACHE_SYNC: CachePlugin,
}
_RESPONSES: Final = {
    "UpdateAllocation": "update_allocation",
    "UpdateApplication": "update_application",
    "UpdateNode": "update_node",
    "Update": "recv_update_response",
}


@dataclass(frozen=True, slots=True)
class Responses:
    """Responses to what an RM sent with one of the update methods."""

    rm_id: str
    method: str
    messages: tuple[Message, ...]


class Calls:
    """Calls the RMs of one scheduler; ``answered`` receives their answers to questions."""

    def __init__(self, codec: CallbackCodec, answered: Callable[[Answered], object]) -> None:
        self._codec = codec
        self._answered = answered
        self._is_stopped = False

    def stop(self) -> None:
        """Stop calling; drop the rest of a call in progress."""
        self._is_stopped = True

    def taken_by(self, rm: object) -> frozenset[Callback]:
        """Return the callbacks that ``rm`` implements and the revision has."""
        return frozenset(one for one in self._codec.callbacks if isinstance(rm, _PLUGINS[one]))

    def make(self, rm: Any, item: Call | Responses) -> None:
        """Call ``rm``. Exceptions other than SIError propagate."""
        match item:
            case Responses():
                respond = getattr(rm, _RESPONSES[item.method])
                self._notify_each(respond, item.messages)
            case PredicatesQuestion() | PreemptionQuestion():
                self._ask(rm, item)
            case SentEvents():
                rm.send_event(list(self._codec.messages(item)))
            case ContainerState():
                messages = self._codec.messages(item)
                self._notify_each(rm.update_container_scheduling_state, messages)
            case SyncedCache():
                self._notify_each(rm.re_sync_scheduler_cache, self._codec.messages(item))

    def _notify_each(self, method: Callable[[Any], object], messages: Iterable[Any]) -> None:
        for message in messages:
            if self._is_stopped:
                return
            _notify(method, message)

    def _ask(self, rm: Any, question: PredicatesQuestion | PreemptionQuestion) -> None:
        """Ask a question; an exception counts as a refusal before it propagates."""
        (message,) = self._codec.messages(question)
        answer = Answered(question.rm_id, question.number, suits=False, reason="it failed")
        try:
            if isinstance(question, PreemptionQuestion):
                given = rm.preemption_predicates(message)
                answer = Answered(question.rm_id, question.number, given.success, "", given.index)
            else:
                rm.predicates(message)
                answer = Answered(question.rm_id, question.number, suits=True)
        except SIError as why:
            answer = Answered(question.rm_id, question.number, suits=False, reason=str(why))
        finally:
            self._answered(answer)


def _notify(method: Callable[[Any], object], message: Any) -> None:
    """Call ``method``; an SIError it raises is only logged."""
    try:
        method(message)
    except SIError as why:
        _LOGGER.warning("%s of the resource manager: %s", method.__name__, why)
