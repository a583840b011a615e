"""Start-up failures: one line on standard error, with the reason."""

import asyncio
import errno
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Final

import click
import grpc
import pytest
import trustme
from click.testing import CliRunner
from patience import patient
from sireference.cli import main
from sireference.cli.ending import INTERRUPTED
from sireference.codec import codec_for
from sireference.core.model import Settings
from sireference.shell import server
from sireference.shell.addresses import CannotListenError, check, reason
from sireference.shell.engine import Engine
from siwire import DEFAULT_REVISION, rpc

Ends = Callable[..., tuple[int, str]]
TIMEOUT: Final = patient()  # seconds
WRONG: Final = 4
BROKEN: Final = 13
# As much of an encrypted key as is needed for a password prompt
ENCRYPTED: Final = """-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF

AAAAAAAAAAAAAAAAAAAAAA==
-----END RSA PRIVATE KEY-----
"""


@pytest.fixture
def ends(capfd: pytest.CaptureFixture[str]) -> Ends:
    """Return a function that runs ``sireference``: exit code and all that is on standard error."""

    def run(*options: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(options, prog_name="sireference")
        output, errors = capfd.readouterr()
        assert output == ""
        return int(ended.value.code or 0), errors

    return run


@pytest.fixture
def taken() -> Iterator[str]:
    """An address of 127.0.0.1 in use."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def places(tmp_path: Path, taken: str) -> dict[str, str]:
    """Addresses that cannot be listened on."""
    (tmp_path / "file").write_text("")
    long = tmp_path / ("x" * 120)
    return {
        "taken": taken,
        "by name": taken.replace("127.0.0.1", "localhost"),
        "no folder": f"unix:{tmp_path}/nowhere/si.sock",
        "in a file": f"unix:{tmp_path}/file/si.sock",
        "a file": f"unix:{tmp_path}/file",
        "long": f"unix:{long}",
    }


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("taken", "the port is in use; stop the other program, or choose another port"),
        ("by name", "the port is in use; stop the other program, or choose another port"),
        ("192.0.2.1:0", "not an address of this machine; 0.0.0.0 and [::] stand for all of them"),
        ("unknown.invalid:0", "the host has no address"),
        ("no folder", "its directory does not exist; create it, or choose another path"),
        ("in a file", "its parent is not a directory; choose another path"),
        ("a file", "the file is not a socket; remove it, or choose another path"),
        ("long", "the path is too long for a socket; choose a shorter one"),
    ],
)
def test_unusable_address_gives_one_line(
    ends: Ends, places: dict[str, str], where: str, message: str
) -> None:
    listen = places.get(where, where)

    code, errors = ends("serve", "--listen", listen)

    assert errors.startswith(f"sireference: cannot listen on {listen}: {message}")
    assert len(errors.splitlines()) == 1
    assert code == WRONG


def test_abandoned_socket_is_replaced_if_its_folder_is_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "si.sock"
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(path))

    check(f"unix:{path}")

    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(CannotListenError, match="its directory is not writable"):
        check(f"unix:{path}")


def test_address_taken_after_the_check_is_named(
    taken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "check", lambda _: None)

    async def start() -> None:
        starting = server.Server(codec_for(DEFAULT_REVISION), Settings())
        try:
            await starting.start(taken)
        finally:
            await starting.stop()

    with pytest.raises(CannotListenError, match=f"cannot listen on {taken}: gRPC failed"):
        asyncio.run(start())


def test_pages_cannot_use_an_address_in_use(ends: Ends, taken: str) -> None:
    code, errors = ends("serve", "--listen", "127.0.0.1:0", "--http", taken)

    assert errors.startswith(f"sireference: cannot listen on {taken}: the port is in use")
    assert len(errors.splitlines()) == 1
    assert code == WRONG


@pytest.mark.parametrize(
    ("listen", "number", "message"),
    [
        ("127.0.0.1:80", errno.EACCES, "ports below 1024 may need privileges"),
        ("unix:/root/si.sock", errno.EACCES, "its directory is not writable"),
        ("127.0.0.1:80", errno.EAFNOSUPPORT, "Address family not supported"),
    ],
)
def test_permission_error_gives_one_line(listen: str, number: int, message: str) -> None:
    assert message in reason(listen, OSError(number, "Address family not supported"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_every_name_of_this_machine_works(host: str) -> None:
    options = ["serve", "--listen", f"{host}:0", "--http", f"{host}:0"]
    command = [sys.executable, "-m", "sireference", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603  # our own
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        assert address.startswith(f"{host}:")
        page = process.stdout.readline().split()[-1]
        assert page.startswith(f"http://{host}:")
        method = rpc.methods(DEFAULT_REVISION)["RegisterResourceManager"]
        with grpc.insecure_channel(address) as channel:
            rpc.callable_for(channel, method)(method.request(rmID="rm"), timeout=TIMEOUT)
        with urllib.request.urlopen(f"{page}/state", timeout=TIMEOUT) as answer:  # noqa: S310  # the same
            assert answer.status == HTTPStatus.OK
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0"])
def test_wildcard_address_is_accepted(listen: str) -> None:
    check(listen)


def test_ipv6_address_needs_brackets() -> None:
    for option in ("--listen", "--http"):
        result = CliRunner().invoke(main, ["serve", option, "::1:9080"])

        assert result.exit_code == WRONG
        assert "[::1]:9080" in result.output


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A certificate and its key, and others that do not match."""
    authority = trustme.CA()
    own, other = authority.issue_cert("127.0.0.1"), authority.issue_cert("127.0.0.1")
    own.cert_chain_pems[0].write_to_path(tmp_path / "cert")
    own.private_key_pem.write_to_path(tmp_path / "key")
    other.private_key_pem.write_to_path(tmp_path / "strange")
    (tmp_path / "none").write_text("not at all")
    (tmp_path / "damaged").write_text(
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    )
    (tmp_path / "encrypted").write_text(ENCRYPTED)
    return {path.name: str(path) for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("cert", "key", "authority", "message"),
    [
        ("cert", "strange", "", "the private key in {strange} does not match the certificate in"),
        ("none", "key", "", "{none} has no readable certificate"),
        ("damaged", "key", "", "{damaged} has no readable certificate"),
        ("cert", "none", "", "{none} has no readable private key"),
        ("cert", "encrypted", "", "the private key in {encrypted} is encrypted"),
        ("cert", "key", "none", "{none} has no readable certificate"),
    ],
)
def test_mismatched_tls_files_give_one_line(  # noqa: PLR0917  # one is a fixture
    ends: Ends, files: dict[str, str], cert: str, key: str, authority: str, message: str
) -> None:
    options = ["--tls-cert", files[cert], "--tls-key", files[key]]
    if authority:
        options += ["--tls-client-ca", files[authority]]

    code, errors = ends("serve", "--listen", "127.0.0.1:0", *options)

    assert errors.startswith(f"sireference: {message.format(**files)}")
    assert len(errors.splitlines()) == 1
    assert code == WRONG


def test_aborted_command_has_the_exit_code_of_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def aborts(*_: object) -> None:
        raise click.Abort

    monkeypatch.setattr(Engine, "__init__", aborts)

    assert CliRunner().invoke(main, ["serve", "--listen", "127.0.0.1:0"]).exit_code == INTERRUPTED


def test_internal_error_has_its_own_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("oh")

    monkeypatch.setattr(Engine, "__init__", fails)

    result = CliRunner().invoke(main, ["serve", "--listen", "127.0.0.1:0"])

    assert result.exit_code == BROKEN
    assert result.output.splitlines()[-1].endswith("internal error: RuntimeError: oh")
    assert "Traceback" in result.output
