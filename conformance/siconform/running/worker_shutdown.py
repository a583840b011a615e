"""A worker does not outlive the process that controls the run, however that one ends."""

import os
import signal
import threading
import time
from typing import Final

_POLL_INTERVAL: Final = 0.25  # seconds
_TO_THE_CONTROLLER: Final = (signal.SIGINT, signal.SIGHUP)  # which ends its workers then


def end_with_parent(pid: int) -> None:
    """From now on this process ends when the process ``pid``, its parent, has ended.

    That is the controller, or the fork server, which ends with the controller. Targets end with
    it. Signals of a terminal are left to the controller.
    """
    for number in _TO_THE_CONTROLLER:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(pid,), daemon=True, name="controller watch").start()


def _watch(controller: int) -> None:
    while os.getppid() == controller:
        time.sleep(_POLL_INTERVAL)
    os._exit(1)
