"""The HTTP port with slow and silent clients: limits on connections and on their time."""

import asyncio
import http.client
import socket
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from sireference.shell import http_server
from tests.wire import TIMEOUT, http_page, served

MOST = 3


def with_page(visit: Callable[[str, int], None]) -> None:
    """Let ``visit`` connect to its own page at this host and port."""

    async def play() -> None:
        async with served() as wire, http_page(wire) as page:
            host, _, port = page.address.rpartition(":")
            await asyncio.to_thread(visit, host, int(port))

    asyncio.run(play())


def connected(host: str, port: int) -> socket.socket:
    """An idle connection; no wait on it is longer than TIMEOUT."""
    return socket.create_connection((host, port), timeout=TIMEOUT)


def status(host: str, port: int) -> int:
    """Return the response to a request for the state."""
    asking = http.client.HTTPConnection(host, port, timeout=TIMEOUT)
    try:
        asking.request("GET", "/state")
        return asking.getresponse().status
    finally:
        asking.close()


def test_connection_above_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_MOST_AT_A_TIME", MOST)

    def visit(host: str, port: int) -> None:
        with ExitStack() as silent:
            for _ in range(MOST):
                silent.enter_context(connected(host, port))
            with connected(host, port) as refused:
                answer = refused.makefile("rb").read()
            assert answer.startswith(b"HTTP/1.0 503 ")

    with_page(visit)


def test_closed_connection_frees_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_MOST_AT_A_TIME", 1)

    def visit(host: str, port: int) -> None:
        with connected(host, port) as asking:
            asking.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert asking.makefile("rb").read().startswith(b"HTTP/1.0 200 ")
            # the client sees the end once the server has freed the place

        assert status(host, port) == 200

    with_page(visit)


def test_idle_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_LONGEST", 0.01)

    def visit(host: str, port: int) -> None:
        with connected(host, port) as silent:
            assert silent.recv(1) == b""

    with_page(visit)
