"""Stated properties of a target, apart from its timers and traits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from siconform.protocol.queue_configurations import QueueConfiguration, conformance_queues
from siconform.protocol.timers import UNKNOWN, Timers
from siconform.targets.proposal import proposal, proposed_timers
from siconform.transport.access import OPEN, Access

NO_CONFIG: Final = "none"

LONGEST_TIMER: Final = 45.0  # seconds a test sleeps at most for one timer of the target


@dataclass(frozen=True, slots=True)
class Terms:
    """How the kit registers with a target, and which features it does not offer.

    ``version`` is sent by the RM, None: that of the revision. ``config`` is the configuration it
    sends, "" for none, None: that of the shared cluster. ``without`` are names of
    ``siconform.catalogue.features``. Timers above ``longest_timer`` seconds are not waited for.
    ``edited`` is the descriptor set of an edited spec whose messages the RM uses instead of its
    revision's, b"" for none. ``access`` is TLS and metadata for every call.
    """

    version: str | None = None
    config: str | None = None
    proposes_timers: bool = True
    without: frozenset[str] = frozenset()
    longest_timer: float = LONGEST_TIMER
    revision_given: bool = True  # not assumed by default
    edited: bytes = field(default=b"", repr=False)
    access: Access = OPEN

    def queues(self) -> QueueConfiguration:
        """Return the configuration to register with by default."""
        ours = conformance_queues()
        return ours if self.config is None else QueueConfiguration(self.config, ours.policy_group)

    def proposal(self, stated: Timers, time_scale: float = 1.0) -> Mapping[str, str]:
        """Return the timers to propose in extraConfig."""
        return proposal(stated, time_scale=time_scale) if self.proposes_timers else {}

    def proposed_timers(self, stated: Timers, time_scale: float = 1.0) -> Timers:
        """Return the timers the target may have because the RM proposed them."""
        return proposed_timers(stated, time_scale=time_scale) if self.proposes_timers else UNKNOWN


def read_config(name: str, folder: Path) -> str:
    """Return the content of this file, "" for "none"; LookupError if it cannot be read."""
    if name == NO_CONFIG:
        return ""
    try:
        return (folder / name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise LookupError(f"the configuration {name} cannot be read: {reason}") from None


PLAIN: Final = Terms()
"""Terms of a target without stated properties."""
