"""Probes, before the first test, for behaviour that the specification leaves open."""

from contextlib import suppress
from functools import partial
from typing import Final

from siwire import Capability, Revision

from siconform.catalogue.features import Feature
from siconform.expecting.probed_behaviour import ProbedBehaviour
from siconform.outcomes import ConformanceFailure, Outcome, TargetLost
from siconform.protocol.handles import Application, Ask
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    Released,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import QUOTA_QUEUE

_PLACEMENTS: Final = 3  # in sequence: the later ones each wait for a full scheduling cycle
_CAPACITY: Final = 10  # memory of the node
_SEVERAL: Final = 2


def probe(rm: ResourceManager, observed: ProbedBehaviour, revision: Revision) -> None:
    """Probe the target; what cannot be observed stays unknown and is left to the tests."""
    try:
        _look(rm, observed, several=revision.can(Capability.ASKS_APART))
        if not revision.can(Capability.OCCUPIED_RESOURCE):  # reported instead of it (C-52)
            _look_at_foreign(rm, observed)
    except TargetLost:
        raise
    except Outcome:
        pass  # the tests will report the problem
    finally:
        observed.reported_states |= {
            received.state for received in rm.observe(ApplicationUpdated())
        }
        observed.probed = True
        rm.leaves()


def _look(rm: ResourceManager, observed: ProbedBehaviour, *, several: bool) -> None:
    rm.has_node(memory=_CAPACITY, vcore=_CAPACITY)
    app, other = rm.has_application(), rm.has_application()
    for number in range(_PLACEMENTS):  # some schedulers serve applications in turn
        ask = rm.asks(other if number % 2 else app)
        placed = rm.measured(partial(rm.expect, Allocated(ask)), observed.latency.measured)
    reported = _measure_report(rm, observed)
    waiting = rm.asks(app, memory=_CAPACITY)
    oversized = rm.asks(app, memory=10 * _CAPACITY)
    if several:
        observed.serves_several_allocations = _serves_several(rm, app)
    rejected = _rejected(rm, waiting, oversized)
    observed.keeps_waiting_asks = waiting not in rejected
    observed.keeps_oversized_asks = oversized not in rejected
    _measure_confirmation(rm, observed, placed)
    for one in (app, other, reported):
        rm.removes_application(one)
    if not {Feature.QUEUES, Feature.QUOTAS} & rm.terms.without:
        observed.enforces_quotas = _enforces_quotas(rm)


def _measure_confirmation(
    rm: ResourceManager, observed: ProbedBehaviour, placed: Allocated
) -> None:
    """Measure how long the target takes to confirm a release; tests report it if it never does."""
    rm.releases(placed)
    with suppress(ConformanceFailure):
        confirmed = partial(rm.expect, Released(identity=placed.identity))
        rm.measured(confirmed, observed.latency.reported)


def _measure_report(rm: ResourceManager, observed: ProbedBehaviour) -> Application:
    """Measure how long the target takes to report a state, if it ever does; return whose."""
    app = rm.has_application()
    rm.asks(app)

    def reported() -> None:
        if rm.first_within((ApplicationUpdated(app),), rm.deadlines.place) is None:
            raise ConformanceFailure("no state of an application is reported")

    with suppress(ConformanceFailure):
        rm.measured(reported, observed.latency.reported)
    return app


def _look_at_foreign(rm: ResourceManager, observed: ProbedBehaviour) -> None:
    """Find out whether a foreign allocation on the only large enough node blocks an ask."""
    if Feature.FOREIGN_ALLOCATIONS in rm.terms.without:
        return
    node = rm.has_node(memory=3 * _CAPACITY)
    foreign = rm.has_foreign(node, memory=3 * _CAPACITY)
    small = rm.asks(rm.has_application(), memory=3 * _CAPACITY)
    received = rm.receive_if_any(Allocated(small), AllocationRejected(foreign))
    observed.counts_foreign_allocations = received is None


def _serves_several(rm: ResourceManager, app: Application) -> bool:
    """Return whether an ask for several allocations gets them all."""
    ask = rm.asks(app, times=_SEVERAL)
    rm.expect(Allocated(ask))
    rm.settles()
    return len(rm.observe(Allocated(ask))) == _SEVERAL


def _enforces_quotas(rm: ResourceManager) -> bool | None:
    """Return whether a queue's quota blocks an ask that fits a node; None if it is rejected."""
    app = rm.submits_application(queue=QUOTA_QUEUE)
    received = rm.expect_one_of(ApplicationAccepted(app), ApplicationRejected(app))
    if not isinstance(received, ApplicationAccepted):
        return None
    rm.has_node(memory=2 * _CAPACITY)
    beyond = rm.asks(app, memory=2 * _CAPACITY)
    return rm.receive_if_any(Allocated(beyond)) is None


def _rejected(rm: ResourceManager, *asks: Ask) -> set[str]:
    """Return the asks that are rejected by the time this target answers an ask."""
    rm.settles()
    return {received.key for received in rm.observe(AskRejected()) if received.key in asks}
