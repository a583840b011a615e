"""Timers the kit proposes when it registers, short enough to wait for.

A target may ignore them; unknown keys of extraConfig do no harm (SI-REG-016).
"""

from collections.abc import Mapping

from siconform.protocol.timers import SHORT, UNKNOWN, Timers


def proposal(stated: Timers = UNKNOWN, *, time_scale: float = 1.0) -> Mapping[str, str]:
    """Return the proposal for extraConfig, in seconds; the user's values take precedence.

    A slow target gets longer timers, as for all deadlines; no target gets shorter ones.
    """
    timers = proposed_timers(stated, time_scale=time_scale)
    proposed = {
        "siconform.timers.placeholder": timers.placeholder,
        "siconform.timers.waiting": timers.waiting_to_completed,
        "siconform.timers.connection_loss": timers.connection_loss,
    }
    return {key: f"{seconds:g}" for key, seconds in proposed.items() if seconds is not None}


def proposed_timers(stated: Timers = UNKNOWN, *, time_scale: float = 1.0) -> Timers:
    """Return the proposed timers, which a target may or may not apply."""
    return SHORT.scaled(max(1.0, time_scale)).with_known(stated)
