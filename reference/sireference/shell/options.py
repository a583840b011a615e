"""Server options: access and limits."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import grpc

from sireference.seconds import check_times
from sireference.shell.certificates import check_certificates, check_pair
from sireference.shell.permissions import Permissions

_MIB: Final = 1 << 20
# Seconds between two keepalive pings, of the server and of clients
_PINGS_AT_LEAST: Final = 1.0
_PINGS_AT_MOST: Final = 7200.0  # gRPC's own default for a server
_ANSWER_AT_LEAST: Final = 5.0  # minimum seconds for a busy client to answer a ping


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits beyond which the server refuses."""

    message_bytes: int = 64 * _MIB  # of one message it reads
    streams: int = 1024  # open at a time, of all resource managers together
    streams_per_rm: int = 16  # open at a time, of one RM: four kinds, and their replacements
    first_message_timeout: float = 10.0  # seconds until a stream must name its RM
    # waiting to be written to one resource manager; beyond it the RM is lost
    outbox_bytes: int = 256 * _MIB
    callback_timeout: float = 10.0  # seconds until a callback without answer counts as refused

    def __post_init__(self) -> None:
        check_times(self)


DEFAULT_LIMITS: Final = Limits()


def keepalive(connection_loss_timeout: float) -> tuple[tuple[str, int], ...]:
    """Return gRPC server options that ping silent clients.

    A client that is stopped, or whose machine is gone, loses its connection within three quarters
    of ``connection_loss_timeout`` (seconds), or six seconds where that is more.
    """
    quiet = max(_PINGS_AT_LEAST, min(_PINGS_AT_MOST, connection_loss_timeout / 2))
    timeout = round(1000 * max(_ANSWER_AT_LEAST, min(_PINGS_AT_MOST, connection_loss_timeout / 4)))
    return (
        ("grpc.keepalive_time_ms", round(1000 * quiet)),
        ("grpc.keepalive_timeout_ms", timeout),
        ("grpc.http2.ping_timeout_ms", timeout),  # otherwise a minute, despite the option above
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", round(1000 * _PINGS_AT_LEAST)),
    )


@dataclass(frozen=True, slots=True)
class Access:
    """Permissions and visibility."""

    permissions: Permissions | None = None  # None: every client may act for every RM
    shows_extra_config: bool = False  # completely, to all readers and in logs
    http_token: bytes | None = field(default=None, repr=False)  # None: the pages need none


DEFAULT_ACCESS: Final = Access()


@dataclass(frozen=True, slots=True)
class Tls:
    """Certificate and key of the server; ``client_ca`` makes it require client certificates."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def credentials(self) -> grpc.ServerCredentials:
        """Return credentials for gRPC. Raises UnfitFileError for an unusable file."""
        check_pair(self.certificate, self.key)
        if self.client_ca is not None:
            check_certificates(self.client_ca)
        pair = (self.key.read_bytes(), self.certificate.read_bytes())
        authority = self.client_ca.read_bytes() if self.client_ca is not None else None
        return grpc.ssl_server_credentials(
            [pair], root_certificates=authority, require_client_auth=authority is not None
        )
