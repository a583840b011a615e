"""The reference in this process, changed, with one RM, and the trace of what they exchange.

The trace is that of the tap in a Go scheduler (docs/trace-format.md). A change on the wire is made
between the two: the trace has what the RM sent before the change, and what it received after it.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
from google.protobuf.message import Message
from siconform.doctor.change import Wire
from siconform.protocol.notifications import Fact, UpdateKind
from siconform.protocol.requests import Registration, Request
from siconform.transport.connection import BARRIER_PREFIX
from siconform.transport.dialects import dialect_for
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
_BARRIER: Final = BARRIER_PREFIX.encode().hex()
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
        self._methods = rpc.methods(revision)
        self._last_question = 0
        self._number = 0
        self._taken: Sequence[Any] = ()  # the kinds of callbacks
        self._for_scheduler: list[Message] = []
        self._held: list[tuple[float, Message]] = []
        self._wire = Wire(self._add, self._for_scheduler.append, self._hold, defaultdict(set))
        header = {"began": time.time(), "revision": revision.name, "writer": "mutation.traces"}
        self.lines.append(msgspec.json.encode(header) + b"\n")

    def register(self, registration: Registration) -> None:
        """Register, or register again."""
        request = self._plain(self.dialect.registration(registration))
        self._write(request, by_rm=True)
        for changed in self._changed(request):
            request = changed
        self._offer()
        try:
            answer = self._api.register_resource_manager(request, _Callbacks(self))
        except Exception as error:  # noqa: BLE001  # whatever a mutant raises
            name = self._methods[_REGISTER].response.DESCRIPTOR.full_name
            self._line(by_rm=False, message=name, error=str(error))
            return
        for changed in self._changed(answer):
            self._write(changed, by_rm=False)

    def send(self, kind: UpdateKind, requests: Sequence[Request]) -> None:
        """Send these in one message, unless the revision cannot express them."""
        try:
            message = self._plain(self.dialect.request(kind, self._rm_id, requests))
        except LookupError:
            return
        self._write(message, by_rm=True)
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
            self._guarded(self._api.keep_deadlines)
            self._serve_more()
        self._clock.move_to(until)

    def configure(self, config: str, policy_group: str) -> None:
        """Send a new configuration."""
        if self.revision.can(Capability.ONE_UPDATE_STREAM):
            return
        request = self.revision.si.UpdateConfigurationRequest(
            rmID=self._rm_id, config=config, policyGroup=policy_group
        )
        self._write(request, by_rm=True)
        self._guarded(lambda: self._api.update_configuration(request))

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
            self._write_call(changed)
        if not expects_answer:
            return answer
        answer.call_id, question = call.call_id, self._number
        if kind == ext.EVICTION_CHECK:
            asked: Any = messages[0]
            index = len(asked.preemptAllocationKeys) - 1
            allows = self.revision.si.PreemptionPredicatesResponse(success=True, index=index)
            answer.payload.full_name = allows.DESCRIPTOR.full_name
            answer.payload.data = allows.SerializeToString()
            self._write(allows, by_rm=True)
        else:
            self._line(by_rm=True, answers=question, ok=True)
        for changed in self._changed(ext.FromRm(answer=answer)):
            answer = changed.answer
        return answer

    def _offer(self) -> None:
        kinds = (ext.PLACEMENT_CHECK, ext.EVICTION_CHECK, ext.EVENT_BATCH, ext.CONTAINER_STATE)
        sent = ext.FromRm(offer=ext.FromRm.Offer(rm_id=self._rm_id, kinds=kinds))
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
                self._guarded(lambda: getattr(self._api, serve)(message))  # noqa: B023
                return

    def _serve_more(self) -> None:
        while self._for_scheduler:
            self.has_fired = True
            self._serve(self._for_scheduler.pop(0))

    def _guarded(self, serve: Callable[[], object]) -> None:
        """Serve; note an error as that of the call."""
        try:
            serve()
        except Exception as error:  # noqa: BLE001  # whatever a mutant raises
            self._line(by_rm=False, error=str(error))

    def _add(self, message: Message) -> None:
        """Give the RM another message before the one at hand."""
        self.has_fired = True
        if isinstance(message, ext.ToRm):
            self._write_call(message)
            return
        for method, one in self._methods.items():
            if one.response.DESCRIPTOR.name == message.DESCRIPTOR.name:
                self._receive(method, message)

    def _hold(self, message: Message, cycle: float) -> None:
        now = self._clock.now()
        self._held.append((now + cycle - now % cycle, message))

    def _receive(self, method: str, message: Message) -> None:
        self._write(message, by_rm=False)
        for kind in UpdateKind:
            if self.dialect.method(kind) == method:
                read = self.dialect.response(kind, message.SerializeToString())
                self.facts.extend(self.dialect.facts(kind, read))

    def _plain(self, message: Message) -> Any:
        """Return a message of the revision; those of a dialect may be of types of its own."""
        kind = getattr(self.revision.si, message.DESCRIPTOR.name)
        return kind.FromString(message.SerializeToString())

    def _write_call(self, call: ext.ToRm) -> None:
        for payload in call.payloads:
            self._line(by_rm=False, message=payload.full_name, hex=payload.data.hex())

    def _write(self, message: Message, *, by_rm: bool) -> None:
        name = message.DESCRIPTOR.full_name
        self._line(by_rm=by_rm, message=name, hex=message.SerializeToString().hex())

    def _line(self, *, by_rm: bool, **more: Any) -> None:
        self._number += 1
        line = {
            "at": round(self._clock.now() - self._began, 6),
            "from": "rm" if by_rm else "scheduler",
            "rm": self._rm_id,
            "number": self._number,
            **more,
        }
        if _BARRIER in more.get("hex", ""):
            line["fence"] = True
        self.lines.append(msgspec.json.encode(line) + b"\n")


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
