"""The engine of the simulated scheduler: connects its behaviour to the server, and records."""

import threading
from collections.abc import Callable, Sequence
from typing import Final

import grpc
from google.protobuf.message import DecodeError
from siwire import Revision
from siwire.ext import extension_pb2 as ext

from siconform.protocol.callbacks import Answered, PlacementCheck
from siconform.protocol.notifications import Fact, StreamEnded, UpdateKind, kind_of
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import Registration, StreamOpening
from siconform.recording.history import Content, History
from siconform.scheduler.behaviour import Behaviour
from siconform.scheduler.callback_calls import CallbackCalls
from siconform.scheduler.server import SchedulerServer, ServedStream
from siconform.scheduler.switches import Switches
from siconform.transport.connection import is_barrier
from siconform.transport.dialects import Dialect, dialect_for
from siconform.transport.dialects.decoding import decode
from siconform.transport.dialects.elements import add_unknown_field
from siconform.transport.extension_messages import MILLISECOND

_ANSWER: Final = 2.0  # seconds for an answer to a placement check; none is a refusal
_HELD: Final = 5.0  # seconds, at most, until a registration that is held is answered
_CALLBACKS: Final = (
    ext.PLACEMENT_CHECK,
    ext.EVICTION_CHECK,
    ext.CONTAINER_STATE,
    ext.RM_STATE_DUMP,
    ext.CACHE_SYNC,
    ext.STORE_CONFIGURATION,
)


class Engine:
    """The scheduler process that the kit plays: a server, and one RM's state.

    A registration begins with empty state. ``begins`` replaces it for another test. What an RM
    sends is handled in the order in which it arrives, over all streams; ``acting`` is held
    meanwhile, and by a test that acts.
    """

    def __init__(
        self,
        revision: Revision,
        history: History,
        listen: str = "127.0.0.1:0",
        *,
        implements: Callable[[Revision], Dialect] = dialect_for,
    ) -> None:
        self.revision = revision
        self.history = history
        self.acting = threading.RLock()
        self.registration: Registration | None = None
        self.registrations = 0
        self.may_answer = threading.Event()  # registrations, not while a test holds them
        self.may_answer.set()
        self.problems: list[BaseException] = []  # of the kit, on the threads of the server
        self._implements = implements
        self.dialect = implements(revision)
        history.identity = self.dialect.identity
        self.callbacks = CallbackCalls(self.dialect.schema, history)
        self.switches = Switches()
        self.behaviour = self._new_behaviour()
        self._streams: dict[str, ServedStream] = {}  # by method, the latest one
        self._identified: set[ServedStream] = set()
        self._unsent: list[tuple[str, list[Fact]]] = []  # by method
        methods = {name: self.dialect.schema.method(name) for name in self._method_names()}
        self.server = SchedulerServer(methods, self, listen)
        self._to_place = threading.Event()
        self._closing = False
        self._placing = threading.Thread(target=self._places, name="places", daemon=True)
        self._placing.start()

    @property
    def address(self) -> str:
        """Where it listens, once it does."""
        return self.server.address

    @property
    def rm_id(self) -> str:
        """The rmID of the latest registration."""
        return self.registration.rm if self.registration is not None else ""

    def starts(self) -> None:
        """Listen."""
        self.server.starts()

    def drops_connections(self) -> None:
        """Drop every connection and listen again at once; what is known stays known."""
        self._records_drop()
        self.server.drops_connections()

    def close(self) -> None:
        """Stop for good."""
        self._closing = True
        self._to_place.set()
        self._records_drop()
        self.server.stops()
        with self.acting:
            self.registration = None
            self._forgets()

    def begins(self, switches: Switches) -> None:
        """Begin a test: with empty state, and these switches."""
        with self.acting:
            self.switches = switches
            self.behaviour = self._new_behaviour()
            self._unsent.clear()

    def leaves(self) -> None:
        """End a test: behave as by default."""
        with self.acting:
            self.switches = self.behaviour.switches = Switches()

    def is_open(self, kind: UpdateKind) -> bool:
        """Return whether the RM has opened the stream of this kind, and sent its rmID there."""
        stream = self._streams.get(self.dialect.method(kind))
        return stream is not None and stream.open

    def abort(self, kind: UpdateKind, status: grpc.StatusCode, details: str) -> None:
        """Abort the stream of this kind."""
        with self.acting:
            stream = self._streams.pop(self.dialect.method(kind))
            ends = [
                StreamEnded(k, status.name, details)
                for k in UpdateKind
                if self.dialect.method(k) == stream.name
            ]
            self.history.add(self.rm_id, ends, sent_by_rm=False)
            stream.abort(status, details)

    def act(
        self, decide: Callable[[], Sequence[Fact]], *, separately: bool = False
    ) -> Sequence[Fact]:
        """Decide on the behaviour, undisturbed by what comes; send the facts and return them.

        Those of one stream are sent in one message, or each in its own one.
        """
        with self.acting:
            facts = decide()
            for together in [[fact] for fact in facts] if separately else [facts]:
                self.send(together)
        self._to_place.set()
        return facts

    def send(self, facts: Sequence[Fact]) -> None:
        """Send the facts, those of one stream in one message; later if it is not open yet."""
        by_method: dict[str, list[Fact]] = {}
        for fact in facts:
            kind = kind_of(fact)
            assert kind is not None, f"{fact} belongs to no stream"  # noqa: S101  # of the kit
            by_method.setdefault(self.dialect.method(kind), []).append(fact)
        for method, together in by_method.items():
            self._send(method, together)

    # what an RM sends, on the threads of its calls

    def registers(self, data: bytes) -> bytes | tuple[grpc.StatusCode, str]:
        """Register an RM with empty state, or refuse."""
        with self.acting:
            dialect = self._implements(self.revision)
            try:
                message = dialect.parsed_registration(data)
            except DecodeError as error:
                return grpc.StatusCode.INVALID_ARGUMENT, f"not a registration: {error}"
            registration = dialect.registered(message)
            rm = registration.rm
            self.history.add(rm, [RegistrationRequested(rm)], sent_by_rm=True, message=message)
            if not rm:
                return self._refuses(rm, grpc.StatusCode.INVALID_ARGUMENT, "rmID is empty")
            if self.switches.refuses:
                return self._refuses(rm, grpc.StatusCode.UNAVAILABLE, "refused by the test")
        self.may_answer.wait(_HELD)
        with self.acting:
            self.dialect = dialect
            self.registration = registration
            self.registrations += 1
            self.callbacks.ends()
            self._forgets()
            response = dialect.registration_response()
            answered = RegistrationAnswered(rm, "OK", "")
            self.history.add(rm, [answered], sent_by_rm=False, message=response)
            return response.SerializeToString()

    def _refuses(
        self, rm: str, status: grpc.StatusCode, details: str
    ) -> tuple[grpc.StatusCode, str]:
        self.history.add(rm, [RegistrationAnswered(rm, status.name, details)], sent_by_rm=False)
        return status, details

    def received(self, stream: ServedStream, data: bytes) -> None:
        """Record a message and react to it."""
        try:
            self._receive(stream, data)
        except Exception as error:  # noqa: BLE001  # reported to the test
            self.problems.append(error)

    def ended(self, stream: ServedStream, status: str) -> None:
        """Record the end of a stream by the RM; a half-closed one is still sent to."""
        with self.acting:
            if self._streams.get(stream.name) is not stream or self._closing:
                return
            stream.half_closed = status == "OK"
            if not stream.half_closed:
                del self._streams[stream.name]
            kinds = [k for k in UpdateKind if self.dialect.method(k) == stream.name]
            ends = [StreamEnded(kind, status, "by the RM") for kind in kinds]
            self.history.add(self.rm_id, ends, sent_by_rm=True)

    def describes(self) -> ext.Facets:
        """Return what the kit serves."""
        return ext.Facets(
            si_profile=self.revision.name,
            callbacks=_CALLBACKS,
            timers=ext.Timers(callback_answer=round(_ANSWER / MILLISECOND)),
        )

    def offered(self, stream: ServedStream, message: ext.FromRm) -> None:
        """Take the offer of callbacks, or an answer."""
        self.callbacks.received(stream, message)

    def _receive(self, stream: ServedStream, data: bytes) -> None:
        with self.acting:
            kind = next(k for k in UpdateKind if self.dialect.method(k) == stream.name)
            opens = stream not in self._identified
            decoded = decode(self.dialect, kind, data, sent_by_rm=True, opens=opens)
            rm = decoded.rm_id or self.rm_id
            contents: list[Content] = [*decoded.contents]
            if opens and contents != [opening := StreamOpening(kind)]:
                contents.insert(0, opening)  # opened by a message that has more than the rmID
            self.history.add(
                rm, contents, sent_by_rm=True, message=decoded.message, barrier=is_barrier
            )
            if self.registration is None:
                stream.abort(grpc.StatusCode.FAILED_PRECONDITION, f"{rm} is not registered")
                return
            self._identified.add(stream)
            former = self._streams.get(stream.name)
            if former is not None and former is not stream and former.half_closed:
                former.end()
            self._streams[stream.name] = stream
            if opens:
                self._flush(stream.name)
            self.send(self.behaviour.receive(decoded.contents, self.history.now()))
        self._to_place.set()

    # what is sent

    def _send(self, method: str, facts: list[Fact]) -> None:
        stream = self._streams.get(method)
        if stream is None or not stream.open:
            self._unsent.append((method, facts))
            return
        kind = next(k for k in UpdateKind if self.dialect.method(k) == method)
        message = self.dialect.response_with(kind, facts)
        if self.switches.unknown_fields:
            add_unknown_field(message)
        self.history.add(self.rm_id, facts, sent_by_rm=False, message=message, barrier=is_barrier)
        stream.send(message.SerializeToString())

    def _flush(self, method: str) -> None:
        due = [facts for name, facts in self._unsent if name == method]
        self._unsent = [one for one in self._unsent if one[0] != method]
        for facts in due:
            self._send(method, facts)

    def _records_drop(self) -> None:
        with self.acting:
            ends = [
                StreamEnded(kind, "UNAVAILABLE", "connection dropped")
                for kind in UpdateKind
                if self.is_open(kind)
            ]
            if ends and not self._closing:
                self.history.add(self.rm_id, ends, sent_by_rm=False)

    def _forgets(self) -> None:
        self.behaviour = self._new_behaviour()
        self._unsent.clear()

    def _new_behaviour(self) -> Behaviour:
        return Behaviour(
            self.dialect.identity,
            self.revision.name,
            self.switches,
            confirms_ask_releases=self.dialect.ask_releases_state_why,
        )

    def _method_names(self) -> set[str]:
        return {"RegisterResourceManager", *(self.dialect.method(kind) for kind in UpdateKind)}

    # placing, on its own thread: an RM may be asked for consent

    def _places(self) -> None:
        while not self._closing:
            due = self.behaviour.next_deadline()
            self._to_place.wait(None if due is None else max(0.0, due - self.history.now()))
            self._to_place.clear()
            try:
                self._place()
            except Exception as error:  # noqa: BLE001  # reported to the test
                self.problems.append(error)

    def _place(self) -> None:
        with self.acting:
            now = self.history.now()
            self.send(self.behaviour.elapses(now))
            if not self.callbacks.offers(ext.PLACEMENT_CHECK):
                self.send(self.behaviour.places(now))
                return
            self.send(self.behaviour.replaces_placeholders(now))
        self._place_with_consent()

    def _place_with_consent(self) -> None:
        refused: set[tuple[str, str, str]] = set()
        while True:
            with self.acting:
                behaviour = self.behaviour
                choice = behaviour.choice(refused)
            if choice is None:
                return
            pending, node = choice
            check = PlacementCheck(pending.ask.key, node, allocate=True)
            answered = self.callbacks.call(check, timeout=_ANSWER)
            with self.acting:
                if not (isinstance(answered, Answered) and answered.fits):
                    refused.add((*pending.name, node))
                elif behaviour is self.behaviour and choice in behaviour.candidates():
                    self.send(behaviour.allocates(pending, node, self.history.now()))
