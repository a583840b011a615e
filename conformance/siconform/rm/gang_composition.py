"""Puts the verbs of gangs together: once to find out how styles are spelled, once for the tests."""

from collections.abc import Iterator
from itertools import cycle

from siconform.rm.endpoint import Endpoint
from siconform.rm.verb import Areas
from siconform.rm.verbs.allocations import AllocationVerbs
from siconform.rm.verbs.applications import ApplicationVerbs
from siconform.rm.verbs.confirmations import ConfirmationVerbs
from siconform.rm.verbs.gang_styles import GangStyleVerbs, as_given
from siconform.rm.verbs.gang_timeouts import GangTimeoutVerbs
from siconform.rm.verbs.gangs import GANG_QUEUES, GangVerbs, Spelling
from siconform.rm.verbs.nodes import NodeVerbs
from siconform.rm.verbs.recovery import RecoveryVerbs
from siconform.rm.verbs.timers import TimerVerbs
from siconform.rm.verbs.waiting_asks import WaitingAskVerbs


def add_gangs(areas: Areas, endpoint: Endpoint) -> None:
    """Add gangs; how styles are spelled is found out by others that say them as they are given."""
    queues = cycle(GANG_QUEUES)
    gangs, timeouts = _gangs(areas, endpoint, queues, as_given(endpoint.link.connection.revision))
    applications, confirmations = areas.of(ApplicationVerbs), areas.of(ConfirmationVerbs)
    styles = areas.add(
        GangStyleVerbs(
            link=endpoint.link,
            observed=endpoint.observed,
            expectations=endpoint.expectations,
            clean_up=endpoint.clean_up,
            confirmations=confirmations,
            applications=applications,
            gangs=gangs,
            timeouts=timeouts,
        )
    )
    gangs, timeouts = _gangs(areas, endpoint, queues, styles.spelled)
    areas.add(gangs)
    areas.add(timeouts)
    nodes = areas.of(NodeVerbs)
    areas.add(
        RecoveryVerbs(
            fencing=endpoint.fencing,
            expectations=endpoint.expectations,
            sender=endpoint.sender,
            nodes=nodes,
            applications=applications,
            gangs=gangs,
        )
    )


def _gangs(
    areas: Areas, endpoint: Endpoint, queues: Iterator[str], spelling: Spelling
) -> tuple[GangVerbs, GangTimeoutVerbs]:
    """Verbs of gangs that spell their styles in this way."""
    gangs = GangVerbs(
        link=endpoint.link,
        inbox=endpoint.inbox,
        expectations=endpoint.expectations,
        observations=endpoint.observations,
        timers=areas.of(TimerVerbs),
        confirmations=areas.of(ConfirmationVerbs),
        nodes=areas.of(NodeVerbs),
        applications=areas.of(ApplicationVerbs),
        allocations=areas.of(AllocationVerbs),
        queues=queues,
        spelling=spelling,
    )
    return gangs, GangTimeoutVerbs(
        deadlines=endpoint.deadlines,
        inbox=endpoint.inbox,
        fencing=endpoint.fencing,
        expectations=endpoint.expectations,
        observations=endpoint.observations,
        timers=areas.of(TimerVerbs),
        confirmations=areas.of(ConfirmationVerbs),
        nodes=areas.of(NodeVerbs),
        allocations=areas.of(AllocationVerbs),
        waiting=areas.of(WaitingAskVerbs),
        gangs=gangs,
    )
