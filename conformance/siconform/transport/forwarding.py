"""A gRPC server that forwards every call to a scheduler unchanged and reports what passes.

Streams, half-closes, cancellations, metadata, deadlines and statuses are those of the two ends.
Each connection of an RM has its own connection to the scheduler. A lost connection reaches the
other end as the status that gRPC gives it. Both sides may use TLS.
"""

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import grpc

from siconform.transport.access import Tls
from siconform.transport.channels import OPTIONS, close
from siconform.transport.server_tls import ServerTls

_AT_ONCE: Final = 2000  # calls; an open stream occupies a thread
_CANCELLED_WITHIN: Final = 0.05  # seconds in which gRPC reports that a stream was cancelled
_NO_DEADLINE: Final = 1e8  # seconds; gRPC gives a call without one a deadline far away
_STOPPED_WITHIN: Final = 2.0  # seconds
_IDLE: Final = 60.0  # seconds after its last call until a connection to the scheduler is closed
_SERVER_OPTIONS: Final = (
    ("grpc.so_reuseport", 0),  # a second server on the same port is an error
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.http2.max_ping_strikes", 0),  # the scheduler, not this server, limits pings of RMs
    ("grpc.keepalive_time_ms", 20_000),  # a silent loss of an RM has to reach the scheduler
    ("grpc.keepalive_timeout_ms", 10_000),
)
_CHANNEL_OPTIONS: Final = (
    *OPTIONS,
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),  # schedulers may be restarted
)
_OF_THE_TRANSPORT: Final = ("grpc-", "user-agent", ":")  # metadata that each connection adds


@dataclass(frozen=True, slots=True)
class Passed:
    """A message that passed through, or the end of one side of a call."""

    at: float  # seconds since the server was started
    call: int
    method: str  # its path
    by_rm: bool
    data: bytes | None  # None for an end
    status: str = ""  # of an end: OK of an RM is a half-close
    details: str = ""
    opens: bool = False  # the RM's first message of the call


@dataclass(slots=True)
class _Connection:
    """A connection to the scheduler, and how many calls use it."""

    channel: grpc.Channel
    calls: int = 0
    idle_since: float = 0.0


class Forwarding:
    """Serves at an address; ``observe`` is called, on any thread, before something is passed on.

    ``tls`` is that of the connections to the scheduler, ``own`` that towards RMs. Ends of calls
    that ``stop`` causes are not observed.
    """

    def __init__(
        self,
        listen: str,
        to: str,
        observe: Callable[[Passed], None],
        *,
        tls: Tls | None = None,
        own: ServerTls | None = None,
    ) -> None:
        """Listen; OSError if nothing can listen there."""
        self._to = to
        self._observe = observe
        self._credentials = tls.credentials() if tls else None
        named = (("grpc.ssl_target_name_override", tls.name),) if tls and tls.name else ()
        self._options = (*_CHANNEL_OPTIONS, *named)
        self._began = time.monotonic()
        self._numbers = itertools.count(1)
        self._is_stopping = False
        self._connections: dict[str, _Connection] = {}  # by the RM's end of its connection
        self._connecting = threading.Lock()
        self._server = grpc.server(ThreadPoolExecutor(_AT_ONCE), options=_SERVER_OPTIONS)
        self._server.add_generic_rpc_handlers((_AnyMethod(self._forward),))
        try:
            if own is None:
                self.port = self._server.add_insecure_port(listen)
            else:
                self.port = self._server.add_secure_port(listen, own.credentials())
        except RuntimeError:
            raise OSError(f"nothing can listen on {listen}; is the port in use?") from None

    def start(self) -> None:
        """Begin to serve."""
        self._server.start()

    def stop(self) -> None:
        """End all calls within seconds."""
        self._is_stopping = True
        self._server.stop(None).wait(_STOPPED_WITHIN)
        with self._connecting:
            for connection in self._connections.values():
                close(connection.channel)
            self._connections.clear()

    @contextmanager
    def _channel(self, peer: str) -> Iterator[grpc.Channel]:
        """Yield the connection to the scheduler that belongs to this connection of an RM."""
        with self._connecting:
            if peer not in self._connections:
                self._close_idle()
                self._connections[peer] = _Connection(self._connect())
            connection = self._connections[peer]
            connection.calls += 1
        try:
            yield connection.channel
        finally:
            with self._connecting:
                connection.calls -= 1
                connection.idle_since = time.monotonic()

    def _connect(self) -> grpc.Channel:
        if self._credentials is None:
            return grpc.insecure_channel(self._to, options=self._options)
        return grpc.secure_channel(self._to, self._credentials, options=self._options)

    def _close_idle(self) -> None:
        """Close connections without calls: gRPC does not report that an RM has disconnected."""
        now = time.monotonic()
        for peer, connection in list(self._connections.items()):
            if not connection.calls and now - connection.idle_since > _IDLE:
                close(self._connections.pop(peer).channel)

    def _notice(self, passed: Passed) -> None:
        if not self._is_stopping:
            self._observe(passed)

    def _forward(self, method: str, requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        call = _Call(next(self._numbers), method, self._began, self._notice)
        with self._channel(context.peer()) as channel:
            yield from self._pass(channel, call, requests, context)

    def _pass(
        self, channel: Any, call: "_Call", requests: Iterator[bytes], context: Any
    ) -> Iterator[bytes]:
        remaining = context.time_remaining()
        answers = channel.stream_stream(call.method)(
            call.sent(requests),
            timeout=remaining if remaining < _NO_DEADLINE else None,
            metadata=_passed_on(context.invocation_metadata()),
        )
        if not context.add_callback(lambda: call.end(answers)):
            call.end(answers)
        try:
            context.send_initial_metadata(answers.initial_metadata())
            for data in answers:
                call.observe(data, by_rm=False)
                yield data
        except grpc.RpcError:
            pass  # its status is passed on below
        if call.is_over.is_set():
            return  # the RM has left
        code, details = answers.code(), answers.details() or ""
        call.has_ended(code, details)
        context.set_trailing_metadata(answers.trailing_metadata() or ())
        context.set_code(code)
        context.set_details(details)


class _Call:
    """One call, seen from both ends."""

    def __init__(
        self, number: int, method: str, began: float, observe: Callable[[Passed], None]
    ) -> None:
        self.method = method
        self._number = number
        self._began = began
        self._observe = observe
        self._is_open = False  # the RM has sent a message
        self._is_answered = False  # the scheduler ended it
        self.is_over = threading.Event()

    def observe(
        self, data: bytes | None, status: str = "", details: str = "", *, by_rm: bool
    ) -> None:
        at = time.monotonic() - self._began
        opens = by_rm and data is not None and not self._is_open
        self._is_open = self._is_open or opens
        self._observe(Passed(at, self._number, self.method, by_rm, data, status, details, opens))

    def has_ended(self, code: grpc.StatusCode, details: str) -> None:
        """Note that the scheduler ended it."""
        self._is_answered = True
        self.observe(None, code.name, details, by_rm=False)

    def end(self, answers: Any) -> None:
        """End it at the scheduler as well, unless it ended there first."""
        if not self._is_answered:
            self.observe(None, grpc.StatusCode.CANCELLED.name, by_rm=True)
        self.is_over.set()
        answers.cancel()

    def sent(self, requests: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the RM's messages; return only at a half-close, not at a cancellation."""
        try:
            for data in requests:
                self.observe(data, by_rm=True)
                yield data
        except grpc.RpcError:
            self.is_over.wait()
        if not self.is_over.wait(_CANCELLED_WITHIN):
            self.observe(None, "OK", by_rm=True)


def _passed_on(metadata: Iterable[tuple[str, str | bytes]]) -> tuple[tuple[str, str | bytes], ...]:
    return tuple((key, value) for key, value in metadata if not key.startswith(_OF_THE_TRANSPORT))


class _AnyMethod(grpc.GenericRpcHandler):
    """Handles every call as streaming: on the wire, a unary call is a stream of one message."""

    def __init__(self, forward: Callable[[str, Iterator[bytes], Any], Iterator[bytes]]) -> None:
        self._forward = forward

    def service(self, handler_call_details: Any) -> Any:
        """Return the handler of any method, known or not."""
        method = handler_call_details.method
        return grpc.stream_stream_rpc_method_handler(
            lambda requests, context: self._forward(method, requests, context)
        )
