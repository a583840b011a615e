"""Finds the target file and adds its settings to the given options."""

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from siconform.catalogue import Side
from siconform.config.command_line import value_of, without_option
from siconform.config.option_list import OF_RMS, OPTIONS, RM, RMS, SIDE, STARTED_AS, TARGETS
from siconform.config.option_list import TARGET_FILE as FLAG
from siconform.config.option_values import NONE, BadOption
from siconform.config.options import assign, getter
from siconform.config.target_file import NAME, TargetFile, TargetFileError, Value, read_target_file

_OF_RMS: Final = tuple(one.flag for one in OF_RMS)
_WORKERS: Final = ("-n", "--numprocesses", "--dist", "--tx", "--pdb")


def find(folder: Path) -> Path | None:
    """Find the target file in this folder or the nearest one above it in its repository."""
    for place in (folder, *folder.parents):
        if (place / NAME).is_file():
            return place / NAME
        if (place / ".git").exists():
            break
    return None


def of_the_options(given: str | None) -> TargetFile | None:
    """Return the given target file, else the one found from here; None for "none"."""
    if given == NONE:
        return None
    path = find(Path.cwd()) if given is None else Path(given)
    return None if path is None else read_target_file(path)


def with_target_file(options: Sequence[str]) -> list[str]:
    """Return the options of a run with those of its target file; given ones take precedence."""
    file = of_the_options(value_of(options, FLAG))
    if file is None:
        return list(options)
    target = value_of(options, "--target")
    given = {flag: value_of(options, flag) for flag in (*TARGETS, SIDE)}
    added = _added(file, given)
    if target in file.targets:
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
    added = _added(file, values)
    if (of_rms := [flag for flag in _OF_RMS if flag in added and flag not in values]) and (
        added.get(SIDE) != Side.SCHEDULER
    ):
        raise TargetFileError(
            f"{file.path} describes a resource manager ({of_rms[0]}), which this command does not "
            "test: give --target-file none, or --target"
        )
    if target in file.targets:
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


def _added(file: TargetFile, given: Mapping[str, Any]) -> dict[str, Value]:
    """Return the options of the file that are added to these, of the same side."""
    named = next((flag for flag in TARGETS if given.get(flag)), "")
    target = given.get("--target") or given.get(RM)
    side = Side(given[SIDE].casefold()) if given.get(SIDE) in [*Side] else None
    if named and target not in file.targets:
        side = Side.RM if named in RMS else Side.SCHEDULER
    return file.options(target, command=named not in ("", "--target"), side=side)


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
    flags = _WORKERS if flag == "-n" else (flag,)
    return any(
        word == one or word.startswith(f"{one}=") or (one == "-n" and word.startswith(one))
        for word in options
        for one in flags
    )
