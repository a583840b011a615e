"""The history files of a run, one per test."""

import re
from pathlib import Path
from typing import Final

from siconform.config.results_dir import adds
from siconform.recording.history import Exchange
from siconform.recording.history_verdict import HistoryVerdict

FOLDER: Final = "histories"
_LONGEST: Final = 150  # characters of a name


class NotKept(Exception):  # a sentence for the user
    """A history could not be written."""


class HistoryFiles:
    """The histories of one results folder."""

    def __init__(self, results: Path) -> None:
        self._results = results

    def name(self, test: str, exchange: Exchange | None) -> str:
        """Return the history file of a test, relative to the results folder.

        Return "" if no messages were exchanged.
        """
        if exchange is None or not exchange.entries():
            return ""
        return self._file(test).relative_to(self._results).as_posix()

    def keep(self, test: str, exchange: Exchange, *, with_messages: bool) -> None:
        """Write the exchange of a test; raise NotKept if that fails."""
        file = self._file(test)
        try:
            exchange.write_jsonl(adds(self._results, file), with_messages=with_messages)
        except OSError as error:
            raise NotKept(f"the history {file.name} cannot be written: {error.strerror}") from None

    def add_verdict(self, test: str, evaluated: HistoryVerdict) -> None:
        """Append the verdict to the history of a test; raise NotKept if that fails."""
        file = self._file(test)
        try:
            evaluated.add_to(file)
        except OSError as error:
            raise NotKept(f"the history {file.name} cannot be written: {error.strerror}") from None

    def _file(self, test: str) -> Path:
        return self._results / FOLDER / f"{safe_name(test)}.jsonl"


def safe_name(node_id: str) -> str:
    """Return a file name for a test."""
    return re.sub(r"[^\w.-]+", "_", node_id.rpartition("/")[2]).strip("_")[:_LONGEST]
