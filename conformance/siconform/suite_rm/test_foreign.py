"""SI-FOR: an RM reports what others hold on its nodes."""

import pytest
from siwire.constants import ALLOC_TYPE_STATIC, FOREIGN

from siconform.expecting.checks import precondition
from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure
from siconform.protocol.requests import Amounts, ForeignAllocationRequest, ReleaseRequest
from siconform.protocol.subjects import OneAllocation
from siconform.scheduler.driven_rm import DrivenRM
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler


@requirement("SI-FOR-011")
@pytest.mark.parametrize("static", [False, True], ids=["movable", "static"])
def test_a_container_of_others_is_reported_as_a_foreign_allocation(
    rm: DrivenRM, scheduler: SimulatedScheduler, *, static: bool
) -> None:
    node = rm.adds_node()
    rm.adds_foreign_container(node, memory=4, vcore=3, static=static)

    scheduler.lets_register(rm.restarts)

    with precondition("the RM reports its node"):
        created = scheduler.expects_node(node)
    has(created.capacity, node.capacity, f"node {node}")
    foreign = scheduler.expects(Sent(ForeignAllocationRequest, node=node))
    has(foreign.resource, {"memory": 4, "vcore": 3}, str(foreign))
    marked = foreign.tags.get(FOREIGN)
    if marked is None or (marked == ALLOC_TYPE_STATIC) is not static:
        raise ConformanceFailure(
            f"{foreign} has the tags {dict(foreign.tags)}",
            expected=f"the tag {FOREIGN}, {'' if static else 'not '}{ALLOC_TYPE_STATIC}",
        )


@requirement("SI-FOR-011")
def test_a_container_of_others_is_reported_from_its_start_to_its_end(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    node = rm.adds_node()
    scheduler.awaits_node(node)

    name = rm.adds_foreign_container(node, memory=4, vcore=3)
    foreign = scheduler.expects(Sent(ForeignAllocationRequest, node=node))
    has(foreign.resource, {"memory": 4, "vcore": 3}, str(foreign))

    rm.removes_foreign_container(name)
    scheduler.expects(Sent(ReleaseRequest, subject=OneAllocation("", foreign.key)))


def has(amounts: Amounts | None, wanted: Amounts, of: str) -> None:
    """Check that these types have these amounts; there may be further types."""
    reported = amounts or {}
    if any(reported.get(name) != amount for name, amount in wanted.items()):
        raise ConformanceFailure(
            f"{of} has {dict(reported)}", expected=f"{dict(wanted)}, of these types"
        )
