"""Shares that change between parts of a pass: the smaller share comes first in the next."""

import pytest
from sireference.core import scheduling_pass
from tests.driving import RM, identities, keys

QUEUES = """
partitions:
  - name: default
    placementrules: [{name: provided, create: true}]
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: first}
          - {name: second}
          - {name: fair, properties: {application.sort.policy: fair}}
"""


@pytest.fixture
def rm(monkeypatch: pytest.MonkeyPatch) -> RM:
    """Return an RM with 100 of each, whose passes serve two asks."""
    monkeypatch.setattr(scheduling_pass, "_MOST_STEPS", 2)
    rm = RM(queues=QUEUES)
    rm.creates("n1", memory=100, vcore=100)
    return rm


@pytest.mark.parametrize(
    ("queue", "other"), [("root.first", "root.second"), ("root.fair", "root.fair")]
)
def test_who_released_something_has_less(rm: RM, queue: str, other: str) -> None:
    rm.submits("a1", queue)
    rm.submits("a2", other)
    large = identities(rm.asks("large", "a2", memory=10))
    rm.asks("k1", "a1", memory=1, most=20)
    rm.asks("k2", "a2", memory=1, most=20)

    assert keys(rm.releases(large[0], "a2")) == ["k2", "k2"]


def test_who_has_a_share_of_what_there_is_has_less_when_there_is_more(rm: RM) -> None:
    rm.submits("a1", "root.first")
    rm.submits("a2", "root.second")
    rm.asks("large", "a1", vcore=20)
    rm.asks("large", "a2", memory=25)
    rm.asks("k2", "a2", memory=1, most=20)
    rm.asks("k1", "a1", vcore=1, most=20)

    assert keys(rm.creates("n2", memory=900)) == ["k2", "k2"]


def test_who_has_a_share_of_what_there_is_has_less_when_a_node_grows(rm: RM) -> None:
    rm.submits("a1", "root.fair")
    rm.submits("a2", "root.fair")
    rm.asks("large", "a1", vcore=20)
    rm.asks("large", "a2", memory=25)
    rm.asks("k2", "a2", memory=1, most=20)
    rm.asks("k1", "a1", vcore=1, most=20)

    assert keys(rm.updates("n1", memory=900, vcore=100)) == ["k2", "k2"]


def test_who_gets_a_right_to_more_has_a_smaller_share(rm: RM) -> None:
    rm.submits("a1", "root.first")
    rm.submits("a2", "root.dynamic")
    rm.asks("large", "a2", memory=20)
    rm.asks("k1", "a1", memory=1, most=20)
    rm.asks("k2", "a2", memory=1, most=20)

    right = {"namespace.resourceguaranteed": '{"resources": {"memory": {"value": 200}}}'}

    assert keys(rm.submits("a3", "root.dynamic", tags=right)) == ["k2", "k2"]
