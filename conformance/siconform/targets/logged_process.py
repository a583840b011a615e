"""A process that the kit started under its supervisor, with its output in a log."""

import subprocess
import threading
from collections.abc import Callable, Sequence
from os import SEEK_END
from pathlib import Path
from typing import Final

from siconform import child_processes
from siconform.outcomes import IN_SHORT, in_short

_LAST_LINES: Final = 3  # of its output, in messages


class LoggedProcess:
    """One run of a command. All output is appended to ``log``; ``observe`` sees each line."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        folder: Path | None,
        observe: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._observe = observe
        self._log_path = log
        self._log = log.open("ab")
        self._began_at = self._log.seek(0, SEEK_END)
        self._supervisor = child_processes.start(command, stderr=self._log, folder=folder)
        self._listener = threading.Thread(target=self._listen, daemon=True, name="target output")
        self._listener.start()

    @property
    def pid(self) -> int:
        """The id of its supervisor."""
        return self._supervisor.pid

    def alive(self) -> bool:
        """Return whether it has not ended by itself."""
        return self._supervisor.poll() is None

    def ended(self, timeout: float) -> str:
        """Return how it ended and its last output, if within ``timeout`` seconds, else ""."""
        try:
            code = self._supervisor.wait(timeout)
        except subprocess.TimeoutExpired:
            return ""
        self._listener.join(1.0)
        last = self._last_words()
        how = f"killed by signal {code - 128}" if code > 128 else f"exit status {code}"  # noqa: PLR2004  # as shells count
        return f"it ended with {how}" + (f": {last}" if last else "")

    def stop(self) -> None:
        """End it and everything it started; return when it is gone."""
        child_processes.end(self._supervisor)
        self._listener.join(1.0)  # longer only if a process outside its group holds the pipe

    def _listen(self) -> None:
        assert self._supervisor.stdout is not None  # noqa: S101  # it is a pipe
        with self._supervisor.stdout as output, self._log as log:
            for line in output:
                log.write(line)
                log.flush()
                self._observe(line.decode(errors="replace"))

    def _last_words(self) -> str:
        """Return its last lines, shortened if they are long, with the path of the log."""
        output = self._log_path.read_bytes()[self._began_at :].decode(errors="replace")
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        if not lines:
            return ""
        last = " | ".join(lines[-_LAST_LINES:])
        if len(lines) <= _LAST_LINES and len(last) <= IN_SHORT:
            return last
        short = last if len(last) <= IN_SHORT else in_short(lines[-1])
        return f"{short} (full output in {self._log_path})"
