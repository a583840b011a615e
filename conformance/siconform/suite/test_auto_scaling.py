"""Auto-scaling metrics (2021-02 only): demand that waits for nodes alone (SI-AUTO)."""

from siconform.marks import requirement
from siconform.protocol.constraints import on_nodes, where
from siconform.protocol.notifications import Allocated
from siconform.protocol.queue_configurations import queues
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.unregistered_rm import UnregisteredRM


@requirement("SI-AUTO-001")
def test_what_waits_for_nodes_is_listed(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=9)

    first = rm.has_pending_ask(app, memory=3)
    second = rm.has_pending_ask(rm.has_application(), memory=4)

    rm.sees_outstanding(first, second)


@requirement("SI-AUTO-001")
def test_what_waits_no_longer_is_not_listed(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=9)
    waiting = rm.has_pending_ask(app, memory=3)
    with rm.control("while it waits for nodes it is listed"):
        rm.sees_outstanding(waiting)

    rm.has_node(memory=10)
    with rm.precondition("a new node serves the waiting ask"):
        rm.expect(Allocated(waiting))

    rm.no_longer_sees_outstanding(waiting)


@requirement("SI-AUTO-001")
def test_what_is_withdrawn_is_not_listed(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    app = rm.has_application()
    withdrawn, kept = rm.has_pending_ask(app, memory=13), rm.has_pending_ask(app, memory=14)
    with rm.control("while they wait for nodes both are listed"):
        rm.sees_outstanding(withdrawn, kept)

    rm.withdraws(withdrawn)
    rm.synchronise_all()

    rm.no_longer_sees_outstanding(withdrawn)
    rm.sees_outstanding(kept)


@requirement("SI-AUTO-002")
def test_ask_held_back_by_a_limit_is_not_listed(rm: ResourceManager) -> None:
    rm.has_node(memory=20)
    limited = rm.has_application(queue="root.quota")  # at most 10
    rm.has_allocation(limited, memory=8)
    rm.has_allocation(rm.has_application(queue="root.single"))  # one application at a time

    beyond_its_quota = rm.asks(limited, memory=4)
    nowhere_to_go = rm.asks(
        rm.has_application(), memory=5, constraint=on_nodes(where("zone", "nowhere"))
    )
    one_too_many = rm.asks(rm.has_application(queue="root.single"), memory=2)
    short_of_nodes = rm.has_pending_ask(rm.has_application(), memory=15)

    with rm.control("what waits for nodes is listed"):
        rm.sees_outstanding(short_of_nodes)
    rm.does_not_see_outstanding(beyond_its_quota, nowhere_to_go, one_too_many)


@requirement("SI-AUTO-002")
def test_what_a_user_may_not_have_is_not_listed(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered_with_limits(queues("limited-user"))
    unregistered_rm.has_node(memory=20)
    limited = unregistered_rm.has_application(queue="root.shared", user="limited")  # at most 5
    unregistered_rm.has_allocation(limited, memory=4)

    beyond_the_limit = unregistered_rm.asks(limited, memory=3)
    short_of_nodes = unregistered_rm.has_pending_ask(
        unregistered_rm.has_application(queue="root.shared", user="another"), memory=18
    )

    with unregistered_rm.control("what waits for nodes is listed"):
        unregistered_rm.sees_outstanding(short_of_nodes)
    unregistered_rm.does_not_see_outstanding(beyond_the_limit)
