"""Memory growth: finished items leave nothing behind, however long others wait next to them.

Everything is counted in objects. As a control, each lifecycle also runs without waiting items.
"""

import gc
from collections import Counter, deque
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Final

import pytest
from sireference.configuration.defaults import default_configuration
from sireference.configuration.model import PartitionConfig
from sireference.core.model import (
    Callback,
    ConnectionLost,
    ForeignAllocation,
    Register,
    Settings,
    ShutDown,
)
from sireference.core.resources import Resource
from sireference.core.scheduler import Scheduler
from sireference.core.state.application import Application, AskGroup, PendingAsk
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.state.wait_queue import Bucket
from tests.driving import RM, Kind, identities, states

pytestmark = pytest.mark.usefixtures("_only_new_objects_are_collected")

WARM_UP: Final = 100
LIFECYCLES_EACH: Final = 400
FEW: Final = 50  # tolerated difference in objects after many lifecycles
KINDS: Final = (Application, AskGroup, PendingAsk, Queue, Bucket, ForeignAllocation)

QUEUES: Final = """
partitions:
  - name: default
    preemption: {{enabled: true}}
    placementrules: [{{name: provided, create: true}}]
    queues:
      - name: root
        submitacl: "*"
        properties: {{application.sort.policy: {policy}}}
        queues:
          - {{name: leaf, resources: {{max: {{memory: 50}}}}}}
          - {{name: limited, limits: [{{limit: one, users: ["*"], maxresources: {{memory: 9}}}}]}}
          - {{name: gangs}}
          - {{name: dynamic, parent: true}}
"""

Lifecycle = Callable[[RM, int], object]


def withdrawn(rm: RM, number: int) -> None:
    rm.asks(f"k{number}", memory=100)
    rm.withdraws(f"k{number}")


def replaced(rm: RM, number: int) -> None:
    rm.asks("again", memory=100, more={"tags": {"try": str(number)}})


def resized(rm: RM, number: int) -> None:
    rm.asks("again", memory=100 + number % 2)


def asked_for_by_turns(rm: RM, number: int) -> None:
    rm.asks(f"k{number}", memory=200 + number)
    rm.withdraws(f"k{number}")


def removed(rm: RM, number: int) -> None:
    rm.submits(f"b{number}", "root.leaf")
    rm.asks("k", f"b{number}", memory=100)
    rm.removes(f"b{number}")


def removed_after_a_release(rm: RM, number: int) -> None:
    """Release something, which lowers the share and reorders the waiting applications."""
    rm.submits(f"b{number}", "root.leaf")
    rm.asks("large", f"b{number}", memory=100)
    for identity in identities(rm.asks("small", f"b{number}", memory=1)):
        rm.releases(identity, f"b{number}")
    rm.removes(f"b{number}")


def gathered_in_vain(rm: RM, number: int) -> None:
    rm.submits(f"g{number}", "root.gangs", placeholder_ask=Resource({"memory": 200}))
    of_group = {"task_group": "tg", "placeholder": True}
    rm.asks("p", f"g{number}", memory=100, most=2, more=of_group)
    rm.asks("m", f"g{number}", memory=100, more={"task_group": "tg"})
    rm.removes(f"g{number}")


def queued_on_its_own(rm: RM, number: int) -> None:
    rm.submits(f"b{number}", f"root.dynamic.q{number}")
    rm.asks("k", f"b{number}", memory=100)
    rm.removes(f"b{number}")
    rm.waits(rm.scheduler.settings.empty_queue_timeout)


def counted() -> Counter[str]:
    """Return how many objects of these kinds exist, by name."""
    gc.collect()
    return Counter(type(one).__name__ for one in gc.get_objects() if type(one) in KINDS)


def left_to_the_collector(do: Callable[[], object]) -> int:
    """Return how many objects only the cycle collector frees afterwards."""
    gc.collect()
    gc.disable()
    try:
        do()
        return gc.collect()
    finally:
        gc.enable()


def grown(rm: Kind, lifecycle: Callable[[Kind, int], object]) -> Counter[str]:
    """Return the kinds with more objects after many lifecycles than after a few, and the excess."""
    for number in range(WARM_UP):
        lifecycle(rm, number)
    before = counted()
    for number in range(WARM_UP, WARM_UP + LIFECYCLES_EACH):
        lifecycle(rm, number)
    more = counted() - before
    return Counter({name: by for name, by in more.items() if by > FEW})


def nothing_waits(_: RM) -> None:
    """Set up nothing that waits."""


def others_wait(rm: RM) -> None:
    """Add, in every queue, an earlier ask of each shape used by the lifecycles."""
    rm.asks("waits", memory=100)
    rm.submits("first", "root.leaf")
    rm.asks("waits", "first", memory=100)
    of_group = {"task_group": "tg", "placeholder": True}
    for gang in ("first-gang", "second-gang"):
        rm.submits(gang, "root.gangs", placeholder_ask=Resource({"memory": 200}))
        rm.asks("waits", gang, memory=100, most=2, more=of_group)
        rm.asks("member", gang, memory=100, more={"task_group": "tg"})


LIFECYCLES: Final = (
    withdrawn,
    replaced,
    resized,
    asked_for_by_turns,
    removed,
    removed_after_a_release,
    gathered_in_vain,
    queued_on_its_own,
)


@pytest.mark.parametrize("background", [nothing_waits, others_wait])
@pytest.mark.parametrize("policy", ["fifo", "fair", "stateaware"])
@pytest.mark.parametrize("lifecycle", LIFECYCLES)
def test_short_lifecycles_leave_nothing_behind(
    lifecycle: Lifecycle, policy: str, background: Callable[[RM], None]
) -> None:
    rm = RM(queues=QUEUES.format(policy=policy))
    rm.creates("n1", memory=60)
    rm.submits("a1", "root.leaf")
    background(rm)

    assert grown(rm, lifecycle) == {}


@pytest.mark.parametrize("lifecycle", [withdrawn, asked_for_by_turns, removed, queued_on_its_own])
def test_short_lifecycles_leave_nothing_behind_while_a_question_is_open(
    lifecycle: Lifecycle,
) -> None:
    rm = RM(queues=QUEUES.format(policy="fifo"))
    rm.creates("n1", memory=60)
    rm.submits("a1", "root.leaf")
    rm.offers(Callback.PREDICATES)
    rm.asks("questionable", memory=1)

    assert grown(rm, lifecycle) == {}


@pytest.mark.parametrize("queue", ["root.limited", "root.leaf", "root.dynamic.own"])
def test_removed_application_is_freed_without_cycle_collection(queue: str) -> None:
    rm = RM(queues=QUEUES.format(policy="fair"))
    rm.creates("n1", memory=60)

    def lifecycles(count: int = FEW) -> None:
        for number in range(count):
            rm.submits(f"b{number}", queue, user=f"user{number}")
            rm.asks("large", f"b{number}", memory=100)
            rm.asks("small", f"b{number}", memory=1)
            rm.removes(f"b{number}")
            rm.waits(rm.scheduler.settings.empty_queue_timeout)

    lifecycles(1)

    assert left_to_the_collector(lifecycles) < FEW


def test_asks_withdrawn_at_once_leave_nothing_behind_waiting_ones(rm: RM) -> None:
    rm.submits("a1")
    rm.asks("waits", memory=100)
    for number in range(LIFECYCLES_EACH):
        rm.asks(f"k{number}", memory=100)
    before = counted()["PendingAsk"]

    for number in range(LIFECYCLES_EACH):
        rm.withdraws(f"k{number}")

    assert before - counted()["PendingAsk"] > LIFECYCLES_EACH - FEW


def reachable(thing: object) -> Iterator[object]:
    """Return all objects that ``thing`` keeps alive, without classes, modules and the like."""
    seen, found = {id(thing)}, deque([thing])
    while found:
        one = found.popleft()
        yield one
        for other in gc.get_referents(one):
            is_code = isinstance(other, type | ModuleType)
            if isinstance(one, FunctionType) and other is one.__globals__:
                continue
            if not is_code and id(other) not in seen:
                seen.add(id(other))
                found.append(other)


def holds_its_registration(rm: ResourceManager) -> Counter[str]:
    """Return the objects of a registration, by kind."""
    kinds = (*KINDS, PartitionConfig, Partition, MethodType)
    return Counter(type(one).__name__ for one in reachable(rm) if type(one) in kinds)


def test_rm_that_shut_down_keeps_nothing_of_its_registration() -> None:
    scheduler = Scheduler()
    extra = {"key": "value"}
    register = Register("rm", default_configuration(), extra_config=extra, version="1")
    scheduler.handle(register, 0.0)
    rm = RM(scheduler=scheduler)
    rm.offers(*Callback)
    rm.creates("n1", memory=10)
    rm.submits("a1")
    rm.asks("questionable", memory=1)
    known = scheduler.rms.known("rm")
    assert known is not None
    assert holds_its_registration(known).keys() >= {"PartitionConfig", "Partition", "PendingAsk"}

    scheduler.handle(ShutDown("rm"), rm.now)

    assert holds_its_registration(known) == {}
    assert scheduler.snapshot("rm").state is known.state


def gives_up_all(rm: RM) -> None:
    rm.scheduler.handle(ShutDown("rm"), rm.now)


def registers_again(rm: RM) -> None:
    rm.registers(QUEUES.format(policy="fair"))


def is_lost_for_good(rm: RM) -> None:
    rm.scheduler.handle(ConnectionLost("rm"), rm.now)
    rm.waits(rm.scheduler.settings.connection_loss_timeout)


@pytest.mark.parametrize("end", [gives_up_all, registers_again, is_lost_for_good])
@pytest.mark.parametrize("offered", [(), tuple(Callback)])
def test_replaced_registration_is_freed_without_cycle_collection(
    offered: tuple[Callback, ...], end: Callable[[RM], None]
) -> None:
    rm = RM(queues=QUEUES.format(policy="fair"))

    def registration() -> None:
        rm.registers(QUEUES.format(policy="fair"))
        lifecycles_of_all_kinds(rm, offered)
        end(rm)

    assert left_to_the_collector(registration) < FEW


SECOND: Final = """
  - name: second
    queues: [{name: root, submitacl: "*", queues: [{name: leaf}]}]
"""


def test_items_ended_by_a_configuration_are_freed_without_cycle_collection() -> None:
    of_old, of_new = QUEUES.format(policy="fair"), QUEUES.format(policy="fifo")
    rm = RM(queues=of_old)
    lifecycles_of_all_kinds(rm, ())

    def updates() -> None:
        for _ in range(FEW):  # new limits for every user, and a partition that comes and goes
            rm.reconfigures(of_new + SECOND)
            rm.reconfigures(of_old)

    assert left_to_the_collector(updates) < FEW


def lifecycles_of_all_kinds(rm: RM, offered: tuple[Callback, ...]) -> None:
    """Many items: with allocations, waiting, being released, finished."""
    for number in range(FEW):
        rm.creates(f"n{number}", memory=60)
    rm.submits("a1", "root.leaf")
    others_wait(rm)
    for number in range(FEW):
        name = f"b{number}"
        rm.submits(name, f"root.dynamic.{name}", user=name)
        rm.submits(f"c{number}", "root.limited", user=name, execution_timeout=9.0)
        rm.submits(f"g{number}", "root.dynamic.gangs")
        rm.asks("large", name, memory=100)
        rm.asks("small", name, memory=1, more={"execution_timeout": 9.0})
        rm.asks("small", f"c{number}", memory=1)
        rm.asks("large", f"c{number}", memory=20)
        rm.asks("p", f"g{number}", memory=1, more={"task_group": "tg", "placeholder": True})
        rm.asks("m", f"g{number}", memory=1, more={"task_group": "tg"})
        rm.asks("urgent", name, memory=60, more={"priority": 9, "required_node": "n1"})
        finishes(rm, number)
        if number == FEW // 2:
            rm.offers(*offered)


def finishes(rm: RM, number: int) -> list[str]:
    """An application that completes after waiting; returns the states reported."""
    application_id = f"f{number}"
    rm.submits(application_id, "root.dynamic.finishes")
    for identity in identities(rm.asks("k", application_id, memory=1)):
        rm.releases(identity, application_id)
    return states(rm.waits(rm.scheduler.settings.completing_timeout))


def test_number_of_remembered_finished_applications_is_bounded() -> None:
    rm = RM(queues=QUEUES.format(policy="fifo"), settings=Settings(max_finished=3))
    rm.creates("n1", memory=10)

    received = [finishes(rm, number) for number in range(5)]

    known = rm.scheduler.rms.known("rm")
    assert known is not None
    assert list(known.partitions["default"].finished) == ["f2", "f3", "f4"]
    assert received == [["Completed"]] * 3 + [["Completed", "Expired"]] * 2
