"""Options for access: who may connect, for which RMs, and what is shown."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from sireference.cli.groups import group
from sireference.shell.addresses import is_public
from sireference.shell.options import Access
from sireference.shell.permissions import ClientRM, Permissions

_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_WILDCARD: Final = "*"
_SHORTEST_TOKEN: Final = 16  # characters; shorter tokens could be guessed


class ClientBinding(click.ParamType[ClientRM]):
    """A name in certificates, and an RM for which its clients may act."""

    name = "client binding"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> ClientRM:
        """Return the binding."""
        client, _, rm_id = str(value).partition("=")
        if not client or not rm_id or max(map(_wildcards, (client, rm_id))) > 1:
            problem = f"{value!r} is not NAME=RMID, with one {_WILDCARD} at most in each"
            self.fail(problem, param, ctx)
        return ClientRM(client, rm_id)


def _wildcards(pattern: str) -> int:
    return pattern.count(_WILDCARD)


security_options: Final = group(
    click.option(
        "--client-rm",
        "client_rms",
        type=ClientBinding(),
        multiple=True,
        metavar="NAME=RMID",
        help="Restrict a resource manager to clients whose certificate has this common name or"
        " subject alternative name; one * is allowed in each. Repeatable; needs --tls-client-ca.",
    ),
    click.option(
        "--http-token-file",
        type=_FILE,
        help="Require the bearer token in this file for the pages of --http.",
    ),
    click.option(
        "--show-extra-config",
        is_flag=True,
        help="Show extraConfig, which may contain secrets, in snapshots, pages and logs.",
    ),
)


def access(options: Mapping[str, Any]) -> Access:
    """Return the access options. Raises UsageError if they conflict."""
    bindings = options["client_rms"]
    if bindings and options["tls_client_ca"] is None:
        raise click.UsageError("--client-rm needs --tls-client-ca")
    return Access(
        permissions=Permissions(bindings) if bindings else None,
        shows_extra_config=options["show_extra_config"],
        http_token=_token(options),
    )


def warnings(listen: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Return warnings for an operator about a server with these options."""
    if options["tls_cert"] is None and is_public(listen):
        yield (
            "a public address without TLS: any client that reaches it can register, and read and"
            " change everything; use --tls-cert and --tls-client-ca, or listen on 127.0.0.1"
        )
    http = options["http"]
    if http is not None and is_public(http):
        yield (
            "pages on a public address are not encrypted: others on the network can read them"
            " and their token; use an address of 127.0.0.1 for --http"
        )


def _token(options: Mapping[str, Any]) -> bytes | None:
    """Return the bearer token of the pages, None if they need none."""
    file, http = options["http_token_file"], options["http"]
    if file is None:
        if http is not None and options["tls_client_ca"] is not None and is_public(http):
            problem = "--http on a public address needs --http-token-file with --tls-client-ca"
            raise click.UsageError(
                f"{problem}: otherwise everyone can read what is hidden from clients"
            )
        return None
    if http is None:
        raise click.UsageError("--http-token-file needs --http")
    token: bytes = file.read_bytes().strip()
    is_one_word = token.isascii() and len(token.split()) == 1
    if not is_one_word or len(token) < _SHORTEST_TOKEN:
        problem = (
            f"{file} has no token of at least {_SHORTEST_TOKEN} ASCII characters without spaces"
        )
        raise click.UsageError(problem)
    return token
