"""Random histories contain nodes with existing allocations, and a third resource type."""

from types import SimpleNamespace
from typing import cast

import pytest
from siconform.exploring.exploration import Budget
from siconform.exploring.model_state import ModelState
from siconform.exploring.shard import Shard, explore_here
from siconform.protocol.handles import Application, Node
from siconform.protocol.notifications import (
    ApplicationAccepted,
    ApplicationUpdated,
    Fact,
)
from siconform.rm.resource_manager import ResourceManager

from .sample_histories import allocated, released


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

    explored = explore_here(Shard.of(5, budget, {"--revision": revision}))

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


def state_after(*received: Fact) -> ModelState:
    def observe(pattern: Fact) -> list[Fact]:
        return [fact for fact in received if pattern.matches(fact)]

    return ModelState(cast("ResourceManager", SimpleNamespace(observe=observe)))
