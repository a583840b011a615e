"""SI-CONN: an RM registers again when asked to, and names itself in what it sends."""

import pytest

from siconform.expecting.checks import precondition
from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure
from siconform.protocol.notifications import UpdateKind
from siconform.protocol.registration import RegistrationRequested
from siconform.protocol.requests import (
    ApplicationRequest,
    AskRequest,
    NodeRequest,
    ReleaseRequest,
    StreamOpening,
)
from siconform.scheduler.driven_rm import DrivenRM, Group
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler

KINDS = (NodeRequest, ApplicationRequest, AskRequest, ReleaseRequest)


@requirement("SI-CONN-011")
def test_an_rm_that_is_asked_to_resync_registers_and_reports_everything(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    registered = scheduler.engine.rm_id
    node = rm.adds_node(memory=1)
    app = rm.submits(Group(members=2))
    running = scheduler.allocation_of(app).key
    rm.awaits_running(running)
    waiting = scheduler.pending_of(app)[0].key

    scheduler.expects_registration_after(scheduler.demands_registration)

    if scheduler.engine.rm_id != registered:
        raise ConformanceFailure(
            f"registered as {scheduler.engine.rm_id}", expected=f"the rmID {registered}"
        )
    scheduler.expects_node(node)
    scheduler.expects(Sent(ApplicationRequest, application=app))
    scheduler.expects_existing(running)
    scheduler.expects(Sent(AskRequest, application=app, key=waiting))


@requirement("SI-CONN-013")
@pytest.mark.parametrize("kind", UpdateKind, ids=lambda kind: kind.value)
def test_an_aborted_stream_makes_an_rm_register_before_it_opens_streams(
    rm: DrivenRM, scheduler: SimulatedScheduler, kind: UpdateKind
) -> None:
    app = rm.runs()
    running = scheduler.allocation_of(app)
    before = len(scheduler.exchange.history)

    scheduler.expects_registration_after(lambda: scheduler.aborts_stream(kind))

    scheduler.expects_node(running.node)
    scheduler.expects(Sent(ApplicationRequest, application=app))
    scheduler.expects_existing(running.key)
    since = scheduler.exchange.history.since(before)
    by_rm = [one.content for one in since if one.sent_by_rm]
    first = next(one for one in by_rm if isinstance(one, (RegistrationRequested, StreamOpening)))
    if isinstance(first, StreamOpening):
        raise ConformanceFailure(
            f"{first} before it registers", expected="a registration, then the streams"
        )


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
