"""The results folder: a list in it says what the kit wrote there; nothing else is ever touched."""

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
    """The machine has no room for the results, or cannot keep them."""


class ResultsDir:
    """One folder, while one run has it to itself.

    The lock is the operating system's and on the list: it ends with the process, however that ends.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._list: int | None = None

    def prepare(self, *more: str) -> None:
        """Take the folder and clear it of what an earlier run wrote.

        ``more`` are files this run is going to write beside its usual ones. BadOption, and nothing
        touched, when the folder cannot be had or has files under such names that no run wrote.
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
        """Remove the verdict of an earlier run, so that nobody takes it for that of this one.

        Where there is none, or the folder is another run's at the moment, nothing happens.
        """
        if not (self._folder / LIST).is_file():
            return
        with suppress(OSError, BadOption):
            self._takes()
            self._clears(_VERDICTS)
        self.release()

    def release(self) -> None:
        """Let another run have it."""
        if self._list is not None:
            os.close(self._list)
            self._list = None

    def _takes(self) -> None:
        path = self._folder / LIST
        self._list = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._list, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"another run is writing its results to {self._folder}: give --results DIR"
            raise BadOption(message) from None
        text = path.read_text("utf-8", "replace")
        if text and not text.startswith(_HEAD):
            message = f"{path} is no list of files that siconform wrote: give another --results DIR"
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
                    f"{self._folder} has no {LIST}, the list of what a run wrote there, so these "
                    f"results are not replaced ({which}): give another --results DIR, or move them"
                )
            raise BadOption(
                f"{self._folder} has files under the names of results that no run of siconform "
                f"wrote ({which}): give another --results DIR, or move them"
            )

    def _has_no_list(self) -> bool:
        """Whether there was none before this run; the empty one it made to lock it goes again."""
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
        assert self._list is not None  # noqa: S101  # taken
        os.ftruncate(self._list, 0)
        _write(self._list, _HEAD + "".join(f"{name}\n" for name in files))


def adds(folder: Path, file: Path) -> Path:
    """Put the file, which is about to be written, on the list of its results folder."""
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
    """A list is a file anybody can write to; it never leads out of its folder."""
    path = PurePosixPath(name)
    return bool(name.strip()) and not path.is_absolute() and ".." not in path.parts
