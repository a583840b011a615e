"""How a scheduler is reached: with TLS or without, and what metadata goes with every call."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # gRPC takes a moment to import, and is not needed to say how
    import grpc

Metadata = tuple[tuple[str, str | bytes], ...]


@dataclass(frozen=True, slots=True)
class Tls:
    """Files in PEM, which were read once and found fit (``tls_files``).

    Without ``authorities`` those count that gRPC comes with. ``name`` is what the scheduler's
    certificate has to be for, "" for the host of its address.
    """

    authorities: Path | None = None
    certificate: Path | None = None  # the RM's, with its key
    key: Path | None = None
    name: str = ""

    def credentials(self) -> "grpc.ChannelCredentials":
        """As gRPC takes them."""
        import grpc  # noqa: PLC0415  # takes a moment

        return grpc.ssl_channel_credentials(
            *map(_data, (self.authorities, self.key, self.certificate))
        )


@dataclass(frozen=True, slots=True)
class Access:
    """``metadata`` may hold secrets, and is shown nowhere."""

    tls: Tls | None = None
    metadata: Metadata = field(default=(), repr=False)

    def channel(self, address: str) -> "grpc.Channel":
        """A channel of its own to HOST:PORT; every call and stream on it carries the metadata."""
        from siconform.transport.opening import opened  # noqa: PLC0415  # imports grpc

        if self.tls is None:
            return opened(address, self.metadata)
        return opened(address, self.metadata, self.tls.credentials(), self.tls.name)


OPEN: Final = Access()
"""Neither TLS nor metadata."""


def _data(file: Path | None) -> bytes | None:
    return None if file is None else file.read_bytes()
