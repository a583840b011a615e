"""What the kit asks for when it registers: timers short enough to wait for.

A target may take it or leave it; unknown keys of extraConfig hurt nothing (SI-REG-016).
"""

from collections.abc import Mapping
from typing import Final

from siconform.targets.timers import SHORT

_KEYS: Final = {
    "siconform.timers.placeholder": SHORT.placeholder,
    "siconform.timers.waiting": SHORT.waiting_to_completed,
    "siconform.timers.connection_loss": SHORT.connection_loss,
}

PROPOSAL: Final[Mapping[str, str]] = {
    key: f"{seconds:g}" for key, seconds in _KEYS.items() if seconds is not None
}
"""For extraConfig, in seconds."""
