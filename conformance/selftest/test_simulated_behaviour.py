"""The behaviour of the simulated scheduler, without a server: requests in, facts out."""

from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    NodeRejected,
    Released,
    Termination,
)
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
    Request,
)
from siconform.protocol.subjects import Identity, OneAllocation, OneAsk
from siconform.scheduler.behaviour import Behaviour

NODE = NodeRequest("n", Action.CREATE, {"memory": 2})
APP = ApplicationRequest("a", "root.default", "default", "somebody")


def ask(key: str, memory: int = 1, application: str = "a", priority: int = 0) -> AskRequest:
    return AskRequest(key, application, "default", {"memory": memory}, priority=priority)


def stopped(identity: str) -> ReleaseRequest:
    one = OneAllocation("a", identity, identity)
    return ReleaseRequest(one, Termination.STOPPED_BY_RM)


def after(*requests: Request, identity: Identity = Identity.KEY_OF_THE_ASK) -> Behaviour:
    behaviour = Behaviour(identity)
    behaviour.receive(requests, 0.0)
    return behaviour


def placed(behaviour: Behaviour) -> list[tuple[str, str]]:
    facts = behaviour.places(0.0)
    return [(fact.key, fact.node) for fact in facts if isinstance(fact, Allocated)]


def states(facts: list[Fact]) -> list[str]:
    return [fact.state for fact in facts if isinstance(fact, ApplicationUpdated)]


def test_higher_priority_is_placed_first_and_nothing_beyond_the_capacity() -> None:
    behaviour = after(NODE, APP, ask("low", 2), ask("high", 2, priority=1))

    assert placed(behaviour) == [("high", "n")]
    assert placed(behaviour) == []


def test_nothing_is_placed_on_the_node_of_a_barrier() -> None:
    """Before 2023-08 it is created schedulable and drained afterwards."""
    behaviour = after(NodeRequest("barrier-n", Action.CREATE, {"memory": 2}), APP, ask("k"))

    assert placed(behaviour) == []


def test_an_allocated_key_is_not_allocated_a_second_time() -> None:
    behaviour = after(NODE, APP, ask("k"))
    assert placed(behaviour) == [("k", "n")]

    behaviour.receive([ask("k")], 0.0)

    assert placed(behaviour) == []


def test_what_an_rm_sends_on_another_stream_first_is_kept() -> None:
    behaviour = after(ask("k"))
    assert placed(behaviour) == []

    facts = behaviour.receive([APP, NODE], 0.0)

    assert facts[0] == ApplicationAccepted("a")
    assert states(facts) == ["Accepted"]
    assert placed(behaviour) == [("k", "n")]


def test_nothing_is_placed_for_a_barrier_or_before_a_verdict() -> None:
    barrier = ApplicationRequest("barrier-a", "root.default", "default", "somebody")
    behaviour = after(NODE, barrier, ask("k1", application="barrier-a"))
    assert placed(behaviour) == []

    behaviour.switches.delayed = (ApplicationAccepted,)
    assert behaviour.receive([APP, ask("k2")], 0.0) == []
    assert placed(behaviour) == []
    assert behaviour.gives_held_verdicts()[0] == ApplicationAccepted("a")
    assert placed(behaviour) == [("k2", "n")]


def test_request_of_a_removed_application_is_rejected() -> None:
    behaviour = after(NODE, APP, ask("k"))
    behaviour.places(0.0)

    facts = behaviour.receive([ApplicationRemoval("a", "default"), ask("k2")], 0.0)

    assert Released(key="k", termination=Termination.STOPPED_BY_RM).matches(facts[0])
    assert AskRejected("k2", "a").matches(facts[1])


def test_refused_node_is_not_tried_again() -> None:
    behaviour = after(NODE, NodeRequest("m", Action.CREATE, {"memory": 2}), APP, ask("k"))
    tried: list[str] = []

    def consents(_key: str, node: str) -> bool:
        tried.append(node)
        return node == "m"

    facts = behaviour.places(0.0, consents)

    assert tried == ["n", "m"]
    assert Allocated(key="k", node="m").matches(facts[0])


def test_decommissioned_node_ends_its_allocations() -> None:
    behaviour = after(NODE, APP, ask("k"))
    behaviour.places(0.0)

    facts = behaviour.receive([NodeRequest("n", Action.DECOMMISSION)], 0.0)

    assert Released(key="k", termination=Termination.STOPPED_BY_RM).matches(facts[0])
    assert NodeRejected("n").matches(behaviour.receive([NodeRequest("n", Action.DRAIN)], 0.0)[0])


def test_foreign_allocations_and_updates_occupy_their_node() -> None:
    foreign = ForeignAllocationRequest("f", "n", "default", {"memory": 1})
    behaviour = after(NODE, APP, foreign, ask("k1"), ask("k2"))
    assert placed(behaviour) == [("k1", "n")]

    behaviour.receive([ReleaseRequest(OneAllocation("", "f", "f"), Termination.STOPPED_BY_RM)], 0.0)
    grown = AllocationUpdate(Allocated("k1", "a", "n", "k1", {"memory": 2}))
    behaviour.receive([grown], 0.0)
    assert placed(behaviour) == []
    behaviour.receive([stopped("k1")], 0.0)
    assert placed(behaviour) == [("k2", "n")]


def test_only_its_own_release_makes_a_confirmation() -> None:
    behaviour = after(NODE, APP, ask("k"))
    behaviour.places(0.0)
    one = OneAllocation("a", "k", "k")

    unrequested = behaviour.receive([ReleaseRequest(one, Termination.TIMEOUT)], 0.0)
    behaviour.releases(behaviour.model.live.values(), Termination.TIMEOUT)
    confirmed = behaviour.receive([ReleaseRequest(one, Termination.TIMEOUT)], 0.0)

    assert unrequested == []
    assert not any(isinstance(fact, Released) for fact in confirmed)
    assert not behaviour.model.live


def test_confirmed_release_of_a_request_is_not_answered() -> None:
    behaviour = after(APP, ask("k1"), ask("k2"))
    behaviour.releases_requests(list(behaviour.model.pending.values())[:1], Termination.TIMEOUT)
    withdrawal = AskReleaseRequest(OneAsk("a", "k1"), "default", Termination.TIMEOUT)

    confirmed = behaviour.receive([withdrawal], 0.0)
    withdrawn = behaviour.receive([AskReleaseRequest(OneAsk("a", "k2"), "default")], 0.0)

    assert confirmed == []
    assert AskReleased("k2", "a", Termination.STOPPED_BY_RM).matches(withdrawn[0])


def test_identities_are_new_where_the_scheduler_gives_them() -> None:
    behaviour = after(NODE, APP, ask("k"), identity=Identity.GIVEN_BY_THE_SCHEDULER)
    behaviour.places(0.0)
    (first,) = behaviour.model.live
    behaviour.receive([stopped(first), ask("k")], 0.0)

    behaviour.places(0.0)

    (second,) = behaviour.model.live
    assert first != second


def test_application_completes_once_nothing_was_left_for_a_while() -> None:
    behaviour = after(NODE, APP, ask("k"))
    assert states(behaviour.places(0.0)) == ["Running"]
    assert states(behaviour.receive([stopped("k")], 1.0)) == ["Completing"]
    assert behaviour.next_deadline() == 31.0
    assert states(behaviour.receive([ask("k2")], 2.0)) == []
    assert behaviour.next_deadline() is None
    behaviour.receive([AskReleaseRequest(OneAsk("a", "k2"), "default")], 3.0)

    assert states(behaviour.elapses(32.9)) == []
    assert states(behaviour.elapses(33.0)) == ["Completed"]
    assert AskRejected("k3", "a").matches(behaviour.receive([ask("k3")], 34.0)[0])
    assert behaviour.receive([APP], 35.0) == [ApplicationAccepted("a")]
