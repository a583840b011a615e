"""Requests: each element on its own, and none of an RM without a name (SI-CONN)."""

from siconform.marks import requirement
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    NodeAccepted,
    NodeRejected,
    Released,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.unregistered_rm import UnregisteredRM


@requirement("SI-CONN-017")
def test_a_bad_first_element_does_not_spoil_its_request(rm: ResourceManager) -> None:
    known_node, known_app = rm.has_node(), rm.has_application()

    with rm.one_message():
        rm.registers_node(known_node)
        nodes = [rm.registers_node() for _ in range(2)]
    with rm.one_message():
        rm.submits_application(known_app)
        apps = [rm.submits_application() for _ in range(2)]

    rm.expect(NodeRejected(known_node))
    for node in nodes:
        rm.expect(NodeAccepted(node))
    rm.expect(ApplicationRejected(known_app))
    for app in apps:
        rm.expect(ApplicationAccepted(app))


@requirement("SI-CONN-002")
def test_requests_without_an_rm_neither_end_nor_begin_anything_of_another(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    node, app = rm.has_node(memory=11), rm.has_application()
    allocation = rm.has_allocation(app, memory=10)
    waiting = rm.has_waiting_ask(app, memory=10)
    nameless = second_rm.under_name("")

    with nameless.unordered():  # no barrier of this RM would be answered
        beyond = nameless.asks(app, memory=1)
        nameless.releases(allocation)
        nameless.removes_application(app)
        nameless.decommissions(node)

    rm.stays_quiet(Released(identity=allocation.identity), Allocated(waiting), Allocated(beyond))
    with rm.control("the same release by its owner takes effect"):
        rm.releases(allocation)
        rm.expect(Released(identity=allocation.identity))
        rm.is_served(waiting, node=node)
