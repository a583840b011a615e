"""Parameter types of the command line."""

from typing import Any, Final

import click
from siwire import Revision, find_revision, note_on

from sireference.seconds import checked_seconds
from sireference.shell.addresses import UNIX

_LAST_PORT: Final = 65535


class Seconds(click.ParamType[float]):
    """A number of seconds within the supported range."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number."""
        try:
            seconds = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        try:
            return checked_seconds(seconds)
        except ValueError as why:
            self.fail(str(why), param, ctx)


SECONDS: Final = Seconds()


class RevisionName(click.ParamType[Revision]):
    """A revision of the SI by its date or alias."""

    name = "revision"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Revision:
        """Return the revision; note on standard error if the release line is only close."""
        if isinstance(value, Revision):
            return value
        try:
            revision = find_revision(value)
        except LookupError as why:
            self.fail(str(why), param, ctx)
        if note := note_on(value):
            click.echo(note, err=True)
        return revision


class Address(click.ParamType[str]):
    """An address to listen on: HOST:PORT, or ``unix:PATH`` where possible."""

    name = "address"

    def __init__(self, *, may_be_path: bool = False) -> None:
        self._may_be_path = may_be_path

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the address if it is valid."""
        if self._may_be_path and str(value).startswith(UNIX) and str(value) != UNIX:
            return str(value)
        host, _, port = str(value).rpartition(":")
        if not host or not port.isascii() or not port.isdigit() or int(port) > _LAST_PORT:
            kinds = "neither HOST:PORT nor unix:PATH" if self._may_be_path else "not HOST:PORT"
            self.fail(f"{value!r} is {kinds}, with a port up to {_LAST_PORT}", param, ctx)
        if ":" in host and not (host.startswith("[") and host.endswith("]")):
            self.fail(f"an IPv6 address is written in brackets: [{host}]:{port}", param, ctx)
        return str(value)
