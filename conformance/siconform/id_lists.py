"""Files that list requirements: an id or an area per line; ``#`` begins a comment."""

from collections.abc import Callable, Iterable
from pathlib import Path


def read_ids(path: Path, meant: Callable[[str], Iterable[str]]) -> tuple[set[str], list[str]]:
    """Return the ids that a file names, and a sentence for each invalid line.

    ``meant`` maps a word to ids and raises LookupError for an unknown word.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        return set(), [f"{path}: the list cannot be read: {error.strerror}"]
    except UnicodeDecodeError:
        return set(), [f"{path}: the list is not UTF-8 text"]
    found: set[str] = set()
    problems: list[str] = []
    for number, line in enumerate(lines, start=1):
        for word in line.partition("#")[0].replace(",", " ").split():
            try:
                found.update(meant(word))
            except LookupError as error:
                problems.append(f"{path}:{number}: {error}")
    if not found and not problems:
        problems.append(f"{path}: lists no requirement")
    return found, problems
