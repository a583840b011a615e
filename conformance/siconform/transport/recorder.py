"""Recording of what passes between resource managers and a scheduler."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from siwire import Revision

from siconform.recording.trace_file import TraceFile
from siconform.transport.forwarding import Forwarding, Passed
from siconform.transport.trace_records import TraceRecords

_LOST: Final = "UNAVAILABLE"


class Recorder:
    """Serves at an address, forwards to a scheduler and writes what passes to a file.

    ``report`` is called with a sentence when the scheduler cannot be reached, and when the file
    cannot be written; the exchange continues.
    """

    def __init__(
        self,
        listen: str,
        to: str,
        revision: Revision,
        output: Path,
        report: Callable[[str], None],
    ) -> None:
        """Begin; OSError if nothing can listen there or the file cannot be created."""
        self._to = to
        self._report = report
        self._is_lost = threading.Event()
        self._forwarding = Forwarding(listen, to, self._observe)
        self._file: TraceFile[Passed] = TraceFile(
            output,
            TraceRecords(revision).of,
            lambda problem: report(f"{problem}; the exchange continues and is not recorded"),
        )
        self._forwarding.start()
        self.address = f"{listen.rpartition(':')[0]}:{self._forwarding.port}"

    @property
    def written(self) -> int:
        """The number of lines in the file."""
        return self._file.written

    @property
    def problem(self) -> str:
        """Why the file is incomplete, or ""."""
        return self._file.problem

    def close(self) -> None:
        """End all calls, then write what is left, within seconds."""
        self._forwarding.stop()
        self._file.close()

    def _observe(self, passed: Passed) -> None:
        self._file.put(passed)
        if passed.by_rm:
            return
        if passed.status != _LOST:
            self._is_lost.clear()
        elif not self._is_lost.is_set():
            self._is_lost.set()
            why = f": {passed.details}" if passed.details else ""
            self._report(f"the scheduler at {self._to} cannot be reached{why}; waiting for it")
