"""Gang applications: accepted and rejected submissions."""

import pytest
from sireference.core.model import AcceptedApplication, RejectedApplication
from sireference.core.resources import Resource
from tests.driving import identities, keys
from tests.gangs import Gangs


@pytest.fixture
def rm() -> Gangs:
    return Gangs()


# requirement: SI-GANG-002
@pytest.mark.parametrize("total", [None, Resource(), Resource({"memory": 0})])
def test_without_placeholders_it_is_a_normal_application(rm: Gangs, total: Resource | None) -> None:
    rm.creates("n1", memory=1)

    assert rm.submits("a1", "root.fair", placeholder_ask=total) == [AcceptedApplication("rm", "a1")]

    assert keys(rm.asks("k1", memory=1)) == ["k1"]


# requirement: SI-GANG-003, SI-GANG-005
@pytest.mark.parametrize(
    ("queue", "limiting"), [("root.quota", "root.quota"), ("root.parent.left", "root.parent")]
)
def test_gang_above_the_quota_is_rejected(rm: Gangs, queue: str, limiting: str) -> None:
    (verdict,) = rm.submits_gang(queue=queue, memory=11)

    assert isinstance(verdict, RejectedApplication)
    assert f"more than queue '{limiting}' may ever use" in verdict.reason
    assert rm.state() == "gone"


# requirement: SI-GANG-004, SI-GANG-051
@pytest.mark.parametrize("queue", ["root.quota", "root.parent.left"])
def test_current_usage_and_node_sizes_do_not_matter(rm: Gangs, queue: str) -> None:
    rm.creates("n1", memory=8)
    rm.submits("a1", queue)
    rm.asks("k1", memory=8)

    assert rm.submits_gang(queue=queue, memory=10) == [AcceptedApplication("rm", "g1")]


def test_quota_on_another_resource_does_not_matter(rm: Gangs) -> None:
    total = Resource({"gpu": 100})

    assert rm.submits("g1", "root.quota", placeholder_ask=total) == [
        AcceptedApplication("rm", "g1")
    ]


# requirement: SI-GANG-006, SI-GANG-007, SI-GANG-008
def test_fair_queue_accepts_no_gang(rm: Gangs) -> None:
    (verdict,) = rm.submits_gang(queue="root.fair")

    assert isinstance(verdict, RejectedApplication)
    assert "accepts no gangs" in verdict.reason
    assert rm.submits("a1", "root.fair") == [AcceptedApplication("rm", "a1")]
    assert rm.submits_gang("g2", "root.fifo") == [AcceptedApplication("rm", "g2")]
    assert rm.submits_gang("g3", "root.stateaware") == [AcceptedApplication("rm", "g3")]


def test_negative_gang_size_is_rejected(rm: Gangs) -> None:
    (verdict,) = rm.submits_gang(memory=-1)

    assert isinstance(verdict, RejectedApplication)
    assert "negative: memory" in verdict.reason


# requirement: SI-APP-037, SI-APP-031, SI-APP-030
@pytest.mark.parametrize("style", ["hard", "soft"])
def test_id_of_a_finished_gang_can_be_used_again(rm: Gangs, style: str) -> None:
    placeholders = rm.has_half_a_gang(style=style)
    rm.waits(60)
    rm.confirms_timeout_of(placeholders)
    rm.waits(30)
    assert rm.state() == {"hard": "Failed", "soft": "Completed"}[style]

    assert rm.submits_gang() == [AcceptedApplication("rm", "g1")]

    assert len(identities(rm.asks_placeholder("p0"))) == 1
