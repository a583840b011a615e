"""Shows where specification revisions have diverged from the catalogue: python -m ... FOLDER.

Every source of a requirement has a hash of the sentence it cites. Given a folder with one file per
revision (`2023-12.md`, `gang.txt`, ...), this lists the sources whose place or sentence no longer
exists. A maintainer then reads the place, corrects the requirement if needed, and records the new
hash.
"""

import hashlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from siconform.catalogue import Requirement, Source, catalogue
from siconform.catalogue.texts import Text, read_text

HASH_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Drift:
    """A source that no longer holds, with what was found instead."""

    requirement: str
    source: Source
    message: str

    def __str__(self) -> str:
        source = self.source
        return f"{self.requirement}  {source.revision}  {source.where}: {self.message}"


def fingerprint(passage: str) -> str:
    """Return the hash that a source keeps of a normalised passage."""
    return hashlib.sha256(passage.encode()).hexdigest()[:HASH_DIGITS]


def drifts(requirements: Iterable[Requirement], texts: Mapping[str, Text]) -> list[Drift]:
    """List the sources that do not hold; revisions without a file are skipped."""
    return [
        Drift(requirement.id, source, message)
        for requirement in requirements
        for source in requirement.sources
        if source.revision in texts
        if (message := _difference(source, texts[source.revision]))
    ]


def read_folder(folder: Path) -> dict[str, Text]:
    """Read the specifications in a folder, by revision, which is the file name without suffix."""
    return {
        path.stem: read_text(path.read_text("utf-8"))
        for path in sorted(folder.iterdir())
        if path.is_file()
    }


def _difference(source: Source, text: Text) -> str:
    try:
        hashes = [fingerprint(passage) for passage in text.passages(source.where)]
    except LookupError as error:
        return str(error)
    if source.sha256 in hashes:
        return ""
    if len(hashes) == 1:
        return f"reads differently now, sha256: {hashes[0]}"
    return f"none of its {len(hashes)} sentences is the recorded one"


def main(arguments: list[str]) -> int:
    """Print the drifts, one per line; return 0 if none, 1 otherwise, 2 without a folder."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        sys.stderr.write("usage: python -m siconform.catalogue.drift FOLDER\n")
        return 2
    texts = read_folder(Path(arguments[0]))
    found = drifts(catalogue().values(), texts)
    for drift in found:
        sys.stdout.write(f"{drift}\n")
    sources = sum(
        source.revision in texts for entry in catalogue().values() for source in entry.sources
    )
    sys.stdout.write(f"{len(found)} of {sources} sources drifted\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
