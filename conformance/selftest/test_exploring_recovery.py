"""Random histories contain nodes with existing allocations, and a third resource type."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from siconform.expecting.deadlines import Deadlines
from siconform.exploring.exploration import Budget
from siconform.exploring.model_state import ModelState
from siconform.exploring.rules import CAPACITY, RandomRM
from siconform.exploring.shard import Shard, explore_here
from siconform.protocol.handles import Application, Gang, Node
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationUpdated,
    AskRejected,
    Fact,
    NodeAccepted,
)
from siconform.protocol.requests import (
    Action,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    Request,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.transport.connection import BARRIER_PREFIX
from siconform.transport.dialects import dialect_for
from siwire import DEFAULT_REVISION

from .resource_managers import FakeConnection, rm_on
from .sample_histories import allocated, released

BRIEF = Deadlines(ack=0.05)


@pytest.mark.slow("eight histories against the reference")
@pytest.mark.parametrize(
    ("revision", "rule"),
    [
        ("2023-12", "existing_allocations_of_nodes_hold_capacity"),
        ("2024-10", "reported_allocations_hold_capacity"),
    ],
)
def test_recovery_is_explored(revision: str, rule: str) -> None:
    budget = Budget(histories=8, steps=25, seconds=60.0)

    explored = explore_here(Shard.of(3, budget, {"--revision": revision}))

    assert explored.problem == ""
    assert explored.findings == ()
    assert explored.evaluations[rule] > 0


def test_only_running_applications_have_existing_allocations() -> None:
    has = state_after(
        ApplicationAccepted("runs"),
        ApplicationAccepted("ends"),
        ApplicationUpdated("runs", "Running"),
        ApplicationUpdated("ends", "Running"),
        ApplicationUpdated("ends", "Completed"),
    )
    has.applications = [Application(name, "root") for name in ("runs", "ends", "new")]

    assert has.running_applications() == ["runs"]


def test_recovered_allocation_is_live_until_it_ends() -> None:
    existing = allocated("k", "identity", node="n")
    running, ended = state_after(), state_after(released("identity"))
    for has in (running, ended):
        has.applications = [Application(existing.application, "root")]
        has.recovers(Node("n", {"memory": 10}), [existing])

    assert running.allocations() == [existing]
    assert ended.allocations() == []


class Accepting(FakeConnection):
    """Accepts every node; every ask is that of a barrier, and rejected."""

    dialect = dialect_for(DEFAULT_REVISION)

    def __init__(self) -> None:
        super().__init__(_answer)


def _answer(request: Request) -> Sequence[Fact]:
    match request:
        case NodeRequest(node=node):
            return [NodeAccepted(node)]
        case AskRequest(key=key, application=application):
            return [AskRejected(key, application, "unknown")]
        case _:
            return []


class Maker:
    """Makes every step of one history at once."""

    def __init__(self) -> None:
        self.connection = Accepting()
        self.has = ModelState(rm_on(self.connection, BRIEF))

    def begins(self) -> ModelState:
        return self.has

    def goes_on(self, has: ModelState, step: Callable[[], None]) -> None:
        assert has is self.has
        step()

    def ends(self, has: ModelState) -> None:
        """Evaluate nothing."""

    def breaks_off(self, has: ModelState) -> None:
        """Leave everything as it is."""

    def nodes(self) -> list[NodeRequest]:
        sent = self.connection.requests
        nodes = [one for one in sent if isinstance(one, NodeRequest)]
        return [one for one in nodes if not one.node.startswith(BARRIER_PREFIX)]

    def reported(self) -> list[Allocated]:
        return [
            one.allocation
            for one in self.connection.requests
            if isinstance(one, ExistingAllocationRequest)
        ]


def rm_with(application: Application) -> RandomRM:
    maker = Maker()
    maker.has.applications = [application]
    maker.connection.receives(ApplicationAccepted(application))
    return RandomRM(maker)


def made(rm: RandomRM) -> Maker:
    return cast("Maker", rm.maker)


GANG = Gang.of("g", "root.gang", members=2, member={"memory": 3, "vcore": 1})
SMALL = {"memory": 1, "vcore": 10}


@pytest.mark.parametrize("application", [GANG, Application("a", "root")])
def test_recovered_placeholders_are_those_of_gangs(application: Application) -> None:
    rm = rm_with(application)

    rm.recovers_node(several=[(0, SMALL, True), (0, SMALL, False)], free=SMALL, draining=False)

    kinds = [(one.placeholder, one.task_group != "") for one in made(rm).reported()]
    is_gang = application is GANG
    assert kinds == [(is_gang, is_gang), (False, False)]


@pytest.mark.parametrize("draining", [False, True])
def test_recovered_node_may_come_draining(*, draining: bool) -> None:
    rm = rm_with(GANG)

    rm.recovers_node(several=[(0, SMALL, True)], free=SMALL, draining=draining)

    assert [node.action is Action.CREATE_DRAINING for node in made(rm).nodes()] == [draining]
    assert [node in rm.has.draining for node in rm.has.nodes] == [draining]


@pytest.mark.parametrize("free", [0, 2])
@pytest.mark.parametrize("used", [0, 1])
def test_recovered_node_has_even_number_of_devices(used: int, free: int) -> None:
    rm = rm_with(Application("a", "root"))

    rm.recovers_node(
        several=[(0, SMALL | {"gpu": used}, False)], free=SMALL | {"gpu": free}, draining=False
    )

    [node] = made(rm).nodes()
    assert node.capacity is not None
    assert node.capacity["gpu"] == free + 2 * used


@given(CAPACITY)
def test_nodes_have_even_numbers_of_devices(capacity: dict[str, int]) -> None:
    assert capacity.get("gpu", 0) % 2 == 0


def state_after(*received: Fact) -> ModelState:
    def observe(pattern: Fact) -> list[Fact]:
        return [fact for fact in received if pattern.matches(fact)]

    return ModelState(cast("ResourceManager", SimpleNamespace(observe=observe)))
