"""The words a person started the kit with, so that the next command can be told in the same."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_NOX: Final = "NOX_CURRENT_SESSION"
_SESSION: Final = ("-s", "conformance", "--")
_NOXFILE: Final = ("-f", "--noxfile")
_ANCESTORS: Final = 4  # between nox and the program it started, at most


def started_as(command: str, words: Sequence[str] = ()) -> tuple[str, ...]:
    """The words in front of the options: nox, ``siconform`` or ``python -m siconform``.

    ``words`` are those of the process, its arguments left out.
    """
    if command == "run" and _NOX in os.environ:
        return (*_nox(), *_SESSION)
    return (*_program(words[0] if words else sys.argv[0]), command)


def kit_program(words: Sequence[str] = ()) -> tuple[str, ...]:
    """What comes before another command of the kit, in the same words as far as that goes."""
    path = Path(words[0] if words else sys.argv[0])
    if _NOX not in os.environ and (path.name == "siconform" or path.parent.name == "siconform"):
        return _program(str(path))
    script = Path(sys.executable).with_name("siconform")
    if not script.exists():
        return (_shortest(sys.executable, "python", "python3"), "-m", "siconform")
    return (_from_here(str(script)) if _NOX in os.environ else _shortest(str(script), "siconform"),)


def words_of_nox(line: Sequence[str]) -> tuple[str, ...] | None:
    """The words before the session, of a process with this command line; None: it is no nox."""
    for place, word in enumerate(line[:2]):
        if word == "-m" and line[place + 1 : place + 2] == ["nox"]:
            program = (_shortest(line[0], "python", "python3"), "-m", "nox")
            return (*program, *_noxfile(line[place + 2 :]))
        if Path(word).name == "nox":
            return (_shortest(word, "nox"), *_noxfile(line[place + 1 :]))
    return None


def _nox() -> tuple[str, ...]:
    import psutil  # noqa: PLC0415  # only where nox started it

    try:
        for process in psutil.Process().parents()[:_ANCESTORS]:
            found = words_of_nox(process.cmdline())
            if found is not None:
                return found
    except psutil.Error:
        pass
    return ("nox",)


def _noxfile(arguments: Sequence[str]) -> tuple[str, ...]:
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=False):
        if argument == "--":
            break
        if argument in _NOXFILE:
            return (argument, following)
        if argument.startswith(f"{_NOXFILE[1]}="):
            return (argument,)
    return ()


def _program(path: str) -> tuple[str, ...]:
    file = Path(path)
    if file.name in ("__main__.py", "-m"):
        module = "pytest" if file.parent.name == "pytest" else "siconform"
        return (_shortest(sys.executable, "python", "python3"), "-m", module)
    return (_shortest(path, file.name),)


def _shortest(path: str, *names: str) -> str:
    """What finds the same program: its name, its place from here, or all of its path."""
    for name in names:
        found = shutil.which(name)
        if found and Path(found).absolute() == Path(path).absolute():
            return name
    return _from_here(path)


def _from_here(path: str) -> str:
    whole = Path(path)
    if whole.is_absolute() and whole.is_relative_to(Path.cwd()):
        return str(whole.relative_to(Path.cwd()))
    return path
