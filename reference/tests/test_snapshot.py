"""The snapshot of the core: the state of one resource manager."""

from sireference.core.model import Configured
from sireference.core.model.events import ConnectionLost
from sireference.core.snapshot import Snapshot
from tests.configuring import tree
from tests.driving import RM, identities, of_allocations

QUEUES = tree(
    "{name: small, resources: {max: {memory: 5}, guaranteed: {memory: 2}}}", "{name: other}"
)


def seen(rm: RM) -> Snapshot:
    return rm.scheduler.snapshot(rm.rm_id)


def test_snapshot_of_many_applications_is_complete_and_taken_in_chunks(rm: RM) -> None:
    few = len(list(rm.scheduler.taking_snapshot(rm.rm_id)))
    for number in range(1_000):
        rm.submits(f"a{number}")

    assert len(seen(rm).applications) == 1_000
    assert len(list(rm.scheduler.taking_snapshot(rm.rm_id))) == few + 1


def test_unknown_rm_has_no_snapshot() -> None:
    assert RM().scheduler.snapshot("stranger") == Snapshot("stranger", None)


def test_node_is_shown_with_its_usage(busy: RM) -> None:
    busy.creates("n2", occupied={"memory": 1}, memory=4)
    busy.drains("n2")
    busy.asks("k1", memory=3)

    first, second = seen(busy).nodes

    assert (first.node_id, first.partition, first.schedulable) == ("n1", "default", True)
    assert (first.capacity, first.allocated) == ({"memory": 10, "vcore": 10}, {"memory": 3})
    assert (second.node_id, second.schedulable) == ("n2", False)
    assert (second.capacity, second.occupied) == ({"memory": 4}, {"memory": 1})
    assert second.allocated == {}


def test_application_is_shown_in_its_actual_queue() -> None:
    rm = RM(queues=QUEUES)
    rm.creates("n1", memory=10)
    rm.submits("a1", "root.small")
    (made,) = identities(rm.asks("k1", memory=3))
    rm.asks("k2", memory=3)

    (application,) = seen(rm).applications

    assert (application.application_id, application.queue) == ("a1", "root.small")
    assert application.state == "Starting"
    assert application.allocated_real == {"memory": 3}
    assert application.allocated_placeholder == {}
    assert application.pending_keys == ("k2",)
    (allocation,) = application.allocations
    assert (allocation.identity, allocation.allocation_key) == (made, "k1")
    assert (allocation.node_id, allocation.resource) == ("n1", {"memory": 3})
    assert not allocation.placeholder
    assert not allocation.release_open


def test_placeholders_are_counted_separately_and_open_releases_are_shown(busy: RM) -> None:
    gang = {"task_group": "tg", "placeholder": True}
    busy.asks("ph", memory=2, more=gang)
    busy.asks("k1", memory=1, more={"task_group": "tg"})

    (application,) = seen(busy).applications

    assert application.allocated_placeholder == {"memory": 2}
    assert application.allocated_real == {}
    (held,) = application.allocations
    assert (held.task_group, held.placeholder, held.release_open) == ("tg", True, True)


def test_queues_are_shown_with_usage_parents_first() -> None:
    rm = RM(queues=QUEUES)
    rm.creates("n1", memory=10)
    rm.submits("a1", "root.small")
    (made,) = identities(rm.asks("k1", memory=3))

    root, small, other = seen(rm).queues

    assert [root.name, small.name, other.name] == ["root", "root.small", "root.other"]
    assert (root.max, root.allocated, root.running_applications) == ({}, {"memory": 3}, 1)
    assert (small.max, small.guaranteed) == ({"memory": 5}, {"memory": 2})
    assert (small.allocated, small.running_applications) == ({"memory": 3}, 1)
    assert (other.allocated, other.running_applications) == ({}, 0)

    rm.releases(made)

    assert all(queue.allocated == {} for queue in seen(rm).queues)


# requirement: SI-CONN-009
def test_paused_rm_gets_no_allocations(busy: RM) -> None:
    busy.asks("k1", memory=8, more={"execution_timeout": 5.0})
    busy.asks("k2", memory=8)
    busy.scheduler.handle(ConnectionLost("rm"), busy.now)
    busy.waits(10.0)

    release = of_allocations("a1")
    assert busy.send(releases=(release,))[0].rm_id == "rm"

    (application,) = seen(busy).applications
    assert [one.allocation_key for one in application.allocations] == ["k1"]
    assert application.pending_keys == ("k2",)


# requirement: SI-CONN-009
def test_configuration_for_a_paused_rm_leads_to_no_allocations() -> None:
    rm = RM(queues=QUEUES)
    rm.creates("n1", memory=10)
    rm.submits("a1", "root.small")
    rm.asks("k1", memory=5)
    rm.asks("k2", memory=5)
    rm.scheduler.handle(ConnectionLost("rm"), rm.now)

    sent = rm.reconfigures(QUEUES.replace("memory: 5", "memory: 50"))

    assert sent == [Configured("rm")]
    (application,) = seen(rm).applications
    assert application.pending_keys == ("k2",)


# requirement: SI-GANG-048
def test_real_and_placeholder_amounts_of_a_gang_add_up_to_the_queue(busy: RM) -> None:
    busy.asks("ph", memory=2, more={"task_group": "tg", "placeholder": True})
    busy.asks("k1", memory=3)

    (application,) = seen(busy).applications
    assert application.allocated_placeholder == {"memory": 2}
    assert application.allocated_real == {"memory": 3}
    assert [(held.placeholder, held.task_group) for held in application.allocations] == [
        (True, "tg"),
        (False, ""),
    ]
    assert [queue.allocated for queue in seen(busy).queues] == [{"memory": 5}] * 2
