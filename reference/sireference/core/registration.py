"""Registration: a resource manager registers, registers again, is lost or leaves."""

from functools import partial

from sireference.core import queues
from sireference.core.model import (
    Effect,
    Refused,
    Register,
    Registered,
    Settings,
)
from sireference.core.names import too_long
from sireference.core.state.deadlines import Deadlines
from sireference.core.state.identities import Identities
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import RMState, RMTrigger


class ResourceManagers:
    """Registered RMs, each with the state of its latest registration.

    A stopped RM is remembered for a while to be notified of that.
    """

    def __init__(self, settings: Settings) -> None:
        self.deadlines = Deadlines()
        self._settings = settings
        self._identities = Identities(settings.identity_prefix)
        self._known: dict[str, ResourceManager] = {}
        self._registrations = 0

    def register(self, event: Register, now: float) -> list[Effect]:
        """Register this RM; drop everything known of it (SI-REG-004 to 008)."""
        if not event.rm_id:
            return [Refused("", "the registration has no rmID")]
        for reason in too_long(self._settings.longest_name, event.rm_id):
            return [Refused("", reason)]
        settings = event.timers.in_place_of(self._settings)
        self._registrations += 1
        rm = ResourceManager(event, settings, self._identities, self._registrations)
        rm.move(RMTrigger.REGISTERED)
        earlier = self._known.get(event.rm_id)
        if earlier is not None:
            self.deadlines.forget(earlier)
            earlier.clear()
        self._known[event.rm_id] = rm
        rm.callbacks.offer(event.callbacks)
        event_log = rm.callbacks.event_log
        for partition in rm.partitions.values():
            for queue in partition.root.all():
                queues.came(event_log, queue)
        return [Registered(event.rm_id), *rm.callbacks.take(now)]

    def all(self) -> list[ResourceManager]:
        """Return all RMs in the order of their first registration."""
        return list(self._known.values())

    def known(self, rm_id: str) -> ResourceManager | None:
        """Return the RM with that id in any state, None if it never registered."""
        return self._known.get(rm_id)

    def running(self, rm_id: str) -> ResourceManager | None:
        """Return the RM with that id if it is running."""
        rm = self._known.get(rm_id)
        return rm if rm is not None and rm.state is RMState.RUNNING else None

    def connection_lost(self, rm: ResourceManager, now: float) -> list[Effect]:
        """Pause the RM: keep everything and allocate nothing until it returns or times out."""
        rm.move(RMTrigger.CONNECTION_LOST)
        rm.timers.set(now + rm.settings.connection_loss_timeout, partial(self._lost, rm))
        return []

    def _lost(self, rm: ResourceManager, now: float) -> list[Effect]:
        rm.move(RMTrigger.CONNECTION_LOSS_TIMEOUT)
        return self._stopped(rm, now)

    def shut_down(self, rm: ResourceManager, now: float) -> list[Effect]:
        """Stop the RM at once and drop everything."""
        rm.move(RMTrigger.SHUT_DOWN)
        return self._stopped(rm, now)

    def _stopped(self, rm: ResourceManager, now: float) -> list[Effect]:
        rm.clear()
        forget = partial(_forget, self._known, rm.rm_id)
        rm.timers.set(now + rm.settings.stopped_retention, forget)
        return []


def _forget(known: dict[str, ResourceManager], rm_id: str, _: float) -> list[Effect]:
    """Forget a stopped RM: it is unknown when it returns."""
    del known[rm_id]
    return []
