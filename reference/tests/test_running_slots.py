"""Running slots: the RM is notified of applications that wait for a slot."""

from sireference.core.model import AllocationRecord, Ask, ChangeDetail, Effect, Rules
from tests.configuring import tree
from tests.driving import keys
from tests.later_records import AMOUNT, RULES, Later, Sent, sent
from tests.test_event_records import received

CANNOT, MAY = "APP_CANNOTRUN_QUEUE", "APP_RUNNABLE_QUEUE"
CANNOT_BY_QUOTA, MAY_BY_QUOTA = "APP_CANNOTRUN_QUOTA", "APP_RUNNABLE_QUOTA"
SLOTS = tuple(ChangeDetail[one] for one in (CANNOT, MAY, CANNOT_BY_QUOTA, MAY_BY_QUOTA))
QUEUES = tree(
    "{name: q, maxapplications: 1}",
    "{name: above, maxapplications: 1, queues: [{name: leaf, maxapplications: 1},"
    " {name: other, maxapplications: 1}]}",
    '{name: users, limits: [{users: ["*"], maxapplications: 1}]}',
    "{name: team, limits: [{groups: [devs], maxapplications: 1}]}",
    "{name: both, maxapplications: 1, limits: [{users: [ann], maxapplications: 1}]}",
    "{name: free}",
)


def of_slots(effects: list[Effect]) -> list[Sent]:
    return sent(effects, *SLOTS)


def watched(rules: Rules = RULES) -> Later:
    return Later(queues=QUEUES, rules=rules)


# requirement: SI-EVT-015
def test_application_waits_for_the_slot_of_its_queue_and_gets_it() -> None:
    rm = watched()
    assert of_slots(rm.starts("a1", "q")) == []

    waits = rm.starts("a2", "q")
    gets = rm.removes("a1")

    assert of_slots(waits) == [("a2", "NONE", CANNOT, "")]
    assert keys(gets) == ["a2"]
    assert of_slots(gets) == [("a2", "NONE", MAY, "")]
    names = [record[3] for record in received(gets)]
    assert names.index(MAY) < names.index("APP_ALLOC", names.index(MAY))


# requirement: SI-EVT-015
def test_waiting_is_reported_once() -> None:
    rm = watched()
    rm.starts("a1", "q")
    rm.starts("a2", "q")

    more = rm.asks("k2", "a2", memory=1) + rm.asks("k3", "a2", memory=2)
    more += rm.creates("n2", memory=5) + rm.starts("a9", "free") + rm.reconfigures(QUEUES)

    assert of_slots(more) == []


# requirement: SI-EVT-015
def test_only_the_application_with_the_slot_may_run() -> None:
    rm = watched()
    for application in ("a1", "a2", "a3"):
        rm.starts(application, "q")

    assert of_slots(rm.removes("a1")) == [("a2", "NONE", MAY, "")]
    assert of_slots(rm.removes("a2")) == [("a3", "NONE", MAY, "")]


# requirement: SI-EVT-015
def test_slot_may_be_of_a_parent_queue() -> None:
    rm = watched()
    rm.starts("a1", "above.leaf")

    assert of_slots(rm.starts("a2", "above.other")) == [("a2", "NONE", CANNOT, "")]
    assert of_slots(rm.removes("a1")) == [("a2", "NONE", MAY, "")]


# requirement: SI-EVT-015
def test_slot_may_be_of_a_user() -> None:
    rm = watched()
    rm.starts("a1", "users", user="ann")
    assert of_slots(rm.starts("b1", "users", user="bob")) == []

    assert of_slots(rm.starts("a2", "users", user="ann")) == [("a2", "NONE", CANNOT_BY_QUOTA, "")]
    assert of_slots(rm.removes("b1")) == []
    assert of_slots(rm.removes("a1")) == [("a2", "NONE", MAY_BY_QUOTA, "")]


# requirement: SI-EVT-015
def test_slot_may_be_of_a_group() -> None:
    rm = watched()
    rm.starts("a1", "team", user="ann", groups=("devs",))

    waits = rm.starts("a2", "team", user="bob", groups=("devs",))

    assert of_slots(waits) == [("a2", "NONE", CANNOT_BY_QUOTA, "")]
    assert of_slots(rm.removes("a1")) == [("a2", "NONE", MAY_BY_QUOTA, "")]


# requirement: SI-EVT-015
def test_slots_of_queue_and_user_may_both_be_missing() -> None:
    rm = watched()
    rm.starts("a1", "both", user="ann")

    waits = rm.starts("a2", "both", user="ann")

    expected = [("a2", "NONE", CANNOT, ""), ("a2", "NONE", CANNOT_BY_QUOTA, "")]
    assert of_slots(waits) == expected
    assert of_slots(rm.removes("a1")) == [
        ("a2", "NONE", MAY, ""),
        ("a2", "NONE", MAY_BY_QUOTA, ""),
    ]


# requirement: SI-EVT-015
def test_recovered_application_runs_without_a_slot() -> None:
    rm = watched()
    rm.starts("a1", "q")
    rm.starts("a2", "q")

    effects = rm.reports(AllocationRecord("x1", Ask("x1", "a2", resource=AMOUNT), "n1"))

    assert of_slots(effects) == [("a2", "NONE", MAY, "")]


# requirement: SI-EVT-015
def test_raised_maximum_lets_it_run() -> None:
    rm = watched()
    rm.starts("a1", "q")
    rm.starts("a2", "q")

    effects = rm.reconfigures(QUEUES.replace("q, maxapplications: 1", "q, maxapplications: 2"))

    assert of_slots(effects) == [("a2", "NONE", MAY, "")]


# requirement: SI-EVT-013
def test_earlier_revisions_have_no_such_record() -> None:
    rm = watched(Rules())
    rm.starts("a1", "q")

    assert of_slots(rm.starts("a2", "q") + rm.removes("a1")) == []


def test_waiting_applications_leave_nothing() -> None:
    rm = watched()
    rm.starts("a1", "q")
    rm.starts("a2", "q")
    assert len(rm.partition.slots_lacked) == 1

    rm.removes("a2")

    assert not rm.partition.slots_lacked
