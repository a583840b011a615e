"""Required nodes: a request for one node waits for just that node, and no longer than needed."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from sireference.core.model import Effect, PreemptionPolicy
from sireference.core.states import NodeAction
from tests.configuring import TOP
from tests.driving import placed
from tests.keyed import Keyed

_QUEUES: Final = """\
          - name: p
            limits: [{{users: [bob], maxresources: {{memory: {limit}}}}}]
            queues:
              - {{name: q, maxapplications: {slots}, resources: {{max: {{memory: {maximum}}}}}}}
"""
_AMPLE: Final = {"slots": 2, "maximum": 99, "limit": 99}
_STAYS: Final = {"preemption_policy": PreemptionPolicy()}

Step = Callable[[Keyed], Any]


def _queues(**less: int) -> str:
    return TOP + _QUEUES.format(**_AMPLE | less)


def _holds(memory: int, node_id: str = "n1") -> Step:
    return lambda rm: rm.runs("held", node_id, "other", memory=memory, more=_STAYS)


def _sees(memory: int, node_id: str = "n1") -> Step:
    return lambda rm: rm.sees("f", node_id, memory=memory)


def _creates(rm: Keyed) -> list[Effect]:
    return rm.creates("n1", memory=4)


def _creates_draining(rm: Keyed) -> list[Effect]:
    return rm.send_node_action("n1", NodeAction.CREATE_DRAIN, {"memory": 4})


def _updates(memory: int) -> Step:
    return lambda rm: rm.updates("n1", memory=memory)


def _configures(**less: int) -> Step:
    return lambda rm: rm.reconfigures(_queues(**less))


def _ends(key: str, application_id: str = "other") -> Step:
    return lambda rm: rm.ends(key, application_id)


# what keeps the node n1, of 4, from having capacity for 4, and what ends that
_HINDRANCES: Final[dict[str, tuple[tuple[Step, ...], Step]]] = {
    "not there": ((), _creates),
    "gone": ((_creates, lambda rm: rm.decommissions("n1")), _creates),
    "drained": ((_creates, lambda rm: rm.drains("n1")), lambda rm: rm.undrains("n1")),
    "created draining": ((_creates_draining,), lambda rm: rm.undrains("n1")),
    "too small": ((_creates, _updates(3)), _updates(4)),
    "drained and full": (
        (_creates, _holds(1), lambda rm: rm.drains("n1"), _ends("held")),
        lambda rm: rm.undrains("n1"),
    ),
    "held": ((_creates, _holds(1)), _ends("held")),
    "held, then less": ((_creates, _updates(5), _holds(2)), _holds(1)),
    "held by others": ((_creates, _sees(1)), _ends("f", "")),
    "held by others, then less": ((_creates, _updates(5), _sees(2)), _sees(1)),
    "held by others that move": ((_creates, _sees(1)), _sees(1, "n2")),
    "queue full": ((_creates, _holds(6, "n2"), _configures(maximum=9)), _ends("held")),
    "low maximum": ((_creates, _holds(6, "n2"), _configures(maximum=9)), _configures(maximum=10)),
    "low limit": ((_creates, _holds(6, "n2"), _configures(limit=9)), _configures(limit=10)),
    "no slot": ((_creates, _holds(1, "n2"), _configures(slots=1)), _configures()),
    "no slot free": (
        (_creates, _holds(1, "n2"), _configures(slots=1)),
        lambda rm: rm.removes("other"),
    ),
}


# requirement: SI-CONST-003
@pytest.mark.parametrize(("hinders", "ends"), _HINDRANCES.values(), ids=_HINDRANCES)
def test_request_for_a_node_is_served_once_nothing_blocks_it(
    hinders: tuple[Step, ...], ends: Step
) -> None:
    rm = Keyed(queues=_queues())
    rm.creates("n2", memory=20)
    rm.submits("other", "root.p.q", user="bob")
    rm.submits("a1", "root.p.q", user="bob")
    for hinder in hinders:
        hinder(rm)
    assert placed(rm.wants("k1", memory=4, more={"required_node": "n1"})) == []

    assert placed(ends(rm)) == [("k1", "n1")]
