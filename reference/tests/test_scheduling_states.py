"""Scheduling states: what an RM receives about waiting asks, each change once."""

from collections.abc import Iterable, Iterator

import pytest
from sireference.core.model import Callback, ContainerState, Effect, SchedulingState
from sireference.core.state.application import AskGroup, PendingAsk
from tests.asked import Asked, questions
from tests.configuring import tree
from tests.driving import identities, keys, of
from tests.gangs import Gangs
from tests.preempting import ALLOWED, Preempting, preempted

FAILED, SKIPPED = SchedulingState.FAILED, SchedulingState.SKIPPED
RESERVED, SCHEDULED = SchedulingState.RESERVED, SchedulingState.SCHEDULED
STATES = Callback.CONTAINER_STATE
SMALL = tree(
    "{name: default}",
    "{name: small, resources: {max: {memory: 4}}}",
    "{name: single, maxapplications: 1}",
    "{name: stateaware, properties: {application.sort.policy: stateaware}}",
)


def received(effects: Iterable[Effect]) -> list[tuple[str, SchedulingState]]:
    """Return key and state of what was reported, in order."""
    return [(state.key, state.state) for state in of(effects, ContainerState)]


@pytest.fixture
def rm() -> Asked:
    return Asked(STATES, queues=SMALL)


# requirement: SI-CB-009
def test_ask_that_fits_nowhere_has_failed(rm: Asked) -> None:
    effects = rm.asks("k1", memory=50)

    (state,) = of(effects, ContainerState)
    assert (state.rm_id, state.application_id, state.key) == ("rm", "a1", "k1")
    assert state.state is FAILED
    assert "no suitable node" in state.reason


# requirement: SI-CB-009
@pytest.mark.parametrize("queue", ["root.small", "root.single", "root.stateaware"])
def test_ask_blocked_before_node_selection_is_skipped(rm: Asked, queue: str) -> None:
    for application_id in ("a2", "a3"):
        rm.submits(application_id, queue)
    assert received(rm.asks("k1", "a2", memory=4)) == []

    (state,) = of(rm.asks("k2", "a3", memory=4), ContainerState)

    assert (state.application_id, state.key, state.state) == ("a3", "k2", SKIPPED)
    assert state.reason


def test_ask_served_at_once_has_no_state(rm: Asked) -> None:
    effects = rm.asks("k1", memory=3)

    assert (keys(effects), received(effects)) == (["k1"], [])


def test_rm_without_the_callback_receives_no_states() -> None:
    rm = Asked(Callback.EVENTS)

    assert received(rm.asks("k1", memory=50)) == []


# requirement: SI-CB-009
def test_ask_that_had_to_wait_is_scheduled_in_the_end(rm: Asked) -> None:
    rm.asks("k1", memory=12)

    effects = rm.creates("n3", memory=12)

    assert (keys(effects), received(effects)) == (["k1"], [("k1", SCHEDULED)])


def test_ask_for_several_is_scheduled_with_the_last_one(rm: Asked) -> None:
    assert received(rm.asks("k1", memory=6, most=4)) == [("k1", FAILED)]

    one_more = rm.creates("n3", memory=6)
    last = rm.creates("n4", memory=6)

    assert (keys(one_more), received(one_more)) == (["k1"], [])
    assert (keys(last), received(last)) == (["k1"], [("k1", SCHEDULED)])


def test_withdrawn_ask_has_no_further_state(rm: Asked) -> None:
    rm.asks("k1", memory=50)

    assert received(rm.withdraws("k1")) == []


def test_unchanged_state_is_reported_once(rm: Asked) -> None:
    rm.asks("k1", memory=50)

    again = rm.creates("n3", memory=5) + rm.asks("k1", memory=51) + rm.waits(100)

    assert received(again) == []


def test_changed_state_is_reported(rm: Asked) -> None:
    rm.submits("a2", "root.small")
    (running,) = identities(rm.asks("k0", "a2", memory=4))
    rm.drains("n1")
    rm.drains("n2")
    assert received(rm.asks("k1", "a2", memory=4)) == [("k1", SKIPPED)]

    effects = rm.releases(running, "a2")

    assert received(effects) == [("k1", FAILED)]


def test_all_waiting_asks_are_reported(rm: Asked) -> None:
    assert received(rm.asks("k1", memory=9)) == []
    assert received(rm.asks("k2", memory=9)) == []

    first = rm.asks("k3", memory=9)
    later = rm.asks("k4", memory=9) + rm.asks("k5", memory=9)
    served = rm.creates("n3", memory=9)

    assert received(first) == [("k3", FAILED)]
    assert received(later) == [("k4", FAILED), ("k5", FAILED)]
    assert received(served) == [("k3", SCHEDULED)], "nothing is new for the others"


def test_ask_refused_on_all_nodes_has_failed() -> None:
    rm = Asked(STATES, Callback.PREDICATES)

    effects, _ = rm.answers_all(rm.asks("k1", memory=3), lambda _: False)

    assert received(effects) == [("k1", FAILED)]
    again, both = rm.answers_all(rm.waits(1.0), lambda _: False)
    assert (len(both), received(again)) == (2, []), "it was asked about, with the same end"


def test_ask_added_during_a_pass_is_reported_like_the_others() -> None:
    rm = Asked(STATES, Callback.PREDICATES)
    rm.answers_all(rm.asks("k1", memory=9) + rm.asks("k2", memory=9))
    waiting = rm.asks("k3", memory=9) + rm.asks("k4", memory=9)
    (question,) = questions(rm.creates("n3", memory=9))

    joined = rm.asks("k5", memory=9)
    agreed = rm.answers(question.number)

    assert received(waiting) == [("k3", FAILED), ("k4", FAILED)]
    assert received(joined) == []
    assert received(agreed) == [("k3", SCHEDULED), ("k5", FAILED)]


# requirement: SI-CB-009
def test_ask_is_reserved_while_its_victims_end() -> None:
    rm = Preempting()
    rm.offers(STATES)
    rm.creates("n1", memory=10)
    rm.takes("v1", most=10)

    waiting = rm.asks("k1", memory=1, more={"preemption_policy": ALLOWED})
    begun = rm.waits(10.0)
    (victim,) = preempted(begun)
    ended = rm.confirms(victim)

    assert (received(waiting), received(begun)) == ([("k1", FAILED)], [("k1", RESERVED)])
    assert (keys(ended), received(ended)) == (["k1"], [("k1", SCHEDULED)])


# requirement: SI-CB-009
def test_member_is_reserved_while_its_placeholder_ends() -> None:
    rm = Gangs()
    rm.offers(STATES)
    rm.creates("n1", memory=10)
    placeholder = rm.has_gang()[0]

    begun = rm.asks_member("k1")
    ended = rm.confirms(placeholder)

    assert (received(begun), received(ended)) == ([("k1", RESERVED)], [("k1", SCHEDULED)])


def test_gang_waits_for_capacity_and_its_members_for_the_gang() -> None:
    rm = Gangs()
    rm.offers(STATES)
    rm.creates("n1", memory=10)
    rm.submits("a1", "root.quota")
    rm.asks("k0", memory=8)
    rm.submits_gang(queue="root.quota")

    effects = rm.asks_placeholder("p1") + rm.asks_member("k1")

    assert received(effects) == [("p1", SKIPPED), ("k1", SKIPPED)]
    assert len({state.reason for state in of(effects, ContainerState)}) == 2


@pytest.fixture
def reserved() -> Preempting:
    """An RM whose ask k1 waits for victims on n1."""
    rm = Preempting()
    rm.offers(STATES)
    rm.creates("n1", memory=10)
    rm.takes("v1", most=10)
    rm.claims("k1", most=2)
    return rm


def test_failed_preemption_leaves_the_ask_waiting(reserved: Preempting) -> None:
    assert received(reserved.decommissions("n1")) == [("k1", FAILED)]


def test_withdrawn_ask_that_was_reserved_has_no_state(reserved: Preempting) -> None:
    assert received(reserved.withdraws("k1")) == []


def test_new_listener_receives_the_current_states(rm: Asked) -> None:
    rm.asks("k1", memory=50)
    rm.asks("k2", memory=50)

    assert received(rm.offers(STATES)) == [("k1", FAILED), ("k2", FAILED)]
    assert received(rm.offers()) == []
    assert received(rm.asks("k3", memory=50)) == []


def test_long_lines_are_not_scanned_without_changes(
    rm: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        rm.asks(f"k{number}", memory=9)
    looks: list[AskGroup] = []
    everybody = AskGroup.__iter__

    def counted(group: AskGroup) -> Iterator[PendingAsk]:
        looks.append(group)
        return everybody(group)

    monkeypatch.setattr(AskGroup, "__iter__", counted)

    rm.asks("k3", memory=9)
    rm.creates("n3", memory=9)

    assert looks == []
