"""What a target was said to be like, apart from its timers and its traits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from siconform.protocol.queue_configurations import QueueConfiguration, conformance_queues
from siconform.protocol.timers import UNKNOWN, Timers
from siconform.targets.proposal import proposal, proposed_timers
from siconform.transport.access import OPEN, Access

NO_CONFIG: Final = "none"

LONGEST_TIMER: Final = 45.0  # seconds a test sleeps for one timer of the target


@dataclass(frozen=True, slots=True)
class Terms:
    """How the kit registers with a target, and which features it does not offer.

    ``version`` is the one the RM names, None: that of the revision. ``config`` is the text it
    sends, "" for none at all, None: that of the cluster of all tests. ``without`` are names of
    ``siconform.catalogue.features``. A timer of more than ``longest_timer`` seconds is not waited
    for. ``edited`` is the descriptor set of a text whose messages the RM speaks in place of its
    revision's, b"" for none. ``access`` is how it is reached: TLS, metadata for every call.
    """

    version: str | None = None
    config: str | None = None
    proposes_timers: bool = True
    without: frozenset[str] = frozenset()
    longest_timer: float = LONGEST_TIMER
    revision_given: bool = True  # not taken for want of a better one
    edited: bytes = field(default=b"", repr=False)
    access: Access = OPEN

    def queues(self) -> QueueConfiguration:
        """The configuration the RM registers with where a test names none of its own."""
        ours = conformance_queues()
        return ours if self.config is None else QueueConfiguration(self.config, ours.policy_group)

    def proposal(self, stated: Timers, time_scale: float = 1.0) -> Mapping[str, str]:
        """What the RM asks for in extraConfig."""
        return proposal(stated, time_scale=time_scale) if self.proposes_timers else {}

    def proposed_timers(self, stated: Timers, time_scale: float = 1.0) -> Timers:
        """How long the target's timers may be because the RM asked for it."""
        return proposed_timers(stated, time_scale=time_scale) if self.proposes_timers else UNKNOWN


def read_config(name: str, folder: Path) -> str:
    """The text of this file, "" for the name "none"; LookupError when it cannot be read."""
    if name == NO_CONFIG:
        return ""
    try:
        return (folder / name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise LookupError(f"the configuration {name} cannot be read: {reason}") from None


PLAIN: Final = Terms()
"""Of a target of which nothing was said."""
