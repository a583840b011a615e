"""Tuning of Python's cycle collector for a process with many long-lived records.

It examines only what is new: examining a million records takes a tenth of a second, and nothing is
served meanwhile. Cycles among old objects are found when a registration ends.
"""

import gc
from typing import Any, Final

# New objects between collections. Records are hardly ever garbage in a cycle, and with the default
# of 700 a fifth of the time for an allocation was spent in the collector
_NEW_OBJECTS: Final = 50_000
_COLLECTIONS: Final = 1  # of a generation, beyond which the next one is collected, too
_OLDEST: Final = 2
_USUAL: Final = gc.get_threshold()
_MANY: Final = 5  # collections after which a million objects may have been left out


class _Collections:
    """The collections of everything new since all objects were examined."""

    count = 0


def reduce_collections() -> None:
    """Collect less often, and examine no object again that exists now or survives for long."""
    gc.set_threshold(_NEW_OBJECTS, _COLLECTIONS, _COLLECTIONS)
    if _leave_out_survivors not in gc.callbacks:
        gc.callbacks.append(_leave_out_survivors)
    gc.freeze()
    _Collections.count = 0


def restore_collections() -> None:
    """Undo ``reduce_collections``, in a process that goes on."""
    if _leave_out_survivors in gc.callbacks:
        gc.callbacks.remove(_leave_out_survivors)
        gc.set_threshold(*_USUAL)
        gc.unfreeze()


def collect_frozen() -> None:
    """Examine all objects if very many were left out since the last time."""
    if _leave_out_survivors in gc.callbacks and _Collections.count >= _MANY:
        gc.unfreeze()
        gc.collect()  # its survivors are left out again
        _Collections.count = 0


def _leave_out_survivors(phase: str, about: dict[str, Any]) -> None:
    if phase == "stop" and about["generation"] == _OLDEST:
        gc.freeze()
        _Collections.count += 1
