"""Client permissions for resource managers, access to the pages, and redaction."""

import asyncio
import json
import logging
import socket
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import click
import grpc
import pytest
import trustme
from click.testing import CliRunner
from sireference import cli
from sireference.api import SchedulerAPI
from sireference.cli import main, security
from sireference.cli.operations import operation_options
from sireference.cli.security import access, security_options
from sireference.codec import codec_for
from sireference.core.model import Settings
from sireference.shell.addresses import is_public
from sireference.shell.certificates import UnfitFileError, check_pair
from sireference.shell.options import Access, Tls
from sireference.shell.permissions import ClientRM, Permissions
from sireference.shell.server import Server
from siwire import DEFAULT_REVISION
from siwire.ext import extension_pb2 as ext
from tests.embedded import EmbeddedRM
from tests.wire import TIMEOUT, Stream, Wire, http_page, served

WRONG: Final = 4
TOKEN: Final = "a-token-of-some-length"  # noqa: S105  # of these tests
SETTINGS: Final = {"password": "hush", "siconform.note": "shown"}


class Clients:
    """A server with TLS, and channels of clients with certificates."""

    def __init__(self, authority: trustme.CA, server: Server) -> None:
        self._authority = authority
        self._server = server

    @asynccontextmanager
    async def of(self, *names: str, common_name: str | None = None) -> AsyncIterator[Wire]:
        own = self._authority.issue_cert(*names, common_name=common_name)
        secure = grpc.ssl_channel_credentials(
            self._authority.cert_pem.bytes(),
            own.private_key_pem.bytes(),
            own.cert_chain_pems[0].bytes(),
        )
        async with grpc.aio.secure_channel(self._server.address, secure) as channel:
            yield Wire(channel, DEFAULT_REVISION, self._server)


@pytest.fixture
def tls(tmp_path: Path) -> tuple[trustme.CA, Tls]:
    authority = trustme.CA()
    own = authority.issue_cert("127.0.0.1")
    own.cert_chain_pems[0].write_to_path(tmp_path / "cert")
    own.private_key_pem.write_to_path(tmp_path / "key")
    authority.cert_pem.write_to_path(tmp_path / "authority")
    return authority, Tls(tmp_path / "cert", tmp_path / "key", tmp_path / "authority")


Serves = Callable[[Permissions | None], AbstractAsyncContextManager[Clients]]


@pytest.fixture
def with_tls(tls: tuple[trustme.CA, Tls]) -> Serves:
    """Serve with TLS and these permissions."""
    authority, options = tls

    @asynccontextmanager
    async def serves(permissions: Permissions | None) -> AsyncIterator[Clients]:
        server = Server(codec_for(DEFAULT_REVISION), Settings(), access=Access(permissions))
        await server.start("127.0.0.1:0", options.credentials())
        try:
            yield Clients(authority, server)
        finally:
            await server.stop()

    return serves


@contextmanager
def refused() -> Iterator[None]:
    """Expect the block to be refused, with the reason."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        yield
    assert caught.value.code() is grpc.StatusCode.PERMISSION_DENIED
    assert "is not bound to resource manager 'one'" in (caught.value.details() or "")


BOUND: Final = Permissions((ClientRM("first.test", "one"), ClientRM("second.test", "two")))


async def test_client_acts_for_the_rm_it_is_bound_to(with_tls: Serves) -> None:
    async with with_tls(BOUND) as clients, clients.of("first.test") as wire:
        await wire.registers("one")
        nodes = await wire.opens("UpdateNode", "one")
        await nodes.send(nodes=[wire.node(memory=1)])
        assert (await nodes.receives()).accepted
        await wire.offers(ext.EVENT_BATCH, rm_id="one")
        assert (await wire.calls("ApplyConfiguration", rm_id="one", config="")).reason == ""
        snapshot = await wire.calls("Snapshot", rm_id="one")
        assert [node.node_id for node in snapshot.nodes] == ["n1"]
        assert (await wire.calls("Describe")).snapshot


async def test_client_that_is_not_bound_to_an_rm_cannot_act_for_it(
    with_tls: Serves, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        with_tls(BOUND) as clients,
        clients.of("first.test") as owner,
        clients.of("second.test") as wire,
    ):
        await owner.registers("one")
        own = await owner.opens("UpdateNode", "one")
        await own.send(nodes=[owner.node("n1", memory=1)])
        await own.receives()

        with refused():
            await wire.registers("one")
        for name in ("UpdateNode", "UpdateApplication", "UpdateAllocation"):
            code, message = await (await wire.opens(name, "one")).ends()
            assert code is grpc.StatusCode.PERMISSION_DENIED
            assert "'second.test'" in message
        callbacks = await wire.opens_callbacks()
        await callbacks.call.write(ext.FromRm(offer=ext.FromRm.Offer(rm_id="one")))
        assert (await callbacks.ends())[0] is grpc.StatusCode.PERMISSION_DENIED
        for call in ("Snapshot", "ApplyConfiguration", "ReadMetrics", "Describe"):
            with refused():
                await wire.calls(call, rm_id="one")

        await own.send(nodes=[owner.node("n2", memory=1)])
        assert (await own.receives()).accepted
        await wire.registers("two")

    assert not [one for one in caplog.records if one.levelno > logging.WARNING]


async def test_no_later_message_of_a_stream_may_be_for_another_rm(with_tls: Serves) -> None:
    async with (
        with_tls(BOUND) as clients,
        clients.of("first.test") as owner,
        clients.of("second.test") as wire,
    ):
        await owner.registers("one")
        await wire.registers("two")
        nodes = await wire.opens("UpdateNode", "two")
        await nodes.send(rmID="one", nodes=[wire.node(memory=1)])
        code, _ = await nodes.ends()
        assert code is grpc.StatusCode.PERMISSION_DENIED
        assert not (await owner.calls("Snapshot", rm_id="one")).nodes


async def test_common_name_is_a_client_name_too(with_tls: Serves) -> None:
    async with (
        with_tls(BOUND) as clients,
        clients.of("somewhere.test", common_name="second.test") as wire,
    ):
        await wire.registers("two")
        with refused():
            await wire.registers("one")


async def test_without_bindings_every_client_acts_for_every_rm(with_tls: Serves) -> None:
    async with (
        with_tls(None) as clients,
        clients.of("first.test") as first,
        clients.of("second.test") as second,
    ):
        await first.registers("one")
        await second.registers("one")
        await second.calls("Snapshot", rm_id="one")


@pytest.mark.parametrize(
    ("binding", "client", "rm_id", "permits"),
    [
        (("a.test", "one"), "a.test", "one", True),
        (("a.test", "one"), "a.test", "One", False),
        (("a.test", "one"), "a_test", "one", False),
        (("*.test", "one"), "a.test", "one", True),
        (("*.test", "one"), "a.b.test", "one", False),
        (("*.test", "one"), "test", "one", False),
        (("spiffe://x/ns/*", "one"), "spiffe://x/ns/a", "one", True),
        (("spiffe://x/ns/*", "one"), "spiffe://x/ns/a/b", "one", False),
        (("a.test", "*"), "a.test", "any/thing.at all\n", True),
        (("a.test", "team-*"), "a.test", "team-one", True),
        (("a.test", "team-*"), "a.test", "my-team-one", False),
        (("a.test", "ab*ba"), "a.test", "aba", False),
        (("a.test", "ab*ba"), "a.test", "abba", True),
    ],
)
def test_parsing_of_bindings(
    binding: tuple[str, str], client: str, rm_id: str, *, permits: bool
) -> None:
    assert ClientRM(*binding).permits(client, rm_id) is permits


def get(url: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(url, headers=headers)  # noqa: S310  # our own server
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:  # noqa: S310  # the same
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.read().decode()


def pages(granted: Access, asked: Callable[[str], Any], **fields: Any) -> Any:
    """Return what ``asked`` gets from the pages of a server where ``rm`` registered."""

    async def play() -> Any:
        async with served(access=granted) as wire, http_page(wire, granted) as page:
            await wire.registers(**fields)
            return await asyncio.to_thread(asked, f"http://{page.address}")

    return asyncio.run(play())


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Basic {TOKEN}",
        TOKEN,
        "Bearer",
        "Bearer ä",
    ],
)
def test_pages_need_the_token(authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    paths = ("/", "/state", "/metrics", "/nowhere")

    answers = pages(
        Access(http_token=TOKEN.encode()),
        lambda url: [get(url + path, **headers) for path in paths],
    )

    assert answers == [(401, "a bearer token is needed\n")] * 4


def test_token_opens_the_pages() -> None:
    def asked(url: str) -> Any:
        return [get(url + path, Authorization=f"Bearer {TOKEN}") for path in ("/state", "/metrics")]

    (code, state), (other, metrics) = pages(Access(http_token=TOKEN.encode()), asked)

    assert (code, other) == (200, 200)
    assert json.loads(state)["resource_managers"][0]["rm_id"] == "rm"
    assert "sireference_observed" in metrics


@pytest.mark.parametrize(
    ("shows", "shown"), [(True, SETTINGS), (False, {"siconform.note": "shown"})]
)
def test_settings_of_an_rm_are_shown_on_request(*, shows: bool, shown: dict[str, str]) -> None:
    granted = Access(shows_extra_config=shows)

    async def snapshot() -> dict[str, str]:
        async with served(access=granted) as wire:
            await wire.registers(extraConfig=SETTINGS)
            return dict((await wire.calls("Snapshot", rm_id="rm")).extra_config)

    api = SchedulerAPI(DEFAULT_REVISION, show_extra_config=shows)
    si: Any = DEFAULT_REVISION.si
    request = si.RegisterResourceManagerRequest(rmID="rm", extraConfig=SETTINGS)
    with api:
        api.register_resource_manager(request, EmbeddedRM())
        (dumped,) = json.loads(api.state_dump())["resource_managers"]
    _, state = pages(granted, lambda url: get(f"{url}/state"), extraConfig=SETTINGS)

    assert asyncio.run(snapshot()) == shown
    assert dumped["extra_config"] == shown
    assert json.loads(state)["resource_managers"][0]["extra_config"] == shown


@pytest.mark.parametrize("shows", [True, False])
async def test_settings_of_an_rm_are_logged_on_request(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, *, shows: bool
) -> None:
    monkeypatch.setattr(logging.getLogger("sireference"), "propagate", True)
    caplog.set_level(logging.DEBUG, "sireference")

    async with served(access=Access(shows_extra_config=shows)) as wire:
        await wire.registers(extraConfig=SETTINGS)

    received = str([vars(record) for record in caplog.records])
    assert "siconform.note" in received
    assert ("hush" in received) is shows


@pytest.mark.parametrize(
    ("listen", "public"),
    [
        ("127.0.0.1:9080", False),
        ("127.1.2.3:9080", False),
        ("localhost:9080", False),
        ("[::1]:9080", False),
        ("unix:/tmp/si.sock", False),
        ("0.0.0.0:9080", True),
        ("[::]:9080", True),
        ("192.0.2.1:9080", True),
    ],
)
def test_publicly_reachable_addresses(listen: str, *, public: bool) -> None:
    assert is_public(listen) is public


def test_unresolvable_host_counts_as_public(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", fails)

    assert is_public("nowhere.example:9080")


def test_key_that_cannot_be_read_is_named(tls: tuple[trustme.CA, Tls], tmp_path: Path) -> None:
    certificate = tmp_path / "certificate.pem"
    certificate.write_bytes(tls[0].issue_cert("localhost").cert_chain_pems[0].bytes())

    with pytest.raises(UnfitFileError, match=r"gone\.pem cannot be read: No such file"):
        check_pair(certificate, tmp_path / "gone.pem")


def test_public_address_without_tls_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, tls: tuple[trustme.CA, Tls]
) -> None:
    async def ends(server: Server, *_: Any) -> None:
        await server.stop()

    monkeypatch.setattr(cli, "_serve", ends)
    files = tls[1]
    secure = ["--tls-cert", str(files.certificate), "--tls-key", str(files.key)]

    def received(*options: str) -> list[str]:
        result = CliRunner().invoke(main, ["serve", "--listen", "127.0.0.1:0", *options])
        assert result.exit_code == 0
        return result.stderr.splitlines()

    assert received() == []
    monkeypatch.setattr(security, "is_public", lambda _: True)
    (line,) = received()
    assert "WARNING a public address without TLS" in line
    assert received(*secure) == []
    (line,) = received(*secure, "--http", "127.0.0.1:0")
    assert "WARNING pages on a public address are not encrypted" in line


def chosen(*arguments: str) -> Access:
    """Return the settings from the options, without serving."""
    found: list[Access] = []

    @click.command()
    @operation_options
    @security_options
    def command(**options: Any) -> None:
        found.append(access(options))

    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return found[0]


def test_security_options_are_read(tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("")
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    options = ["--client-rm", "a.test=one=two", "--client-rm", "*.b=*", "--show-extra-config"]
    files = ["--tls-client-ca", str(tmp_path / "ca"), "--http-token-file", str(tmp_path / "token")]

    granted = chosen(*options, *files, "--http", "0.0.0.0:1")

    assert granted.permissions == Permissions((ClientRM("a.test", "one=two"), ClientRM("*.b", "*")))
    assert granted.shows_extra_config
    assert granted.http_token == TOKEN.encode()
    assert TOKEN not in repr(granted)
    assert chosen() == Access()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--client-rm", "a.test=one"], "--client-rm needs --tls-client-ca"),
        (["--client-rm", "a.test"], "is not NAME=RMID"),
        (["--client-rm", "=one"], "is not NAME=RMID"),
        (["--client-rm", "*.*=one"], "is not NAME=RMID, with one * at most"),
        (["--client-rm", "a=**"], "is not NAME=RMID, with one * at most"),
        (["--http-token-file", "{token}"], "--http-token-file needs --http"),
        (["--http", "127.0.0.1:0", "--http-token-file", "{short}"], "has no token"),
        (["--http", "127.0.0.1:0", "--http-token-file", "{words}"], "has no token"),
        (["--http", "127.0.0.1:0", "--http-token-file", "{nowhere}"], "does not exist"),
        (["{tls}", "--http", "0.0.0.0:0"], "--http on a public address needs --http-token-file"),
    ],
)
def test_incompatible_options_are_refused(
    tmp_path: Path, tls: tuple[trustme.CA, Tls], arguments: list[str], message: str
) -> None:
    for name, text in (("token", TOKEN), ("short", "x" * 15), ("words", f"{TOKEN} {TOKEN}")):
        (tmp_path / name).write_text(text)
    files = tls[1]
    secure = ["--tls-cert", files.certificate, "--tls-key", files.key, "--tls-client-ca"]
    words = [*map(str, secure), str(files.client_ca)] if arguments[0] == "{tls}" else arguments[:1]
    named = {name: tmp_path / name for name in ("token", "short", "words", "nowhere")}

    result = CliRunner().invoke(
        main, ["serve", *words, *(one.format(**named) for one in arguments[1:])]
    )

    assert result.exit_code == WRONG
    assert message in result.output


async def test_stream_without_rm_id_needs_no_binding(with_tls: Serves) -> None:
    async with with_tls(BOUND) as clients, clients.of("unbound.test") as wire:
        silent = await wire.opens("UpdateNode", greets=False)
        await silent.half_closes()
        assert await Stream(silent.call, None, "").ends() == (grpc.StatusCode.OK, "")
