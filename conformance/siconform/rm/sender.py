"""Sending: one stream at a time, several elements in one message."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count

from siconform.expecting.endpoint import Endpoint, Steps
from siconform.protocol.notifications import UpdateKind
from siconform.protocol.requests import Amounts, Request
from siconform.protocol.subjects import Identity

DEFAULT_PARTITION = "default"


class Sender(Steps):
    """Sends the requests of the steps.

    Streams are not ordered against each other, so the RM raises a barrier on the stream it used
    last before it sends on another one. ``unordered`` disables that.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._counter = count(1)
        self._synchronise_streams = True
        self._collecting: list[Request] | None = None

    def new_name(self, what: str) -> str:
        """Return an id that no other test uses."""
        return f"{self._endpoint.prefix}-{what}-{next(self._counter)}"

    @property
    def identity(self) -> Identity:
        """Whether the RM or the scheduler names allocations."""
        return self.connection.dialect.identity

    def send(self, *requests: Request) -> None:
        """Send these elements, one message each unless inside ``one_message``."""
        if self._collecting is not None:
            self._collecting.extend(requests)
            return
        for request in requests:
            self._send(request.kind, [request])

    @contextmanager
    def one_message(self) -> Iterator[None]:
        """Send everything in this block as one message per stream, in the given order."""
        collected: list[Request] = []
        self._collecting = collected
        try:
            yield
        finally:
            self._collecting = None
        while collected:
            kind = collected[0].kind
            together = [s for s in collected if self.connection.shares_stream(s.kind, kind)]
            self._send(kind, together)
            collected = [request for request in collected if request not in together]

    @contextmanager
    def unordered(self) -> Iterator[None]:
        """Raise no barriers between streams: requests sent inside may overtake each other."""
        self._synchronise_streams = False
        try:
            yield
        finally:
            self._synchronise_streams = True

    def _send(self, kind: UpdateKind, requests: list[Request]) -> None:
        kinds = {request.kind for request in requests}
        if self._synchronise_streams:
            self._synchronisation.synchronise_all_but(kinds)
        since = len(self.connection.history)
        self.connection.send_all(kind, requests)
        self._synchronisation.has_sent(requests, since)


def amounts(
    named: Mapping[str, int] | None, memory: int | None, vcore: int | None, default: Amounts
) -> dict[str, int]:
    """Return resource amounts from keyword arguments: the named ones, memory and vcore."""
    chosen = dict(named or {})
    if memory is not None:
        chosen["memory"] = memory
    if vcore is not None:
        chosen["vcore"] = vcore
    return chosen or dict(default)
