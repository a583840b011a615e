"""Python's collector of cycles, set for a process that keeps a great many records for long."""

import gc
from typing import Final

# New objects until the collector looks at them. Hardly any record ever is garbage in a cycle, and
# with the default of 700 a fifth of the time for an allocation went into looking
_NEW_OBJECTS: Final = 50_000


def look_seldom() -> None:
    """Collect less often, and never look again at what is there already."""
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
