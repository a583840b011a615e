"""The optional HTTP port: metrics for Prometheus and the state as JSON."""

import asyncio
import hmac
import socket
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import fields
from functools import partial
from socketserver import ThreadingMixIn
from typing import Any, Final, TypeVar
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import msgspec
from prometheus_client import make_wsgi_app

from sireference.codec.extra_config import without_secrets
from sireference.core.counts import Counts
from sireference.core.snapshot import ApplicationView, Snapshot
from sireference.shell.addresses import CannotListenError, check, host_and_port, reason
from sireference.shell.counters import Counters
from sireference.shell.engine import Engine
from sireference.shell.logs import LOGGER
from sireference.shell.metrics import registry
from sireference.shell.options import DEFAULT_ACCESS, Access
from sireference.shell.sharing import Sharing
from sireference.shell.unexpected import SAYS, report

_TIMEOUT: Final = 10.0  # seconds for the event loop to answer
_WHAT_THERE_IS: Final = b"/metrics  metrics for Prometheus\n/state    the state as JSON\n"
_BEARER: Final = "Bearer"
_TEXT: Final = "text/plain; charset=utf-8"
_MOST_AT_A_TIME: Final = 32  # connections, each with a thread
_LONGEST: Final = 30.0  # seconds from connecting to the end of the answer
_TOO_MANY: Final = b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\n\r\n"

Result = TypeVar("Result")
Start = Callable[[str, list[tuple[str, str]]], Any]


class HttpPage:
    """Serves on a thread of its own; what it shows is read on the event loop of the scheduler."""

    def __init__(self, engine: Engine, listen: str, access: Access = DEFAULT_ACCESS) -> None:
        """Listen on ``listen`` (``host:port``). Raises CannotListenError."""
        check(listen)
        self._engine = engine
        self._access = access
        self._loop = asyncio.get_running_loop()
        self._encoded: Sharing[tuple[int, ...], bytes] = Sharing()  # by identity of the snapshots
        self._metrics: Any = make_wsgi_app(registry(self._all_counts))
        host, port = host_and_port(listen)
        kind = _OnIpv6 if ":" in host else _BoundedThreads
        try:
            self._server = make_server(host, port, self._answer, kind, _Quiet)
        except OSError as why:
            raise CannotListenError(listen, reason(listen, why)) from None
        self.address = f"{listen.rpartition(':')[0]}:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Close the socket; requests that come later are refused."""
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, environment: dict[str, Any], start: Start) -> Iterable[bytes]:
        try:
            return self._page(environment, start)
        except Exception as error:  # noqa: BLE001  # it is reported
            report(error, method=f"GET {environment['PATH_INFO']}")
            start("500 Internal Server Error", [("Content-Type", _TEXT)])
            return [f"{SAYS}\n".encode()]

    def _page(self, environment: dict[str, Any], start: Start) -> Iterable[bytes]:
        if not self._may_read(environment.get("HTTP_AUTHORIZATION", "")):
            start("401 Unauthorized", [("Content-Type", _TEXT), ("WWW-Authenticate", _BEARER)])
            return [b"a bearer token is needed\n"]
        path = environment["PATH_INFO"]
        if path == "/metrics":
            answer: Iterable[bytes] = self._metrics(environment, start)
            return answer
        if path == "/state":
            body = self._on_loop(self._state())
            start("200 OK", [("Content-Type", "application/json")])
            return [body]
        start("200 OK" if path == "/" else "404 Not Found", [("Content-Type", _TEXT)])
        return [_WHAT_THERE_IS]

    def _may_read(self, authorization: str) -> bool:
        token = self._access.http_token
        if token is None:
            return True
        scheme, _, given = authorization.partition(" ")
        is_right = hmac.compare_digest(given.strip().encode(errors="replace"), token)
        return is_right and scheme.lower() == _BEARER.lower()

    async def _state(self) -> bytes:
        engine = self._engine
        known = [rm.rm_id for rm in engine.scheduler.rms.all()]
        held = [await engine.snapshot(rm_id) for rm_id in known]
        return await self._encoded.get(tuple(map(id, held)), partial(self._encode, held))

    async def _encode(self, held: list[Snapshot]) -> bytes:
        engine = self._engine
        name, now = engine.codec.revision.name, engine.clock.now()
        shown = held if self._access.shows_extra_config else list(map(without_secrets, held))
        return await engine.beside(_encoded, name, now, shown)

    def _all_counts(self) -> tuple[Counters, list[Counts]]:
        async def count() -> tuple[Counters, list[Counts]]:
            return self._engine.counters, await self._engine.all_counts()

        return self._on_loop(count())

    def _on_loop(self, reading: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(reading, self._loop).result(_TIMEOUT)


def _encoded(revision: str, now: float, snapshots: list[Snapshot]) -> bytes:
    """The state as JSON, encoded in small pieces: whoever else waits for Python gets it between."""
    return msgspec.json.encode(
        {
            "revision": revision,
            "now": now,
            "resource_managers": [_raw(snapshot) for snapshot in snapshots],
        }
    )


def _raw(snapshot: Snapshot | ApplicationView) -> dict[str, Any]:
    """Its fields, with lists of what is encoded already."""
    pieces = {field.name: getattr(snapshot, field.name) for field in fields(snapshot)}
    return {
        name: [_piece(view) for view in piece] if isinstance(piece, tuple) else piece
        for name, piece in pieces.items()
    }


def _piece(view: Any) -> msgspec.Raw:
    """An application may have a great many allocations, all else is small."""
    encodable = _raw(view) if isinstance(view, ApplicationView) else view
    return msgspec.Raw(msgspec.json.encode(encodable))


class _BoundedThreads(ThreadingMixIn, WSGIServer):
    """A thread per connection, up to a bound: a slow reader does not keep others waiting.

    A connection more than that is refused, and one that takes too long is cut off.
    """

    daemon_threads = True
    request_queue_size = 128  # connections that wait to be taken or refused, which is quick
    _Request = socket.socket | tuple[bytes, socket.socket]  # as socketserver has it

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._until: dict[Any, float] = {}  # by open connection, when it is cut off

    def process_request(self, request: _Request, client_address: Any) -> None:
        """Answer on a thread of its own, or refuse."""
        if len(self._until) >= _MOST_AT_A_TIME:
            self._refuse(request)
            return
        self._until[request] = time.monotonic() + _LONGEST
        super().process_request(request, client_address)

    def shutdown_request(self, request: _Request) -> None:
        """The connection is over."""
        self._until.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Now and then: the thread of what is cut off reads and writes no more, and ends."""
        now = time.monotonic()
        for request, until in self._until.copy().items():
            if now > until:
                with suppress(OSError):  # it is over already
                    request.shutdown(socket.SHUT_RDWR)

    def _refuse(self, request: Any) -> None:
        request.settimeout(0)
        with suppress(OSError):  # nothing has come yet; what is left unread would reset the answer
            request.recv(1 << 16)
        with suppress(OSError):
            request.send(_TOO_MANY)
        self.shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002  # the library's
        """Log what a connection ended with; that a client went away is no error."""
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            report(error, method="HTTP")


class _OnIpv6(_BoundedThreads):
    """The server of the page on an address of IPv6."""

    address_family = socket.AF_INET6


class _Quiet(WSGIRequestHandler):
    """Requests are logged like everything else."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # named by the library
        """At the finest level."""
        LOGGER.debug(format, *args)
