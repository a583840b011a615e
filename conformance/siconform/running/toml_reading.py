"""Reads a TOML file into tables and reports all problems with their location."""

import difflib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args, get_origin

import msgspec
from msgspec import Struct

from siconform.running.target_file import meta, table_in

_WORDS: Final = {
    "str": "text",
    "float": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
_HEADER: Final = re.compile(r"\s*\[([^\[\]]+)\]")
_KEY: Final = re.compile(r"\s*([\w\".-]+)\s*=")


class Problems:
    """The problems of a file, each with line and key."""

    def __init__(self, file: Path, text: str) -> None:
        self._file = file
        self._lines = _lines(text)
        self._received: dict[str, None] = {}

    def add(self, place: str, message: str) -> None:
        """Add a problem; ``place`` is a dotted key, such as target.tls.ca."""
        line = self._lines.get(place)
        where = f"{self._file}:{line}" if line else str(self._file)
        self._received[f"{where}: {place}: {message}"] = None

    def __bool__(self) -> bool:
        return bool(self._received)

    def __str__(self) -> str:
        return "\n".join(self._received)


def parse(file: Path) -> tuple[str, dict[str, Any]]:
    """Return the text and the parsed values; raise LookupError if it is not valid TOML."""
    try:
        text = file.read_text("utf-8")
        return text, tomllib.loads(text)
    except OSError as error:
        raise LookupError(f"{file} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LookupError(f"{file} is not valid TOML: {' '.join(str(error).split())}") from None


def convert(
    raw: Mapping[str, Any], table: type[Struct], problems: Problems, place: str = ""
) -> Any:
    """Convert a table, without its invalid values."""
    known = {field.encode_name: field for field in msgspec.structs.fields(table)}
    found = {}
    for key, value in raw.items():
        at = f"{place}{key}"
        if key not in known:
            problems.add(at, _unknown(key, known))
            continue
        kind = known[key].type
        found[known[key].name] = _converted(value, kind, problems, at)
    return table(**{name: value for name, value in found.items() if value is not None})


def _converted(value: Any, kind: Any, problems: Problems, at: str) -> Any:
    inner = table_in(kind)
    if inner is not None and isinstance(value, dict):
        return convert(value, inner, problems, f"{at}.")
    several = _tables_by_name(kind)
    if several is not None and isinstance(value, dict):
        return {
            name: _converted(one, several, problems, f"{at}.{name}") for name, one in value.items()
        }
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        problems.add(at, _in_words(str(error)))
        return None


def _tables_by_name(kind: Any) -> type[Struct] | None:
    plain = kind.__origin__ if meta(kind) is not None else kind
    for one in (plain, *get_args(plain)):
        if get_origin(one) is dict:
            return table_in(get_args(one)[1])
    return None


def _unknown(key: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"
    return f"unknown key; {hint}"


def _in_words(error: str) -> str:
    """Translate an error of msgspec to TOML terms."""

    def received(found: re.Match[str]) -> str:
        kinds = [one for one in found[1].split(" | ") if one != "null"]  # not in TOML
        return " or ".join(_WORDS.get(one, one) for one in kinds)

    sent = re.sub(r"`([a-z |]+)`", received, error.partition(" - at")[0])
    return sent[:1].lower() + sent[1:]


def _lines(text: str) -> dict[str, int]:
    """Return the line of each dotted key, as far as lines show it."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = header[1].replace('"', "").strip()
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            name = key[1].replace('"', "")
            found.setdefault(f"{table}.{name}" if table else name, number)
    return found
