"""Pages that a program writes, and that are compared with what it would write now."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

_CHECKOUT: Final = Path(__file__).parents[2]


def kept(made: Mapping[Path, str], *, command: str, check: bool, there: Iterable[Path] = ()) -> int:
    """Write the pages, and delete those that are `there` and not made; the exit code.

    With `check` nothing is written: each page that differs is named with the command that writes
    it, and the code is 1 where there is one.
    """
    differing = [path for path in sorted({*made, *there}) if made.get(path) != _text_of(path)]
    for path in differing:
        if check:
            shown = path.relative_to(_CHECKOUT) if path.is_relative_to(_CHECKOUT) else path
            sys.stderr.write(f"{shown} is not what would be written now: run {command}\n")
        elif path in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made[path], "utf-8")
        else:
            path.unlink()
    return int(check and bool(differing))


def _text_of(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None
