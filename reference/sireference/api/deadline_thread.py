"""A thread that calls a scheduler when its next deadline is due."""

import logging
import threading
from collections.abc import Callable
from typing import Final

from sireference.clock import Clock

_LOGGER: Final = logging.getLogger("sireference.api")
# Seconds; a wait must not exceed threading.TIMEOUT_MAX, which may be as little as 49 days
_LONGEST_WAIT: Final = 3600.0


class DeadlineThread:
    """Runs from the first ``changed`` on; callers of it and of ``stop`` must hold the lock."""

    def __init__(
        self,
        clock: Clock,
        lock: "threading.RLock",
        next_deadline: Callable[[], float | None],
        keep: Callable[[], None],
    ) -> None:
        self._clock = clock
        self._lock = lock
        self._next_deadline = next_deadline
        self._keep = keep
        self._has_changed = threading.Event()
        self._is_over = False
        self._thread: threading.Thread | None = None

    def changed(self) -> None:
        """Recompute the next deadline."""
        self._has_changed.set()
        if self._thread is None and not self._is_over:
            self._thread = threading.Thread(target=self._run, name="SI deadlines", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop handling deadlines."""
        self._is_over = True
        self._has_changed.set()

    def _run(self) -> None:
        while not self._is_over:
            if not self._has_changed.wait(self._timeout()):
                self._keep_those_due()
            self._has_changed.clear()

    def _timeout(self) -> float | None:
        """Return seconds until the next deadline or recheck; None if never."""
        try:
            deadline = self._next_deadline()
            left = None if deadline is None else max(0.0, deadline - self._clock.now())
        except Exception:
            _LOGGER.exception("the next deadline is not known")
            left = _LONGEST_WAIT
        return None if left is None else min(left, _LONGEST_WAIT)

    def _keep_those_due(self) -> None:
        try:
            with self._lock:
                if not self._is_over:
                    self._keep()
        except BaseException:  # an exception that exits would end the thread silently
            _LOGGER.exception("a callback of the resource manager failed")
