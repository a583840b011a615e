"""Options for operators: configuration, encryption, limits, logs."""

from pathlib import Path
from typing import Any, Final

import click
import grpc

from sireference.cli.groups import group
from sireference.cli.parameters import SECONDS, Address
from sireference.configuration.model import Configuration
from sireference.configuration.parsing import parse_configuration
from sireference.configuration.problems import ConfigurationError
from sireference.core.model import Settings
from sireference.shell.certificates import UnfitFileError
from sireference.shell.options import DEFAULT_LIMITS, Limits, Tls

_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_AT_LEAST_ONE: Final = click.IntRange(min=1)

operation_options: Final = group(
    click.option(
        "--config",
        type=_FILE,
        help="Queues for resource managers that register without a configuration.",
    ),
    click.option("--tls-cert", type=_FILE, help="Certificate of the server (PEM); turns TLS on."),
    click.option("--tls-key", type=_FILE, help="Its private key (PEM)."),
    click.option(
        "--tls-client-ca",
        type=_FILE,
        help="Take only clients with a certificate of this authority (PEM).",
    ),
    click.option(
        "--max-message-bytes",
        type=_AT_LEAST_ONE,
        default=DEFAULT_LIMITS.message_bytes,
        show_default=True,
        help="A larger message ends its stream.",
    ),
    click.option(
        "--max-streams",
        type=_AT_LEAST_ONE,
        default=DEFAULT_LIMITS.streams,
        show_default=True,
        help="Streams that may be open at a time; another one is refused.",
    ),
    click.option(
        "--max-streams-per-rm",
        type=_AT_LEAST_ONE,
        default=DEFAULT_LIMITS.streams_per_rm,
        show_default=True,
        help="Of these, streams of one resource manager; another one is ended.",
    ),
    click.option(
        "--first-message-timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=DEFAULT_LIMITS.first_message_timeout,
        show_default=True,
        metavar="SECONDS",
        help="After which a stream is ended on which nothing was said.",
    ),
    click.option(
        "--max-outbox-bytes",
        type=_AT_LEAST_ONE,
        default=DEFAULT_LIMITS.outbox_bytes,
        show_default=True,
        help="What may wait for a resource manager to read it, before it counts as lost.",
    ),
    click.option(
        "--longest-name",
        type=_AT_LEAST_ONE,
        default=Settings().longest_name,
        show_default=True,
        metavar="CHARACTERS",
        help="What has an id, a key, a queue or a type of resource with a longer name is rejected.",
    ),
    click.option(
        "--callback-timeout",
        type=SECONDS,
        default=DEFAULT_LIMITS.callback_timeout,
        show_default=True,
        metavar="SECONDS",
        help="After which a callback without answer counts as refused.",
    ),
    click.option(
        "--http",
        type=Address(),
        metavar="HOST:PORT",
        help="Serve metrics (/metrics) and the state as JSON (/state) over HTTP.",
    ),
    click.option(
        "--log-level",
        type=click.Choice(["debug", "info", "warning", "error"]),
        default="warning",
        show_default=True,
        help="What is logged to standard error; debug shows every message received.",
    ),
    click.option(
        "--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True
    ),
)


def read_configuration(file: Path) -> Configuration:
    """Read the configuration in ``file``. Raises UsageError with every error in it."""
    try:
        return parse_configuration(file.read_text(encoding="utf-8"))
    except (ConfigurationError, UnicodeDecodeError) as why:
        raise click.UsageError(f"{file}: {why}") from None


def limits(options: dict[str, Any]) -> Limits:
    """Return the limits given as options."""
    return Limits(
        message_bytes=options["max_message_bytes"],
        streams=options["max_streams"],
        streams_per_rm=options["max_streams_per_rm"],
        first_message_timeout=options["first_message_timeout"],
        outbox_bytes=options["max_outbox_bytes"],
        callback_timeout=options["callback_timeout"],
    )


def credentials(options: dict[str, Any]) -> grpc.ServerCredentials | None:
    """Return the TLS credentials, None without TLS. Raises UsageError for unusable options."""
    certificate, key = options["tls_cert"], options["tls_key"]
    if (certificate is None) != (key is None):
        raise click.UsageError("--tls-cert and --tls-key go together")
    if certificate is None:
        if options["tls_client_ca"] is not None:
            raise click.UsageError("--tls-client-ca needs --tls-cert and --tls-key")
        return None
    try:
        return Tls(certificate, key, options["tls_client_ca"]).credentials()
    except UnfitFileError as why:
        raise click.UsageError(str(why)) from None
