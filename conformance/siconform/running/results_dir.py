"""The results folder; the kit removes only files on the folder's list of written files."""

import errno
import fcntl
import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final

from siconform.reporting.certifying import FILES as CERTIFIED
from siconform.running.option_values import BadOption

LIST: Final = "siconform-files.txt"
_HEAD: Final = "# Written by siconform: its next run here removes these files, and no others.\n"
_FILES: Final = (
    *("results.json", "results.json.new", "failures.txt", "pytest.log", "report.html"),
    *CERTIFIED,
    *(f"{name}.new" for name in CERTIFIED),
)
_VERDICTS: Final = frozenset({"results.json", "junit.xml", "report.html", *CERTIFIED})
_FOLDERS: Final = ("histories", "reference", "logs")
_NO_CAPACITY: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


class CannotWrite(Exception):  # a sentence for the user
    """The results cannot be stored: a full or failing disk."""


class ResultsDir:
    """A results folder, locked by one run.

    The list is locked by the operating system, which releases the lock when the process ends.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._list: int | None = None

    def prepare(self, *more: str) -> None:
        """Lock the folder and remove the files of an earlier run.

        ``more`` are additional files that this run writes. Raises BadOption and changes nothing if
        the folder is unusable or contains files of these names that no run wrote.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._takes()
            self._refuse_what_is_not_ours((*_FILES, *more))
            self._clears()
            for name in _FOLDERS:
                (self._folder / name).mkdir(exist_ok=True)
            self._begins_list((*_FILES, *more))
        except OSError as error:
            self.release()
            message = f"results cannot be written to {self._folder}: {error.strerror}"
            if error.errno in _NO_CAPACITY:
                raise CannotWrite(message) from None
            raise BadOption(message) from None
        except BadOption:
            self.release()
            raise

    def forget(self) -> None:
        """Remove the verdict of an earlier run, so that it is not mistaken for this run's.

        Do nothing if there is none or another run has locked the folder.
        """
        if not (self._folder / LIST).is_file():
            return
        with suppress(OSError, BadOption):
            self._takes()
            self._clears(_VERDICTS)
        self.release()

    def release(self) -> None:
        """Unlock the folder."""
        if self._list is not None:
            os.close(self._list)
            self._list = None

    def _takes(self) -> None:
        path = self._folder / LIST
        self._list = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._list, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"another run is writing to {self._folder}: give another --results DIR"
            raise BadOption(message) from None
        text = path.read_text("utf-8", "replace")
        if text and not text.startswith(_HEAD):
            message = f"{path} was not written by siconform: give another --results DIR"
            raise BadOption(message)

    def _written(self) -> set[str]:
        lines = (self._folder / LIST).read_text("utf-8", "replace").splitlines()[1:]
        return {line for line in lines if _is_inside(line)}

    def _refuse_what_is_not_ours(self, files: Iterable[str]) -> None:
        here = [name for name in files if os.path.lexists(self._folder / name)]
        for inner in _FOLDERS:
            if (self._folder / inner).is_dir():
                found = (self._folder / inner).rglob("*")
                here += [p.relative_to(self._folder).as_posix() for p in found if not p.is_dir()]
            elif os.path.lexists(self._folder / inner):
                here.append(inner)
        foreign = sorted(set(here) - self._written())
        if foreign:
            more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
            which = f"{foreign[0]}{more}"
            if self._has_no_list():
                raise BadOption(
                    f"{self._folder} has no {LIST}, the list of files written by a run, so its "
                    f"results are not replaced ({which}): give another --results DIR, or move them"
                )
            raise BadOption(
                f"{self._folder} has files with names of results that siconform did not write "
                f"({which}): give another --results DIR, or move them"
            )

    def _has_no_list(self) -> bool:
        """Return whether the list is new; remove the empty one created for the lock."""
        path = self._folder / LIST
        if path.stat().st_size:
            return False
        path.unlink()
        return True

    def _clears(self, only: Collection[str] = ()) -> None:
        written = self._written()
        for name in written.intersection(only) if only else written:
            with suppress(FileNotFoundError):
                (self._folder / name).unlink()

    def _begins_list(self, files: Iterable[str]) -> None:
        assert self._list is not None  # noqa: S101  # locked
        os.ftruncate(self._list, 0)
        _write(self._list, _HEAD + "".join(f"{name}\n" for name in files))


def adds(folder: Path, file: Path) -> Path:
    """Add a file that is about to be written to the list of its results folder."""
    listed = os.open(folder / LIST, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        _write(listed, f"{file.relative_to(folder).as_posix()}\n")
    finally:
        os.close(listed)
    return file


def _write(descriptor: int, text: str) -> None:
    data = text.encode()
    while data:
        data = data[os.write(descriptor, data) :]


def _is_inside(name: str) -> bool:
    """Return whether a path from the list, which is not trusted, stays in the folder."""
    path = PurePosixPath(name)
    return bool(name.strip()) and not path.is_absolute() and ".." not in path.parts
