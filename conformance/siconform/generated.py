"""Generated pages: written, or compared with what would be generated now."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

_CHECKOUT: Final = Path(__file__).parents[2]


def kept(made: Mapping[Path, str], *, command: str, check: bool, there: Iterable[Path] = ()) -> int:
    """Write the pages, delete those that are `there` but not made, and return the exit code.

    With `check` write nothing: report each page that differs, with the command that generates it,
    and return 1 if there is one.
    """
    differing = [path for path in sorted({*made, *there}) if made.get(path) != _text_of(path)]
    for path in differing:
        if check:
            shown = path.relative_to(_CHECKOUT) if path.is_relative_to(_CHECKOUT) else path
            sys.stderr.write(f"{shown} is out of date: run {command}\n")
        elif path in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made[path], "utf-8")
        else:
            path.unlink()
    return int(check and bool(differing))


def _text_of(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None
