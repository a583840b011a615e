"""Registration: first after a start, a restart and a loss; complete reports."""

import pytest
from rm_tests.driving import Driven, of, reported, requested, updates
from sirm.core import model as m


# requirement: SI-REG-011
def test_nothing_is_sent_before_the_registration_is_answered() -> None:
    rm = Driven()

    before = rm.handles(m.AddNode("n1", {"memory": 1})) + rm.handles(m.Started())
    after = rm.handles(m.Registered())

    assert (before, [type(one) for one in updates(after)]) == ([m.Register()], [m.ReportNode])


# requirement: SI-CONN-013
def test_an_aborted_stream_makes_the_rm_register_again(rm: Driven) -> None:
    lost = rm.handles(m.ConnectionLost("aborted"))

    assert m.Disconnect() in lost
    assert rm.passes(0.1) == [m.Register()]


# requirement: SI-CONN-011
def test_resync_makes_the_rm_stop_and_register_again(rm: Driven) -> None:
    rm.has_node()

    asked = rm.handles(m.ResyncRequested())
    again = rm.passes(0.1)

    assert (m.Disconnect() in asked, again) == (True, [m.Register()])
    assert of(rm.handles(m.Registered()), m.ReportNode)[0].node_id == "n1"


def test_further_ends_of_the_same_connection_change_nothing(rm: Driven) -> None:
    rm.handles(m.ConnectionLost("the first stream"))

    assert rm.handles(m.ConnectionLost("the second stream")) == []


def test_delays_double_and_the_rm_gives_up() -> None:
    rm = Driven(attempts=4, first_delay=1.0, longest_delay=3.0)
    rm.handles(m.Started())
    delays = []
    for _ in range(3):
        rm.handles(m.ConnectionLost("refused"))
        delays.append((rm.rm.next_deadline() or 0) - rm.now)
        rm.passes(delays[-1])

    rm.handles(m.ConnectionLost("refused"))

    assert (delays, rm.rm.has_given_up, rm.rm.next_deadline()) == ([1.0, 2.0, 3.0], True, None)


def test_an_answer_of_the_scheduler_resets_the_delay() -> None:
    rm = Driven(first_delay=1.0)
    rm.registers()
    rm.handles(m.ConnectionLost("aborted"))
    rm.passes(1.0)
    rm.handles(m.Registered(), m.UpdatedApplication("a9", "Running"))

    rm.handles(m.ConnectionLost("aborted"))

    assert (rm.rm.next_deadline() or 0) - rm.now == 1.0


# requirement: SI-REG-009
@pytest.mark.parametrize("is_restart", [True, False])
def test_everything_is_reported_after_a_registration(rm: Driven, is_restart: bool) -> None:  # noqa: FBT001  # a parameter
    running = rm.runs("a1", containers=2)
    rm.submits("a2", m.Group({"memory": 1}))
    waiting = requested(rm.accepts("a2"))

    if is_restart:
        first = rm.restarts()
    else:
        rm.handles(m.ConnectionLost("cut"))
        rm.passes(0.1)
        first = rm.handles(m.Registered())
    then = rm.handles(
        m.AcceptedNode("n1"), m.AcceptedApplication("a1"), m.AcceptedApplication("a2")
    )

    assert [one.node_id for one in of(first, m.ReportNode)] == ["n1"]
    assert [one.application_id for one in of(first, m.AddApplication)] == ["a1", "a2"]
    assert (reported(then), requested(then)) == (running, waiting)


# requirement: SI-REC-005, SI-REC-024
def test_an_existing_allocation_waits_for_both_verdicts(rm: Driven) -> None:
    (key,) = rm.runs("a1")

    effects = [rm.restarts(), rm.accepts("a1"), rm.handles(m.AcceptedNode("n1"))]

    assert [reported(one) for one in effects] == [[], [], [key]]


# requirement: SI-REC-009
def test_nothing_is_requested_before_the_running_containers_are_reported(rm: Driven) -> None:
    rm.runs("a1")
    rm.submits("a2", m.Group({"memory": 1}))
    rm.restarts()

    early = rm.handles(m.AcceptedApplication("a1"), m.AcceptedApplication("a2"))
    late = rm.handles(m.AcceptedNode("n1"))

    assert (requested(early), len(requested(late))) == ([], 1)
    kinds = [type(one) for one in updates(late)]
    assert kinds == [m.ReportAllocation, m.RequestAllocation]


def test_a_rejected_node_does_not_hold_back_requests(rm: Driven) -> None:
    rm.runs("a1")
    rm.submits("a2", m.Group({"memory": 1}))
    rm.restarts()
    rm.handles(m.AcceptedApplication("a1"), m.AcceptedApplication("a2"))

    effects = rm.handles(m.RejectedNode("n1", "no"))

    assert (reported(effects), len(requested(effects))) == ([], 1)


# requirement: SI-REC-018
def test_an_existing_allocation_repeats_the_fields_of_the_original(rm: Driven) -> None:
    rm.has_node()
    group = m.Group({"memory": 3}, priority=7, labels={"app": "web"})
    rm.submits("a1", group)
    (original,) = of(rm.accepts("a1"), m.RequestAllocation)
    rm.allocates(original.container.key)

    rm.restarts()
    (existing,) = of(
        rm.handles(m.AcceptedNode("n1"), m.AcceptedApplication("a1")), m.ReportAllocation
    )

    assert existing.container == original.container
    assert (existing.node_id, existing.identity) == ("n1", f"id of {original.container.key}")
    assert (original.container.priority, original.container.originator) == (7, True)


# requirement: SI-REC-005
def test_up_to_2023_04_a_node_waits_for_the_applications_of_its_containers() -> None:
    rm = Driven(m.Rules(create_draining=False, allocations_with_node=True))
    rm.registers()
    (key,) = rm.runs("a1")
    first = rm.restarts()

    then = of(rm.accepts("a1"), m.ReportNode)

    assert of(first, m.ReportNode) == []
    assert [[one.container.key for one in node.allocations] for node in then] == [[key]]
    assert reported(rm.handles(m.AcceptedNode("n1"))) == []
