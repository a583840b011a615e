"""Resource managers on lines of a test's own, in place of a connection to a scheduler."""

import threading
from collections.abc import Callable
from typing import Any

from siconform.expecting.deadlines import Deadlines
from siconform.expecting.fences import Fences
from siconform.expecting.link import Link
from siconform.expecting.target_habits import TargetHabits
from siconform.recording.history import Exchange
from siconform.rm.resource_manager import ResourceManager
from siconform.targets.profile import TargetProfile
from siwire import DEFAULT_REVISION


def rm_on(
    line: Any,
    deadlines: Deadlines,
    *,
    kind: type[ResourceManager] = ResourceManager,
    fences: Any = None,
    extension: Any = None,
    profile: TargetProfile | None = None,
    observed: TargetHabits | None = None,
    alive: Callable[[], bool] = lambda: True,
) -> ResourceManager:
    """An RM whose connection is this line, which has at least a name and a history."""
    for name, value in (
        ("listeners", []),
        ("hearing", threading.Lock()),
        ("revision", DEFAULT_REVISION),
    ):
        if not hasattr(line, name):
            setattr(line, name, value)
    link = Link(line, fences or Fences(line, deadlines), extension)
    exchange = Exchange(line.history, 0)
    return kind(link, exchange, deadlines, alive, prefix="t", profile=profile, observed=observed)
