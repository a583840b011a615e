"""The scheduler: events and the time as input, effects as output."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from typing import Any, Final

from sireference.core import (
    applications,
    asks,
    callback_offer,
    configuration_update,
    foreign_allocations,
    nodes,
    proposals,
    recovery,
    releases,
    scheduling_pass,
    utilisation,
)
from sireference.core.auto_scaling import OutstandingRequest, outstanding
from sireference.core.chunks import chunks
from sireference.core.gang import turns
from sireference.core.model import (
    AllocationRecord,
    Answered,
    Ask,
    ConnectionLost,
    Effect,
    Entry,
    Event,
    ForeignAllocation,
    OfferCallbacks,
    Refused,
    Register,
    ReportUtilisation,
    Settings,
    ShutDown,
    Update,
    UpdateAllocations,
    UpdateApplications,
    UpdateConfiguration,
    UpdateNodes,
    quoted,
)
from sireference.core.preemption import cycle
from sireference.core.registration import ResourceManagers
from sireference.core.snapshot import Snapshot, snapshot
from sireference.core.snapshot import chunks as snapshot_chunks
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import RMState

_MOST_EFFECTS: Final = 200  # of the deadlines of several RMs, until other work is handled


class Scheduler:
    """The pure scheduler. ``now`` is seconds since the epoch and never decreases.

    Each scheduling pass runs inside the context manager made by ``around_pass``, for measurement.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.rms = ResourceManagers(self.settings)
        self.around_pass: Callable[[], AbstractContextManager[Any]] = nullcontext

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Return the effects of ``event`` in sending order.

        An event of an RM that is not running changes nothing and is answered by Refused; only the
        configuration, which belongs to the operator, also changes for a paused RM.
        """
        if isinstance(event, Register):
            return self.rms.register(event, now)
        rm = self.rms.running(event.rm_id) or self._paused(event)
        if rm is None:
            return [Refused(event.rm_id, self._why_not(event.rm_id))]
        effects: list[Effect]
        match event:
            case ConnectionLost():
                effects = self.rms.connection_lost(rm, now)
            case ShutDown():
                effects = self.rms.shut_down(rm, now)
            case OfferCallbacks():
                callback_offer.offer(rm, event)
                effects = []
            case Answered():
                effects = rm.callbacks.answered(event, now)
            case _:
                effects = apply(rm, event, now)
        if rm.state is RMState.RUNNING and not getattr(event, "more_follows", False):
            with self.around_pass():
                effects += run_pass(rm, now)
            configuration_update.clear_up(rm)
        self.rms.deadlines.changed(rm)
        return [*effects, *rm.callbacks.take(now)]

    def chunks(self, event: Event) -> Iterator[Event]:
        """Yield the effects of ``event`` in short chunks, each computed on demand.

        Together they equal `handle`. Events of other RMs, but not of this one, may be handled in
        between.
        """
        rm = self.rms.known(event.rm_id)
        return chunks(rm, event) if rm is not None else iter((event,))

    def hold(self, rm_id: str) -> None:
        """Suspend the deadlines of this RM until ``go_on``, while an event is handled in chunks."""
        rm = self.rms.known(rm_id)
        if rm is not None:
            self.rms.deadlines.hold(rm)

    def go_on(self, rm_id: str) -> None:
        """Resume the deadlines of this RM."""
        self.rms.deadlines.go_on(rm_id, self.rms.known(rm_id))

    def serves(self, rm_id: str) -> bool:
        """Return whether events of this RM would be handled."""
        return self.rms.running(rm_id) is not None

    def snapshot(self, rm_id: str) -> Snapshot:
        """Return the state held for this RM."""
        return snapshot(rm_id, self.rms.known(rm_id))

    def taking_snapshot(self, rm_id: str) -> Generator[None, None, Snapshot]:
        """Return the same as ``snapshot``, in chunks; this RM must not change in between."""
        return snapshot_chunks(rm_id, self.rms.known(rm_id))

    def outstanding(self, rm_id: str) -> list[OutstandingRequest]:
        """Return the demand of this RM that only additional nodes could meet."""
        rm = self.rms.known(rm_id)
        return list(outstanding(rm)) if rm is not None else []

    def next_deadline(self) -> float | None:
        """Return when ``handle_timeout`` has something to do, None if never."""
        return self.rms.deadlines.next()

    def handle_timeout(self, now: float) -> list[Effect]:
        """Return the effects of the deadlines that are due.

        It stops after very many effects; the remaining deadlines are still due then.
        """
        effects: list[Effect] = []
        for rm in self.rms.deadlines.due(now):
            due = rm.timers.fire(now)
            if rm.state is RMState.RUNNING:  # no other RM can be notified
                effects += due
                with self.around_pass():
                    effects += run_pass(rm, now)
                configuration_update.clear_up(rm)
            effects += rm.callbacks.take(now)
            self.rms.deadlines.changed(rm)
            if len(effects) > _MOST_EFFECTS:
                break
        return effects

    def _paused(self, event: Event) -> ResourceManager | None:
        known = self.rms.known(event.rm_id)
        is_paused = known is not None and known.state is RMState.PAUSED
        return known if is_paused and isinstance(event, UpdateConfiguration) else None

    def _why_not(self, rm_id: str) -> str:
        if not rm_id:
            return "the request names no resource manager"
        known = self.rms.known(rm_id)
        if known is None:
            return f"resource manager {quoted(rm_id)} is not registered"
        return f"resource manager {quoted(rm_id)} is {known.state.value} and has to register again"


def apply(
    rm: ResourceManager,
    event: Update | UpdateConfiguration,
    now: float,
) -> list[Effect]:
    """Apply every element in order; an invalid one does not affect the others."""
    steps: Iterable[list[Effect]]
    match event:
        case UpdateNodes():
            steps = (nodes.update(rm, info, now) for info in event.nodes)
        case UpdateApplications():
            steps = chain(
                (applications.submit(rm, new, now) for new in event.new),
                (applications.remove(rm, removal, now) for removal in event.remove),
            )
        case UpdateAllocations():
            steps = chain(
                (_add(rm, entry, now) for entry in event.entries),
                (recovery.add(rm, allocation, now) for allocation in event.allocations),
                (asks.add(rm, ask, now) for ask in event.asks),
                (asks.release(rm, withdrawal, now) for withdrawal in event.ask_releases),
                (releases.release(rm, release, now) for release in event.releases),
            )
        case ReportUtilisation():
            steps = (utilisation.report(rm, report) for report in event.reports)
        case UpdateConfiguration():
            return configuration_update.update(rm, event, now)
    return list(chain.from_iterable(steps))


def _add(rm: ResourceManager, entry: Entry, now: float) -> list[Effect]:
    match entry:
        case Ask():
            return asks.add(rm, entry, now)
        case AllocationRecord():
            return recovery.add(rm, entry, now)
        case ForeignAllocation():
            return foreign_allocations.report(rm, entry, now)


def run_pass(rm: ResourceManager, now: float) -> list[Effect]:
    """Run a scheduling pass over every partition of each running RM (SI-CONN-009)."""
    effects: list[Effect] = []
    for partition in rm.partitions.values():
        if not configuration_update.wake(partition, now):
            continue
        if partition.proposals:
            effects += proposals.ask(partition, now)
        effects += scheduling_pass.run(partition, now)
        effects += cycle.run(partition, now)
        if partition.proposals:
            effects += proposals.ask(partition, now)
        turns.watch(partition, now)
    return effects
