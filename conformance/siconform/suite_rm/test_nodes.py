"""SI-NODE: an RM reports its nodes, and does not wait for answers that never come."""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Final

import pytest

from siconform.expecting.checks import precondition
from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure, NotOffered
from siconform.protocol.handles import Node
from siconform.protocol.matchers import Including
from siconform.protocol.notifications import Allocated
from siconform.protocol.requests import Action, AskRequest, NodeRequest
from siconform.scheduler.driven_rm import DrivenRM, Group
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler

IMAGES: Final = "si/local-images"


@requirement("SI-NODE-014")
def test_a_new_cordoned_node_is_reported(rm: DrivenRM, scheduler: SimulatedScheduler) -> None:
    rm.adds_node(memory=1, vcore=1)

    cordoned = rm.adds_node(cordoned=True)

    is_reported_and_not_used(rm, scheduler, cordoned)


@requirement("SI-NODE-014")
def test_a_registering_rm_reports_cordoned_nodes(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node(memory=1, vcore=1)
    node = rm.adds_node()
    scheduler.awaits_node(node)
    rm.cordons(node)

    scheduler.lets_register(rm.restarts)

    is_reported_and_not_used(rm, scheduler, node)


def is_reported_and_not_used(rm: DrivenRM, scheduler: SimulatedScheduler, node: str) -> None:
    """Check that a cordoned node is created, and that what only fits there is not placed.

    The RM marks it as draining, or refuses it whenever the scheduler asks for a placement.
    """
    created = scheduler.expects_node(node)
    drained = Sent(NodeRequest, node=node, action=Action.DRAIN)
    is_drained = created.action is Action.CREATE and scheduler.comes(
        drained, within=scheduler.deadlines.ack
    )
    scheduler.records(
        f"a cordoned node is reported by {created.action.name}{' and DRAIN' * is_drained}"
    )

    app = rm.submits(Group(resource={"memory": 5, "vcore": 5}))
    if not scheduler.comes(Sent(AskRequest, application=app), within=scheduler.deadlines.ack):
        scheduler.records("nothing is requested for what only fits on a cordoned node")
    scheduler.expects_none()  # what was decided has come
    for entry in scheduler.sent(Allocated):
        if getattr(entry.content, "application", "") == app:
            raise ConformanceFailure(
                f"the cordoned node was used: {entry.content}",
                expected=f"nothing is placed on {node}",
            )


@requirement("SI-NODE-023")
def test_containers_that_come_and_go_cause_no_update_of_their_node(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    node = rm.adds_node()
    scheduler.awaits_node(node)

    for _ in range(2):
        app = rm.submits(Group(members=2))
        for key in rm.awaits_started(app, 2):
            rm.stops_container(key)

    scheduler.expects_none()  # what was decided has come
    reports: list[NodeRequest] = scheduler.observed(Sent(NodeRequest, node=node))
    for report in reports[1:]:
        if report.action is Action.UPDATE and changes_amounts(reports[0], report):
            raise ConformanceFailure(
                f"containers started and ended, and the RM sent: {report}",
                expected="no update, as neither capacity nor attributes changed",
            )


def changes_amounts(created: NodeRequest, update: NodeRequest) -> bool:
    """Return whether an update has other amounts than the creation; images may well differ."""
    return (update.capacity or created.capacity) != created.capacity or (
        (update.occupied or {}) != (created.occupied or {})
    )


CAPACITIES: Final = count(20)
CHANGES: Final[Mapping[Action, Callable[[DrivenRM, Node], object]]] = {
    Action.UPDATE: lambda rm, node: rm.resizes_node(node, memory=next(CAPACITIES), vcore=20),
    Action.DRAIN: DrivenRM.cordons,
    Action.UNDRAIN: DrivenRM.uncordons,
    Action.DECOMMISSION: DrivenRM.removes_node,
}


@requirement("SI-NODE-024", "SI-WIRE-005")
@pytest.mark.parametrize(
    "actions",
    [(Action.UPDATE, Action.UPDATE), (Action.DRAIN, Action.UNDRAIN), (Action.DECOMMISSION,)],
    ids=lambda actions: actions[0].name.lower(),
)
def test_an_rm_does_not_wait_for_an_answer_to_a_change_of_a_node(
    rm: DrivenRM, scheduler: SimulatedScheduler, actions: tuple[Action, ...]
) -> None:
    node = rm.adds_node()
    scheduler.awaits_node(node)
    first, *further = actions

    CHANGES[first](rm, node)
    change = Sent(NodeRequest, node=node, action=first)
    if not scheduler.comes(change, within=scheduler.deadlines.ack):
        raise NotOffered(f"the RM sends no {first.name} for a node that exists")
    scheduler.expects(change)

    for action in further:
        CHANGES[action](rm, node)
        scheduler.expects(Sent(NodeRequest, node=node, action=action))
    another = rm.adds_node()
    app = rm.submits()
    scheduler.expects_node(another)
    scheduler.expects(Sent(AskRequest, application=app))


@requirement("SI-NODE-040")
def test_an_update_may_carry_an_attribute(rm: DrivenRM, scheduler: SimulatedScheduler) -> None:
    node = rm.adds_node(attributes={IMAGES: "img1"})
    scheduler.awaits_node(node)

    rm.resizes_node(node, memory=10, vcore=10, attributes={IMAGES: "img2"})

    update = Sent(
        NodeRequest, node=node, action=Action.UPDATE, attributes=Including({IMAGES: "img2"})
    )
    if not scheduler.comes(update, within=scheduler.deadlines.ack):
        raise NotOffered("the RM sends no changed attributes of a node")
    app = rm.submits()
    rm.expects(lambda view: bool(view.started(app)), "the RM uses the node that it updated")


@requirement("SI-NODE-041")
def test_a_new_node_that_was_created_draining_is_undrained(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    usable, cordoned = rm.adds_node(), rm.adds_node(cordoned=True)

    are_undrained_when_usable(rm, scheduler, usable, cordoned)


@requirement("SI-NODE-041")
def test_a_node_that_a_registering_rm_creates_draining_is_undrained(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    usable, cordoned = rm.adds_node(), rm.adds_node(cordoned=True)

    scheduler.lets_register(rm.restarts)

    are_undrained_when_usable(rm, scheduler, usable, cordoned)


def are_undrained_when_usable(
    rm: DrivenRM, scheduler: SimulatedScheduler, usable: Node, cordoned: Node
) -> None:
    """Check that nodes created draining are undrained, a cordoned one when it is uncordoned."""
    with precondition("the RM creates both nodes"):
        created = [scheduler.expects_node(node) for node in (usable, cordoned)]
    draining = [one.node for one in created if one.action is Action.CREATE_DRAINING]
    if not draining:
        raise NotOffered("the RM creates no node by CREATE_DRAIN")
    if usable in draining:
        scheduler.expects(Sent(NodeRequest, node=usable, action=Action.UNDRAIN))
    if cordoned in draining:
        undrained = Sent(NodeRequest, node=cordoned, action=Action.UNDRAIN)
        scheduler.expects_none()  # what was decided has come
        if scheduler.comes(undrained, within=0.0):
            scheduler.records("a cordoned node is undrained all the same")
        rm.uncordons(cordoned)
        scheduler.expects(undrained)
