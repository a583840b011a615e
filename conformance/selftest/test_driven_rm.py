"""The RM under test as methods of its driver, and the callbacks and barriers it takes part in."""

from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager

import grpc
import pytest
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import ConformanceFailure, NotOffered, PreconditionFailed
from siconform.protocol.callbacks import (
    Answered,
    CallbacksOffered,
    EvictionCheck,
    PlacementCheck,
    Scheduling,
    SchedulingReported,
)
from siconform.protocol.facets import Facet
from siconform.protocol.notifications import Fact
from siconform.protocol.requests import ApplicationRemoval, AskRequest, NodeRequest
from siconform.scheduler.driven_rm import DrivenRM, Group
from siconform.scheduler.patterns import Sent
from siconform.transport.callback_stream import CallbackStream
from siconform.transport.extension import Extension
from siconform.transport.rm_driver import RmDriver
from siwire import find_revision, rpc
from siwire.ext import extension_pb2 as ext

from .simulated_schedulers import DEADLINES, Both, PlainRm, becomes, connected

SERVICE = ext.DESCRIPTOR.services_by_name["RmDriver"]
Answer = Callable[[ext.DriveCommand], ext.DriveOutcome]


class Driver:
    """A driver that answers as a test says, and keeps the commands."""

    def __init__(self) -> None:
        self.commands: list[ext.DriveCommand] = []
        self.answer: Answer = lambda _command: ext.DriveOutcome(done=True)
        self._server = grpc.server(futures.ThreadPoolExecutor(2))
        self._server.add_generic_rpc_handlers((rpc.handlers(SERVICE, {"Drive": self._drive}),))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def _drive(self, command: ext.DriveCommand, context: grpc.ServicerContext) -> ext.DriveOutcome:
        self.commands.append(command)
        try:
            return self.answer(command)
        except NotImplementedError:
            return context.abort(grpc.StatusCode.UNIMPLEMENTED, "")

    def stop(self) -> None:
        self._server.stop(None).wait(5.0)


@pytest.fixture
def driver() -> Iterator[Driver]:
    served = Driver()
    yield served
    served.stop()


@pytest.fixture
def rm(driver: Driver) -> DrivenRM:
    return DrivenRM(RmDriver(driver.address, 25.0), "t1", DEADLINES)


def test_actions_are_sent_with_unique_ids(driver: Driver, rm: DrivenRM) -> None:
    node = rm.adds_node(memory=3, vcore=2, cordoned=True)
    app = rm.submits(Group(2, {"memory": 1}, allowed_nodes=(node,), stopping=0.5), queue="root.q")
    gang = rm.submits_gang(4, gang_style="Hard")
    rm.resizes_node(node, memory=4, vcore=2, attributes={"rack": "r"})
    rm.restarts()

    added, submitted, gang_sent, resized, restarted = driver.commands
    assert added.add_node == ext.NodeView(node_id=node, capacity={"memory": 3, "vcore": 2})
    assert submitted.submit.application_id == app
    assert submitted.submit.groups[0] == ext.Workload.Group(
        members=2, resource={"memory": 1}, allowed_nodes=[node], stopping_milliseconds=500
    )
    group = gang_sent.submit.groups[0]
    assert (group.members, group.real_containers) == (4, 4)
    assert gang_sent.submit.gang_style == "Hard"
    assert resized.resize_node == ext.NodeView(
        node_id=node, capacity={"memory": 4, "vcore": 2}, attributes={"rack": "r"}
    )
    assert restarted.restart_rm
    assert len({node, app, gang, group.task_group}) == 4
    assert all(name.startswith("t1-") for name in (node, app, gang))


def test_state_is_what_the_driver_returns(driver: Driver, rm: DrivenRM) -> None:
    started = ext.ContainerView(
        allocation_key="k", application_id="a", node_id="n", phase=ext.ContainerView.STARTED
    )
    driver.answer = lambda _command: ext.DriveOutcome(
        done=True,
        running_keys=["k"],
        containers=[started],
        applications=[ext.ApplicationView(application_id="a", over=True, state="Failed")],
    )

    view = rm.looks()

    assert view.running == ("k",)
    assert [(one.key, one.node, one.phase) for one in view.of("a")] == [("k", "n", "started")]
    assert (view.over, view.states) == ({"a": True}, {"a": "Failed"})


def test_undone_actions_are_failed_preconditions_with_the_reason(
    driver: Driver, rm: DrivenRM
) -> None:
    driver.answer = lambda _command: ext.DriveOutcome(reason="there is one instance")
    with pytest.raises(PreconditionFailed, match="did not do fail_over: there is one"):
        rm.fails_over()

    def unimplemented(_command: ext.DriveCommand) -> ext.DriveOutcome:
        raise NotImplementedError

    driver.answer = unimplemented
    with pytest.raises(PreconditionFailed, match="does not support resize_container"):
        rm.resizes_container("k", memory=2)

    without = DrivenRM(None, "t1", DEADLINES)
    with pytest.raises(PreconditionFailed, match="cordon_node needs a driver of the RM"):
        without.cordons("n")


def test_missing_start_is_a_failure_or_a_failed_precondition(driver: Driver) -> None:
    rm = DrivenRM(RmDriver(driver.address, 25.0), "t1", Deadlines().scaled(0.01))
    waiting = ext.ContainerView(application_id="a", phase=ext.ContainerView.WAITING)
    driver.answer = lambda _command: ext.DriveOutcome(done=True, containers=[waiting])

    with pytest.raises(ConformanceFailure, match="not so: a starts"):
        rm.expects(lambda view: bool(view.started("a")), "a starts")
    with pytest.raises(PreconditionFailed, match="1 containers of a start"):
        rm.awaits_started("a")


def test_driver_that_does_not_answer_costs_a_limited_time() -> None:
    rm = DrivenRM(RmDriver("127.0.0.1:1", 0.2), "t1", DEADLINES)
    with pytest.raises(PreconditionFailed, match="no answer to look in"):
        rm.looks()


def test_barrier_waits_for_a_node_and_a_request_and_is_no_part_of_the_test(
    driver: Driver, rm: DrivenRM
) -> None:
    with connected(find_revision("2024-10"), Deadlines().scaled(2.0)) as both:
        driver.answer = lambda command: carried_out(both.rm, command)
        scheduler = both.scheduler
        scheduler._rm = rm  # as the fixture makes it
        both.rm.adds_node("n1")

        scheduler.expects_none(Sent(NodeRequest, node="n2"))

        assert [request.node for request in scheduler.observed(NodeRequest)] == ["n1"]
        assert not scheduler.observed(AskRequest)
        with pytest.raises(ConformanceFailure, match="received: node n1 create"):
            scheduler.expects_none(Sent(NodeRequest, node="n1"))


def carried_out(rm: PlainRm, command: ext.DriveCommand) -> ext.DriveOutcome:
    """Let a plain RM do what a barrier needs."""
    match command.WhichOneof("action"):
        case "add_node":
            rm.adds_node(command.add_node.node_id)
        case "submit":
            app = command.submit.application_id
            rm.submits(app)
            rm.asks(f"{app}-1", application=app)
        case "end_application":
            rm.sends(ApplicationRemoval(command.end_application, "default"))
    return ext.DriveOutcome(done=True)


@pytest.fixture
def offered() -> Iterator[Both]:
    """Both ends, where the RM takes callbacks and allows only the node n2."""
    with connected(find_revision("2024-10")) as both, taking_callbacks(both):
        yield both


@contextmanager
def taking_callbacks(both: Both) -> Iterator[None]:
    connection = both.rm.connection
    extension = Extension(both.scheduler.address, 25.0)
    stream = CallbackStream(
        extension,
        connection.dialect,
        connection.history,
        rm_id="rm",
        facets=(Facet.PLACEMENT_CHECKS, Facet.EVICTION_CHECKS, Facet.CONTAINER_STATES),
        offer=1,
        answers=answers,
    )
    assert stream.holds(25.0)
    assert both.scheduler.offers(PlacementCheck())
    assert Facet.PLACEMENT_CHECKS in extension.facets.offered
    yield
    stream.cut()
    extension.close()


def answers(check: Fact) -> Answered:
    if isinstance(check, EvictionCheck):
        return Answered(fits=True, index=len(check.victims) - 1, reason="")
    fits = isinstance(check, PlacementCheck) and check.node == "n2"
    return Answered(fits=fits, index=0, reason="" if fits else "not on this node")


def test_requests_are_placed_where_the_rm_agrees(offered: Both) -> None:
    rm, scheduler = offered.rm, offered.scheduler
    rm.adds_node("n1")
    rm.adds_node("n2")
    rm.submits()
    rm.asks("k")

    assert rm.is_allocated("k").node == "n2"
    assert scheduler.sent(PlacementCheck)[0].content == PlacementCheck("k", "n1", allocate=True)
    offers = [entry.content for _, entry in scheduler.received()]
    assert (
        CallbacksOffered(("placement checks", "eviction checks", "container states"), 1) in offers
    )


def test_callbacks_by_hand(offered: Both) -> None:
    scheduler = offered.scheduler

    refused = scheduler.asks_for_placement("k", "n1", allocate=False)
    evicted = scheduler.asks_for_eviction("k", "n1", ("v0", "v1", "v2"), 1)
    scheduler.reports_scheduling("k", "a", Scheduling.FAILED, times=20, threads=4)

    assert (refused.fits, refused.reason) == (False, "not on this node")
    assert (evicted.fits, evicted.index) == (True, 2)
    reports = SchedulingReported(key="k", application="a", state=Scheduling.FAILED)
    assert becomes(lambda: len(offered.rm.received(reports)) == 20)
    with pytest.raises(NotOffered, match="does not offer the callback state dump"):
        scheduler.asks_for_state_dump()


def test_offer_that_comes_after_the_registration_is_awaited() -> None:
    with connected(find_revision("2024-10")) as both, futures.ThreadPoolExecutor(1) as pool:
        refused = pool.submit(both.scheduler.asks_for_placement, "k", "n1")

        with taking_callbacks(both):
            assert not refused.result(25.0).fits


def test_view_that_changes_in_the_quiet_window_is_a_failure(driver: Driver, rm: DrivenRM) -> None:
    rm.stays(lambda view: not view.running, "nothing runs")
    before = len(driver.commands)
    driver.answer = lambda _: ext.DriveOutcome(
        done=True, running_keys=["k"] if len(driver.commands) > before + 3 else []
    )

    with pytest.raises(ConformanceFailure, match="it does not hold that nothing runs"):
        rm.stays(lambda view: not view.running, "nothing runs")
