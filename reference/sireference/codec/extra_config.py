"""What an RM says in ``extraConfig`` that is for this scheduler: the timers it proposes.

The texts give the timers no values and no fields. An RM that wants to see them run out, as a test
does, proposes shorter ones (docs/grpc-binding.md). What is no positive number of seconds, or more
than any timer can run for, is left unread, like any key nobody knows: extraConfig is for whoever
understands it, and nothing in it spoils a registration (SI-REG-016).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from sireference.core.model import ProposedTimers
from sireference.core.snapshot import Snapshot
from sireference.seconds import checked_seconds

_OURS: Final = "siconform."  # how keys begin that are about the conformance kit
_TIMERS: Final[Mapping[str, str]] = {
    f"{_OURS}timers.placeholder": "placeholder_timeout",
    f"{_OURS}timers.waiting": "completing_timeout",
    f"{_OURS}timers.connection_loss": "connection_loss_timeout",
}


def proposed_timers(extra_config: Mapping[str, str]) -> ProposedTimers:
    """The timers that the RM wants to have."""
    proposed: dict[str, Any] = {
        timer: seconds
        for key, timer in _TIMERS.items()
        if (seconds := _seconds(extra_config.get(key, ""))) is not None
    }
    return ProposedTimers(**proposed)


def may_be_secret(key: str) -> bool:
    """Whether the value of this key of ``extraConfig`` may be a secret of the RM."""
    return not key.startswith(_OURS)


def without_secrets(snapshot: Snapshot) -> Snapshot:
    """The same, without what may be secret in it."""
    shown = {key: value for key, value in snapshot.extra_config.items() if not may_be_secret(key)}
    return replace(snapshot, extra_config=shown)


def _seconds(text: str) -> float | None:
    try:
        seconds = checked_seconds(float(text))
    except ValueError:
        return None
    return seconds if seconds > 0 else None
