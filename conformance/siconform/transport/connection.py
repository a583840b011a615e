"""An RM's connection: registration and update streams, all recorded in the history."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import grpc
from google.protobuf.message import DecodeError, Message
from siwire import Revision, rpc

from siconform.outcomes import NotExpressible, Unreachable
from siconform.protocol.notifications import (
    Allocated,
    Fact,
    Nothing,
    NotInSpec,
    StreamEnded,
    Unreadable,
    UpdateKind,
)
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import (
    AskReleaseRequest,
    Registration,
    ReleaseRequest,
    Request,
    StreamOpening,
)
from siconform.recording.history import Content, History
from siconform.transport.access import OPEN, Access
from siconform.transport.channels import close, how_it_ended
from siconform.transport.dialects import Dialect, dialect_for
from siconform.transport.reachability import comes_to
from siconform.transport.reflection import Description, describe
from siconform.transport.streams import Stream

BARRIER_PREFIX = "barrier-"
"""Prefix of the ids of the kit's barriers, which are not part of any test."""


def _bytes(data: bytes) -> bytes:
    return data


class Connection:
    """One RM, one channel, and at most one stream of each kind at a time.

    Streams are opened right after registration and when used, with a message that carries only the
    rmID; a stream that the scheduler ended is reopened the same way. ``listeners`` see every fact
    as it comes; ``receive_lock`` is held from the moment a message is in the history until all of
    them have seen it. ``latency`` is the least time between two messages, for schedulers that mix
    them up. The dialect belongs to this connection, made by ``implements``: it may keep state.
    """

    def __init__(
        self,
        address: str,
        revision: Revision,
        rm_id: str,
        history: History,
        latency: float = 0.0,
        *,
        implements: Callable[[Revision], Dialect] = dialect_for,
        access: Access = OPEN,
    ) -> None:
        self.revision = revision
        self.latency = latency
        self.rm_id = rm_id
        self.history = history
        self._implements = implements
        self.dialect: Final = implements(revision)
        self.registration: Registration | None = None  # the last that was accepted
        self.listeners: list[Callable[[Fact], None]] = []
        self._channel = access.channel(address)
        self._address = address
        self._access = access
        self._streams: dict[str, Stream] = {}
        self._send_lock = threading.RLock()
        self._next_turn = 0.0
        self._closing = False
        self.receive_lock = threading.Lock()

    def connects(self, timeout: float) -> None:
        """Wait for the transport; Unreachable after ``timeout`` seconds, or at once if hopeless."""
        obstacle = comes_to(self._channel, self._address, self._access, timeout)
        if obstacle is not None:
            raise Unreachable(obstacle.message)

    def another(self, rm_id: str) -> "Connection":
        """Return a separate connection to the same scheduler, for another RM of this history."""
        return Connection(
            self._address,
            self.revision,
            rm_id,
            self.history,
            self.latency,
            implements=self._implements,
            access=self._access,
        )

    def registers(self, registration: Registration, timeout: float) -> RegistrationAnswered:
        """Call RegisterResourceManager; return its outcome (DEADLINE_EXCEEDED after timeout)."""
        rm = registration.rm
        method = self.dialect.schema.method("RegisterResourceManager")
        request = self.dialect.registration(registration)
        self.history.add(self.rm_id, [RegistrationRequested(rm)], sent_by_rm=True, message=request)
        call = rpc.callable_for(self._channel, method)
        begun = time.monotonic()
        try:
            response = call(request, timeout=timeout)
        except grpc.RpcError as error:
            code, details = _status(error, left=begun + timeout - time.monotonic())
            outcome = RegistrationAnswered(rm, code, details)
            response = None
        else:
            outcome = RegistrationAnswered(rm, "OK", "")
            if rm == self.rm_id:
                self.registration = registration
        self.history.add(self.rm_id, [outcome], sent_by_rm=False, message=response)
        return outcome

    def send_all(self, kind: UpdateKind, requests: Sequence[Request]) -> None:
        """Send all ``requests`` in one message; open the stream if necessary.

        NotExpressible if an edited spec cannot express one.
        """
        with self._send_lock:
            try:
                stream = self._stream(kind)
                self._send(stream, kind, requests)
            except NotExpressible as lost:
                if not all(map(is_barrier, requests)):
                    omitted = [NotInSpec(kind, *one, sent=True) for one in lost.elements.items()]
                    self.history.add(self.rm_id, omitted, sent_by_rm=True)
                raise

    def is_open(self, kind: UpdateKind) -> bool:
        """Return whether the stream of this kind was opened and has not ended."""
        stream = self._streams.get(self.dialect.method(kind))
        return stream is not None and stream.open

    def shares_stream(self, kind: UpdateKind, other: UpdateKind) -> bool:
        """Return whether two conversations travel on one stream in this revision."""
        return self.dialect.method(kind) == self.dialect.method(other)

    def opens(self, kind: UpdateKind) -> None:
        """Open the stream of this kind if it is not open."""
        with self._send_lock:
            self._stream(kind)

    def opens_all(self) -> None:
        """Open every stream that is not open, so that all messages can be received.

        A stream that an edited spec cannot express is skipped; sending on it raises NotExpressible.
        """
        for kind in UpdateKind:
            with suppress(NotExpressible):
                self.opens(kind)

    def half_closes(self, kind: UpdateKind) -> None:
        """Half-close the stream of this kind: the RM sends nothing more on it."""
        stream = self._streams.get(self.dialect.method(kind))
        if stream is not None:
            stream.half_close()

    def replaces(self, kind: UpdateKind) -> None:
        """Half-close the stream of this kind and open another one in its place."""
        with self._send_lock:
            self.half_closes(kind)
            self._streams.pop(self.dialect.method(kind), None)
            self._stream(kind)

    def drops_streams(self) -> None:
        """Cut every stream; the next request of its kind opens a new one."""
        with self._send_lock:
            for stream in self._streams.values():
                stream.cut()
            self._streams.clear()

    def calls_raw(self, path: str, timeout: float) -> str:
        """Call any method by its path with one empty message; return its gRPC status name."""
        call = self._channel.stream_stream(path, _bytes, _bytes)
        begun = time.monotonic()
        try:
            for _ in call(iter([b""]), timeout=timeout):
                pass
        except grpc.RpcError as error:
            return _status(error, left=begun + timeout - time.monotonic())[0]
        return "OK"

    def asks_for_description(self, timeout: float) -> Description | None:
        """Return the scheduler's description of its service; None without reflection."""
        return describe(self._channel, self.revision, rpc.SERVICE, timeout)

    def close(self, timeout: float = 0.0) -> None:
        """Cut every stream at once, and the transport within ``timeout`` seconds or later.

        Nothing is recorded afterwards.
        """
        self._closing = True
        for stream in self._streams.values():
            stream.cut()
        close(self._channel, timeout)

    def _stream(self, kind: UpdateKind) -> Stream:
        method = self.dialect.method(kind)
        stream = self._streams.get(method)
        if stream is not None and stream.open:
            return stream
        call = rpc.callable_for(
            self._channel,
            self.dialect.schema.method(method),
            serializer=_bytes,
            deserializer=_bytes,
        )
        stream = Stream(
            call,
            lambda data: self._observe(kind, data),
            lambda status, details: self._observe_end(kind, status, details),
            name=f"{self.rm_id} {method}",
        )
        self._streams[method] = stream
        self._send(stream, kind, [StreamOpening(kind)])
        return stream

    def _send(self, stream: Stream, kind: UpdateKind, requests: Sequence[Request]) -> None:
        message = self.dialect.request(kind, self.rm_id, requests)
        if self.latency:
            time.sleep(max(0.0, self._next_turn - time.monotonic()))
        self.history.add(self.rm_id, requests, sent_by_rm=True, message=message, barrier=is_barrier)
        stream.send(message.SerializeToString())
        self._next_turn = time.monotonic() + self.latency

    def _observe(self, kind: UpdateKind, data: bytes) -> None:
        message: Message | None
        facts: list[Fact]
        try:
            message = self.dialect.response(kind, data)
            facts = self.dialect.facts(kind, message) or [Nothing(kind)]
        except DecodeError as error:
            message, facts = None, [Unreadable(kind, f"{error}: {data.hex()}")]
        with self.receive_lock:
            self.history.add(
                self.rm_id, facts, sent_by_rm=False, message=message, barrier=is_barrier
            )
            for fact in facts:
                for listener in self.listeners:
                    listener(fact)

    def _observe_end(self, kind: UpdateKind, status: str, details: str) -> None:
        if not self._closing:
            ends = [
                StreamEnded(k, status, details) for k in UpdateKind if self.shares_stream(k, kind)
            ]
            self.history.add(self.rm_id, ends, sent_by_rm=False)


def is_barrier(content: Content) -> bool:
    """Return whether this element belongs to a barrier or is about one.

    An allocation of another ask does not, on any node: nothing else may be placed on a barrier's
    node.
    """
    if isinstance(content, Allocated) and content.key:
        return content.key.startswith(BARRIER_PREFIX)
    about: object = content
    if isinstance(content, (ReleaseRequest, AskReleaseRequest)):
        about = content.subject
    return isinstance(content, StreamOpening) or any(
        str(getattr(about, name, "")).startswith(BARRIER_PREFIX)
        for name in ("node", "application", "key")
    )


def _status(error: grpc.RpcError, *, left: float) -> tuple[str, str]:
    if not isinstance(error, grpc.Call):
        return "UNKNOWN", str(error)
    code = how_it_ended(error, left=left) or grpc.StatusCode.UNKNOWN
    return code.name, error.details() or ""
