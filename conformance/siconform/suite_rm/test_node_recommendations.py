"""SI-NREC: an RM may follow the recommendations for its nodes, or ignore them."""

from siconform.marks import requirement
from siconform.protocol.requests import Action, NodeRequest
from siconform.scheduler.driven_rm import DrivenRM
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler


@requirement("SI-NREC-001")
def test_a_recommendation_may_be_followed_or_ignored(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    node = rm.adds_node(memory=10)
    scheduler.awaits_node(node)

    scheduler.recommends({"memory": 12})

    scheduler.expects_none()  # what was decided has come
    updates: list[NodeRequest] = scheduler.observed(
        Sent(NodeRequest, node=node, action=Action.UPDATE)
    )
    scheduler.records(
        f"a recommendation is followed: {updates[-1]}" if updates else "a recommendation is ignored"
    )
    app = rm.submits()
    rm.expects(lambda view: bool(view.started(app)), f"the container of {app} starts")
    scheduler.stays_connected()
