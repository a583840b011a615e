"""The target file, ``siconform.toml``: defaults of command-line options.

Its keys are those of the declared options, and its values are read as on the command line.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from siconform.catalogue import Side
from siconform.config.option_list import (
    FOR_SCHEDULERS,
    IN_FILES,
    RM_COMMAND,
    RMS,
    SIDE,
    TARGETS,
    Option,
)
from siconform.config.option_values import NONE, Kind
from siconform.targets.address import is_address

NAME: Final = "siconform.toml"

Value = str | tuple[str, ...] | bool
"""The value of an option: True for a switch, a tuple if it is repeated."""

_TYPES: Final[Mapping[type, tuple[str, str]]] = {
    str: ("text", "string"),
    float: ("a number", "number"),
    int: ("a whole number", "integer"),
    bool: ("true or false", "boolean"),
    list: ("a list", "array"),
    dict: ("a table", "object"),
}
"""The TOML types: in words, and in JSON schemas."""

_TEXT: Final = {"type": "string", "pattern": r"\S"}
_TARGET: Final = "target"
_TARGETS: Final = "targets"
_WAYS: Final = ("address", "known", "command", "rm", "rm_command", "listen")
_HEADER: Final = re.compile(r"\s*\[([^\[\]]+)\]")
_KEY: Final = re.compile(r"\s*([\w\".-]+)\s*=")


class TargetFileError(LookupError):
    """An invalid target file; the message has one problem per line."""


@dataclass(frozen=True, slots=True)
class TargetFile:
    """A valid target file: the options of its tables, by flag."""

    path: Path
    target: Mapping[str, Value] = field(default_factory=dict)
    targets: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    run: Mapping[str, Value] = field(default_factory=dict)

    def options(
        self, target: str | None, *, command: bool = False, side: Side | None = None
    ) -> dict[str, Value]:
        """Return the options to add for ``target`` (of --target) or a given command.

        A name selects a target of the file. An address or a command replaces that of the file and
        keeps its other settings; NAME@VERSION uses no target of the file, and neither does a
        command line for the other ``side``.
        """
        named = self.targets.get(target or "")
        usual = self.target if target is None or is_address(target) else {}
        chosen = usual if named is None else named
        if side not in (None, _side(chosen)):
            chosen = {}
        is_rm = (_side(chosen) if chosen else side) is Side.RM
        run = {flag: v for flag, v in self.run.items() if not (is_rm and flag in FOR_SCHEDULERS)}
        found = {**chosen, **run}
        if command or (target is not None and named is None):
            for flag in (*TARGETS, "--target-folder"):
                found.pop(flag, None)
        return found


def read_target_file(path: Path) -> TargetFile:
    """Read and check the file; raise TargetFileError with all problems, in the order of lines."""
    path = path.absolute()
    try:
        text = path.read_text("utf-8")
        raw = tomllib.loads(text)
    except OSError as error:
        raise TargetFileError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise TargetFileError(f"{path} is not valid TOML: {reason}") from None
    reader = _Reader(path.parent)
    tables = reader.document(raw)
    if reader.problems:
        raise TargetFileError("\n".join(_in_order(reader.problems, path, _lines(text))))
    return TargetFile(path, **tables)


def schema() -> dict[str, Any]:
    """Return the JSON schema of the file."""
    target = {"$ref": f"#/$defs/{_TARGET}"}
    targets = {"type": "object", "additionalProperties": target}
    about = {"description": "more targets, for --target NAME"}
    run = _object(_TREE["run"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": NAME,
        "type": "object",
        "properties": {_TARGET: target, _TARGETS: targets | about, "run": run},
        "additionalProperties": False,
        "$defs": {_TARGET: _object(_TREE[_TARGET])},
    }


def table_of_keys() -> str:
    """Return the table of keys for the documentation."""
    entries = sorted(IN_FILES, key=lambda one: one.place.startswith("run."))
    rows = (f"| `{one.place}` | `{one.flag}` | {_about(one)} |" for one in entries)
    table = "\n".join(("| key | option | meaning |", "|---|---|---|", *rows))
    return table.replace("<", "&lt;")


def _side(target: Mapping[str, Value]) -> Side:
    """Return the side of a target."""
    is_rm = target.keys() & {*RMS} or target.get(SIDE) == Side.RM
    return Side.RM if is_rm else Side.SCHEDULER


class _Reader:
    """Reads tables; collects problems with their dotted keys."""

    def __init__(self, folder: Path) -> None:
        self.problems: list[tuple[str, str]] = []
        self._folder = folder

    def document(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Read the whole file."""
        found: dict[str, Any] = {}
        for key, value in raw.items():
            if key not in (*_TREE, _TARGETS):
                self.problems.append((key, _unknown(key, (*_TREE, _TARGETS))))
            elif key != _TARGETS:
                found[key] = self._whole(value, key, key)
            elif self._is_table(value, key):
                found[key] = {name: self._named(name, table) for name, table in value.items()}
        return found

    def _named(self, name: str, raw: Any) -> dict[str, Value]:
        place = f"{_TARGETS}.{name}"
        if is_address(name) or "@" in name:
            self.problems.append((place, "target names must not be addresses or contain @"))
        return self._whole(raw, _TARGET, place)

    def _whole(self, raw: Any, kind: str, place: str) -> dict[str, Value]:
        if not self._is_table(raw, place):
            return {}
        ways = [way for way in _WAYS if way in raw] if kind == _TARGET else []
        for way in ways[1:]:
            problem = f"conflicts with {ways[0]}: a target has only one of them"
            self.problems.append((f"{place}.{way}", problem))
        found = dict(self._options(raw, _TREE[kind], place))
        if found.keys() & {"--target-command", RM_COMMAND}:
            found.setdefault("--target-folder", str(self._folder))
        return found

    def _is_table(self, value: Any, place: str) -> bool:
        if not isinstance(value, dict):
            self.problems.append((place, f"expected a table, got {_type_of(value)}"))
        return isinstance(value, dict)

    def _options(
        self, raw: Mapping[str, Any], known: Mapping[str, Any], place: str
    ) -> Iterator[tuple[str, Value]]:
        for key, value in raw.items():
            at = f"{place}.{key}"
            entry = known.get(key)
            if entry is None:
                self.problems.append((at, _unknown(key, known)))
            elif not isinstance(entry, Option):
                if self._is_table(value, at):
                    yield from self._options(value, entry, at)
            else:
                try:
                    received = _read(entry, value, self._folder)
                except LookupError as error:
                    self.problems += [(at, line) for line in str(error).splitlines()]
                else:
                    yield from [] if received is None else [(entry.flag, received)]


def _read(option: Option, value: Any, folder: Path) -> Value | None:
    """Return the value of an option, None for the default; raise LookupError if it is invalid."""
    if isinstance(_checked(value, _types(option)), bool):
        return value is not option.negated or None
    words = tuple(_words(option, value, folder))
    if problems := [problem for word in words for problem in _problems(option.kind, word)]:
        raise LookupError("\n".join(problems))
    return words if option.several else words[0] or None


def _problems(kind: Kind, word: str) -> Iterator[str]:
    try:
        kind.read(word)
    except LookupError as error:
        yield str(error)


def _words(option: Option, value: Any, folder: Path) -> Iterator[str]:
    """Yield the value as words of a command line."""
    if isinstance(value, dict) and option.several:
        yield from (f"{key}={_checked(one, (str,))}" for key, one in value.items())
    elif isinstance(value, dict):
        yield option.kind.joined(value)
    elif isinstance(value, list) and not option.several:
        yield option.kind.joined([_filled(one, (str,)) for one in value])
    else:
        for one in value if isinstance(value, list) else (value,):
            word = _filled(one, option.kind.types)
            is_path = option.is_path and word != NONE
            yield os.path.normpath(folder / word) if is_path else word


def _filled(value: Any, types: tuple[type, ...]) -> str:
    checked = _checked(value, types)
    word = f"{checked:g}" if isinstance(checked, float) else str(checked)
    if not word.strip():
        raise LookupError("it is empty: give a value or omit the key")
    return word


def _checked(value: Any, types: tuple[type, ...]) -> Any:
    """Return the value; raise LookupError if it has none of the types."""
    if not any(_is(value, one) for one in types):
        wanted = " or ".join(_TYPES[one][0] for one in types)
        raise LookupError(f"expected {wanted}, got {_type_of(value)}")
    return value


def _types(option: Option) -> tuple[type, ...]:
    """Return the types of the option's value; a repeatable one may be a list or a single value."""
    if not option.metavar:
        return (bool,)
    return (str, list) if option.several and str in option.kind.types else option.kind.types


def _is(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def _type_of(value: Any) -> str:
    return next((words for one, (words, _) in _TYPES.items() if type(value) is one), "a time")


def _unknown(key: str, known: Iterable[str]) -> str:
    close = get_close_matches(key, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"
    return f"unknown key; {hint}"


def _in_order(
    problems: Iterable[tuple[str, str]], path: Path, lines: Mapping[str, int]
) -> Iterator[str]:
    """Yield each problem with its line, in the order of lines."""
    located = [(_line(place, lines), f"{place}: {text}") for place, text in dict.fromkeys(problems)]
    for line, sentence in sorted(located, key=lambda one: one[0]):
        yield f"{path}:{line}: {sentence}" if line else f"{path}: {sentence}"


def _line(place: str, lines: Mapping[str, int]) -> int:
    """Return the line of a key, or the first one of its table; 0 if unknown."""
    found = [n for key, n in lines.items() if key == place or key.startswith(f"{place}.")]
    table = place.rpartition(".")[0]
    return found[0] if found else _line(table, lines) if table else 0


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


def _tree() -> dict[str, Any]:
    """Return the options by their keys, in nested tables."""
    found: dict[str, Any] = {}
    for option in IN_FILES:
        *tables, key = option.place.split(".")
        inner = found
        for table in tables:
            inner = inner.setdefault(table, {})
        inner[key] = option
    return found


_TREE: Final = _tree()


def _about(option: Option) -> str:
    return f"`false`: {option.help}" if option.negated else option.help


def _object(table: Mapping[str, Any]) -> dict[str, Any]:
    properties = {
        key: _property(one) if isinstance(one, Option) else _object(one)
        for key, one in table.items()
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _property(option: Option) -> dict[str, Any]:
    texts: dict[type, dict[str, Any]] = {str: _TEXT, list: {"type": "array", "items": _TEXT}}
    kinds = [texts.get(one, {"type": _TYPES[one][1]}) for one in _types(option)]
    allowed = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return {"description": _about(option), **allowed, **option.kind.schema}
