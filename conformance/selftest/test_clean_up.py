"""Clean-up: the order in which a test's objects are removed, and the barriers needed."""

from collections.abc import Sequence
from typing import Any

from siconform.expecting.deadlines import Deadlines
from siconform.protocol.notifications import ApplicationAccepted, Fact, NodeAccepted
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    NodeRequest,
    Request,
)

from .resource_managers import FakeConnection, rm_on


class Barriers:
    """Barriers that are answered at once; records their streams."""

    def __init__(self) -> None:
        self.raised: list[str] = []

    def raise_on(self, kind: Any) -> None:
        self.raised.append(kind.value)


def accepts(sent: Request) -> Sequence[Fact]:
    match sent:
        case NodeRequest(action=Action.CREATE):
            return [NodeAccepted(sent.node)]
        case ApplicationRequest():
            return [ApplicationAccepted(sent.application)]
        case _:
            return []


def test_nodes_go_last_and_each_stream_is_synchronised_once() -> None:
    connection, barriers = FakeConnection(accepts), Barriers()
    rm = rm_on(connection, Deadlines(), barriers=barriers)
    first, one = rm.has_node(), rm.has_application()
    second, other = rm.has_node(), rm.has_application()
    del connection.requests[:], barriers.raised[:]

    assert rm.leaves() == []

    gone = [str(sent) for sent in connection.requests]
    assert gone == [
        *(f"removes application {name}" for name in (other, one)),
        *(f"node {name} decommission" for name in (second, first)),
    ]
    assert barriers.raised == ["applications", "nodes"]


def test_probe_clean_up_leaves_other_objects() -> None:
    connection = FakeConnection(accepts)
    rm = rm_on(connection, Deadlines(quiet=0.01, settle=0.01), barriers=Barriers())
    node, application = rm.has_node(), rm.has_application()
    with rm.aside():
        probed = rm.has_node()
    assert _gone(connection) == [f"node {probed} decommission"]
    del connection.requests[:]

    rm.leaves()

    assert _gone(connection) == [f"removes application {application}", f"node {node} decommission"]


def _gone(connection: FakeConnection) -> list[str]:
    return [
        str(sent)
        for sent in connection.requests
        if isinstance(sent, ApplicationRemoval)
        or (isinstance(sent, NodeRequest) and sent.action is Action.DECOMMISSION)
    ]
