"""HTTP endpoints other than metrics: state page, JSON, health, and access to them."""

import asyncio
import base64
import http.client
import json
import re
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from typing import Any

import pytest
from sireference.core.model import NewAllocation
from sireference.shell.http_page import HttpPage
from sireference.shell.options import DEFAULT_ACCESS, Access
from sireference.shell.readers import is_own_name
from sireference.shell.state_page import renderer
from sireference.shell.state_page.bars import bars, node_bars, short
from sireference.shell.state_page.view import Seen, view
from tests.wire import TIMEOUT, Wire, accepted_node, all_streams, http_page, served

HOSTILE = "<script>alert(1)</script>\"'&amp;"
TOKEN = b"a-token-of-some-length"
CONFIG = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: research
            resources: {guaranteed: {memory: 4}, max: {memory: 8}}
            queues: [{name: training}, {name: notebooks}]
          - name: web
"""


class Answer:
    """The response to one request."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read().decode()


class Asking:
    """Requests pages of a test server."""

    def __init__(self, page: HttpPage) -> None:
        self._address = page.address

    async def __call__(self, path: str, method: str = "GET", **headers: str) -> Answer:
        return await asyncio.to_thread(self._ask, path, method, headers)

    def _ask(self, path: str, method: str, headers: Mapping[str, str]) -> Answer:
        connection = http.client.HTTPConnection(self._address, timeout=TIMEOUT)
        try:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=sent)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    async def raw(self, path: str, method: str) -> bytes:
        """Return the complete raw response."""
        return await asyncio.to_thread(self._raw, path, method)

    def _raw(self, path: str, method: str) -> bytes:
        host, _, port = self._address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=TIMEOUT) as connection:
            connection.sendall(f"{method} {path} HTTP/1.0\r\n\r\n".encode())
            return connection.makefile("rb").read()


@asynccontextmanager
async def state_page(
    access: Access = DEFAULT_ACCESS, application: str = "a1"
) -> AsyncIterator[Asking]:
    """Pages of a scheduler with items of every kind."""
    async with served() as wire, http_page(wire, access) as page:
        await fill(wire, application)
        yield Asking(page)


async def fill(wire: Wire, application: str) -> None:
    await wire.registers(config=CONFIG)
    nodes, applications, allocations = await all_streams(wire)
    await accepted_node(wire, nodes, "n1", memory=10)
    await applications.send(new=[wire.application(application, "root.research.training")])
    await applications.receives()
    await allocations.asks(wire.ask("k1", application, memory=3), wire.ask("k2", application, x=1))
    assert (await allocations.receives()).new


class _Text(HTMLParser):
    """Collects the text of a page as a reader sees it, and the names of its elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words = ""
        self.tags: list[str] = []
        self._within = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002  # the parser's
        self._within = tag
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002  # the parser's
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within not in ("script", "style"):
            self.words += data


def words(page: str) -> str:
    return " ".join(_Text(page).words.split())


async def test_root_shows_the_state() -> None:
    async with state_page() as ask:
        answer = await ask("/")
        received = words(answer.body)

        assert answer.status == 200
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert "rm Running 1 node 1 application 1 allocation 0 placeholders 1 ask waits" in received
        assert "research 1 running memory 3 of 8, guaranteed 4" in received
        assert "n1 schedulable memory 3 of 10" in received
        assert "a1 Running root.research.training memory 3 1 allocation, 1 ask waits" in received
        assert "k1 on n1: memory 3 k2 waits" in received
        assert "allocation k1 of a1 on n1" in received
        assert "rm registered" in received


async def test_names_are_escaped_on_the_page() -> None:
    async with state_page(application=HOSTILE) as ask:
        answer = await ask("/")

        assert HOSTILE not in answer.body
        assert HOSTILE in words(answer.body)
        assert _Text(answer.body).tags.count("script") == 1


async def test_search_term_is_escaped_too() -> None:
    async with state_page() as ask:
        found = await ask("/?only=%3Cscript%3E%22%27")
        assert "<script>\"'" not in found.body
        assert 'value="&lt;script&gt;&#34;&#39;"' in found.body
        assert "no application with" in words(found.body)

        (odd, several) = (await ask("/?only=%ff%00"), await ask("/?only=a1&only=b&x=y"))
        assert (odd.status, several.status) == (200, 200)
        assert "a1 Running" in words(several.body)


async def test_page_loads_nothing_external_and_runs_only_its_own_script() -> None:
    async with state_page() as ask:
        answer = await ask("/")
        policy = answer.headers["Content-Security-Policy"]

        assert not re.findall(r'(?:src|href|action)="(?!/|#|data:,")', answer.body)
        assert "style=" not in answer.body.replace("<style", "")
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/state", "/state.json"])
async def test_state_is_available_as_json(path: str) -> None:
    async with state_page() as ask:
        answer = await ask(path)
        (rm,) = json.loads(answer.body)["resource_managers"]

        assert answer.headers["Content-Type"] == "application/json"
        assert rm["applications"][0]["application_id"] == "a1"


async def test_health_is_200_while_the_scheduler_serves_and_503_before_and_after() -> None:
    async def statuses(ask: Asking) -> list[int]:
        return [(await ask(path)).status for path in ("/healthz", "/", "/state.json")]

    async with (
        served() as wire,
        http_page(wire, Access(http_token=TOKEN)) as page,
        http_page(wire) as open_page,
    ):
        assert (await Asking(page)("/healthz")).body == "serving\n"
        assert await statuses(Asking(open_page)) == [200, 200, 200]
        await wire.server.stop()
        assert await statuses(Asking(open_page)) == [503, 503, 503]
        assert await statuses(Asking(page)) == [503, 401, 401]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_only_get_and_head_are_allowed(method: str) -> None:
    async with state_page() as ask:
        for path in ("/", "/state.json", "/metrics", "/healthz"):
            answer = await ask(path, method)
            assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", ["/", "/state.json", "/healthz", "/nowhere"])
async def test_head_has_the_headers_of_get_and_nothing_else(path: str) -> None:
    async with state_page() as ask:
        whole, head = await ask(path), await ask(path, "HEAD")

        assert (await ask.raw(path, "HEAD")).partition(b"\r\n\r\n")[2] == b""
        assert head.status == whole.status
        assert head.headers["Content-Type"] == whole.headers["Content-Type"]
        assert int(whole.headers["Content-Length"]) == len(whole.body.encode())


@pytest.mark.parametrize("path", ["/", "/state", "/state.json", "/metrics", "/healthz"])
async def test_dns_rebinding_is_refused(path: str) -> None:
    async with state_page() as ask:
        refused = await ask(path, Host="rebound.example:80")
        assert refused.status == 421
        assert "rm" not in refused.body.split()
        assert (await ask(path, Host="localhost:1")).status == 200


@pytest.mark.parametrize(
    ("host", "listen", "is_own"),
    [
        ("127.0.0.1:8080", "127.0.0.1:8080", True),
        ("[::1]:8080", "[::1]:8080", True),
        ("LOCALHOST", "127.0.0.1:1", True),
        ("scheduler.localhost:1", "127.0.0.1:1", True),
        ("here:1", "here:0", True),
        ("", "127.0.0.1:1", True),
        ("10.0.0.1", "127.0.0.1:1", True),
        ("127.0.0.1.example", "127.0.0.1:1", False),
        ("localhost.example", "127.0.0.1:1", False),
        ("example:80", "127.0.0.1:80", False),
        ("[:::", "127.0.0.1:80", False),
    ],
)
def test_allowed_host_names(host: str, listen: str, *, is_own: bool) -> None:
    assert is_own_name(host, listen) is is_own


def basic(password: bytes) -> str:
    return f"Basic {base64.b64encode(b'anybody:' + password).decode()}"


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (basic(TOKEN), 200),
        (f"bearer {TOKEN.decode()}", 200),
        (basic(TOKEN + b"x"), 401),
        (basic(b""), 401),
        ("Basic !", 401),
        ("Basic", 401),
        ("Digest x", 401),
    ],
)
async def test_browser_can_give_the_token_as_a_password(authorization: str, status: int) -> None:
    async with state_page(Access(http_token=TOKEN)) as ask:
        answer = await ask("/", Authorization=authorization)
        assert answer.status == status
        if status == 401:
            offered = answer.headers.get_all("WWW-Authenticate") or []
            assert [one.split()[0] for one in offered] == ["Bearer", "Basic"]


async def test_large_state_is_shown_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sireference.shell.state_page.view._MOST", 2)

    async with served() as wire:
        await wire.registers(config=CONFIG)
        nodes, applications, _ = await all_streams(wire)
        for number in range(4):
            await accepted_node(wire, nodes, f"n{number}", memory=1)
            await applications.send(new=[wire.application(f"a{number}", "root.web")])
            await applications.receives()
        snapshot = await wire.server.engine.snapshot("rm")

    seen = Seen("2024-10", 0.0, [snapshot])
    assert len(view(seen).rms[0].partitions[0].nodes.shown) == 2
    received = words(renderer().html(seen))
    for message in ("and 2 more nodes", "and 2 more applications", "and 3 more queues"):
        assert f"{message}: state.json has all of them" in received


async def test_number_of_remembered_events_is_bounded() -> None:
    async with served() as wire:
        await wire.registers()
        nodes = await wire.opens("UpdateNode")
        for number in range(250):
            await accepted_node(wire, nodes, f"n{number}", memory=1)
        last = wire.server.engine.recent.all()
        assert len(last) == 200
        assert [one.number for one in last[:2]] == [251, 250]
        assert not any(isinstance(one.news, NewAllocation) for one in last)


def test_bar_is_relative_to_the_total() -> None:
    capacity = {"memory": 100}
    (root,), scales = bars({"memory": 50}, {}, {}, capacity)
    assert (root.used_share, root.most) == (50.0, None)
    (limited,), below = bars({"memory": 20}, {"memory": 40}, {"memory": 10}, scales)
    assert (limited.used_share, limited.guaranteed_share) == (50.0, 25.0)
    (leaf,), _ = bars({"memory": 20}, {}, {}, below)
    assert leaf.used_share == 50.0
    (over,), _ = bars({"memory": 90}, {"memory": 40}, {"memory": 80}, scales)
    assert (over.used_share, over.guaranteed_share) == (100.0, 100.0)
    (none,), _ = bars({}, {"memory": 0}, {}, {})
    assert none.used_share == 0.0
    known, first, other = node_bars(
        {"memory": 6}, {"memory": 8, "a": 1}, {"memory": 10, "vcore": 2}
    )
    assert [one.resource for one in (known, first, other)] == ["memory", "vcore", "a"]
    assert (known.used_share, known.others_share) == (60.0, 40.0)
    assert other.others_share == 100.0


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        (0, "0"),
        (99_999, "99,999"),
        (100_000, "100 k"),
        (17_179_869_184, "17.18 G"),
        (999_999, "1000 k"),
        (-250_000, "-250 k"),
        (10**30, "1e+06 Y"),
    ],
)
def test_amounts_are_abbreviated(amount: int, message: str) -> None:
    assert short(amount) == message
