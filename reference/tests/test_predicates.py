"""Predicates: the RM is asked whether an ask may be on a node before it is placed."""

import pytest
from sireference.core.model import (
    AllocationRecord,
    Ask,
    Callback,
    ChangeType,
    PreemptionPolicy,
    RecordType,
    SentEvents,
)
from sireference.core.resources import Resource
from sireference.core.states import NodeAction, TerminationType
from tests.asked import Asked, asked, questions
from tests.configuring import tree
from tests.driving import RM, identities, keys, of, of_allocations, placed, released

PREDICATES = Callback.PREDICATES
REPLACED = TerminationType.PLACEHOLDER_REPLACED
GUARANTEED = tree(
    "{name: default}",
    "{name: entitled, resources: {guaranteed: {memory: 10}}}",
    root="properties: {preemption.delay: 1s}",
)


@pytest.fixture
def rm() -> Asked:
    return Asked()


# requirement: SI-CB-002, SI-CB-003
def test_rm_is_asked_before_an_ask_is_placed(rm: Asked) -> None:
    effects = rm.asks("k1", memory=3)
    (question,) = questions(effects)

    agreed = rm.answers(question.number)

    assert (asked(effects), placed(effects)) == ([("k1", "n1", True)], [])
    assert placed(agreed) == [("k1", "n1")]


# requirement: SI-CB-002
def test_refused_node_is_skipped_and_others_are_tried(rm: Asked) -> None:
    effects, all_asked = rm.answers_all(
        rm.asks("k1", memory=3), lambda question: question.node_id != "n1"
    )

    assert asked(all_asked) == [("k1", "n1", True), ("k1", "n2", True)]
    assert placed(effects) == [("k1", "n2")]


# requirement: SI-CB-004
def test_rm_without_predicates_is_not_asked(busy: RM) -> None:
    effects = busy.asks("k1", memory=3)

    assert (questions(effects), keys(effects)) == ([], ["k1"])


def test_answer_for_a_partition_that_is_gone_is_ignored(rm: Asked) -> None:
    (question,) = questions(rm.asks("k1", memory=3))
    rm.reconfigures("partitions: [{name: other, queues: [{name: root}]}]")
    rm.removes("a1")
    for node in ("n1", "n2"):
        rm.decommissions(node)

    assert rm.answers(question.number) == []


def test_refusal_is_for_one_ask_only(rm: Asked) -> None:
    rm.drains("n2")
    rm.answers_all(rm.asks("k1", memory=3), lambda _: False)

    effects, _ = rm.answers_all(rm.asks("k2", memory=3))

    assert placed(effects) == [("k2", "n1")]


def test_asks_are_served_in_order_one_question_at_a_time(rm: Asked) -> None:
    first = rm.asks("k1", memory=6)
    second = rm.asks("k2", memory=6)
    third = rm.asks("k3", memory=3, more={"priority": 9})

    effects, all_asked = rm.answers_all(first + second + third)

    assert (asked(second), asked(third)) == ([], [])
    assert [question.key for question in all_asked] == ["k1", "k3", "k2"]
    assert placed(effects) == [("k1", "n1"), ("k3", "n2"), ("k2", "n2")]


def test_ask_behind_a_withdrawn_one_is_served(rm: Asked) -> None:
    rm.drains("n2")
    for application in ("a2", "a3"):
        rm.submits(application)
    held, _ = rm.answers_all(rm.asks("held", memory=3))
    rm.answers_all(rm.asks("rest", memory=7))
    rm.asks("large", memory=2)
    for application in ("a2", "a3"):
        rm.asks(f"of-{application}", application, memory=1)
    (question,) = questions(rm.releases(identities(held)[0]))
    rm.withdraws("of-a2", "a2")

    effects, _ = rm.answers_all(rm.answers(question.number))

    assert keys(effects) == ["large", "of-a3"]


def test_each_allocation_of_an_ask_is_asked_about(rm: Asked) -> None:
    effects, all_asked = rm.answers_all(rm.asks("k1", memory=4, most=3))

    assert len(all_asked) == 3
    assert keys(effects) == ["k1", "k1", "k1"]
    assert len({question.number for question in all_asked}) == 3


def test_node_is_full_when_the_answer_comes(rm: Asked) -> None:
    (question,) = questions(rm.asks("k1", memory=8))
    rm.updates("n1", memory=5)

    effects, all_asked = rm.answers_all(rm.answers(question.number))

    assert asked(all_asked) == [("k1", "n2", True)]
    assert placed(effects) == [("k1", "n2")]


@pytest.mark.parametrize("action", ["drains", "decommissions"])
def test_node_is_draining_when_the_answer_comes(rm: Asked, action: str) -> None:
    (question,) = questions(rm.asks("k1", memory=8))
    getattr(rm, action)("n1")

    effects, _ = rm.answers_all(rm.answers(question.number))

    assert placed(effects) == [("k1", "n2")]


def test_queue_is_full_when_the_answer_comes() -> None:
    queues = GUARANTEED.replace("guaranteed: {memory: 10}", "max: {memory: 5}")
    rm = Asked(queues=queues)
    rm.submits("a2", "root.entitled")
    (question,) = questions(rm.asks("k1", "a2", memory=3))
    running = AllocationRecord("x", Ask("x", "a2", resource=Resource({"memory": 3})), "n2")
    rm.reports(running)

    agreed = rm.answers(question.number)

    assert placed(agreed) == []
    (again,) = questions(rm.releases("x", "a2"))
    assert placed(rm.answers(again.number)) == [("k1", "n1")]


def test_ask_is_withdrawn_when_the_answer_comes(rm: Asked) -> None:
    (question,) = questions(rm.asks("k1", memory=8))
    rm.withdraws("k1")
    rm.asks("k2", memory=8)

    effects, _ = rm.answers_all(rm.answers(question.number))

    assert placed(effects) == [("k2", "n1")]


def test_ask_was_replaced_when_the_answer_comes(rm: Asked) -> None:
    (question,) = questions(rm.asks("k1", memory=8))
    rm.asks("k1", memory=9)

    effects, all_asked = rm.answers_all(rm.answers(question.number))

    assert asked(all_asked) == [("k1", "n1", True)], "for the new one"
    assert placed(effects) == [("k1", "n1")]


def test_answer_counts_once(rm: Asked) -> None:
    (question,) = questions(rm.asks("k1", memory=3))
    rm.answers(question.number)

    assert rm.answers(question.number, suits=False) == []
    assert rm.answers(4711) == []


# requirement: SI-CB-002
def test_ask_that_is_refused_everywhere_is_retried_later(rm: Asked) -> None:
    no = rm.answers_all(rm.asks("k1", memory=3), lambda _: False)
    assert len(no[1]) == 2

    assert asked(rm.waits(0.9)) == []
    again, _ = rm.answers_all(rm.waits(0.1), lambda _: False)
    later = rm.waits(1.9)
    last, _ = rm.answers_all(rm.waits(0.1))

    assert asked(again) == [("k1", "n1", True), ("k1", "n2", True)]
    assert asked(later) == [], "the second time it is twice as long"
    assert placed(last) == [("k1", "n1")]


def test_retry_delay_is_bounded(rm: Asked) -> None:
    rm.answers_all(rm.asks("k1", memory=3), lambda _: False)
    moments: list[float] = []
    while len(moments) < 9:
        deadline = rm.scheduler.next_deadline()
        assert deadline is not None
        moments.append(deadline - rm.now)
        rm.answers_all(rm.waits(deadline - rm.now), lambda _: False)

    assert [round(moment) for moment in moments] == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_another_refusal_does_not_shorten_the_delay(rm: Asked) -> None:
    rm.answers_all(rm.asks("k1", memory=3), lambda _: False)
    rm.waits(0.5)
    rm.answers_all(rm.updates("n2", memory=11), lambda _: False)

    assert asked(rm.waits(0.4)) == []
    assert len(rm.answers_all(rm.waits(0.1), lambda _: False)[1]) == 2
    assert asked(rm.waits(1.9)) == []


def test_withdrawn_ask_is_not_retried(rm: Asked) -> None:
    rm.answers_all(rm.asks("k1", memory=3), lambda _: False)

    rm.removes("a1")

    assert rm.scheduler.next_deadline() is None
    assert not rm.partition.node_index._exclusions


def test_refusal_is_recorded_as_an_event() -> None:
    rm = Asked(PREDICATES, Callback.EVENTS)
    (question,) = questions(rm.asks("k1", memory=3))

    (batch,) = of(rm.answers(question.number, suits=False, reason="too hot"), SentEvents)

    (record,) = batch.records
    assert (record.type, record.object_id) == (RecordType.REQUEST, "k1")
    assert (record.change, record.reference_id) == (ChangeType.NONE, "n1")
    assert "too hot" in record.message


def test_node_change_leads_to_an_immediate_retry(rm: Asked) -> None:
    rm.answers_all(rm.asks("k1", memory=3), lambda _: False)

    assert asked(rm.updates("n2", memory=11)) == [("k1", "n2", True)]


def test_ended_allocation_on_the_node_leads_to_an_immediate_retry(rm: Asked) -> None:
    effects, _ = rm.answers_all(rm.asks("k0", memory=1))
    (identity,) = identities(effects)
    rm.answers_all(rm.asks("k1", memory=3), lambda _: False)

    assert asked(rm.releases(identity)) == [("k1", "n1", True)]


def test_refused_ask_still_uses_a_new_node(rm: Asked) -> None:
    rm.answers_all(rm.asks("k1", memory=3), lambda _: False)

    assert asked(rm.creates("n3", memory=3)) == [("k1", "n3", True)]


# requirement: SI-CB-001
def test_next_callback_stream_gets_open_questions_again(rm: Asked) -> None:
    (first,) = questions(rm.asks("k1", memory=3))

    (second,) = questions(rm.offers(PREDICATES))

    assert (second.key, second.node_id) == ("k1", "n1")
    assert rm.answers(first.number) == [], "the question is closed"
    assert placed(rm.answers(second.number)) == [("k1", "n1")]


# requirement: SI-CB-004
def test_rm_that_stops_taking_predicates_is_served_without(rm: Asked) -> None:
    (question,) = questions(rm.asks("k1", memory=3))
    rm.asks("k2", memory=3)

    effects = rm.offers()

    assert keys(effects) == ["k1", "k2"]
    assert rm.answers(question.number) == []


# requirement: SI-CB-001
def test_registering_again_drops_open_questions(rm: Asked) -> None:
    (question,) = questions(rm.asks("k1", memory=3))

    rm.registers()

    assert rm.answers(question.number) == []
    rm.creates("n1", memory=10)
    rm.submits("a1")
    assert keys(rm.asks("k1", memory=3)) == ["k1"]


def test_only_the_partition_of_the_question_waits() -> None:
    queues = "partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: "
    queues += "[{name: default}]}]}, {name: other, queues: [{name: root, submitacl: '*', "
    queues += "queues: [{name: default}]}]}]"
    rm = Asked(queues=queues)
    rm.send_node_action("n9", NodeAction.CREATE, {"memory": 10}, partition="other")
    rm.submits("a9", partition="other")

    first = rm.asks("k1", memory=3)
    second = rm.asks("k9", "a9", memory=3, more={"partition": "other"})

    assert (asked(first), asked(second)) == ([("k1", "n1", True)], [("k9", "n9", True)])
    effects, _ = rm.answers_all(second + first)
    assert placed(effects) == [("k9", "n9"), ("k1", "n1")]


def gang(rm: Asked, *nodes: str) -> list[str]:
    """Place placeholders of the task group tg on these nodes; return their identities."""
    made: list[str] = []
    for number, node_id in enumerate(nodes):
        more = {"task_group": "tg", "placeholder": True, "required_node": node_id}
        effects, _ = rm.answers_all(rm.asks(f"p{number}", memory=6, more=more))
        made += identities(effects)
    return made


MEMBER = {"task_group": "tg"}


# requirement: SI-CB-003
def test_placeholder_is_released_only_where_its_member_is_allowed(rm: Asked) -> None:
    first, second = gang(rm, "n1", "n2")

    effects, all_asked = rm.answers_all(
        rm.asks("k1", memory=6, more=MEMBER), lambda question: question.node_id != "n1"
    )

    assert asked(all_asked) == [("k1", "n1", False), ("k1", "n2", False)]
    assert released(effects) == [(second, REPLACED)]
    assert first != second


# requirement: SI-CB-003
def test_member_is_asked_about_again_when_its_placeholder_is_gone(rm: Asked) -> None:
    (first,) = gang(rm, "n1")
    rm.answers_all(rm.asks("k1", memory=6, more=MEMBER))

    effects, all_asked = rm.answers_all(rm.releases(first, termination=REPLACED))

    assert asked(all_asked) == [("k1", "n1", True)]
    assert placed(effects) == [("k1", "n1")]


def test_member_refused_after_all_is_placed_elsewhere(rm: Asked) -> None:
    first, second = gang(rm, "n1", "n2")
    rm.answers_all(rm.asks("k1", memory=6, more=MEMBER))

    effects, all_asked = rm.answers_all(
        rm.releases(first, termination=REPLACED), lambda question: question.node_id != "n1"
    )

    assert placed(effects) == [], "n2 is taken by the other placeholder, which it does not replace"
    assert asked(all_asked) == [("k1", "n1", True)]
    later, _ = rm.answers_all(rm.releases(second))
    assert placed(later) == [("k1", "n2")]


def test_members_whose_placeholders_end_together_are_asked_about_in_turn(rm: Asked) -> None:
    first, second = gang(rm, "n1", "n2")
    for key in ("k1", "k2"):
        rm.answers_all(rm.asks(key, memory=6, more=MEMBER))
    rm.asks("k3", memory=6)

    confirmed = tuple(of_allocations("a1", identity, REPLACED) for identity in (first, second))
    effects, all_asked = rm.answers_all(rm.send(releases=confirmed))

    assert [question.key for question in all_asked] == ["k1", "k2"]
    assert placed(effects) == [("k1", "n1"), ("k2", "n2")]


def test_ended_items_are_not_asked_about(rm: Asked) -> None:
    first, second = gang(rm, "n1", "n2")
    for key in ("k1", "k2"):
        rm.answers_all(rm.asks(key, memory=6, more=MEMBER))
    confirmed = tuple(of_allocations("a1", identity, REPLACED) for identity in (first, second))
    (question,) = questions(rm.send(releases=confirmed))

    rm.withdraws("k2")

    assert asked(rm.answers(question.number)) == []


def test_placeholder_that_ended_before_the_answer_is_not_released(rm: Asked) -> None:
    (first,) = gang(rm, "n1")
    (question,) = questions(rm.asks("k1", memory=6, more=MEMBER))
    rm.releases(first)

    effects, _ = rm.answers_all(rm.answers(question.number))

    assert released(effects) == []
    assert placed(effects) == [("k1", "n1")]


def test_preemptor_is_asked_about_before_it_is_placed() -> None:
    rm = Asked(queues=GUARANTEED)
    rm.drains("n2")
    rm.submits("a2", "root.entitled")
    willing = {"preemption_policy": PreemptionPolicy(allow_preempt_self=True)}
    effects, _ = rm.answers_all(rm.asks("v1", memory=8, more=willing))
    (victim,) = identities(effects)
    claim = {"preemption_policy": PreemptionPolicy(allow_preempt_other=True)}
    rm.asks("k1", "a2", memory=8, more=claim)
    rm.waits(1.0)

    preempted = TerminationType.PREEMPTED_BY_SCHEDULER
    effects, all_asked = rm.answers_all(rm.releases(victim, termination=preempted))

    assert asked(all_asked) == [("k1", "n1", True)]
    assert placed(effects) == [("k1", "n1")]


def test_recovered_allocation_is_not_asked_about(rm: Asked) -> None:
    running = AllocationRecord("x", Ask("x", "a1", resource=Resource({"memory": 3})), "n1")

    assert questions(rm.reports(running)) == []
