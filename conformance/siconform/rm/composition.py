"""Puts an RM together: an object for each area of verbs, each given what it uses."""

from collections.abc import Iterator
from itertools import cycle

from siconform.expecting.event_checks import EventChecks
from siconform.rm.endpoint import Endpoint
from siconform.rm.optional_extension import OptionalExtension
from siconform.rm.verb import Areas
from siconform.rm.verbs.allocations import AllocationVerbs
from siconform.rm.verbs.application_ends import EndingVerbs
from siconform.rm.verbs.application_states import StateVerbs
from siconform.rm.verbs.applications import ApplicationVerbs
from siconform.rm.verbs.callbacks import CallbackVerbs
from siconform.rm.verbs.configuration import ConfigurationVerbs
from siconform.rm.verbs.confirmations import ConfirmationVerbs
from siconform.rm.verbs.connection import ConnectionVerbs
from siconform.rm.verbs.draining import DrainingVerbs
from siconform.rm.verbs.events import EventVerbs
from siconform.rm.verbs.gang_styles import GangStyleVerbs, as_given
from siconform.rm.verbs.gang_timeouts import GangTimerVerbs
from siconform.rm.verbs.gangs import GANG_QUEUES, GangVerbs, Spelling
from siconform.rm.verbs.heeding import HeedingVerbs
from siconform.rm.verbs.metrics import MetricsVerbs
from siconform.rm.verbs.nodes import NodeVerbs
from siconform.rm.verbs.order import TurnVerbs
from siconform.rm.verbs.placement_constraints import PlacementVerbs
from siconform.rm.verbs.preemption import PreemptionVerbs
from siconform.rm.verbs.recovery import RecoveryVerbs
from siconform.rm.verbs.registration import RegistrationVerbs
from siconform.rm.verbs.served import ServedVerbs
from siconform.rm.verbs.service import ServiceVerbs
from siconform.rm.verbs.snapshots import SnapshotVerbs
from siconform.rm.verbs.timers import TimerVerbs
from siconform.rm.verbs.waiting_asks import WaitingVerbs
from siconform.targets.profile import TargetProfile


def areas_of(at: Endpoint, profile: TargetProfile) -> Areas:
    """The areas of a registered RM; each is given what it uses."""
    areas = Areas()
    for part in (at.expect, at.inbox, at.observe, at.fencing, at.sender):
        areas.add(part)
    areas.add(OptionalExtension(at.link, profile))
    _add_things(areas, at, profile)
    _add_order(areas, at)
    _add_gangs(areas, at)
    _add_offers(areas, at, profile)
    _add_callbacks(areas, at)
    _add_states(areas, at)
    return areas


def adds_registration(areas: Areas, at: Endpoint, profile: TargetProfile) -> None:
    """What an RM has beside these that registers by itself."""
    extension = areas.of(OptionalExtension)
    areas.add(
        RegistrationVerbs(
            link=at.link,
            exchange=at.exchange,
            deadlines=at.deadlines,
            profile=profile,
            fencing=at.fencing,
            extension=extension,
        )
    )
    areas.add(
        ServedVerbs(
            expect=at.expect,
            observe=at.observe,
            nodes=areas.of(NodeVerbs),
            applications=areas.of(ApplicationVerbs),
            allocations=areas.of(AllocationVerbs),
            waiting=areas.of(WaitingVerbs),
            gangs=areas.of(GangVerbs),
        )
    )
    areas.add(
        ConnectionVerbs(
            link=at.link,
            deadlines=at.deadlines,
            fencing=at.fencing,
            expect=at.expect,
            clean_up=at.clean_up,
        )
    )


def _add_things(areas: Areas, at: Endpoint, profile: TargetProfile) -> None:
    """Nodes, applications, asks and allocations, and what a scheduler releases."""
    areas.add(NodeVerbs(expect=at.expect, sender=at.sender, clean_up=at.clean_up))
    areas.add(ApplicationVerbs(expect=at.expect, sender=at.sender, clean_up=at.clean_up))
    allocations = areas.add(
        AllocationVerbs(
            deadlines=at.deadlines,
            fencing=at.fencing,
            expect=at.expect,
            observe=at.observe,
            sender=at.sender,
        )
    )
    areas.add(
        ConfirmationVerbs(
            link=at.link, exchange=at.exchange, inbox=at.inbox, fencing=at.fencing, sender=at.sender
        )
    )
    timers = areas.add(
        TimerVerbs(
            link=at.link,
            exchange=at.exchange,
            deadlines=at.deadlines,
            profile=profile,
            observe=at.observe,
        )
    )
    areas.add(
        WaitingVerbs(
            exchange=at.exchange,
            observed=at.observed,
            profile=profile,
            inbox=at.inbox,
            fencing=at.fencing,
            expect=at.expect,
            observe=at.observe,
            sender=at.sender,
            timers=timers,
            allocations=allocations,
        )
    )


def _add_order(areas: Areas, at: Endpoint) -> None:
    """What shows whether asks are served, where and in which order."""
    nodes, applications = areas.of(NodeVerbs), areas.of(ApplicationVerbs)
    allocations, waiting = areas.of(AllocationVerbs), areas.of(WaitingVerbs)
    areas.add(
        PreemptionVerbs(
            deadlines=at.deadlines,
            inbox=at.inbox,
            fencing=at.fencing,
            expect=at.expect,
            observe=at.observe,
            allocations=allocations,
        )
    )
    areas.add(
        HeedingVerbs(
            link=at.link,
            inbox=at.inbox,
            expect=at.expect,
            observe=at.observe,
            nodes=nodes,
            applications=applications,
            allocations=allocations,
        )
    )
    areas.add(
        DrainingVerbs(expect=at.expect, nodes=nodes, allocations=allocations, waiting=waiting)
    )
    areas.add(
        PlacementVerbs(
            deadlines=at.deadlines,
            observe=at.observe,
            nodes=nodes,
            applications=applications,
            allocations=allocations,
        )
    )
    areas.add(
        TurnVerbs(
            expect=at.expect,
            nodes=nodes,
            applications=applications,
            allocations=allocations,
            waiting=waiting,
        )
    )


def _add_gangs(areas: Areas, at: Endpoint) -> None:
    """Gangs, spelled as is found out by gangs that say a style as it is given."""
    queues = cycle(GANG_QUEUES)
    gangs, timeouts = _gangs(areas, at, queues, as_given(at.link.connection.revision))
    applications, confirmations = areas.of(ApplicationVerbs), areas.of(ConfirmationVerbs)
    styles = areas.add(
        GangStyleVerbs(
            link=at.link,
            observed=at.observed,
            expect=at.expect,
            clean_up=at.clean_up,
            confirmations=confirmations,
            applications=applications,
            gangs=gangs,
            timeouts=timeouts,
        )
    )
    gangs, timeouts = _gangs(areas, at, queues, styles.spelled)
    areas.add(gangs)
    areas.add(timeouts)
    nodes = areas.of(NodeVerbs)
    areas.add(
        RecoveryVerbs(
            fencing=at.fencing,
            expect=at.expect,
            sender=at.sender,
            nodes=nodes,
            applications=applications,
            gangs=gangs,
        )
    )


def _gangs(
    areas: Areas, at: Endpoint, queues: Iterator[str], spelling: Spelling
) -> tuple[GangVerbs, GangTimerVerbs]:
    """The verbs of gangs whose styles are spelled like this."""
    gangs = GangVerbs(
        link=at.link,
        inbox=at.inbox,
        expect=at.expect,
        observe=at.observe,
        timers=areas.of(TimerVerbs),
        confirmations=areas.of(ConfirmationVerbs),
        nodes=areas.of(NodeVerbs),
        applications=areas.of(ApplicationVerbs),
        allocations=areas.of(AllocationVerbs),
        queues=queues,
        spelling=spelling,
    )
    return gangs, GangTimerVerbs(
        deadlines=at.deadlines,
        fencing=at.fencing,
        expect=at.expect,
        observe=at.observe,
        timers=areas.of(TimerVerbs),
        confirmations=areas.of(ConfirmationVerbs),
        nodes=areas.of(NodeVerbs),
        allocations=areas.of(AllocationVerbs),
        waiting=areas.of(WaitingVerbs),
        gangs=gangs,
    )


def _add_offers(areas: Areas, at: Endpoint, profile: TargetProfile) -> None:
    """What a target may offer beside the SI, and its service itself."""
    extension = areas.of(OptionalExtension)
    areas.add(
        SnapshotVerbs(
            link=at.link,
            exchange=at.exchange,
            deadlines=at.deadlines,
            expect=at.expect,
            extension=extension,
        )
    )
    areas.add(
        MetricsVerbs(
            link=at.link,
            exchange=at.exchange,
            deadlines=at.deadlines,
            expect=at.expect,
            extension=extension,
        )
    )
    areas.add(
        ConfigurationVerbs(
            link=at.link,
            exchange=at.exchange,
            deadlines=at.deadlines,
            profile=profile,
            fencing=at.fencing,
            extension=extension,
        )
    )
    areas.add(EventChecks(exchange=at.exchange, inbox=at.inbox))
    areas.add(ServiceVerbs(link=at.link, deadlines=at.deadlines))


def _add_callbacks(areas: Areas, at: Endpoint) -> None:
    """Callbacks, and events, which come by them."""
    extension = areas.of(OptionalExtension)
    nodes, preemption = areas.of(NodeVerbs), areas.of(PreemptionVerbs)
    callbacks = areas.add(
        CallbackVerbs(
            link=at.link,
            exchange=at.exchange,
            deadlines=at.deadlines,
            inbox=at.inbox,
            observe=at.observe,
            clean_up=at.clean_up,
            extension=extension,
            preemption=preemption,
        )
    )
    areas.add(
        EventVerbs(
            deadlines=at.deadlines,
            inbox=at.inbox,
            fencing=at.fencing,
            observe=at.observe,
            nodes=nodes,
            callbacks=callbacks,
        )
    )


def _add_states(areas: Areas, at: Endpoint) -> None:
    """The states of applications, as they are reported, shown or felt."""
    timers = areas.of(TimerVerbs)
    nodes = areas.of(NodeVerbs)
    applications = areas.of(ApplicationVerbs)
    allocations = areas.of(AllocationVerbs)
    ends = areas.add(
        EndingVerbs(
            deadlines=at.deadlines,
            observed=at.observed,
            inbox=at.inbox,
            expect=at.expect,
            observe=at.observe,
            clean_up=at.clean_up,
            timers=timers,
            nodes=nodes,
            applications=applications,
            allocations=allocations,
        )
    )
    extension = areas.of(OptionalExtension)
    heeding = areas.of(HeedingVerbs)
    snapshots = areas.of(SnapshotVerbs)
    areas.add(
        StateVerbs(
            deadlines=at.deadlines,
            observed=at.observed,
            inbox=at.inbox,
            expect=at.expect,
            observe=at.observe,
            timers=timers,
            applications=applications,
            allocations=allocations,
            extension=extension,
            heeding=heeding,
            ends=ends,
            snapshots=snapshots,
        )
    )
