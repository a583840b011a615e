"""Placeholder timeout: the time a gang has to gather, from its first placeholder on."""

from functools import partial
from typing import Final

from sireference.core import application_lifecycle
from sireference.core.model import Effect, Settings
from sireference.core.state.application import Application
from sireference.core.state.partition import Partition
from sireference.core.states import ApplicationTrigger

_HARD: Final = "hard"
_REASON: Final = "ResourceReservationTimeout: not all placeholders were allocated in time"
"""It begins with the word by which Apache YuniKorn's RM for Kubernetes recognises this reason."""


def watch(partition: Partition, application: Application, now: float) -> None:
    """Run the timer for a gang that has a placeholder; stop it otherwise.

    It runs from the first placeholder allocation, not from submission or ask (SI-GANG-031), and
    stops with the last placeholder.
    """
    gang = partition.gangs.get(application)
    is_waiting = application.placeholders_held and not application.has_begun
    if gang is None or gang.timer is not None or not is_waiting:
        return
    timeout = seconds_to_gather(partition.settings, application)
    gang.timer = partition.timers.set(now + timeout, partial(expire, partition, application))


def seconds_to_gather(settings: Settings, application: Application) -> float:
    """Return how long a gang may wait for its placeholders."""
    of_application = application.submitted.execution_timeout
    if settings.placeholder_timeout_from_application and of_application > 0:
        return of_application
    return settings.placeholder_timeout


def expire(partition: Partition, application: Application, now: float) -> list[Effect]:
    """Handle the timeout; a complete gang is not affected (SI-GANG-039).

    Otherwise every placeholder and placeholder ask is released with TIMEOUT. With the hard style
    the application fails, finally once the placeholders are gone (SI-GANG-034, SI-GANG-037); with
    the soft style, the default (C-18), it is scheduled like any other from then on (SI-GANG-035).
    """
    partition.gangs[application].timer = None
    if not application.is_gathering:
        return []
    if application.submitted.gang_style.casefold() == _HARD:
        return application_lifecycle.fail(partition, application, now, _REASON)
    effects = application_lifecycle.move(
        partition, application, ApplicationTrigger.RESUME, now, _REASON
    )
    asks = [pending for pending in application.pending.values() if pending.ask.is_placeholder]
    # no real allocation exists before it has begun
    placeholders = list(partition.allocations.of(application).values())
    return effects + application_lifecycle.withdraw(partition, asks, placeholders, _REASON)
