"""What the kit asks for when it registers: timers short enough to wait for.

A target may take it or leave it; unknown keys of extraConfig hurt nothing (SI-REG-016).
"""

from collections.abc import Mapping

from siconform.protocol.timers import SHORT, UNKNOWN, Timers


def proposal(stated: Timers = UNKNOWN, *, time_scale: float = 1.0) -> Mapping[str, str]:
    """For extraConfig, in seconds; what the user stated is not put in question.

    A slow target needs more time before they end, as for everything; no target needs less.
    """
    timers = proposed_timers(stated, time_scale=time_scale)
    proposed = {
        "siconform.timers.placeholder": timers.placeholder,
        "siconform.timers.waiting": timers.waiting_to_completed,
        "siconform.timers.connection_loss": timers.connection_loss,
    }
    return {key: f"{seconds:g}" for key, seconds in proposed.items() if seconds is not None}


def proposed_timers(stated: Timers = UNKNOWN, *, time_scale: float = 1.0) -> Timers:
    """The timers the kit asks for; whether a target takes them is another question."""
    return SHORT.scaled(max(1.0, time_scale)).with_known(stated)
