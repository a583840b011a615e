"""Shares that change during an interrupted pass: the smallest share comes first in the next."""

import pytest
from sireference.core import scheduling_pass
from tests.configuring import tree
from tests.driving import RM, identities, keys

QUEUES = tree(
    "{name: first}",
    "{name: second}",
    "{name: fair, properties: {application.sort.policy: fair}}",
    rest="    placementrules: [{name: provided, create: true}]\n",
)


@pytest.fixture
def rm(monkeypatch: pytest.MonkeyPatch) -> RM:
    """An RM with 100 of each, whose scheduler places two asks in a pass."""
    monkeypatch.setattr(scheduling_pass, "_MOST_STEPS", 2)
    rm = RM(queues=QUEUES)
    rm.creates("n1", memory=100, vcore=100)
    return rm


@pytest.mark.parametrize(
    ("queue", "other"), [("root.first", "root.second"), ("root.fair", "root.fair")]
)
def test_releasing_an_allocation_lowers_the_share(rm: RM, queue: str, other: str) -> None:
    rm.submits("a1", queue)
    rm.submits("a2", other)
    large = identities(rm.asks("large", "a2", memory=10))
    rm.asks("k1", "a1", memory=1, most=20)
    rm.asks("k2", "a2", memory=1, most=20)

    assert keys(rm.releases(large[0], "a2")) == ["k2", "k2"]


def test_new_node_lowers_a_share_of_the_total(rm: RM) -> None:
    rm.submits("a1", "root.first")
    rm.submits("a2", "root.second")
    rm.asks("large", "a1", vcore=20)
    rm.asks("large", "a2", memory=25)
    rm.asks("k2", "a2", memory=1, most=20)
    rm.asks("k1", "a1", vcore=1, most=20)

    assert keys(rm.creates("n2", memory=900)) == ["k2", "k2"]


def test_growing_node_lowers_a_share_of_the_total(rm: RM) -> None:
    rm.submits("a1", "root.fair")
    rm.submits("a2", "root.fair")
    rm.asks("large", "a1", vcore=20)
    rm.asks("large", "a2", memory=25)
    rm.asks("k2", "a2", memory=1, most=20)
    rm.asks("k1", "a1", vcore=1, most=20)

    assert keys(rm.updates("n1", memory=900, vcore=100)) == ["k2", "k2"]


def test_higher_guarantee_lowers_the_share(rm: RM) -> None:
    rm.submits("a1", "root.first")
    rm.submits("a2", "root.dynamic")
    rm.asks("large", "a2", memory=20)
    rm.asks("k1", "a1", memory=1, most=20)
    rm.asks("k2", "a2", memory=1, most=20)

    right = {"namespace.resourceguaranteed": '{"resources": {"memory": {"value": 200}}}'}

    assert keys(rm.submits("a3", "root.dynamic", tags=right)) == ["k2", "k2"]
