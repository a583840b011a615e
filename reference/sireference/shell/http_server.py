"""A small HTTP server with one thread per connection and limits for clients."""

import socket
import sys
import time
from contextlib import suppress
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import WSGIApplication

from sireference.shell.addresses import CannotListenError, host_and_port, reason
from sireference.shell.logs import LOGGER
from sireference.shell.unexpected import report

_MOST_AT_A_TIME: Final = 32  # connections, each with a thread
_LONGEST: Final = 30.0  # seconds from connecting to the end of the answer
_TOO_MANY: Final = b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\n\r\n"


def listening(listen: str, answer: WSGIApplication) -> WSGIServer:
    """Return a server that listens on ``listen`` (``host:port``). Raises CannotListenError."""
    host, port = host_and_port(listen)
    kind = _OnIpv6 if ":" in host else _BoundedThreads
    try:
        return make_server(host, port, answer, kind, _Quiet)
    except OSError as why:
        raise CannotListenError(listen, reason(listen, why)) from None


class _BoundedThreads(ThreadingMixIn, WSGIServer):
    """One thread per connection, up to a limit: a slow reader does not delay others.

    Connections beyond the limit are refused, and slow ones are cut off.
    """

    daemon_threads = True
    request_queue_size = 128  # connections waiting to be accepted or refused, which is quick
    _Request = socket.socket | tuple[bytes, socket.socket]  # as in socketserver

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._until: dict[Any, float] = {}  # cut-off time by open connection

    def process_request(self, request: _Request, client_address: Any) -> None:
        """Answer on a new thread, or refuse."""
        if len(self._until) >= _MOST_AT_A_TIME:
            self._refuse(request)
            return
        self._until[request] = time.monotonic() + _LONGEST
        super().process_request(request, client_address)

    def shutdown_request(self, request: _Request) -> None:
        """Close the connection."""
        self._until.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Periodically cut off slow connections, which ends their threads."""
        now = time.monotonic()
        for request, until in self._until.copy().items():
            if now > until:
                with suppress(OSError):  # it is closed already
                    request.shutdown(socket.SHUT_RDWR)

    def _refuse(self, request: Any) -> None:
        request.settimeout(0)
        with suppress(OSError):  # nothing was read yet; unread input would reset the answer
            request.recv(1 << 16)
        with suppress(OSError):
            request.send(_TOO_MANY)
        self.shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002  # the library's
        """Log the error of a connection, except that a client went away."""
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            report(error, method="HTTP")


class _OnIpv6(_BoundedThreads):
    """The same on an IPv6 address."""

    address_family = socket.AF_INET6


class _Quiet(WSGIRequestHandler):
    """Logs requests like everything else."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # named by the library
        """Log at the finest level."""
        LOGGER.debug(format, *args)
