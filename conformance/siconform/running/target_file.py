"""The target file, ``siconform.toml``: what the options of the command line say, kept in one place.

Each field names the option it stands for; a test holds the two together in both directions.
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
"""Of an option as the command line has it: True for a switch, several where it is repeated."""

Text = Annotated[str, Meta(pattern=r"\S")]
Positive = Annotated[float, Meta(gt=0)]
Texts = tuple[Text, ...]


def _message(description: str, flag: str, **how: Any) -> Meta:
    return Meta(description=description, extra={"flag": flag, **how})


class _Table(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, omit_defaults=True):
    """Every key may be left out."""


class TlsTable(_Table, frozen=True):
    """How TLS is spoken with the scheduler; any key turns it on."""

    enabled: Annotated[bool, _message("speak TLS, with the authorities gRPC trusts", "--tls")] = (
        False
    )
    ca: Annotated[Text | None, _message("who signed its certificate", "--tls-ca", path=True)] = None
    cert: Annotated[Text | None, _message("what the RM shows", "--tls-cert", path=True)] = None
    key: Annotated[Text | None, _message("the key of that", "--tls-key", path=True)] = None
    name: Annotated[Text | None, _message("the host the certificate is for", "--tls-name")] = None


class TimersTable(_Table, frozen=True):
    """The scheduler's own timers, in seconds."""

    placeholder: Annotated[
        Positive | Literal["application"] | None,
        _message("how long a gang waits for its placeholders", "--placeholder-timeout"),
    ] = None
    waiting: Annotated[
        Positive | None,
        _message("until an application with nothing left is completed", "--waiting-timeout"),
    ] = None
    connection_loss: Annotated[
        Positive | None,
        _message("until an RM without a connection is stopped", "--connection-loss-timeout"),
    ] = None
    longest: Annotated[
        Positive | None, _message("how long one test may wait for a timer", "--longest-timer")
    ] = None


class ContactTable(_Table, frozen=True):
    """Whom to ask about the scheduler."""

    name: Text | None = None
    email: Annotated[str, Meta(pattern=r"^\S+@\S+$")] | None = None
    url: Annotated[str, Meta(pattern=r"^https?://\S+$")] | None = None

    def __str__(self) -> str:
        email = f"<{self.email}>" if self.email and self.name else self.email
        return " ".join(one for one in (self.name, email, self.url) if one)


class ImplementationTable(_Table, frozen=True):
    """What the scheduler is called where its results are read."""

    name: Annotated[Text | None, _message("its name", "--implementation")] = None
    version: Annotated[Text | None, _message("its version", "--implementation-version")] = None


class TargetTable(_Table, frozen=True):
    """One scheduler: where it is or how it starts, how to speak with it, what is known of it."""

    address: Annotated[Text | None, _message("HOST:PORT where it listens", "--target")] = None
    known: Annotated[
        Text | None, _message("NAME@VERSION of one that comes with the kit", "--target")
    ] = None
    command: Annotated[
        str | Texts | None,  # a pattern for the text beside a list breaks msgspec 0.22
        _message(
            "what starts it, as a list of words or one string; no shell runs it",
            "--target-command",
            words=True,
        ),
    ] = None
    folder: Annotated[
        Text | None,
        _message("where the command runs (that of the file)", "--target-folder", path=True),
    ] = None
    start_timeout: Annotated[
        Positive | None, _message("seconds until it listens", "--start-timeout")
    ] = None
    wait: Annotated[Positive | None, _message("seconds until its address answers", "--wait")] = None
    revision: Annotated[Text | None, _message("the SI revision it speaks", "--revision")] = None
    rm_version: Annotated[Text | None, _message("the version an RM names", "--rm-version")] = None
    proposals: Annotated[
        bool, _message("whether it is asked for short timers", "--no-proposals", negated=True)
    ] = True
    configuration: Annotated[
        Text | None,
        _message('the file an RM sends when it registers, or "none"', "--config", path=True),
    ] = None
    without: Annotated[
        Texts | None, _message("features it does not offer", "--without", joined=True)
    ] = None
    time_scale: Annotated[
        Positive | None, _message("a factor on every deadline", "--time-scale")
    ] = None
    baseline: Annotated[
        Text | None,
        _message(f'its {Verdict.BASELINED.label_for(2)}, or "none"', "--baseline", path=True),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        _message("for every call; ${NAME} of the environment", "--metadata"),
    ] = None
    tls: TlsTable | None = None
    timers: TimersTable | None = None
    implementation: ImplementationTable | None = None
    contact: Annotated[ContactTable | None, _message("whom to ask", "--contact")] = None


class RunTable(_Table, frozen=True):
    """How runs are made, whatever the target is."""

    results: Annotated[
        Text | None, _message("the folder the results go to", "--results", path=True)
    ] = None
    workers: Annotated[Annotated[int, Meta(ge=0)] | None, _message("tests at a time", WORKERS)] = (
        None
    )
    real_clock: Annotated[
        bool, _message("run the embedded reference by the clock on the wall", "--real-clock")
    ] = False
    disruptive: Annotated[
        bool, _message("also what may leave a scheduler unusable", "--disruptive")
    ] = False
    fail_on: Annotated[
        Literal["MUST", "SHOULD"] | None,
        _message("the least binding level that decides", "--fail-on"),
    ] = None
    explore: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        _message("seconds of arbitrary histories", "--explore"),
    ] = None
    reference: Annotated[
        bool,
        _message("show what the reference does where it fails", "--no-reference", negated=True),
    ] = True
    timings: Annotated[bool, _message("print the time of each phase", "--timings")] = False
    color: Annotated[
        Literal["auto", "always", "never"] | None,
        _message("whether there are colours", "--color"),
    ] = None
    area: Annotated[Texts | None, _message("only these areas", "--area")] = None
    level: Annotated[Texts | None, _message("only these levels", "--level")] = None
    authority: Annotated[Texts | None, _message("only what these say", "--authority")] = None
    feature: Annotated[Texts | None, _message("only these features", "--feature")] = None
    text: Annotated[Texts | None, _message("only what says these words", "--text")] = None
    include: Annotated[
        Texts | None, _message("only what these files list", "--include", path=True)
    ] = None
    skip: Annotated[Texts | None, _message("not what these files list", "--skip", path=True)] = None
    profile: Annotated[Texts | None, _message("by these requirements", "--profile")] = None


class Document(_Table, frozen=True):
    """The whole file."""

    target: TargetTable | None = None
    targets: Annotated[
        dict[str, TargetTable] | None, Meta(description="more of them, for --target NAME")
    ] = None
    run: RunTable | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A place in the file: its dotted name, the option it stands for, what it says."""

    place: str
    flag: str
    message: str
    how: Mapping[str, Any]


def fields(table: type[Struct], place: str = "") -> Iterator[Field]:
    """Every field that stands for an option, those of inner tables too."""
    for field in msgspec.structs.fields(table):
        name = f"{place}{field.encode_name}"
        received = meta(field.type)
        inner = table_in(field.type)
        if received is not None and received.extra and "flag" in received.extra:
            yield Field(name, received.extra["flag"], received.description or "", received.extra)
        elif inner is not None:
            yield from fields(inner, f"{name}.")


def meta(kind: Any) -> Meta | None:
    """What an annotation says."""
    return next((m for m in getattr(kind, "__metadata__", ()) if isinstance(m, Meta)), None)


def table_in(kind: Any) -> type[Struct] | None:
    """The table a field holds, None where it holds no table."""
    inner = getattr(kind, "__origin__", None) if meta(kind) is not None else kind
    for one in (inner, *getattr(inner, "__args__", ())):
        if isinstance(one, type) and issubclass(one, Struct):
            return one
    return None


def options_of(table: Struct, folder: Path) -> dict[str, Value]:
    """What a table says, by the flags of the command line; files are those of ``folder``."""
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
    """The JSON schema of the file, for editors."""
    made = msgspec.json.schema(Document)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": NAME, **made}
