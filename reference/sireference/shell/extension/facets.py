"""What Describe says: which facets work, and how long the timers run."""

from siwire import Revision
from siwire.ext import extension_pb2 as ext

from sireference.core.model import Settings
from sireference.seconds import LONGEST_SECONDS


def facets(revision: Revision, settings: Settings, *, is_virtual: bool) -> ext.Facets:
    """The answer to Describe; ``is_virtual`` says that time moves by AdvanceClock only."""
    return ext.Facets(
        si_profile=revision.name,
        configuration=True,
        snapshot=True,
        metrics=True,
        virtual_clock=is_virtual,
        several_rms=True,
        timers=ext.Timers(
            connection_loss=milliseconds(settings.connection_loss_timeout),
            placeholder_default=milliseconds(settings.placeholder_timeout),
            waiting_to_completed=milliseconds(settings.completing_timeout),
            placeholder_from_application_timeout=settings.placeholder_timeout_from_application,
            starting_to_running=milliseconds(settings.starting_timeout),
            retention=milliseconds(settings.retention),
        ),
    )


def milliseconds(seconds: float) -> int:
    """Whole milliseconds; what is shorter than one is one, because zero would be unknown.

    What is longer than anything can take is the longest there is.
    """
    return max(1, round(min(seconds, LONGEST_SECONDS) * 1000))
