"""Timers an RM proposes when it registers, in ``extraConfig``; they hold for that RM alone.

The texts give the timers no values and no fields. An RM that wants to see them run out, as a test
does, proposes shorter ones (docs/grpc-binding.md). What is no positive number of seconds, or more
than any timer can run for, is left unread, like any key nobody knows: extraConfig is for whoever
understands it, and nothing in it spoils a registration (SI-REG-016).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from sireference.core.model import Settings
from sireference.seconds import checked_seconds

_TIMERS: Final[Mapping[str, str]] = {
    "siconform.timers.placeholder": "placeholder_timeout",
    "siconform.timers.waiting": "completing_timeout",
    "siconform.timers.connection_loss": "connection_loss_timeout",
}


def settings_for(settings: Settings, extra_config: Mapping[str, str]) -> Settings:
    """The settings, with what the RM proposes in place of what the operator chose."""
    proposed: dict[str, Any] = {
        timer: seconds
        for key, timer in _TIMERS.items()
        if (seconds := _seconds(extra_config.get(key, ""))) is not None
    }
    return replace(settings, **proposed) if proposed else settings


def _seconds(text: str) -> float | None:
    try:
        seconds = checked_seconds(float(text))
    except ValueError:
        return None
    return seconds if seconds > 0 else None
