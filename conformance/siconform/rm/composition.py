"""Puts an RM together: an object for each area of verbs, each given what it uses."""

from siconform.expecting.event_checks import EventChecks
from siconform.rm.endpoint import Endpoint
from siconform.rm.gang_composition import add_gangs
from siconform.rm.optional_extension import OptionalExtension
from siconform.rm.verb import Areas
from siconform.rm.verbs.allocations import AllocationVerbs
from siconform.rm.verbs.application_ends import ApplicationEndVerbs
from siconform.rm.verbs.application_states import ApplicationStateVerbs
from siconform.rm.verbs.applications import ApplicationVerbs
from siconform.rm.verbs.callbacks import CallbackVerbs
from siconform.rm.verbs.configuration import ConfigurationVerbs
from siconform.rm.verbs.confirmations import ConfirmationVerbs
from siconform.rm.verbs.connection import ConnectionVerbs
from siconform.rm.verbs.draining import DrainingVerbs
from siconform.rm.verbs.events import EventVerbs
from siconform.rm.verbs.foreign import ForeignVerbs
from siconform.rm.verbs.gangs import GangVerbs
from siconform.rm.verbs.metrics import MetricsVerbs
from siconform.rm.verbs.nodes import NodeVerbs
from siconform.rm.verbs.older_words import OlderWordVerbs
from siconform.rm.verbs.order import OrderVerbs
from siconform.rm.verbs.placement_constraints import PlacementConstraintVerbs
from siconform.rm.verbs.preemption import PreemptionVerbs
from siconform.rm.verbs.prerequisites import PrerequisiteVerbs
from siconform.rm.verbs.registration import RegistrationVerbs
from siconform.rm.verbs.served import ServedVerbs
from siconform.rm.verbs.service import ServiceVerbs
from siconform.rm.verbs.snapshots import SnapshotVerbs
from siconform.rm.verbs.timers import TimerVerbs
from siconform.rm.verbs.updates import UpdateVerbs
from siconform.rm.verbs.waiting_asks import WaitingAskVerbs
from siconform.targets.profile import TargetProfile


def areas_of(endpoint: Endpoint, profile: TargetProfile) -> Areas:
    """The areas of a registered RM, each after those that it is given."""
    areas = Areas()
    for part in (
        endpoint.expectations,
        endpoint.inbox,
        endpoint.observations,
        endpoint.fencing,
        endpoint.sender,
    ):
        areas.add(part)
    areas.add(OptionalExtension(endpoint.link, profile))
    _add_objects(areas, endpoint, profile)
    _add_what_is_said_by_key(areas, endpoint)
    _add_waiting_asks(areas, endpoint)
    _add_preemption_and_prerequisites(areas, endpoint, profile)
    _add_placement(areas, endpoint)
    add_gangs(areas, endpoint)
    _add_offers(areas, endpoint, profile)
    _add_callbacks(areas, endpoint)
    _add_states(areas, endpoint)
    return areas


def add_registration(areas: Areas, endpoint: Endpoint, profile: TargetProfile) -> None:
    """Add what only an RM has that is not registered yet."""
    extension = areas.of(OptionalExtension)
    areas.add(
        RegistrationVerbs(
            link=endpoint.link,
            exchange=endpoint.exchange,
            deadlines=endpoint.deadlines,
            profile=profile,
            fencing=endpoint.fencing,
            extension=extension,
        )
    )
    areas.add(
        ServedVerbs(
            inbox=endpoint.inbox,
            expectations=endpoint.expectations,
            observations=endpoint.observations,
            nodes=areas.of(NodeVerbs),
            applications=areas.of(ApplicationVerbs),
            allocations=areas.of(AllocationVerbs),
            waiting=areas.of(WaitingAskVerbs),
            gangs=areas.of(GangVerbs),
        )
    )
    areas.add(
        ConnectionVerbs(
            link=endpoint.link,
            deadlines=endpoint.deadlines,
            fencing=endpoint.fencing,
            expectations=endpoint.expectations,
            clean_up=endpoint.clean_up,
        )
    )


def _add_objects(areas: Areas, endpoint: Endpoint, profile: TargetProfile) -> None:
    """Nodes, applications, asks and allocations, and what a scheduler releases."""
    areas.add(
        NodeVerbs(
            link=endpoint.link,
            fencing=endpoint.fencing,
            expectations=endpoint.expectations,
            sender=endpoint.sender,
            clean_up=endpoint.clean_up,
        )
    )
    areas.add(
        ApplicationVerbs(
            expectations=endpoint.expectations, sender=endpoint.sender, clean_up=endpoint.clean_up
        )
    )
    areas.add(
        AllocationVerbs(
            deadlines=endpoint.deadlines,
            fencing=endpoint.fencing,
            expectations=endpoint.expectations,
            observations=endpoint.observations,
            sender=endpoint.sender,
        )
    )
    areas.add(
        ConfirmationVerbs(
            link=endpoint.link,
            exchange=endpoint.exchange,
            inbox=endpoint.inbox,
            fencing=endpoint.fencing,
            sender=endpoint.sender,
        )
    )
    areas.add(
        TimerVerbs(
            link=endpoint.link,
            exchange=endpoint.exchange,
            deadlines=endpoint.deadlines,
            profile=profile,
            observations=endpoint.observations,
        )
    )


def _add_what_is_said_by_key(areas: Areas, endpoint: Endpoint) -> None:
    """What only revisions have where whatever has a key is said in one list."""
    areas.add(
        UpdateVerbs(
            fencing=endpoint.fencing,
            observations=endpoint.observations,
            sender=endpoint.sender,
        )
    )
    areas.add(
        ForeignVerbs(
            fencing=endpoint.fencing,
            observations=endpoint.observations,
            sender=endpoint.sender,
            clean_up=endpoint.clean_up,
        )
    )
    areas.add(OlderWordVerbs(fencing=endpoint.fencing, sender=endpoint.sender))


def _add_waiting_asks(areas: Areas, endpoint: Endpoint) -> None:
    """Asks that have to wait."""
    timers, allocations = areas.of(TimerVerbs), areas.of(AllocationVerbs)
    areas.add(
        WaitingAskVerbs(
            exchange=endpoint.exchange,
            observed=endpoint.observed,
            inbox=endpoint.inbox,
            fencing=endpoint.fencing,
            expectations=endpoint.expectations,
            observations=endpoint.observations,
            sender=endpoint.sender,
            timers=timers,
            allocations=allocations,
        )
    )


def _add_preemption_and_prerequisites(
    areas: Areas, endpoint: Endpoint, profile: TargetProfile
) -> None:
    """What a scheduler may do or leave: preemption, and the features a test may need."""
    nodes, applications = areas.of(NodeVerbs), areas.of(ApplicationVerbs)
    allocations = areas.of(AllocationVerbs)
    areas.add(
        PreemptionVerbs(
            deadlines=endpoint.deadlines,
            inbox=endpoint.inbox,
            fencing=endpoint.fencing,
            expectations=endpoint.expectations,
            observations=endpoint.observations,
            allocations=allocations,
        )
    )
    areas.add(
        PrerequisiteVerbs(
            link=endpoint.link,
            observed=endpoint.observed,
            profile=profile,
            inbox=endpoint.inbox,
            expectations=endpoint.expectations,
            observations=endpoint.observations,
            nodes=nodes,
            applications=applications,
            allocations=allocations,
        )
    )


def _add_placement(areas: Areas, endpoint: Endpoint) -> None:
    """Where an ask may go: draining nodes, placement constraints, and what else competes."""
    nodes, applications = areas.of(NodeVerbs), areas.of(ApplicationVerbs)
    allocations, waiting = areas.of(AllocationVerbs), areas.of(WaitingAskVerbs)
    areas.add(
        DrainingVerbs(
            expectations=endpoint.expectations,
            nodes=nodes,
            allocations=allocations,
            waiting=waiting,
        )
    )
    areas.add(
        PlacementConstraintVerbs(
            deadlines=endpoint.deadlines,
            observations=endpoint.observations,
            nodes=nodes,
            applications=applications,
            allocations=allocations,
        )
    )
    areas.add(
        OrderVerbs(
            expectations=endpoint.expectations,
            nodes=nodes,
            applications=applications,
            allocations=allocations,
            waiting=waiting,
        )
    )


def _add_offers(areas: Areas, endpoint: Endpoint, profile: TargetProfile) -> None:
    """What a target may offer beside the SI, and its service itself."""
    extension = areas.of(OptionalExtension)
    areas.add(
        SnapshotVerbs(
            link=endpoint.link,
            exchange=endpoint.exchange,
            deadlines=endpoint.deadlines,
            expectations=endpoint.expectations,
            extension=extension,
        )
    )
    areas.add(
        MetricsVerbs(
            link=endpoint.link,
            exchange=endpoint.exchange,
            deadlines=endpoint.deadlines,
            expectations=endpoint.expectations,
            extension=extension,
        )
    )
    areas.add(
        ConfigurationVerbs(
            link=endpoint.link,
            exchange=endpoint.exchange,
            deadlines=endpoint.deadlines,
            profile=profile,
            fencing=endpoint.fencing,
            extension=extension,
        )
    )
    areas.add(EventChecks(exchange=endpoint.exchange, inbox=endpoint.inbox))
    areas.add(ServiceVerbs(link=endpoint.link, deadlines=endpoint.deadlines))


def _add_callbacks(areas: Areas, endpoint: Endpoint) -> None:
    """Callbacks, and events, which come by them."""
    extension = areas.of(OptionalExtension)
    nodes, preemption = areas.of(NodeVerbs), areas.of(PreemptionVerbs)
    callbacks = areas.add(
        CallbackVerbs(
            link=endpoint.link,
            exchange=endpoint.exchange,
            deadlines=endpoint.deadlines,
            inbox=endpoint.inbox,
            observations=endpoint.observations,
            clean_up=endpoint.clean_up,
            extension=extension,
            preemption=preemption,
        )
    )
    areas.add(
        EventVerbs(
            link=endpoint.link,
            deadlines=endpoint.deadlines,
            inbox=endpoint.inbox,
            fencing=endpoint.fencing,
            observations=endpoint.observations,
            nodes=nodes,
            callbacks=callbacks,
        )
    )


def _add_states(areas: Areas, endpoint: Endpoint) -> None:
    """The states of applications, as they are reported, shown or felt."""
    timers = areas.of(TimerVerbs)
    nodes = areas.of(NodeVerbs)
    applications = areas.of(ApplicationVerbs)
    allocations = areas.of(AllocationVerbs)
    ends = areas.add(
        ApplicationEndVerbs(
            deadlines=endpoint.deadlines,
            observed=endpoint.observed,
            inbox=endpoint.inbox,
            expectations=endpoint.expectations,
            observations=endpoint.observations,
            clean_up=endpoint.clean_up,
            timers=timers,
            nodes=nodes,
            applications=applications,
            allocations=allocations,
        )
    )
    extension = areas.of(OptionalExtension)
    prerequisites = areas.of(PrerequisiteVerbs)
    snapshots = areas.of(SnapshotVerbs)
    areas.add(
        ApplicationStateVerbs(
            link=endpoint.link,
            deadlines=endpoint.deadlines,
            observed=endpoint.observed,
            inbox=endpoint.inbox,
            expectations=endpoint.expectations,
            observations=endpoint.observations,
            timers=timers,
            applications=applications,
            allocations=allocations,
            extension=extension,
            prerequisites=prerequisites,
            ends=ends,
            snapshots=snapshots,
        )
    )
