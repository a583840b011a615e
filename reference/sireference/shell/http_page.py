"""Optional HTTP port: state page, JSON, Prometheus metrics and health."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import parse_qs
from wsgiref.types import StartResponse, WSGIEnvironment

from prometheus_client import make_wsgi_app

from sireference.codec.extra_config import without_secrets
from sireference.core.counts import Counts
from sireference.core.snapshot import Snapshot
from sireference.shell import state_page
from sireference.shell.addresses import check, is_public
from sireference.shell.counters import Counters
from sireference.shell.engine import Engine
from sireference.shell.http_server import listening
from sireference.shell.latencies import Latencies
from sireference.shell.metrics import registry
from sireference.shell.options import DEFAULT_ACCESS, Access
from sireference.shell.readers import CHALLENGES, has_token, is_own_name
from sireference.shell.recent import Recent
from sireference.shell.sharing import Sharing
from sireference.shell.state_json import encoded
from sireference.shell.unexpected import MESSAGES, report

_TIMEOUT: Final = 10.0  # seconds for the event loop to answer
_TEXT: Final = "text/plain; charset=utf-8"
_HEALTH: Final = "/healthz"
_METRICS: Final = "/metrics"
_NOT_FOUND: Final = """\
no such page; the pages are:
/            the state as a page
/state.json  the state as JSON, under /state as well
/metrics     metrics for Prometheus
/healthz     200 while the scheduler serves, else 503
"""
_ALWAYS: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)

Result = TypeVar("Result")


class _Answer(NamedTuple):
    status: str
    body: str | bytes
    kind: str = _TEXT
    more: tuple[tuple[str, str], ...] = ()


class HttpPage:
    """Serves on its own thread; reads the state on the scheduler's event loop."""

    def __init__(self, engine: Engine, listen: str, access: Access = DEFAULT_ACCESS) -> None:
        """Listen on ``listen`` (``host:port``). Raises CannotListenError."""
        check(listen)
        self._engine = engine
        self._access = access
        self._loop = asyncio.get_running_loop()
        self._encoded: Sharing[tuple[int, ...], bytes] = Sharing()  # by identity of the snapshots
        self._page = state_page.renderer()
        collected = registry(self._all_counts)
        self._metrics: Any = make_wsgi_app(collected)
        self._listen = listen
        self._is_public = is_public(listen)  # then any host name is accepted
        self._answers: Mapping[str, Callable[[str], _Answer]] = {
            "/": self._html,
            "/state": self._json,
            "/state.json": self._json,
        }
        self._server = listening(listen, self._answer)
        engine.measure(Latencies(collected))
        self.address = f"{listen.rpartition(':')[0]}:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Close the socket; later requests are refused."""
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, environment: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environment["PATH_INFO"]
        try:
            refused = self._refused(environment)
            if refused is None and path == _METRICS:
                metrics: Iterable[bytes] = self._metrics(environment, start)
                return metrics
            answer = refused or self._found(path, environment.get("QUERY_STRING", ""))
        except Exception as error:  # noqa: BLE001  # it is reported
            report(error, method=f"GET {path}")
            answer = _Answer("500 Internal Server Error", f"{MESSAGES}\n")
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        length = ("Content-Length", str(len(body)))
        start(answer.status, [("Content-Type", answer.kind), length, *_ALWAYS, *answer.more])
        return [] if environment["REQUEST_METHOD"] == "HEAD" else [body]

    def _refused(self, environment: WSGIEnvironment) -> _Answer | None:
        """Return why this request is refused, None if it is served."""
        if environment["REQUEST_METHOD"] not in ("GET", "HEAD"):
            problem = "only GET and HEAD are supported\n"
            return _Answer("405 Method Not Allowed", problem, more=(("Allow", "GET, HEAD"),))
        host = environment.get("HTTP_HOST", "")
        if not self._is_public and not is_own_name(host, self._listen):
            problem = f"{host!r} is not a name of this server; use {self.address}\n"
            return _Answer("421 Misdirected Request", problem)
        if environment["PATH_INFO"] == _HEALTH:
            return None
        if not has_token(environment.get("HTTP_AUTHORIZATION", ""), self._access.http_token):
            return _Answer("401 Unauthorized", "a bearer token is needed\n", more=CHALLENGES)
        return None

    def _found(self, path: str, query: str) -> _Answer:
        if not self._engine.is_serving:
            problem = "the scheduler is starting or shutting down\n"
            return _Answer("503 Service Unavailable", problem)
        if path == _HEALTH:
            return _Answer("200 OK", "serving\n")
        answer = self._answers.get(path)
        return _Answer("404 Not Found", _NOT_FOUND) if answer is None else answer(query)

    def _json(self, _query: str) -> _Answer:
        return _Answer("200 OK", self._on_loop(self._state()), "application/json")

    def _html(self, query: str) -> _Answer:
        wanted = parse_qs(query, errors="replace").get("only", [""])[0]
        engine = self._engine
        held, last = self._on_loop(self._held())
        seen = state_page.Seen(engine.codec.revision.name, engine.clock.now(), held, last, wanted)
        kind = "text/html; charset=utf-8"
        return _Answer("200 OK", self._page.html(seen), kind, self._page.headers)

    async def _held(self) -> tuple[list[Snapshot], list[Recent]]:
        engine = self._engine
        known = [rm.rm_id for rm in engine.scheduler.rms.all()]
        held = [await engine.snapshot(rm_id) for rm_id in known]
        return held, engine.recent.all()

    async def _state(self) -> bytes:
        held, _ = await self._held()
        return await self._encoded.get(tuple(map(id, held)), partial(self._encode, held))

    async def _encode(self, held: list[Snapshot]) -> bytes:
        engine = self._engine
        name, now = engine.codec.revision.name, engine.clock.now()
        shown = held if self._access.shows_extra_config else list(map(without_secrets, held))
        return await engine.in_thread(encoded, name, now, shown)

    def _all_counts(self) -> tuple[Counters, list[Counts]]:
        async def count() -> tuple[Counters, list[Counts]]:
            return self._engine.counters, await self._engine.all_counts()

        return self._on_loop(count())

    def _on_loop(self, reading: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(reading, self._loop).result(_TIMEOUT)
