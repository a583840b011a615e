"""Recording of what passes between resource managers and a scheduler."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec
from siwire import Revision

from siconform.recording.trace_file import WAITING, TraceFile
from siconform.recording.trace_outputs import NumberedFiles, OneFile, Output, Rotation
from siconform.transport.access import Access, Tls
from siconform.transport.forwarding import Forwarding, Passed
from siconform.transport.name_hashing import NameHashing
from siconform.transport.reachability import misfit
from siconform.transport.server_tls import ServerTls
from siconform.transport.trace_records import TraceRecords

_LOST: Final = "UNAVAILABLE"
_WRITTEN_WITHIN: Final = 2.5  # seconds, at the end; the command is killed after six


@dataclass(frozen=True, slots=True)
class Target:
    """Where a trace is written: a folder if there is a ``rotation``, else a file.

    With a ``salt``, names of users and groups and values of tags are hashed.
    """

    path: Path
    rotation: Rotation | None = None
    salt: bytes | None = None
    limit: int = WAITING  # bytes that may wait for the writer


@dataclass(frozen=True, slots=True)
class Encryption:
    """TLS of both sides, None for none."""

    towards_scheduler: Tls | None = None
    towards_rms: ServerTls | None = None


PLAIN: Final = Encryption()
"""No TLS on either side."""


class Recorder:
    """Serves at an address, forwards to a scheduler and writes what passes.

    ``report`` is called with a sentence when the scheduler cannot be reached, when messages are
    dropped for the first time, and when the file cannot be written; the exchange continues.
    """

    def __init__(
        self,
        listen: str,
        to: str,
        revision: Revision,
        target: Target,
        report: Callable[[str], None],
        *,
        encryption: Encryption = PLAIN,
    ) -> None:
        """Begin; OSError if nothing can listen there or the file cannot be created."""
        self._to = to
        self._report = report
        self._access = Access(encryption.towards_scheduler)
        self._is_lost = threading.Event()
        self._forwarding = Forwarding(
            listen,
            to,
            self._observe,
            tls=encryption.towards_scheduler,
            own=encryption.towards_rms,
        )
        output = _output(target, revision)
        hashing = None if target.salt is None else NameHashing(revision, target.salt)
        self._records = TraceRecords(revision, hashing, continues=output.continues)
        self._file: TraceFile[Passed] = TraceFile(
            output,
            self._records.of,
            report,
            target.limit,
        )
        self._forwarding.start()
        self.address = f"{listen.rpartition(':')[0]}:{self._forwarding.port}"

    @property
    def written(self) -> int:
        """The number of lines written."""
        return self._file.written

    @property
    def dropped(self) -> int:
        """The number of messages that were not recorded because the writer could not keep up."""
        return self._file.dropped

    @property
    def problem(self) -> str:
        """Why the record is incomplete, apart from dropped messages, or ""."""
        return self._file.problem

    def close(self) -> None:
        """End all calls, then write what is left, within seconds."""
        self._forwarding.stop()
        self._file.close(_WRITTEN_WITHIN)

    def _observe(self, passed: Passed) -> None:
        if self._records.records(passed.method):
            is_essential = passed.opens or passed.data is None
            self._file.put(passed, len(passed.data or b""), is_essential=is_essential)
        if passed.by_rm:
            return
        if passed.status != _LOST:
            self._is_lost.clear()
        elif not self._is_lost.is_set():
            self._is_lost.set()
            explain = threading.Thread(target=self._explain, args=(passed.details,), daemon=True)
            explain.start()

    def _explain(self, details: str) -> None:
        """Report why the scheduler is lost; looking for the reason takes seconds."""
        known = misfit(self._to, self._access)
        if known:
            self._report(f"the scheduler at {self._to} {known}")
        else:
            why = f": {details}" if details else ""
            self._report(f"the scheduler at {self._to} cannot be reached{why}; waiting for it")


def _output(target: Target, revision: Revision) -> Output:
    began = round(time.time(), 6)
    writer = f"siconform record {version('si-conformance')}"

    def header(file: int) -> bytes:
        line = {"began": began, "revision": revision.name, "writer": writer, "file": file}
        return msgspec.json.encode(line) + b"\n"

    if target.rotation is None:
        return OneFile(target.path, header)
    return NumberedFiles(target.path, header, target.rotation)
