"""Options for operators: configuration, encryption, limits, logs."""

from functools import partial
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
_count: Final = partial(click.option, type=click.IntRange(min=1), show_default=True)

operation_options: Final = group(
    click.option(
        "--config",
        type=_FILE,
        help="Queue configuration for resource managers that register without one.",
    ),
    click.option("--tls-cert", type=_FILE, help="Server certificate (PEM); enables TLS."),
    click.option("--tls-key", type=_FILE, help="Private key of the server certificate (PEM)."),
    click.option(
        "--tls-client-ca",
        type=_FILE,
        help="Require client certificates of this authority (PEM).",
    ),
    _count(
        "--max-message-bytes",
        default=DEFAULT_LIMITS.message_bytes,
        help="Maximum size of a received message; a larger one ends its stream.",
    ),
    _count(
        "--max-streams",
        default=DEFAULT_LIMITS.streams,
        help="Maximum number of open streams; further ones are refused.",
    ),
    _count(
        "--max-streams-per-rm",
        default=DEFAULT_LIMITS.streams_per_rm,
        help="Maximum number of open streams per resource manager.",
    ),
    click.option(
        "--first-message-timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=DEFAULT_LIMITS.first_message_timeout,
        show_default=True,
        metavar="SECONDS",
        help="Time limit for the first message of a stream.",
    ),
    _count(
        "--max-outbox-bytes",
        default=DEFAULT_LIMITS.outbox_bytes,
        help="Maximum unread output of a resource manager; beyond it, the RM is lost.",
    ),
    _count(
        "--longest-name",
        default=Settings().longest_name,
        metavar="CHARACTERS",
        help="Maximum length of ids, keys, queue names and resource types.",
    ),
    click.option(
        "--callback-timeout",
        type=SECONDS,
        default=DEFAULT_LIMITS.callback_timeout,
        show_default=True,
        metavar="SECONDS",
        help="Time limit for answers to callbacks; none counts as a refusal.",
    ),
    click.option(
        "--http",
        type=Address(),
        metavar="HOST:PORT",
        help="Serve the state (/ and /state.json), metrics and health over HTTP.",
    ),
    click.option(
        "--log-level",
        type=click.Choice(["debug", "info", "warning", "error"]),
        default="warning",
        show_default=True,
        help="Log level for standard error; debug shows every message received.",
    ),
    click.option(
        "--log-format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="Log format for standard error.",
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
        raise click.UsageError("--tls-cert and --tls-key must be given together")
    if certificate is None:
        if options["tls_client_ca"] is not None:
            raise click.UsageError("--tls-client-ca needs --tls-cert and --tls-key")
        return None
    try:
        return Tls(certificate, key, options["tls_client_ca"]).credentials()
    except UnfitFileError as why:
        raise click.UsageError(str(why)) from None
