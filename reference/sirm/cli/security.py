"""TLS of the connection to the scheduler, with the options of siconform's targets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import grpc

_File: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_Command = TypeVar("_Command", bound=Callable[..., Any])

# A new registration must not wait for the back-off of the connection before
_OPTIONS: Final = (("grpc.use_local_subchannel_pool", 1),)


def security_options(command: _Command) -> _Command:
    """Add the options to a command."""
    for option in (
        click.option("--tls-name", metavar="NAME", help="Name in the scheduler's certificate."),
        click.option("--tls-key", type=_File, help="Private key of --tls-cert, in PEM."),
        click.option("--tls-cert", type=_File, help="Client certificate of the RM, in PEM."),
        click.option("--tls-ca", type=_File, help="CA certificates to trust, in PEM."),
        click.option("--tls", is_flag=True, help="Use TLS; implied by the other TLS options."),
    ):
        command = option(command)
    return command


def channels(address: str, options: dict[str, Any]) -> Callable[[], grpc.aio.Channel]:
    """Return a function that makes channels to the scheduler."""
    ca, cert, key, name = (options[one] for one in ("tls_ca", "tls_cert", "tls_key", "tls_name"))
    if (cert is None) != (key is None):
        raise click.UsageError("--tls-cert and --tls-key need each other")
    if ":" not in address:
        raise click.UsageError(f'--scheduler "{address}" has no port: give {address}:PORT')
    if not (options["tls"] or ca or cert or name):
        return lambda: grpc.aio.insecure_channel(address, _OPTIONS)
    credentials = grpc.ssl_channel_credentials(
        *(one and one.read_bytes() for one in (ca, key, cert))
    )
    named = (("grpc.ssl_target_name_override", name),) if name else ()
    return lambda: grpc.aio.secure_channel(address, credentials, (*_OPTIONS, *named))
