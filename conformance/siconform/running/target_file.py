"""The target file, ``siconform.toml``: defaults of command-line options.

Each field names its option; a selftest checks the correspondence in both directions.
"""

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from siconform.running.option_list import NO_FILE
from siconform.verdicts import Verdict

NAME: Final = "siconform.toml"
WORKERS: Final = "-n"

Value = str | tuple[str, ...] | bool
"""The value of an option: True for a switch, a tuple if it is repeated."""

Text = Annotated[str, Meta(pattern=r"\S")]
Positive = Annotated[float, Meta(gt=0)]
Texts = tuple[Text, ...]


def _message(description: str, flag: str, **how: Any) -> Meta:
    return Meta(description=description, extra={"flag": flag, **how})


class _Table(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, omit_defaults=True):
    """A table in which every key is optional."""


class TlsTable(_Table, frozen=True):
    """TLS with the scheduler; any key enables it."""

    enabled: Annotated[bool, _message("use TLS, with the CA certificates of gRPC", "--tls")] = False
    ca: Annotated[Text | None, _message("CA certificates to trust", "--tls-ca", path=True)] = None
    cert: Annotated[Text | None, _message("client certificate", "--tls-cert", path=True)] = None
    key: Annotated[Text | None, _message("its private key", "--tls-key", path=True)] = None
    name: Annotated[Text | None, _message("host name in the certificate", "--tls-name")] = None


class TimersTable(_Table, frozen=True):
    """The scheduler's own timers, in seconds."""

    placeholder: Annotated[
        Positive | Literal["application"] | None,
        _message("placeholder timeout", "--placeholder-timeout"),
    ] = None
    waiting: Annotated[
        Positive | None,
        _message("until an application without allocations is completed", "--waiting-timeout"),
    ] = None
    connection_loss: Annotated[
        Positive | None,
        _message("until an RM that lost its connection is stopped", "--connection-loss-timeout"),
    ] = None
    longest: Annotated[
        Positive | None, _message("longest wait of a test for a timer", "--longest-timer")
    ] = None


class ContactTable(_Table, frozen=True):
    """Contact for the scheduler."""

    name: Text | None = None
    email: Annotated[str, Meta(pattern=r"^\S+@\S+$")] | None = None
    url: Annotated[str, Meta(pattern=r"^https?://\S+$")] | None = None

    def __str__(self) -> str:
        email = f"<{self.email}>" if self.email and self.name else self.email
        return " ".join(one for one in (self.name, email, self.url) if one)


class ImplementationTable(_Table, frozen=True):
    """Name and version of the scheduler in results."""

    name: Annotated[Text | None, _message("its name", "--implementation")] = None
    version: Annotated[Text | None, _message("its version", "--implementation-version")] = None


class TargetTable(_Table, frozen=True):
    """A scheduler: its address or command, and how to test it."""

    address: Annotated[Text | None, _message("HOST:PORT where it listens", "--target")] = None
    known: Annotated[Text | None, _message("NAME@VERSION of a named target", "--target")] = None
    command: Annotated[
        str | Texts | None,  # a pattern next to a list breaks msgspec 0.22
        _message(
            "command that starts it, a list of words or a string; run without a shell",
            "--target-command",
            words=True,
        ),
    ] = None
    folder: Annotated[
        Text | None,
        _message(
            "working directory of the command (default: that of the file)",
            "--target-folder",
            path=True,
        ),
    ] = None
    start_timeout: Annotated[
        Positive | None, _message("seconds until it must listen", "--start-timeout")
    ] = None
    wait: Annotated[
        Positive | None, _message("seconds until its address must answer", "--wait")
    ] = None
    revision: Annotated[Text | None, _message("SI revision that it implements", "--revision")] = (
        None
    )
    rm_version: Annotated[Text | None, _message("version that the RM sends", "--rm-version")] = None
    proposals: Annotated[
        bool, _message("whether the RM proposes short timers", "--no-proposals", negated=True)
    ] = True
    configuration: Annotated[
        Text | None,
        _message(
            'configuration that the RM sends when it registers, or "none"', "--config", path=True
        ),
    ] = None
    without: Annotated[
        Texts | None, _message("features that it lacks", "--without", joined=True)
    ] = None
    time_scale: Annotated[
        Positive | None, _message("factor for every deadline", "--time-scale")
    ] = None
    baseline: Annotated[
        Text | None,
        _message(f'its {Verdict.BASELINED.label_for(2)}, or "none"', "--baseline", path=True),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        _message("for every call; ${NAME} is replaced from the environment", "--metadata"),
    ] = None
    tls: TlsTable | None = None
    timers: TimersTable | None = None
    implementation: ImplementationTable | None = None
    contact: Annotated[ContactTable | None, _message("contact for the scheduler", "--contact")] = (
        None
    )


class RunTable(_Table, frozen=True):
    """Settings of runs, for all targets."""

    results: Annotated[Text | None, _message("results folder", "--results", path=True)] = None
    workers: Annotated[
        Annotated[int, Meta(ge=0)] | None, _message("number of workers", WORKERS)
    ] = None
    real_clock: Annotated[
        bool, _message("run the embedded reference on the real clock", "--real-clock")
    ] = False
    disruptive: Annotated[
        bool, _message("also tests that may leave a scheduler unusable", "--disruptive")
    ] = False
    fail_on: Annotated[
        Literal["MUST", "SHOULD"] | None,
        _message("lowest level that decides", "--fail-on"),
    ] = None
    explore: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        _message("seconds of randomised testing", "--explore"),
    ] = None
    reference: Annotated[
        bool,
        _message("run failed tests against the reference", "--no-reference", negated=True),
    ] = True
    timings: Annotated[bool, _message("print the duration of each phase", "--timings")] = False
    color: Annotated[
        Literal["auto", "always", "never"] | None,
        _message("colour output", "--color"),
    ] = None
    area: Annotated[Texts | None, _message("only these areas", "--area")] = None
    level: Annotated[Texts | None, _message("only these levels", "--level")] = None
    authority: Annotated[Texts | None, _message("only these sources", "--authority")] = None
    feature: Annotated[
        Texts | None, _message("only requirements that need these features", "--feature")
    ] = None
    text: Annotated[
        Texts | None, _message("only requirements that contain these words", "--text")
    ] = None
    include: Annotated[
        Texts | None, _message("only requirements listed in these files", "--include", path=True)
    ] = None
    skip: Annotated[
        Texts | None, _message("skip requirements listed in these files", "--skip", path=True)
    ] = None
    profile: Annotated[
        Texts | None, _message("exactly the requirements of a profile", "--profile")
    ] = None


class Document(_Table, frozen=True):
    """The target file."""

    target: TargetTable | None = None
    targets: Annotated[
        dict[str, TargetTable] | None, Meta(description="more targets, for --target NAME")
    ] = None
    run: RunTable | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the file: its dotted name, its option, its description."""

    place: str
    flag: str
    message: str
    how: Mapping[str, Any]


def fields(table: type[Struct], place: str = "") -> Iterator[Field]:
    """Yield every field with an option, including those of inner tables."""
    for field in msgspec.structs.fields(table):
        name = f"{place}{field.encode_name}"
        received = meta(field.type)
        inner = table_in(field.type)
        if received is not None and received.extra and "flag" in received.extra:
            yield Field(name, received.extra["flag"], received.description or "", received.extra)
        elif inner is not None:
            yield from fields(inner, f"{name}.")


def meta(kind: Any) -> Meta | None:
    """Return the msgspec metadata of an annotation, or None."""
    return next((m for m in getattr(kind, "__metadata__", ()) if isinstance(m, Meta)), None)


def table_in(kind: Any) -> type[Struct] | None:
    """Return the table type of a field, or None."""
    inner = getattr(kind, "__origin__", None) if meta(kind) is not None else kind
    for one in (inner, *getattr(inner, "__args__", ())):
        if isinstance(one, type) and issubclass(one, Struct):
            return one
    return None


def options_of(table: Struct, folder: Path) -> dict[str, Value]:
    """Return the options of a table by flag; paths are relative to ``folder``."""
    found: dict[str, Value] = {}
    for field in fields(type(table)):
        held: Any = table
        for step in field.place.split("."):
            held = getattr(held, step, None)
        value = _value(held, field.how, folder)
        if value is not None:
            found[field.flag] = value
    if "--target-command" in found:
        found.setdefault("--target-folder", str(folder))
    return found


def _value(held: Any, how: Mapping[str, Any], folder: Path) -> Value | None:
    if held is None:
        return None
    if isinstance(held, bool):
        return held is not how.get("negated", False) or None
    if isinstance(held, dict):
        return tuple(f"{key}={value}" for key, value in held.items())
    if isinstance(held, tuple):
        words = tuple(_word(one, how, folder) for one in held)
        if how.get("joined"):
            return ",".join(words)
        return shlex.join(words) if how.get("words") else words
    return _word(held, how, folder)


def _word(held: Any, how: Mapping[str, Any], folder: Path) -> str:
    if isinstance(held, float):
        return f"{held:g}"
    if how.get("path") and held != NO_FILE:
        return os.path.normpath(folder / str(held))
    return str(held)


def schema() -> dict[str, Any]:
    """Return the JSON schema of the file."""
    made = msgspec.json.schema(Document)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": NAME, **made}
