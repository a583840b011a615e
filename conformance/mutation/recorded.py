"""The reference in this process, changed, with one RM, and the trace of what they exchange.

The trace is that of ``siconform record``. A change on the wire is made between the two: the trace
has what the RM sent before the change, and what it received after it.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec
from google.protobuf.message import Message
from siconform.doctor.change import Wire
from siconform.protocol.notifications import Fact, UpdateKind
from siconform.protocol.requests import Registration, Request
from siconform.transport.callback_records import CALLBACKS_PATH
from siconform.transport.dialects import dialect_for
from siconform.transport.forwarding import Passed
from siconform.transport.trace_records import TraceRecords
from sireference.api.callback import SIError
from sireference.api.scheduler import OneStreamAPI, SchedulerAPI
from sireference.clock import VirtualClock
from sireference.codec import Policies
from sireference.core.model import Settings
from siwire import Capability, Revision, rpc
from siwire.ext import extension_pb2 as ext

from mutation.mutant import Change

_TIMERS: Final = Settings(
    placeholder_timeout=3.0, completing_timeout=1.5, connection_loss_timeout=2.0
)
_MOST_DEADLINES: Final = 2000  # in one wait; a mutant may set one again and again
_CALLBACKS: Final = 1  # the number of the call
_REGISTER: Final = "RegisterResourceManager"


class Link:
    """Sends what an RM sends and gives it what the scheduler sends, on virtual time."""

    def __init__(
        self, rm_id: str, revision: Revision, change: Change, policies: Policies | None = None
    ) -> None:
        """Begin a scheduler, to which ``change`` has been applied if it is one inside."""
        self.revision: Final = revision
        self.dialect: Final = dialect_for(revision)
        self.lines: Final[list[bytes]] = []
        self.facts: Final[list[Fact]] = []
        """What the RM has received and not read yet."""
        self.has_fired = False
        self._rm_id = rm_id
        self._change = change
        self._clock = VirtualClock()
        self._began = self._clock.now()
        kind = OneStreamAPI if revision.can(Capability.ONE_UPDATE_STREAM) else SchedulerAPI
        self._api: Any = kind(revision, policies, _TIMERS, self._clock)
        self._records = TraceRecords(revision)
        self._methods = rpc.methods(revision)
        self._calls: dict[str, int] = {}
        self._last_call = _CALLBACKS
        self._last_question = 0
        self._taken: Sequence[Any] = ()  # the kinds of callbacks
        self._for_scheduler: list[Message] = []
        self._held: list[tuple[float, Message]] = []
        self._wire = Wire(self._add, self._for_scheduler.append, self._hold, defaultdict(set))
        header = {"began": time.time(), "revision": revision.name, "writer": "mutation.traces"}
        self.lines.append(msgspec.json.encode(header) + b"\n")

    def register(self, registration: Registration) -> bool:
        """Register, or register again; return whether that was accepted."""
        self._calls = {}
        call, request = self._new_call(), self.dialect.registration(registration)
        self._passes(call, self._methods[_REGISTER].path, request, by_rm=True, opens=True)
        for changed in self._changed(request):
            request = changed
        self._offer()
        path = self._methods[_REGISTER].path
        try:
            answer = self._api.register_resource_manager(request, _Callbacks(self))
        except Exception as error:  # noqa: BLE001  # whatever a mutant raises
            self._ends(call, path, error)
            return False
        for changed in self._changed(answer):
            self._passes(call, path, changed, by_rm=False)
        self._ends(call, path, None)
        return True

    def send(self, kind: UpdateKind, requests: Sequence[Request]) -> None:
        """Send these in one message, unless the revision cannot express them."""
        try:
            message = self.dialect.request(kind, self._rm_id, requests)
        except LookupError:
            return
        method = self.dialect.method(kind)
        opens = method not in self._calls
        call = self._calls.setdefault(method, self._last_call + 1)
        self._last_call = max(call, self._last_call)
        self._passes(call, self._methods[method].path, message, by_rm=True, opens=opens)
        for changed in self._changed(message):
            self._serve(changed)
        self._serve_more()

    def passes(self, seconds: float) -> None:
        """Let time pass, with all that is due."""
        until = self._clock.now() + seconds
        for _ in range(_MOST_DEADLINES):
            dues = [due for due, _ in self._held]
            deadline = self._api.next_deadline()
            due = min([*dues, *([] if deadline is None else [deadline])], default=until)
            if due > until or not (dues or deadline is not None):
                break
            self._clock.move_to(due)
            self._for_scheduler += [one for moment, one in self._held if moment <= due]
            self._held = [one for one in self._held if one[0] > due]
            self._guarded(None, self._api.keep_deadlines)
            self._serve_more()
        self._clock.move_to(until)

    def configure(self, config: str, policy_group: str) -> None:
        """Send a new configuration, as the tap of a Go scheduler records it."""
        if self.revision.can(Capability.ONE_UPDATE_STREAM):
            return
        request = self.revision.si.UpdateConfigurationRequest(
            rmID=self._rm_id, config=config, policyGroup=policy_group
        )
        self.lines.append(msgspec.json.encode(self._configuration_record(request)) + b"\n")
        self._guarded(None, lambda: self._api.update_configuration(request))

    def receive(self, method: str, message: Message) -> None:
        """Give the RM a response, changed."""
        for changed in self._changed(message):
            self._receive(method, changed)

    def call_back(self, kind: Any, *messages: Message, expects_answer: bool) -> ext.FromRm.Answer:
        """Call the RM, which allows everything; return its answer, changed."""
        answer = ext.FromRm.Answer(ok=True)
        if kind not in self._taken:
            return answer
        self._last_question += 1
        call = ext.ToRm(call_id=self._last_question, kind=kind, answer_expected=expects_answer)
        for message in messages:
            name = message.DESCRIPTOR.full_name
            call.payloads.add(full_name=name, data=message.SerializeToString())
        for changed in self._changed(call):
            self._passes(_CALLBACKS, CALLBACKS_PATH, changed, by_rm=False)
        if not expects_answer:
            return answer
        answer.call_id = call.call_id
        if kind == ext.EVICTION_CHECK:
            asked: Any = messages[0]
            index = len(asked.preemptAllocationKeys) - 1
            allows = self.revision.si.PreemptionPredicatesResponse(success=True, index=index)
            answer.payload.full_name = allows.DESCRIPTOR.full_name
            answer.payload.data = allows.SerializeToString()
        sent = ext.FromRm(answer=answer)
        self._passes(_CALLBACKS, CALLBACKS_PATH, sent, by_rm=True)
        return [changed.answer for changed in self._changed(sent)][-1]

    def _offer(self) -> None:
        kinds = (ext.PLACEMENT_CHECK, ext.EVICTION_CHECK, ext.EVENT_BATCH, ext.CONTAINER_STATE)
        sent = ext.FromRm(offer=ext.FromRm.Offer(rm_id=self._rm_id, kinds=kinds))
        self._passes(_CALLBACKS, CALLBACKS_PATH, sent, by_rm=True, opens=True)
        self._taken = [kind for one in self._changed(sent) for kind in one.offer.kinds]

    def _changed(self, message: Any) -> list[Any]:
        """Return what replaces a message: the changed one after its delay, or nothing."""
        changed = type(message).FromString(message.SerializeToString())
        if not self._change.touches(type(message)):
            return [changed]
        self._wire.pause, self._wire.is_dropped = 0.0, False
        self._change.change(changed, self._wire)
        pause, is_dropped = self._wire.pause, self._wire.is_dropped
        plain = [one.SerializeToString(deterministic=True) for one in (changed, message)]
        self.has_fired |= bool(pause) or is_dropped or plain[0] != plain[1]
        if pause:
            self._clock.move_to(self._clock.now() + pause)
        return [] if is_dropped else [changed]

    def _serve(self, message: Message) -> None:
        name = message.DESCRIPTOR.name
        for method, one in self._methods.items():
            if one.request.DESCRIPTOR.name == name and method != _REGISTER:
                serve = {"Update": "update", "UpdateNode": "update_node"}.get(method) or (
                    f"update_{method.removeprefix('Update').lower()}"
                )
                self._guarded(method, lambda: getattr(self._api, serve)(message))  # noqa: B023
                return

    def _serve_more(self) -> None:
        while self._for_scheduler:
            self.has_fired = True
            self._serve(self._for_scheduler.pop(0))

    def _guarded(self, method: str | None, serve: Callable[[], object]) -> None:
        """Serve; an error ends the stream, as it does over gRPC."""
        try:
            serve()
        except Exception as error:  # noqa: BLE001  # whatever a mutant raises
            if method is not None and method in self._calls:
                self._ends(self._calls.pop(method), self._methods[method].path, error)

    def _add(self, message: Message) -> None:
        """Give the RM another message before the one at hand."""
        self.has_fired = True
        if isinstance(message, ext.ToRm):
            self._passes(_CALLBACKS, CALLBACKS_PATH, message, by_rm=False)
            return
        for method, one in self._methods.items():
            if one.response.DESCRIPTOR.name == message.DESCRIPTOR.name:
                self._receive(method, message)

    def _hold(self, message: Message, cycle: float) -> None:
        now = self._clock.now()
        self._held.append((now + cycle - now % cycle, message))

    def _receive(self, method: str, message: Message) -> None:
        call = self._calls.get(method)
        if call is None:
            return  # no stream is open on which it could come
        self._passes(call, self._methods[method].path, message, by_rm=False)
        kind = next(one for one in UpdateKind if self.dialect.method(one) == method)
        read = self.dialect.response(kind, message.SerializeToString())
        self.facts.extend(self.dialect.facts(kind, read))

    def _new_call(self) -> int:
        self._last_call += 1
        return self._last_call

    def _passes(
        self, call: int, path: str, message: Message, *, by_rm: bool, opens: bool = False
    ) -> None:
        data = message.SerializeToString()
        at = self._clock.now() - self._began
        self._write(self._records.of(Passed(at, call, path, by_rm, data, opens=opens)))

    def _ends(self, call: int, path: str, error: Exception | None) -> None:
        status = "OK" if error is None else "UNKNOWN"
        if isinstance(error, SIError):
            status = "FAILED_PRECONDITION"
        at = self._clock.now() - self._began
        ended = Passed(at, call, path, False, None, status, str(error or ""))  # noqa: FBT003
        self._write(self._records.of(ended))

    def _write(self, records: Iterator[Any]) -> None:
        self.lines += [msgspec.json.encode(record) + b"\n" for record in records]

    def _configuration_record(self, request: Message) -> dict[str, Any]:
        return {
            "at": round(self._clock.now() - self._began, 6),
            "from": "rm",
            "rm": self._rm_id,
            "stream": None,
            "number": len(self.lines),
            "message": request.DESCRIPTOR.full_name,
            "hex": request.SerializeToString().hex(),
        }


class _Callbacks:
    """The RM as the in-process API calls it."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def update_allocation(self, response: Message) -> None:
        self._link.receive("UpdateAllocation", response)

    def update_application(self, response: Message) -> None:
        self._link.receive("UpdateApplication", response)

    def update_node(self, response: Message) -> None:
        self._link.receive("UpdateNode", response)

    def recv_update_response(self, response: Message) -> None:
        self._link.receive("Update", response)

    def predicates(self, args: Message) -> None:
        answer = self._link.call_back(ext.PLACEMENT_CHECK, args, expects_answer=True)
        if not answer.ok:
            raise SIError(answer.text or "it does not fit")

    def preemption_predicates(self, args: Message) -> Message:
        answer = self._link.call_back(ext.EVICTION_CHECK, args, expects_answer=True)
        response = self._link.revision.si.PreemptionPredicatesResponse
        allowed: Message = response.FromString(answer.payload.data)
        return allowed

    def send_event(self, events: Sequence[Message]) -> None:
        self._link.call_back(ext.EVENT_BATCH, *events, expects_answer=False)

    def update_container_scheduling_state(self, request: Message) -> None:
        self._link.call_back(ext.CONTAINER_STATE, request, expects_answer=False)

    def re_sync_scheduler_cache(self, args: Message) -> None:
        self._link.call_back(ext.CACHE_SYNC, args, expects_answer=False)
