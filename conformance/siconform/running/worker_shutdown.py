"""Shutdown of a worker when the controller of the run ends, however it ends."""

import os
import signal
import threading
import time
from typing import Final

_POLL_INTERVAL: Final = 0.25  # seconds
_TO_THE_CONTROLLER: Final = (signal.SIGINT, signal.SIGHUP)  # the controller then ends its workers


def end_with_parent(pid: int) -> None:
    """End this process and its targets when its parent ``pid`` has ended.

    The parent is the controller, or the fork server, which ends with the controller. Ignore
    terminal signals, which the controller handles.
    """
    for number in _TO_THE_CONTROLLER:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(pid,), daemon=True, name="controller watch").start()


def _watch(controller: int) -> None:
    while os.getppid() == controller:
        time.sleep(_POLL_INTERVAL)
    os._exit(1)
