"""Access to a scheduler: TLS, and metadata of every call."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # importing gRPC is slow and often not needed
    import grpc

Metadata = tuple[tuple[str, str | bytes], ...]


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files, already read and validated (``tls_files``).

    Without ``authorities``, those of gRPC apply. ``name`` is the host name expected in the
    scheduler's certificate, "" for the host of its address.
    """

    authorities: Path | None = None
    certificate: Path | None = None  # the RM's, with its key
    key: Path | None = None
    name: str = ""

    def credentials(self) -> "grpc.ChannelCredentials":
        """Return the credentials for gRPC."""
        import grpc  # noqa: PLC0415  # slow

        return grpc.ssl_channel_credentials(
            *map(_data, (self.authorities, self.key, self.certificate))
        )


@dataclass(frozen=True, slots=True)
class Access:
    """TLS and metadata; ``metadata`` may hold secrets and is never shown."""

    tls: Tls | None = None
    metadata: Metadata = field(default=(), repr=False)

    def channel(self, address: str) -> "grpc.Channel":
        """Return a new channel to HOST:PORT; every call on it carries the metadata."""
        from siconform.transport.opening import opened  # noqa: PLC0415  # imports grpc

        if self.tls is None:
            return opened(address, self.metadata)
        return opened(address, self.metadata, self.tls.credentials(), self.tls.name)


OPEN: Final = Access()
"""Neither TLS nor metadata."""


def _data(file: Path | None) -> bytes | None:
    return None if file is None else file.read_bytes()
