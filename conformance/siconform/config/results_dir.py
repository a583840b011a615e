"""The results folder; the kit removes only files on the folder's list of written files.

A run sets the results of an earlier run aside, and replaces them once it has tested something.
"""

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Final

from siconform.config.option_values import BadOption
from siconform.policy import ExitCode
from siconform.reporting.certifying import FILES as CERTIFIED
from siconform.results import FILE

LIST: Final = "siconform-files.txt"
_HEAD: Final = "# Written by siconform: its next run here removes these files, and no others.\n"
_FILES: Final = (
    *("results.json", "results.json.new", "failures.txt", "pytest.log", "report.html"),
    *CERTIFIED,
    *(f"{name}.new" for name in CERTIFIED),
)
_VERDICTS: Final = frozenset({"results.json", "junit.xml", "report.html", *CERTIFIED})
_FOLDERS: Final = ("histories", "reference", "logs")
_LOGS: Final = ("logs", "pytest.log")  # always of the last run: its message may refer to them
_SET_ASIDE: Final = ".siconform-earlier"
_TESTED_NOTHING: Final = (ExitCode.NOTHING_SELECTED, ExitCode.NOTHING_RAN)
_NO_CAPACITY: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


class CannotWrite(Exception):  # a sentence for the user
    """The results cannot be stored: a full or failing disk."""


class ResultsDir:
    """A results folder, locked by one run.

    The list is locked by the operating system, which releases the lock when the process ends.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._set_aside = folder / _SET_ASIDE
        self._list: int | None = None
        self._files: tuple[str, ...] = _FILES
        self._created: list[Path] = []
        self._has_begun = False
        self.keeps_earlier = False
        """Whether there are results of an earlier run, which are not replaced yet."""

    def lock(self, *more: str) -> None:
        """Lock the folder, without changing anything in it.

        ``more`` are additional files that this run writes. Raises BadOption if the folder is
        unusable or contains files of these names that no run wrote.
        """
        self._files = (*_FILES, *more)
        self._created = [f for f in (self._folder, *self._folder.parents) if not f.exists()]
        with self._explained():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._takes()
            self._restores()  # if an earlier run was killed
            self._refuse_foreign_files(self._files)
            self.keeps_earlier = self._has_tested_something()

    def begin(self) -> None:
        """Set the results of an earlier run aside, until ``replace`` or ``release``."""
        with self._explained():
            self._has_begun = True
            if self.keeps_earlier:
                _move(self._written_without_logs(), self._folder, self._set_aside)
            self._clears(self._written())
            for name in _FOLDERS:
                (self._folder / name).mkdir(exist_ok=True)
            self._begins_list(self._files)

    def replace(self) -> None:
        """Remove the results of an earlier run: this one has tested something."""
        if self.keeps_earlier:
            shutil.rmtree(self._set_aside, ignore_errors=True)
            self.keeps_earlier = False

    def release(self) -> None:
        """Unlock the folder, with the results of an earlier run if they were not replaced."""
        if self._list is None:
            return
        with suppress(OSError):
            if self._has_begun and self.keeps_earlier:
                self._restores()
            elif not self._has_begun:
                self._has_no_list()
                for folder in self._created:
                    folder.rmdir()
        os.close(self._list)
        self._list = None

    def forget(self) -> None:
        """Remove the verdict of an earlier run, for a caller that reads the folder afterwards.

        Do nothing if there is none or another run has locked the folder.
        """
        if not (self._folder / LIST).is_file():
            return
        with suppress(OSError, BadOption):
            self._takes()
            shutil.rmtree(self._set_aside, ignore_errors=True)
            self._clears(self._written() & _VERDICTS)
        self.release()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Release the folder if it is unusable; raise BadOption, or CannotWrite for a full disk."""
        try:
            yield
        except OSError as error:
            self.release()
            message = f"results cannot be written to {self._folder}: {error.strerror}"
            if error.errno in _NO_CAPACITY:
                raise CannotWrite(message) from None
            raise BadOption(message) from None
        except BadOption:
            self.release()
            raise

    def _has_tested_something(self) -> bool:
        """Return whether the folder has results of a run that tested something."""
        try:
            code = json.loads((self._folder / FILE).read_bytes())["exit_code"]
        except FileNotFoundError:
            return False
        except (OSError, ValueError, KeyError):
            return True  # of another version: not ours to remove
        return code not in _TESTED_NOTHING

    def _restores(self) -> None:
        """Restore the results that were set aside, if any."""
        if not self._set_aside.is_dir():
            return
        self._clears(self._written_without_logs())
        found = [p for p in self._set_aside.rglob("*") if p.is_file()]
        names = {p.relative_to(self._set_aside).as_posix() for p in found}
        _move(names, self._set_aside, self._folder)
        shutil.rmtree(self._set_aside)
        self._begins_list(sorted(self._written() | names))

    def _written_without_logs(self) -> set[str]:
        return {name for name in self._written() if PurePosixPath(name).parts[0] not in _LOGS}

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

    def _refuse_foreign_files(self, files: Iterable[str]) -> None:
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

    def _clears(self, names: Iterable[str]) -> None:
        for name in names:
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


def _move(names: Iterable[str], here: Path, there: Path) -> None:
    for name in names:
        if os.path.lexists(here / name):
            (there / name).parent.mkdir(parents=True, exist_ok=True)
            (here / name).rename(there / name)


def _write(descriptor: int, text: str) -> None:
    data = text.encode()
    while data:
        data = data[os.write(descriptor, data) :]


def _is_inside(name: str) -> bool:
    """Return whether a path from the list, which is not trusted, stays in the folder."""
    path = PurePosixPath(name)
    return bool(name.strip()) and not path.is_absolute() and ".." not in path.parts
