"""Short-lived certificates for tests, in files, and a scheduler that uses them."""

import datetime as dt
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
import trustme
from siwire import DEFAULT_REVISION, rpc

HERE: Final = ("127.0.0.1", "localhost")
_LONG_AGO: Final = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class Pair:
    """The files of a certificate and its key."""

    certificate: Path
    key: Path

    def options(self) -> list[str]:
        return ["--tls-cert", str(self.certificate), "--tls-key", str(self.key)]


class Authority:
    """Signs certificates, which are written to a folder."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._name = name
        self._signs = trustme.CA(organization_name=name)
        self.file = folder / f"{name}.pem"
        self._signs.cert_pem.write_to_path(self.file)

    def issues(self, name: str, *hosts: str, expired: bool = False) -> Pair:
        until = _LONG_AGO + dt.timedelta(days=1) if expired else None
        made = self._signs.issue_cert(
            *(hosts or (name,)), not_before=_LONG_AGO if expired else None, not_after=until
        )
        pair = Pair(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        made.cert_chain_pems[0].write_to_path(pair.certificate)
        made.private_key_pem.write_to_path(pair.key)
        return pair


@contextmanager
def secured(
    own: Pair, behaviours: dict[str, Callable[..., Any]], clients: Path | None = None
) -> Iterator[str]:
    """Yield the address of a scheduler with TLS; ``clients`` signs the accepted clients."""
    server = grpc.server(ThreadPoolExecutor(max_workers=4))
    server.add_generic_rpc_handlers((rpc.scheduler_handlers(DEFAULT_REVISION, behaviours),))
    credentials = grpc.ssl_server_credentials(
        [(own.key.read_bytes(), own.certificate.read_bytes())],
        clients.read_bytes() if clients else None,
        require_client_auth=clients is not None,
    )
    port = server.add_secure_port("127.0.0.1:0", credentials)
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait(5.0)
