"""Timers that an RM proposes in ``extraConfig``.

The specification gives the timers no values and no fields. An RM that wants to observe timeouts,
such as a test, proposes shorter ones (docs/grpc-binding.md). A value that is not a positive number
of seconds within range is ignored, like unknown keys: nothing in extraConfig causes a registration
to be rejected (SI-REG-016).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from sireference.core.model import ProposedTimers
from sireference.core.snapshot import Snapshot
from sireference.seconds import checked_seconds

_OURS: Final = "siconform."  # prefix of keys for the conformance kit
_TIMERS: Final[Mapping[str, str]] = {
    f"{_OURS}timers.placeholder": "placeholder_timeout",
    f"{_OURS}timers.waiting": "completing_timeout",
    f"{_OURS}timers.connection_loss": "connection_loss_timeout",
}


def proposed_timers(extra_config: Mapping[str, str]) -> ProposedTimers:
    """Return the timers that the RM proposes."""
    proposed: dict[str, Any] = {
        timer: seconds
        for key, timer in _TIMERS.items()
        if (seconds := _seconds(extra_config.get(key, ""))) is not None
    }
    return ProposedTimers(**proposed)


def may_be_secret(key: str) -> bool:
    """Return whether the value of this key of ``extraConfig`` may be a secret of the RM."""
    return not key.startswith(_OURS)


def without_secrets(snapshot: Snapshot) -> Snapshot:
    """Return the entries without possible secrets."""
    shown = {key: value for key, value in snapshot.extra_config.items() if not may_be_secret(key)}
    return replace(snapshot, extra_config=shown)


def _seconds(text: str) -> float | None:
    try:
        seconds = checked_seconds(float(text))
    except ValueError:
        return None
    return seconds if seconds > 0 else None
