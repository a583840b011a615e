"""A file of records that is written while messages pass, and never delays them."""

import json
import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")

_JSON: Final = json.JSONEncoder(ensure_ascii=False)
_FLUSHED_WITHIN: Final = 2.0  # seconds, when it is closed


class TraceFile(Generic[T]):
    """JSON lines made by ``records`` from what is put in, on a thread of its own.

    After an error nothing more is written; ``failed`` is called once with a sentence.
    """

    def __init__(
        self,
        path: Path,
        records: Callable[[T], Iterable[Mapping[str, Any]]],
        failed: Callable[[str], None],
    ) -> None:
        """Create the file; OSError if that fails."""
        self.written = 0  # lines
        self.problem = ""
        self._path = path
        self._records = records
        self._failed = failed
        self._waiting: queue.SimpleQueue[T | None] = queue.SimpleQueue()
        self._file = path.open("w", encoding="utf-8", errors="backslashreplace")
        self._thread = threading.Thread(target=self._write_all, name=f"writes {path}", daemon=True)
        self._thread.start()

    def put(self, one: T) -> None:
        """Have it written soon."""
        if not self.problem:
            self._waiting.put(one)

    def close(self) -> None:
        """Write what is waiting, within seconds."""
        self._waiting.put(None)
        self._thread.join(_FLUSHED_WITHIN)

    def _write_all(self) -> None:
        try:
            with self._file:
                while (one := self._waiting.get()) is not None:
                    for record in self._records(one):
                        self._file.write(_JSON.encode(record) + "\n")
                        self.written += 1
                    if self._waiting.empty():
                        self._file.flush()
        except OSError as error:
            self._stop(f"{self._path} cannot be written: {error.strerror}")
        except Exception as error:  # noqa: BLE001  # the exchange goes on without a record
            self._stop(f"internal error: {type(error).__name__}: {error}")

    def _stop(self, problem: str) -> None:
        self.problem = problem
        self._failed(problem)
