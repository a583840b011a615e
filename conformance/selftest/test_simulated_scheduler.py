"""The simulated scheduler over gRPC, with a connection of the kit as its RM."""

import threading
from collections.abc import Iterator

import grpc
import pytest
from google.protobuf.message import Message
from siconform.expecting.deadlines import Deadlines
from siconform.monitors.wire import unknown_numbers
from siconform.outcomes import CameLate, ConformanceFailure, PreconditionFailed
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    NodeAccepted,
    NodeRejected,
    RegistrationWanted,
    Released,
    StreamEnded,
    Termination,
    Unreadable,
    UpdateKind,
)
from siconform.protocol.registration import RegistrationRequested
from siconform.protocol.requests import (
    Action,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    ReleaseRequest,
    StreamOpening,
)
from siconform.protocol.subjects import AllOf, OneAllocation, OneAsk
from siconform.scheduler.patterns import Sent
from siwire import REVISIONS, find_revision

from .simulated_schedulers import EVERY_KIND, LIMIT, REGISTRATION, Both, becomes, connected

KEYED = find_revision("2024-10")
OLDEST = find_revision("2021-02")


@pytest.fixture(params=REVISIONS.values(), ids=str)
def both(request: pytest.FixtureRequest) -> Iterator[Both]:
    with connected(request.param) as ends:
        yield ends


@pytest.fixture
def keyed() -> Iterator[Both]:
    with connected(KEYED) as ends:
        yield ends


def test_everything_is_accepted_placed_and_confirmed(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler

    rm.adds_node()
    rm.submits()
    ask = rm.asks("k", priority=3, tags={"a/b": "c"})

    rm.receives(NodeAccepted("n"))
    rm.receives(ApplicationAccepted("a"))
    allocated = rm.is_allocated("k")
    assert (allocated.node, allocated.tags, allocated.priority) == ("n", {"a/b": "c"}, 3)
    rm.receives(ApplicationUpdated("a", "Accepted"))
    rm.receives(ApplicationUpdated("a", "Running"))
    assert scheduler.requests_of("a") == [ask]
    assert scheduler.allocation_of("a").identity == allocated.identity

    one = OneAllocation("a", allocated.identity, "k")
    rm.sends(ReleaseRequest(one, Termination.STOPPED_BY_RM))

    scheduler.expects(
        ReleaseRequest(OneAllocation("a", allocated.identity), Termination.STOPPED_BY_RM)
    )
    rm.receives(Released(identity=allocated.identity, termination=Termination.STOPPED_BY_RM))
    rm.receives(ApplicationUpdated("a", "Completing"))


def test_placeholder_is_replaced_once_the_rm_has_confirmed(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler
    rm.adds_node(memory=1)
    rm.submits()
    rm.asks("p", task_group="g", placeholder=True)
    placeholder = rm.is_allocated("p")

    rm.asks("r", task_group="g")

    release = rm.receives(
        Released(identity=placeholder.identity, termination=Termination.PLACEHOLDER_REPLACED)
    )
    assert not rm.received(Allocated(key="r"))
    rm.sends(ReleaseRequest(release.subject, Termination.PLACEHOLDER_REPLACED))
    scheduler.expects_confirmation(placeholder, Termination.PLACEHOLDER_REPLACED)
    assert rm.is_allocated("r").node == "n"
    assert not rm.received(Released(termination=Termination.STOPPED_BY_RM))


def test_request_waits_for_capacity_and_a_schedulable_node(keyed: Both) -> None:
    rm, scheduler = keyed.rm, keyed.scheduler
    rm.sends(NodeRequest("drained", Action.CREATE_DRAINING, {"memory": 9}))
    rm.adds_node("small", memory=1)
    rm.submits()

    rm.asks("k", memory=2)
    assert [ask.key for ask in scheduler.pending_of("a")] == ["k"]
    rm.adds_node("large", memory=2)

    assert rm.is_allocated("k").node == "large"
    rm.asks("k2", memory=2)
    rm.sends(NodeRequest("drained", Action.UNDRAIN))
    assert rm.is_allocated("k2").node == "drained"


def test_placing_by_hand(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler
    rm.adds_node("n1")
    rm.adds_node("n2")
    rm.submits()

    with scheduler.placing_nothing():
        rm.asks("k1")
        rm.asks("k2")
        scheduler.pending_of("a", at_least=2)
        by_hand = scheduler.allocates("k2", "n2")
        assert rm.is_allocated("k2").node == "n2"
        assert not rm.received(Allocated(key="k1"))

    assert rm.is_allocated("k1").node == "n1"
    assert by_hand in scheduler.allocations_of("a", at_least=2)


def test_existing_allocations_occupy_their_node(both: Both) -> None:
    rm = both.rm
    existing = Allocated(
        key="e", application="a", node="n", identity="e", resource={"memory": 1}, tags={},
        task_group="", placeholder=False, priority=0, partition="default",
        originator=False, preemption_policy=None, queue="", priority_class="",
    )  # fmt: skip
    rm.submits()
    rm.receives(ApplicationAccepted("a"))
    try:
        rm.sends(NodeRequest("n", Action.CREATE, {"memory": 1}, existing=(existing,)))
    except LookupError:
        rm.adds_node(memory=1)
        rm.receives(NodeAccepted("n"))
        rm.sends(ExistingAllocationRequest(existing))
    rm.asks("k")

    assert both.scheduler.allocation_of("a").key == "e"
    rm.sends(ReleaseRequest(OneAllocation("a", "e", "e"), Termination.STOPPED_BY_RM))
    rm.is_allocated("k")


def test_delayed_verdicts_come_at_the_end_of_the_block(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler

    with scheduler.delaying_verdicts():
        rm.adds_node()
        rm.submits()
        rm.asks("k")
        scheduler.expects(Sent(NodeRequest))
        scheduler.expects(Sent(ApplicationRequest, application="a"))
        scheduler.expects(Sent(AskRequest, key="k"))
        assert not rm.received(NodeAccepted())
        assert not rm.received(Allocated())

    rm.receives(NodeAccepted("n"))
    rm.receives(ApplicationAccepted("a"))
    rm.is_allocated("k")


def test_verdicts_of_one_kind_are_delayed_alone(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler

    with scheduler.delaying_verdicts(ApplicationAccepted):
        rm.submits("a")
        rm.submits("b")
        rm.adds_node()
        rm.receives(NodeAccepted("n"))
        scheduler.expects(Sent(ApplicationRequest, application="b"))
        scheduler.gives_verdicts("b")
        rm.receives(ApplicationAccepted("b"))
        assert not rm.received(ApplicationAccepted("a"))

    rm.receives(ApplicationAccepted("a"))


def test_application_is_rejected_while_its_verdict_is_held_back(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler
    with scheduler.delaying_verdicts():
        rm.adds_node()
        rm.submits()
        rm.asks("k")
        scheduler.expects(Sent(NodeRequest))
        scheduler.expects(Sent(ApplicationRequest))
        assert scheduler.expects_pending("a").key == "k"

        scheduler.rejects_application("a", "no queue")

    rm.receives(ApplicationRejected("a", "no queue"))
    rm.receives(AskRejected("k", "a", "no queue"))
    rm.receives(NodeAccepted("n"))
    rm.asks("l")
    rm.receives(AskRejected("l", "a"))
    assert not rm.received(ApplicationAccepted())


def test_pending_request_is_rejected_later(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler
    rm.submits()
    rm.asks("k")
    scheduler.pending_of("a")

    scheduler.rejects("k", "too late")

    rm.receives(AskRejected("k", "a", "too late"))
    rm.adds_node()
    rm.receives(NodeAccepted("n"))
    assert not rm.received(Allocated())


def test_releases_of_the_scheduler_end_with_their_confirmation(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler
    rm.adds_node()
    rm.submits()
    for key in ("k1", "k2"):
        rm.asks(key)
    first, second = scheduler.allocations_of("a", at_least=2)

    scheduler.releases(first, second, termination=Termination.PREEMPTED_BY_SCHEDULER)

    together = {entry.number for entry in scheduler.sent(Released)}
    assert len(together) == 1
    rm.receives(Released(identity=second.identity, termination=Termination.PREEMPTED_BY_SCHEDULER))
    one = OneAllocation("a", first.identity, first.key)
    rm.sends(ReleaseRequest(one, Termination.PREEMPTED_BY_SCHEDULER))
    scheduler.expects_confirmation(first, Termination.PREEMPTED_BY_SCHEDULER)
    with pytest.raises(ConformanceFailure, match="never received"):
        scheduler.expects(
            ReleaseRequest(OneAllocation("a", second.identity), Termination.PREEMPTED_BY_SCHEDULER),
            timeout=0.1,
        )
    assert becomes(lambda: len(scheduler.allocations_of("a")) == 1)
    rm.asks("k3", memory=3)
    rm.is_allocated("k3")


def test_release_without_identity_is_confirmed_one_by_one_or_at_once(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler
    rm.adds_node()
    rm.submits()
    for key in ("k1", "k2"):
        rm.asks(key)
    allocations = scheduler.allocations_of("a", at_least=2)

    scheduler.releases_all_of("a", Termination.PREEMPTED_BY_SCHEDULER)

    release = rm.receives(Released(termination=Termination.PREEMPTED_BY_SCHEDULER))
    assert release.subject == AllOf("a")
    rm.sends(ReleaseRequest(AllOf("a"), Termination.PREEMPTED_BY_SCHEDULER))
    for allocation in allocations:
        scheduler.expects_confirmation(allocation, Termination.PREEMPTED_BY_SCHEDULER)


def test_gang_timeout_in_one_message_of_a_stream(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler
    rm.adds_node(memory=1)
    rm.submits()
    for key in ("p1", "p2"):
        rm.asks(key, task_group="g", placeholder=True)
    placed = scheduler.allocation_of("a")
    waiting = scheduler.pending_of("a")

    scheduler.times_out("a")

    rm.receives(AskReleased(key=waiting[0].key, termination=Termination.TIMEOUT))
    rm.receives(Released(identity=placed.identity, termination=Termination.TIMEOUT))
    rm.receives(ApplicationUpdated("a", "Failing"))
    ends = [entry for fact in (AskReleased, Released) for entry in scheduler.sent(fact)]
    assert len({entry.number for entry in ends}) == 1
    rm.sends(AskReleaseRequest(OneAsk("a", waiting[0].key), "default", _type(both)))
    scheduler.expects(Sent(AskReleaseRequest, subject=OneAsk("a", waiting[0].key)))


def _type(both: Both) -> Termination:
    states_why = both.rm.connection.dialect.ask_releases_state_why
    return Termination.TIMEOUT if states_why else Termination.STOPPED_BY_RM


def test_oldest_revision_times_out_in_one_message_for_all_streams() -> None:
    with connected(OLDEST) as both:
        rm, scheduler = both.rm, both.scheduler
        rm.adds_node(memory=1)
        rm.submits()
        for key in ("p1", "p2"):
            rm.asks(key, task_group="g", placeholder=True)
        scheduler.allocation_of("a")
        scheduler.pending_of("a")

        scheduler.times_out("a")

        facts = (Released, AskReleased)
        ends = {entry.number for fact in facts for entry in scheduler.sent(fact)}
        states = [e for e in scheduler.sent(ApplicationUpdated) if e.content.state == "Failing"]  # type: ignore[union-attr]
        assert ends == {entry.number for entry in states}


def test_withdrawn_request_is_confirmed_where_the_revision_has_it(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler
    rm.submits()
    rm.asks("k")
    scheduler.pending_of("a")

    rm.sends(AskReleaseRequest(OneAsk("a", "k"), "default"))

    scheduler.expects(Sent(AskReleaseRequest, subject=OneAsk("a", "k")))
    rm.adds_node()
    rm.receives(NodeAccepted("n"))
    assert not rm.received(Allocated())
    if rm.connection.dialect.ask_releases_state_why:
        rm.receives(AskReleased(key="k", termination=Termination.STOPPED_BY_RM))
    else:
        assert not rm.received(AskReleased())


def test_repetitions_and_unknown_names_are_sent(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler
    rm.adds_node()
    rm.submits()
    rm.asks("k")
    allocation = scheduler.allocation_of("a")

    scheduler.repeats(allocation)
    scheduler.changes_state("unknown", "Running")

    rm.receives(ApplicationUpdated("unknown", "Running"))
    assert becomes(lambda: len(rm.received(Allocated(key="k"))) == 2)


def test_stream_is_aborted_with_a_status(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler

    scheduler.aborts_stream(UpdateKind.APPLICATIONS, "UNAVAILABLE")

    ended = rm.receives(StreamEnded(kind=UpdateKind.APPLICATIONS))
    assert ended.status == "UNAVAILABLE"
    others = [kind for kind in EVERY_KIND if rm.connection.is_open(kind)]
    assert len(others) == (0 if rm.connection.revision == OLDEST else 2)


def test_dropped_connections_are_detected_and_the_rm_can_come_back(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler
    address = scheduler.address
    rm.adds_node()
    rm.receives(NodeAccepted("n"))

    scheduler.drops_connections()

    rm.receives(StreamEnded(kind=UpdateKind.NODES))
    ended = [entry.content.kind for entry in scheduler.sent(StreamEnded)]  # type: ignore[union-attr]
    assert ended == list(EVERY_KIND)
    assert not scheduler.observed(StreamEnded)  # it was not the RM
    again = both.another_rm()
    assert scheduler.address == address
    again.connection.connects(25.0)
    again.connection.opens_all()
    again.adds_node("n2")
    again.receives(NodeAccepted("n2"))
    again.connection.close(1.0)


def test_registering_again_begins_with_empty_state(keyed: Both) -> None:
    rm = keyed.rm
    rm.adds_node()
    rm.receives(NodeAccepted("n"))

    assert rm.registers() == "OK"
    rm.adds_node()

    assert becomes(lambda: len(rm.received(NodeAccepted("n"))) == 2)
    assert not rm.received(NodeRejected())


def test_resync_is_sent_in_the_oldest_revision() -> None:
    with connected(OLDEST) as both:
        both.scheduler.demands_registration()
        both.rm.receives(RegistrationWanted())


def test_order_across_streams_and_the_messages_are_kept(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler
    rm.submits()
    scheduler.expects(Sent(ApplicationRequest))
    rm.adds_node()
    scheduler.expects(Sent(NodeRequest))

    entries = [entry for _, entry in scheduler.received()]

    kinds = [type(e.content) for e in entries if not isinstance(e.content, StreamOpening)]
    assert kinds == [RegistrationRequested, ApplicationRequest, NodeRequest]
    messages = [entry.message for entry in entries]
    assert all(isinstance(one, Message) and one.rmID == "rm" for one in messages)  # type: ignore[attr-defined]


def test_unreadable_bytes_are_recorded(keyed: Both) -> None:
    channel = grpc.insecure_channel(keyed.scheduler.address)
    call = channel.stream_stream(
        "/si.v1.Scheduler/UpdateNode", lambda data: data, lambda data: data
    )

    responses = call(iter([b"\xff"]))

    assert becomes(lambda: bool(keyed.scheduler.observed(Unreadable)))
    responses.cancel()
    channel.close()


def test_other_methods_are_unimplemented_and_noted(keyed: Both) -> None:
    status = keyed.rm.connection.calls_raw("/si.v1.Scheduler/Update", 2.0)

    assert status == "UNIMPLEMENTED"
    server = keyed.scheduler.engine.server
    assert server.unserved == ["/si.v1.Scheduler/Update"]
    assert server.unserved_registration() == ""

    keyed.rm.connection.calls_raw("/si.v2.Scheduler/RegisterResourceManager", 2.0)
    assert server.unserved_registration() == "/si.v2.Scheduler/RegisterResourceManager"


def test_unknown_fields_are_added_to_messages_and_their_elements(both: Both) -> None:
    rm, scheduler = both.rm, both.scheduler
    with scheduler.adding_unknown_fields():
        rm.adds_node()
        rm.receives(NodeAccepted("n"))
    rm.submits()
    rm.receives(ApplicationAccepted("a"))

    (extended,), (plain,) = scheduler.sent(NodeAccepted), scheduler.sent(ApplicationAccepted)
    assert extended.message is not None
    assert plain.message is not None
    parts = {part.name for part, _ in unknown_numbers(extended.message)}
    assert parts == {extended.message.DESCRIPTOR.name, "AcceptedNode"}
    assert not [*unknown_numbers(plain.message)]


def test_missing_and_unwanted_are_distinguished() -> None:
    with connected(KEYED, Deadlines().scaled(0.1)) as both:
        rm, scheduler = both.rm, both.scheduler
        with pytest.raises(ConformanceFailure, match="never received: node request") as missing:
            scheduler.expects(Sent(NodeRequest, node="n"))
        assert missing.value.expected == "node request node n within 0.2 s"

        rm.adds_node("other")
        with pytest.raises(ConformanceFailure, match="received instead: node other create"):
            scheduler.expects(Sent(NodeRequest, node="n"))
        with pytest.raises(ConformanceFailure, match="received: node other create"):
            scheduler.stays_quiet(Sent(NodeRequest))
        scheduler.stays_quiet(Sent(NodeRequest, node="n"))


def test_what_comes_is_not_consumed(keyed: Both) -> None:
    scheduler = keyed.scheduler
    assert not scheduler.comes(Sent(NodeRequest), within=0.0)

    keyed.rm.adds_node()

    scheduler.expects(Sent(NodeRequest))
    assert scheduler.comes(Sent(NodeRequest), within=0.0)


def test_what_comes_after_its_deadline_is_late() -> None:
    with connected(KEYED, Deadlines(grace=50.0)) as both:
        later = threading.Timer(0.2, both.rm.adds_node)
        later.start()

        with pytest.raises(CameLate) as late:
            both.scheduler.expects(Sent(NodeRequest, node="n"), timeout=0.1)

        assert late.value.expected == "node request node n within 0.1 s"
        later.join()


def test_rm_that_does_not_come_is_a_failed_precondition(keyed: Both) -> None:
    keyed.scheduler._registrations = keyed.scheduler.engine.registrations
    with pytest.raises(PreconditionFailed, match="the RM did not register at"):
        keyed.scheduler.awaits_rm(timeout=0.1)


def test_rm_may_open_its_streams_later(keyed: Both) -> None:
    another, scheduler = keyed.another_rm(), keyed.scheduler
    scheduler._registrations = scheduler.engine.registrations
    keyed.rm.connection.close(1.0)

    another.connection.registers(REGISTRATION, LIMIT)

    assert scheduler.awaits_rm().rm == "rm"
    another.connection.close(1.0)


def test_half_closed_stream_ends_when_the_rm_opens_another(keyed: Both) -> None:
    keyed.rm.connection.half_closes(UpdateKind.NODES)
    assert becomes(lambda: bool(keyed.scheduler.entries(StreamEnded)))
    keyed.scheduler.stays_connected()
    assert not keyed.rm.received(StreamEnded())
    another = keyed.another_rm()

    another.connection.opens(UpdateKind.NODES)

    assert keyed.rm.receives(StreamEnded(kind=UpdateKind.NODES)).status == "OK"
    another.connection.close(1.0)


def test_rm_that_registers_again_does_not_stay_connected(keyed: Both) -> None:
    keyed.scheduler.stays_connected()

    keyed.rm.registers()

    with pytest.raises(ConformanceFailure, match="the RM registered again"):
        keyed.scheduler.stays_connected()
