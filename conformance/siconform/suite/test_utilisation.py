"""Utilisation reports and node recommendations (SI-UTIL, SI-NREC); 2021-02 only."""

import pytest

from siconform.marks import requirement
from siconform.protocol.notifications import (
    Allocated,
    AskRejected,
    NodeRecommended,
    NodeRejected,
    RegistrationWanted,
    Released,
    StreamEnded,
    UpdateKind,
)
from siconform.rm.resource_manager import ResourceManager


@requirement("SI-UTIL-001")
def test_reports_about_nodes_and_allocations_are_taken(rm: ResourceManager) -> None:
    node = rm.has_node()
    allocation = rm.has_allocation(rm.has_application())

    with rm.one_message():
        rm.reports_use(node, memory=3)
        rm.reports_use(allocation.identity, memory=1)

    rm.expect_none(
        NodeRejected(node),
        AskRejected(allocation.key),
        Released(identity=allocation.identity),
        RegistrationWanted(),
        *(StreamEnded(kind) for kind in UpdateKind),
    )
    rm.reports_use(rm.new_name("nothing"), memory=1)
    ended = rm.receive_if_any(StreamEnded(UpdateKind.NODES))
    rm.records("a report about nothing", ended, otherwise="passed over")


@requirement("SI-UTIL-002")
def test_what_is_really_used_changes_nothing_that_is_allocated(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=4, node=node)

    rm.reports_use(node, memory=10)
    rm.reports_use(allocation.identity, memory=10)
    fitting = rm.expect(Allocated(rm.asks(app, memory=6), node=node))
    for idle in (node, allocation.identity, fitting.identity):
        rm.reports_use(idle, memory=0)
    one_more = rm.asks(app, memory=1)

    rm.expect_none(Allocated(one_more))


@pytest.mark.parametrize("used", [1, 9])
@requirement("SI-NREC-001", "SI-UTIL-002")
def test_a_node_may_be_recommended_to_offer_more_or_less(rm: ResourceManager, used: int) -> None:
    node = rm.has_node(memory=10)
    allocation = rm.has_allocation(rm.has_application(), memory=4)

    rm.reports_use(node, memory=used)
    rm.reports_use(allocation.identity, memory=1)
    recommended = rm.receive_if_any(NodeRecommended())

    what = f"of 10 of memory 4 are allocated and {used} used"
    rm.records(what, recommended, otherwise="no recommendation")
    rm.expect_none(*(StreamEnded(kind) for kind in UpdateKind))


@requirement("SI-NREC-002")
def test_a_recommendation_changes_nothing_until_the_rm_follows_it(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_allocation(app, memory=4)

    rm.reports_use(node, memory=9)
    recommended = rm.receive_if_any(NodeRecommended())
    rm.presupposes_recommendation(recommended)

    rm.expect(Allocated(rm.asks(app, memory=6), node=node))
    one_more = rm.asks(app, memory=1)
    rm.expect_none(Allocated(one_more))
