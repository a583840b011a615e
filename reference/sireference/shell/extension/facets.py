"""Answer to Describe: supported facets and timer durations."""

from siwire import Revision
from siwire.ext import extension_pb2 as ext

from sireference.core.model import Settings
from sireference.seconds import LONGEST_SECONDS


def facets(revision: Revision, settings: Settings, *, is_virtual: bool) -> ext.Facets:
    """Return the answer to Describe; ``is_virtual``: time moves by AdvanceClock only."""
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
    """Return whole milliseconds within range, at least 1, because zero means unknown."""
    return max(1, round(min(seconds, LONGEST_SECONDS) * 1000))
