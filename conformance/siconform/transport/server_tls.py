"""TLS of a server of the kit, towards resource managers."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from siconform.transport.tls_files import check_certificates, check_pair

if TYPE_CHECKING:  # importing gRPC is slow and often not needed
    import grpc

CERTIFICATE: Final = "--listen-tls-cert"
KEY: Final = "--listen-tls-key"
CLIENTS: Final = "--listen-tls-client-ca"


@dataclass(frozen=True, slots=True)
class ServerTls:
    """PEM files, already validated; with ``clients`` an RM needs a certificate signed by them."""

    certificate: Path
    key: Path
    clients: Path | None = None

    def credentials(self) -> "grpc.ServerCredentials":
        """Return the credentials for gRPC."""
        import grpc  # noqa: PLC0415  # slow

        return grpc.ssl_server_credentials(
            [(self.key.read_bytes(), self.certificate.read_bytes())],
            self.clients.read_bytes() if self.clients else None,
            require_client_auth=self.clients is not None,
        )


def read_server_tls(get: Callable[[str], Path | None]) -> ServerTls | None:
    """Read the options of a listening side; raise LookupError for the first invalid value."""
    certificate, key, clients = get(CERTIFICATE), get(KEY), get(CLIENTS)
    if (certificate is None) != (key is None):
        given, missing = (CERTIFICATE, KEY) if certificate else (KEY, CERTIFICATE)
        raise LookupError(f"{given} needs {missing}: a certificate and its key go together")
    if certificate is None or key is None:
        if clients is not None:
            raise LookupError(f"{CLIENTS} needs {CERTIFICATE} and {KEY}")
        return None
    check_pair(certificate, key)
    if clients is not None:
        check_certificates(clients)
    return ServerTls(certificate, key, clients)
