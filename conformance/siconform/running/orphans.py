"""A worker does not outlive the process that controls the run, however that ends."""

import os
import threading
import time
from typing import Final

_LOOKS: Final = 0.25  # seconds between two looks


def end_with_parent() -> None:
    """From now on this process ends as soon as its parent is gone; what it started goes with it."""
    parent = os.getppid()
    threading.Thread(target=_watch, args=(parent,), daemon=True, name="parent watch").start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOKS)
    os._exit(1)
