"""Preemption predicates: the RM chooses the victims before any is released."""

from collections.abc import Iterable

import pytest
from sireference.core.model import (
    Answered,
    Callback,
    Effect,
    PredicatesQuestion,
    PreemptionQuestion,
    RecordType,
    SentEvents,
)
from tests.driving import keys, of, placed, released
from tests.preempting import ALLOWED, Preempting, preempted

CHECKS = Callback.PREEMPTION_PREDICATES


class Consulted(Preempting):
    """One node of 10; t1 uses it with allocations of 1 under the keys v0 to v9."""

    def __init__(self, *callbacks: Callback, entitled: str = "", memory: int = 10) -> None:
        super().__init__(entitled=entitled)
        self.offers(*callbacks or (CHECKS,))
        self.creates("n1", memory=memory)
        self.victims = {}
        for number in range(10):
            (self.victims[f"v{number}"],) = self.takes(f"v{number}")

    def answers(
        self,
        question: PreemptionQuestion | PredicatesQuestion,
        index: int = -1,
        *,
        fits: bool = True,
    ) -> list[Effect]:
        sent = Answered(self.rm_id, question.number, fits, "", index)
        return self.scheduler.handle(sent, self.now)

    def named(self, *names: str) -> list[str]:
        return [self.victims[name] for name in names]


def question_in(effects: Iterable[Effect]) -> PreemptionQuestion:
    """Return the only question about victims."""
    (question,) = of(effects, PreemptionQuestion)
    return question


def no_question_in(effects: Iterable[Effect]) -> bool:
    return of(effects, PreemptionQuestion) == []


@pytest.fixture
def rm() -> Consulted:
    return Consulted()


# requirement: SI-CB-005
def test_rm_is_asked_with_the_victims_in_order(rm: Consulted) -> None:
    effects = rm.claims("k1", memory=2)

    question = question_in(effects)

    assert (question.key, question.node_id) == ("k1", "n1")
    assert question.victims == ("v9", "v8", "v7", "v6", "v5", "v4", "v3"), "three are guaranteed"
    assert question.start_index == 1, "the first two give back enough"
    assert preempted(effects) == []


# requirement: SI-CB-005
def test_rm_is_asked_about_a_required_node_too(rm: Consulted) -> None:
    effects = rm.claims("k1", "t1", memory=2, policy=None, required_node="n1")
    assert no_question_in(effects), "an application has no victims of its own"

    question = question_in(rm.claims("k2", memory=2, policy=None, required_node="n1"))

    assert question.victims == ("v9", "v8", "v7", "v6", "v5", "v4", "v3", "v2", "v1", "v0")
    assert question.start_index == 1
    assert preempted(rm.answers(question, 1)) == rm.named("v9", "v8")


# requirement: SI-CB-007
@pytest.mark.parametrize("index", [1, 2, 6])
def test_exactly_the_victims_named_by_the_rm_go(rm: Consulted, index: int) -> None:
    question = question_in(rm.claims("k1", memory=2))

    effects = rm.answers(question, index)

    assert preempted(effects) == rm.named(*question.victims[: index + 1])
    assert preempted(rm.waits(100)) == []


# requirement: SI-CB-007
@pytest.mark.parametrize(
    ("fits", "index"),
    [(False, 1), (False, 6), (True, -1), (True, -7), (True, 0), (True, 7), (True, 2**31 - 1)],
    ids=["no", "no, with an index", "none", "below none", "too few", "not listed", "most"],
)
def test_no_preemption_without_consent(rm: Consulted, fits: bool, index: int) -> None:  # noqa: FBT001  # an answer
    question = question_in(rm.claims("k1", memory=2))

    effects = rm.answers(question, index, fits=fits) + rm.waits(0.9)

    assert (preempted(effects), no_question_in(effects)) == ([], True)


def test_refusal_is_retried_with_growing_delay(rm: Consulted) -> None:
    rm.answers(question_in(rm.claims("k1", memory=2)), fits=False)

    again = question_in(rm.waits(1.0))
    rm.answers(again, fits=False)
    soon = rm.waits(1.9)
    last = question_in(rm.waits(0.1))

    assert no_question_in(soon)
    assert preempted(rm.answers(last, 1)) == rm.named("v9", "v8")


def test_another_node_is_asked_about_after_a_refusal() -> None:
    rm = Consulted()
    rm.creates("n2", memory=2)
    others = rm.takes("w1") + rm.takes("w2")
    first = question_in(rm.claims("k1", memory=2))

    second = question_in(rm.answers(first, fits=False))

    assert {first.node_id, second.node_id} == {"n1", "n2"}
    on_n2 = rm.answers(second, second.start_index)
    assert sorted(preempted(on_n2)) == sorted(
        others if second.node_id == "n2" else rm.named("v9", "v8")
    )


def test_one_question_is_open_at_a_time(rm: Consulted) -> None:
    first = question_in(rm.claims("k1"))
    second = rm.claims("k2")
    assert no_question_in(second + rm.waits(100))

    effects = rm.answers(first, 0)

    assert preempted(effects) == rm.named("v9")
    later = question_in(effects)
    assert (later.key, later.victims[0]) == ("k2", "v8"), "v9 is on its way out"


def test_no_preemption_while_another_question_is_open() -> None:
    rm = Consulted(memory=11)
    rm.offers(CHECKS, Callback.PREDICATES)
    (question,) = of(rm.asks("k0", "t1", memory=1), PredicatesQuestion)

    assert no_question_in(rm.claims("k1", memory=2))
    assert question_in(rm.answers(question)).key == "k1"


# requirement: SI-CB-007
def test_ask_is_served_when_all_named_victims_have_ended(rm: Consulted) -> None:
    gone = preempted(rm.answers(question_in(rm.claims("k1", memory=2)), 2))

    early = [effect for identity in gone[:2] for effect in rm.confirms(identity)]
    assert keys(early) == [], "there is capacity, but not enough for the RM"
    assert placed(rm.confirms(gone[2])) == [("k1", "n1")]


def test_placement_predicate_is_asked_again_before_the_allocation() -> None:
    rm = Consulted(CHECKS)
    rm.offers(CHECKS, Callback.PREDICATES)
    (gone,) = preempted(rm.answers(question_in(rm.claims("k1")), 0))

    effects = rm.confirms(gone)

    (question,) = of(effects, PredicatesQuestion)
    assert (question.node_id, question.allocate) == ("n1", True)
    assert placed(rm.answers(question)) == [("k1", "n1")]


# requirement: SI-CB-004
def test_rm_without_preemption_predicates_is_not_asked() -> None:
    rm = Consulted(Callback.EVENTS)

    effects = rm.claims("k1")

    assert (no_question_in(effects), preempted(effects)) == (True, rm.named("v9"))


# requirement: SI-CB-004
def test_withdrawing_the_callback_consents_to_the_necessary_victims(rm: Consulted) -> None:
    question = question_in(rm.claims("k1", memory=2))

    effects = rm.offers()

    assert preempted(effects) == rm.named("v9", "v8")
    assert preempted(rm.answers(question, 5)) == []


# requirement: SI-CB-001
def test_next_callback_stream_gets_open_questions_again(rm: Consulted) -> None:
    first = question_in(rm.claims("k1", memory=2))

    second = question_in(rm.offers(CHECKS))

    assert (second.victims, second.start_index) == (first.victims, first.start_index)
    assert rm.answers(first, 1) == []
    assert preempted(rm.answers(second, 1)) == rm.named("v9", "v8")


def test_ask_withdrawn_meanwhile_preempts_nothing(rm: Consulted) -> None:
    question = question_in(rm.claims("k1"))
    rm.withdraws("k1")

    assert preempted(rm.answers(question, 0) + rm.waits(100)) == []


def test_ask_replaced_meanwhile_is_asked_about_again(rm: Consulted) -> None:
    first = question_in(rm.claims("k1"))
    rm.claims("k1", memory=2)

    second = question_in(rm.answers(first, 0))

    assert (second.key, second.start_index) == ("k1", 1)


def test_capacity_freed_meanwhile_is_used(rm: Consulted) -> None:
    question = question_in(rm.claims("k1"))
    rm.releases(rm.victims["v0"], "t1")

    effects = rm.answers(question, 0)

    assert (preempted(effects), placed(effects)) == ([], [("k1", "n1")])


def test_victim_that_ended_meanwhile_is_not_released(rm: Consulted) -> None:
    question = question_in(rm.claims("k1", memory=3))
    rm.releases(rm.victims["v9"], "t1")

    effects = rm.answers(question, 2)

    assert preempted(effects) == rm.named("v8", "v7")


def test_victim_released_for_another_reason_is_not_released_twice() -> None:
    rm = Consulted(memory=11)
    (mortal,) = rm.takes("w1", execution_timeout=20.0)
    question = question_in(rm.claims("k1"))
    (release,) = released(rm.waits(10.0))

    effects = rm.answers(question, 0)

    assert (question.victims[0], release[0]) == ("w1", mortal)
    assert preempted(effects) == []
    again = question_in(effects)
    assert preempted(rm.answers(again, 0)) == rm.named("v9")


def test_node_that_shrank_meanwhile_needs_more_victims(rm: Consulted) -> None:
    question = question_in(rm.claims("k1", memory=2))
    rm.updates("n1", memory=9)

    effects = rm.answers(question, 1)

    assert preempted(effects) == []
    assert question_in(effects).start_index == 2


@pytest.mark.parametrize("change", ["drains", "decommissions"])
def test_no_preemption_on_a_node_drained_meanwhile(rm: Consulted, change: str) -> None:
    question = question_in(rm.claims("k1"))
    getattr(rm, change)("n1")

    assert preempted(rm.answers(question, 0)) == []


def test_guarantee_is_checked_again_after_the_answer(rm: Consulted) -> None:
    question = question_in(rm.claims("k1", memory=5))
    for name in ("v0", "v1", "v2"):
        rm.releases(rm.victims[name], "t1")

    effects = rm.answers(question, 6)

    assert preempted(effects) == []
    again = question_in(effects)
    assert again.victims == ("v9", "v8", "v7", "v6"), "of seven, three are guaranteed"
    assert preempted(rm.answers(again, 1)) == rm.named("v9", "v8")


class Crowded(Preempting):
    """Fill the parent with t1 on n2, and n1 with o1, which is outside the parent."""

    def __init__(self) -> None:
        super().__init__(parent="resources: {max: {memory: 8}}")
        self.offers(CHECKS)
        self.creates("n1", memory=4)
        self.submits("o1", "root.outside")
        self.on_n1 = self.takes("v1", "o1", memory=2, most=2)
        self.creates("n2", memory=8)
        self.on_n2 = self.takes("v2", memory=2, most=4)


def test_victims_on_other_nodes_are_not_part_of_the_question() -> None:
    rm = Crowded()
    question = question_in(rm.claims("k1", memory=2, policy=None, required_node="n1"))

    agreed = Answered("rm", question.number, suits=True, index=0)
    effects = rm.scheduler.handle(agreed, rm.now)

    assert (question.victims, question.start_index) == (("v1", "v1"), 0)
    assert preempted(effects) == [rm.on_n1[-1], rm.on_n2[-1]]


def test_no_question_without_victims_on_the_node() -> None:
    rm = Crowded()
    rm.creates("n3", memory=2)

    effects = rm.claims("k1", memory=2, policy=None, required_node="n3")

    assert no_question_in(effects)
    assert preempted(effects) == [rm.on_n2[-1]]


def test_refusal_is_recorded_as_an_event() -> None:
    rm = Consulted(CHECKS, Callback.EVENTS)

    effects = rm.answers(question_in(rm.claims("k1")), fits=False)

    records = [record for batch in of(effects, SentEvents) for record in batch.records]
    assert [(record.type, record.object_id, record.reference_id) for record in records] == [
        (RecordType.REQUEST, "k1", "n1")
    ]


def test_refused_capacity_does_not_delay_preemption() -> None:
    rm = Consulted(entitled="preemption.delay: 1ms")
    rm.offers(CHECKS, Callback.PREDICATES)
    rm.creates("n2", memory=2)
    (question,) = of(
        rm.asks("k1", memory=2, more={"preemption_policy": ALLOWED}), PredicatesQuestion
    )

    effects = rm.answers(question, fits=False) + rm.waits(0.01)

    assert (question.node_id, question_in(effects).node_id) == ("n2", "n1")
