"""SI-CONN: what an RM sends on its streams names it."""

from siconform.expecting.checks import precondition
from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure
from siconform.protocol.requests import (
    ApplicationRequest,
    AskRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.scheduler.driven_rm import DrivenRM
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler

KINDS = (NodeRequest, ApplicationRequest, AskRequest, ReleaseRequest)


@requirement("SI-CONN-020")
def test_every_request_carries_the_rm_id_of_the_registration(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    registered = scheduler.engine.rm_id
    app = rm.runs()
    allocation = scheduler.allocation_of(app)

    rm.stops_container(allocation.key)

    with precondition("the RM sends nodes, applications, asks and releases"):
        for kind in KINDS:
            scheduler.expects(Sent(kind))
    for entry in (one for kind in KINDS for one in scheduler.entries(kind)):
        if entry.rm != registered:
            raise ConformanceFailure(
                f"{entry.content} has the rmID {entry.rm}", expected=f"the rmID {registered}"
            )
