"""Schedulers behind TLS: accepted clients, and one-sentence errors for others."""

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from siconform.config.access_options import read_access, without_secrets
from siconform.protocol.facets import NONE
from siconform.recording.history import History
from siconform.targets import TargetUnavailable
from siconform.targets.attached import check_address
from siconform.transport.access import Access
from siconform.transport.connection import Connection
from siconform.transport.extension import Extension
from siconform.transport.tls_files import UnfitFile, check_certificates, check_pair
from siwire import DEFAULT_REVISION

from .certificates import HERE, Authority, secured
from .serving import scheduler


def nothing(*_: object) -> Iterator[Any]:
    return iter(())


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def stranger(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "stranger")


@pytest.fixture
def serving() -> Iterator[Callable[..., str]]:
    """Serve with TLS until the test is over."""
    with ExitStack() as opened:
        yield lambda own, clients=None: opened.enter_context(
            secured(own, {"UpdateNode": nothing}, clients)
        )


def access(*options: str) -> Access:
    words = iter(options)
    given: dict[str, Any] = {}
    for flag in words:
        if flag == "--metadata":
            given.setdefault(flag, []).append(next(words))
        else:
            given[flag] = True if flag == "--tls" else next(words)
    return read_access(given.get)


def refused(address: str, how: Access) -> str:
    with pytest.raises(TargetUnavailable) as caught:
        check_address(address, DEFAULT_REVISION, how)
    assert "\n" not in caught.value.message
    return caught.value.message.removeprefix(f"the scheduler at {address} ")


def test_a_scheduler_with_tls(authority: Authority, serving: Callable[..., str]) -> None:
    address = serving(authority.issues("own", *HERE))

    check_address(address, DEFAULT_REVISION, access("--tls-ca", str(authority.file)))


def test_mutual_tls(authority: Authority, serving: Callable[..., str]) -> None:
    address = serving(authority.issues("own", *HERE), authority.file)
    known = access("--tls-ca", str(authority.file), *authority.issues("rm").options())

    check_address(address, DEFAULT_REVISION, known)
    connection = Connection(address, DEFAULT_REVISION, "rm", History(), access=known)
    connection.connects(2.0)
    assert connection.asks_for_description(2.0) is None
    connection.close()
    extension = Extension(address, 2.0, access=known)
    assert extension.facets is NONE
    extension.close()


def test_certificate_for_another_name(authority: Authority, serving: Callable[..., str]) -> None:
    address = serving(authority.issues("own", "scheduler.test"))
    trusting = "--tls-ca", str(authority.file)

    assert refused(address, access(*trusting)) == (
        "shows a certificate that is not for 127.0.0.1: name the host it is for by --tls-name."
    )
    assert "not for other.test" in refused(address, access(*trusting, "--tls-name", "other.test"))
    check_address(address, DEFAULT_REVISION, access(*trusting, "--tls-name", "scheduler.test"))


def test_certificate_of_unknown_authority(
    authority: Authority, stranger: Authority, serving: Callable[..., str]
) -> None:
    address = serving(authority.issues("own", *HERE))

    assert refused(address, access("--tls-ca", str(stranger.file))) == (
        "shows a certificate that is signed by no authority in --tls-ca."
    )
    assert "no authority the kit trusts: give it as --tls-ca" in refused(address, access("--tls"))


def test_expired_server_certificate(authority: Authority, serving: Callable[..., str]) -> None:
    address = serving(authority.issues("own", *HERE, expired=True))

    assert refused(address, access("--tls-ca", str(authority.file))) == (
        "shows a certificate that has expired, or whose authority's has."
    )


def test_client_certificate_missing(authority: Authority, serving: Callable[..., str]) -> None:
    address = serving(authority.issues("own", *HERE), authority.file)

    message = refused(address, access("--tls-ca", str(authority.file)))
    assert message.endswith("requires a client certificate: give --tls-cert and --tls-key.")


def test_client_certificate_rejected(
    authority: Authority, stranger: Authority, serving: Callable[..., str]
) -> None:
    address = serving(authority.issues("own", *HERE), authority.file)
    known = "--tls-ca", str(authority.file)

    message = refused(address, access(*known, *stranger.issues("rm").options()))
    assert message.endswith("does not trust the certificate in --tls-cert.")


def test_tls_to_plain_port(authority: Authority) -> None:
    with scheduler({"UpdateNode": nothing}) as address:
        message = refused(address, access("--tls-ca", str(authority.file)))
    assert message == "does not use TLS: omit --tls and its options."


def test_plain_connection_to_tls_port(authority: Authority, serving: Callable[..., str]) -> None:
    for clients in (None, authority.file):
        address = serving(authority.issues("own", *HERE), clients)
        assert refused(address, Access()) == (
            "uses TLS: give --tls (--tls-ca FILE for the authority it is signed by)."
        )


def test_unusable_certificate_files(authority: Authority, tmp_path: Path) -> None:
    one, other = authority.issues("one"), authority.issues("other")
    text, missing = tmp_path / "text", tmp_path / "missing"
    text.write_text("hello\n")

    for received, certificate, key in (
        ("missing cannot be read: No such file or directory", missing, None),
        ("cannot be read: Is a directory", tmp_path, None),
        ("text has no readable certificate .* in PEM", text, None),
        ("one.key has no readable certificate", one.key, None),
        ("other.key does not match .*one.pem", one.certificate, other.key),
        ("text has no readable private key", one.certificate, text),
        ("missing cannot be read", one.certificate, missing),
    ):
        with pytest.raises(UnfitFile, match=received):
            check_pair(certificate, key) if key else check_certificates(certificate)


def test_expired_client_certificate(authority: Authority) -> None:
    late = authority.issues("late", expired=True)

    with pytest.raises(UnfitFile, match=r"late.pem has expired: give one that is valid"):
        check_pair(late.certificate, late.key)
    fresh = authority.issues("fresh")
    check_pair(fresh.certificate, fresh.key)


def test_a_key_with_a_password(authority: Authority, tmp_path: Path) -> None:
    pair = authority.issues("one")
    locked = tmp_path / "locked.key"
    locking = ["openssl", "pkey", "-aes256", "-passout", "pass:secret", "-in", str(pair.key)]
    subprocess.run([*locking, "-out", locked], check=True, capture_output=True)  # noqa: S603  # known words

    with pytest.raises(UnfitFile, match=r"locked.key is encrypted: give it without a password"):
        check_pair(pair.certificate, locked)


@pytest.mark.parametrize(
    ("options", "received"),
    [
        (["--tls-cert", "x"], "--tls-cert needs --tls-key"),
        (["--tls-key", "x"], "--tls-key needs --tls-cert"),
        (["--tls-ca", "/nowhere"], "/nowhere cannot be read"),
        (["--metadata", "token"], "--metadata must be KEY=VALUE"),
        (["--metadata", "a b=c"], 'invalid key "a b"'),
        (["--metadata", "=c"], 'invalid key ""'),
        (
            ["--metadata", "grpc-timeout=1S"],
            "--metadata: grpc-timeout: keys that begin with grpc- are reserved",
        ),
        (["--metadata", "token=ä"], "the value of token is not printable ASCII"),
        (["--metadata", "token-bin=ä"], "the value of token-bin is not base64"),
        (["--metadata", "token=${NOT_SET_ANYWHERE}"], "token uses ${NOT_SET_ANYWHERE}, which is"),
    ],
)
def test_contradictory_tls_options(options: list[str], received: str) -> None:
    with pytest.raises(LookupError, match=re.escape(received)):
        access(*options)


def test_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "s3cret")
    given = ["Authorization=Bearer ${TOKEN}", "team=a,b=c", "trace-bin=AQI="]

    how = access(*(word for one in given for word in ("--metadata", one)))
    assert how.tls is None
    assert how.metadata == (
        ("authorization", "Bearer s3cret"),
        ("team", "a,b=c"),
        ("trace-bin", b"\x01\x02"),
    )
    assert "s3cret" not in repr(how)


def test_metadata_goes_with_every_call_and_stream() -> None:
    observed: dict[str, str] = {}

    class Observes(grpc.ServerInterceptor):
        def intercept_service(self, continuation: Any, details: Any) -> Any:
            observed[details.method] = dict(details.invocation_metadata).get("team", "")
            return continuation(details)

    with scheduler({"UpdateNode": nothing}, interceptors=[Observes()]) as address:
        known = access("--metadata", "team=blue")
        check_address(address, DEFAULT_REVISION, known)
        connection = Connection(address, DEFAULT_REVISION, "rm", History(), access=known)
        connection.connects(2.0)
        connection.calls_raw("/si.v1.Scheduler/Anything", 2.0)
        connection.asks_for_description(2.0)
        connection.close()
        extension = Extension(address, 2.0, access=known)
        assert extension.facets is NONE
        extension.close()

    assert len(observed) > 4
    assert set(observed.values()) == {"blue"}


def test_metadata_values_are_hidden() -> None:
    given = ["--metadata", "a=secret", "--target", "x", "--metadata=b=secret", "-k", "a=b"]
    given += ["--metadata", "c=Bearer ${TOKEN}", "--metadata", "secret"]

    assert list(without_secrets(given)) == [
        "--metadata", "a=***", "--target", "x", "--metadata=b=***", "-k", "a=b",
        "--metadata", "c=Bearer ${TOKEN}", "--metadata", "***",
    ]  # fmt: skip
