"""Finds and checks the target file and adds its settings to the given options."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from siwire import find_revision

from siconform.catalogue.features import find_feature
from siconform.running.command_line import value_of, without_option
from siconform.running.option_list import NO_FILE, OPTIONS, STARTED_AS
from siconform.running.option_list import TARGET_FILE as FLAG
from siconform.running.option_names import assign, getter
from siconform.running.option_values import BadOption
from siconform.running.target_file import (
    NAME,
    WORKERS,
    Document,
    RunTable,
    TargetTable,
    Value,
    fields,
    options_of,
)
from siconform.running.toml_reading import Problems, convert, parse
from siconform.targets.attached import is_address

_WHICH: Final = ("--target", "--target-command", "--target-folder")
_WORKERS: Final = (WORKERS, "--numprocesses", "--dist", "--tx", "--pdb")


class TargetFileError(LookupError):
    """An invalid target file; the message has one problem per line."""


@dataclass(frozen=True, slots=True)
class TargetFile:
    """A valid target file."""

    path: Path
    document: Document = field(default_factory=Document)

    def options(self, target: str | None, *, command: bool = False) -> dict[str, Value]:
        """Return the options to add for ``target`` (of --target) or a given command.

        A name selects a target of the file. An address or a command replaces that of the file and
        keeps its other settings; NAME@VERSION uses no target of the file.
        """
        table, folder = self._table(target), self.path.parent
        run = RunTable() if self.document.run is None else self.document.run
        found = options_of(table, folder) | options_of(run, folder)
        if command or (target is not None and not self.has(target)):
            for flag in _WHICH:
                found.pop(flag, None)
        return found

    def has(self, target: str) -> bool:
        """Return whether one of its targets has this name."""
        return self.document.targets is not None and target in self.document.targets

    def _table(self, target: str | None) -> TargetTable:
        document = self.document
        if target is not None and document.targets is not None and target in document.targets:
            return document.targets[target]
        if document.target is None or (target is not None and not is_address(target)):
            return TargetTable()
        return document.target


def find(folder: Path) -> Path | None:
    """Find the target file in this folder or the nearest one above it in its repository."""
    for place in (folder, *folder.parents):
        if (place / NAME).is_file():
            return place / NAME
        if (place / ".git").exists():
            break
    return None


def read_target_file(path: Path) -> TargetFile:
    """Read and check the file; raise TargetFileError with all problems."""
    path = path.absolute()
    try:
        text, raw = parse(path)
    except LookupError as error:
        raise TargetFileError(str(error)) from None
    problems = Problems(path, text)
    document: Document = convert(raw, Document, problems)
    if document.target is not None:
        _check(document.target, "target", path.parent, problems)
    for name, table in ({} if document.targets is None else document.targets).items():
        if isinstance(table, TargetTable):
            _check(table, f"targets.{name}", path.parent, problems)
            if is_address(name) or "@" in name:
                problems.add(f"targets.{name}", "target names must not be addresses or contain @")
    if document.run is not None:
        _check_files(document.run, "run", path.parent, problems)
    if problems:
        raise TargetFileError(str(problems))
    return TargetFile(path, document)


def of_the_options(given: str | None) -> TargetFile | None:
    """Return the given target file, else the one found from here; None for "none"."""
    if given == NO_FILE:
        return None
    path = find(Path.cwd()) if given is None else Path(given)
    return None if path is None else read_target_file(path)


def with_target_file(options: Sequence[str]) -> list[str]:
    """Return the options of a run with those of its target file; given ones take precedence."""
    file = of_the_options(value_of(options, FLAG))
    if file is None:
        return list(options)
    target = value_of(options, "--target")
    added = file.options(target, command=value_of(options, "--target-command") is not None)
    if target is not None and file.has(target):
        options = without_option(options, "--target")
    options = [FLAG, str(file.path), *without_option(options, FLAG)]
    words = [w for flag, value in added.items() for w in _words(flag, value, options)]
    return [*words, *options]


def fill_in(values: MutableMapping[str, Any]) -> None:
    """Add the options of the target file to values by flag, for commands other than run."""
    file = of_the_options(values.get(FLAG))
    if file is None:
        return
    target = values.get("--target")
    added = file.options(target, command=bool(values.get("--target-command")))
    if target is not None and file.has(target):
        values["--target"] = None
    values[FLAG] = str(file.path)
    for flag, value in added.items():
        if flag == "--metadata" and isinstance(value, tuple):
            own = tuple(values.get(flag) or ())
            values[flag] = [*_not_given(value, own), *own]
        elif flag in values and not values[flag]:
            values[flag] = value


def with_target_file_of(config: pytest.Config) -> None:
    """Add the options of the file in --target-file if pytest itself was started."""
    get = getter(config)
    if get(STARTED_AS) is not None or get(FLAG) is None:
        return
    values = {option.flag: get(option.flag) for option in OPTIONS if not option.of_pytest}
    try:
        fill_in(values)
    except TargetFileError as error:
        raise BadOption(str(error)) from None
    for flag, value in values.items():
        assign(config, flag, value)


def _words(flag: str, value: Value, options: Sequence[str]) -> Iterator[str]:
    if flag == "--metadata" and isinstance(value, tuple):
        given = [following for word, following in pairwise(options) if word == flag]
        given += [w.partition("=")[2] for w in options if w.startswith(f"{flag}=")]
        value = _not_given(value, given)
    elif _is_given(flag, options):
        return
    if value is True:
        yield flag
    else:
        for one in value if isinstance(value, tuple) else (value,):
            yield from (flag, str(one))


def _not_given(entries: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    keys = {one.partition("=")[0].strip().lower() for one in given}
    return tuple(one for one in entries if one.partition("=")[0].lower() not in keys)


def _is_given(flag: str, options: Sequence[str]) -> bool:
    flags = _WORKERS if flag == WORKERS else (flag,)
    return any(
        word == one or word.startswith(f"{one}=") or (one == WORKERS and word.startswith(one))
        for word in options
        for one in flags
    )


def _check(table: TargetTable, place: str, folder: Path, problems: Problems) -> None:
    ways = [key for key in ("address", "known", "command") if getattr(table, key) is not None]
    if len(ways) > 1:
        problems.add(
            f"{place}.{ways[1]}", f"conflicts with {ways[0]}: a target has only one of them"
        )
    if table.command is not None and not (
        table.command.strip() if isinstance(table.command, str) else table.command
    ):
        problems.add(f"{place}.command", "it is empty")
    if table.address is not None and not is_address(table.address):
        problems.add(f"{place}.address", f'"{table.address}" must be HOST:PORT')
    if table.revision is not None:
        _check_value(find_revision, table.revision, f"{place}.revision", problems)
    for name in () if table.without is None else table.without:
        _check_value(find_feature, name, f"{place}.without", problems)
    _check_files(table, place, folder, problems)


def _check_value(
    find_it: Callable[[str], object], value: str, place: str, problems: Problems
) -> None:
    try:
        find_it(value)
    except LookupError as error:
        problems.add(place, str(error))


def _check_files(
    table: TargetTable | RunTable, place: str, folder: Path, problems: Problems
) -> None:
    """Check that input files exist."""
    message: Mapping[str, Value] = options_of(table, folder)
    for one in fields(type(table)):
        value = message.get(one.flag)
        if not one.how.get("path") or one.flag == "--results" or value is None:
            continue
        for file in value if isinstance(value, tuple) else (value,):
            if not Path(str(file)).exists() and str(file) != NO_FILE:
                problems.add(f"{place}.{one.place}", f"{file} does not exist")
