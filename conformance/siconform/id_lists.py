"""Files that list requirements: an id or an area on each line, ``#`` begins a comment."""

from collections.abc import Callable, Iterable
from pathlib import Path


def read_ids(path: Path, meant: Callable[[str], Iterable[str]]) -> tuple[set[str], list[str]]:
    """The ids a file names, and a sentence for every line that names none.

    ``meant`` has the ids a word names and raises LookupError for one that names nothing.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        return set(), [f"{path}: the list cannot be read: {error.strerror}"]
    except UnicodeDecodeError:
        return set(), [f"{path}: the list is no text in UTF-8"]
    found: set[str] = set()
    problems: list[str] = []
    for number, line in enumerate(lines, start=1):
        for word in line.partition("#")[0].replace(",", " ").split():
            try:
                found.update(meant(word))
            except LookupError as error:
                problems.append(f"{path}:{number}: {error}")
    if not found and not problems:
        problems.append(f"{path}: names no requirement")
    return found, problems
