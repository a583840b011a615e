"""Records of users and groups: limits, applications of groups, and usage."""

from sireference.core.model import ChangeDetail, Effect, RecordType, Rules
from sireference.core.resources import Resource
from tests.configuring import tree
from tests.later_records import RULES, Later, Sent, sent
from tests.test_event_records import records

LIMITS = (ChangeDetail.UG_USER_LIMIT, ChangeDetail.UG_GROUP_LIMIT)
USAGE = (ChangeDetail.UG_USER_RESOURCE, ChangeDetail.UG_GROUP_RESOURCE)
ANN = "limits: [{users: [ann], maxresources: {memory: 8}}]"
DEVS = "limits: [{groups: [devs], maxresources: {memory: 9}, maxapplications: 3}]"
OPS = DEVS.replace("devs", "ops")
QUEUES = tree(f"{{name: q, {ANN}}}", f"{{name: team, {DEVS}}}", "{name: free}")


def watched(rules: Rules = RULES, queues: str = QUEUES) -> Later:
    return Later(queues=queues, rules=rules)


def links(effects: list[Effect]) -> list[Sent]:
    return sent(effects, ChangeDetail.UG_APP_LINK)


def usage(effects: list[Effect]) -> list[tuple[str, str, int]]:
    """Return user or group, change and memory of usage records."""
    return [
        (r.object_id, r.change.name, r.resource.amounts["memory"])
        for r in records(effects)
        if r.detail in USAGE and r.resource is not None
    ]


# requirement: SI-EVT-014
def test_limits_are_reported_when_they_are_configured() -> None:
    rm = watched()

    limits = [record for record in records(rm.registered) if record.detail in LIMITS]

    assert sent(rm.registered, *LIMITS) == [
        ("ann", "SET", "UG_USER_LIMIT", "root.q"),
        ("devs", "SET", "UG_GROUP_LIMIT", "root.team"),
    ]
    assert [record.resource for record in limits] == [
        Resource({"memory": 8}),
        Resource({"memory": 9}),
    ]
    assert {record.type for record in limits} == {RecordType.USERGROUP}


# requirement: SI-EVT-014
def test_an_update_reports_which_limits_are_other_ones() -> None:
    rm = watched()

    same = rm.reconfigures(QUEUES)
    effects = rm.reconfigures(
        tree(
            f"{{name: q, {ANN.replace('8', '7')}}}", f"{{name: team, {OPS}}}", f"{{name: x, {ANN}}}"
        )
    )

    assert sent(same, *LIMITS) == []
    assert sent(effects, *LIMITS) == [
        ("ann", "SET", "UG_USER_LIMIT", "root.q"),
        ("devs", "REMOVE", "UG_GROUP_LIMIT", "root.team"),
        ("ops", "SET", "UG_GROUP_LIMIT", "root.team"),
        ("ann", "SET", "UG_USER_LIMIT", "root.x"),
    ]


# requirement: SI-EVT-014
def test_the_limits_of_a_queue_go_with_it() -> None:
    rm = watched()

    effects = rm.reconfigures(tree("{name: q}"))

    assert sent(effects, *LIMITS) == [
        ("ann", "REMOVE", "UG_USER_LIMIT", "root.q"),
        ("devs", "REMOVE", "UG_GROUP_LIMIT", "root.team"),
    ]


# requirement: SI-EVT-014
def test_what_holds_for_all_others_names_no_one() -> None:
    anybody = 'limits: [{users: ["*"], maxapplications: 2}, {groups: [a, "*"], maxapplications: 2}]'
    rm = watched(queues=tree(f"{{name: q, {anybody}}}"))

    effects = rm.starts("a1", "q", user="ann", groups=("devs",))

    assert sent(rm.registered, *LIMITS) == [("a", "SET", "UG_GROUP_LIMIT", "root.q")]
    assert links(effects) == []
    assert usage(effects) == [("ann", "ADD", 1)]


# requirement: SI-EVT-014
def test_an_application_is_linked_to_the_group_it_counts_for() -> None:
    rm = watched()

    begins = rm.starts("a1", "team", user="ann", groups=("others", "devs"))
    ends = rm.removes("a1")

    assert links(begins) == [("devs", "SET", "UG_APP_LINK", "a1")]
    assert links(ends) == [("devs", "REMOVE", "UG_APP_LINK", "a1")]


# requirement: SI-EVT-014
def test_the_link_ends_when_the_application_completes() -> None:
    rm = watched()
    rm.starts("a1", "team", user="ann", groups=("devs",))
    rm.releases("a1", "a1")

    assert links(rm.waits(1000.0)) == [("devs", "REMOVE", "UG_APP_LINK", "a1")]


# requirement: SI-EVT-014
def test_without_a_limit_of_its_groups_there_is_no_link() -> None:
    rm = watched()

    assert links(rm.starts("a1", "q", user="ann", groups=("devs",)) + rm.removes("a1")) == []


# requirement: SI-EVT-014
def test_the_usage_of_user_and_group_is_reported_with_the_amount() -> None:
    rm = watched()
    begins = rm.starts("a1", "team", user="ann", groups=("devs",))
    ends = rm.releases("a1", "a1")

    assert sent(begins, *USAGE) == [
        ("ann", "ADD", "UG_USER_RESOURCE", "root.team"),
        ("devs", "ADD", "UG_GROUP_RESOURCE", "root.team"),
    ]
    assert sent(ends, *USAGE) == [
        ("ann", "REMOVE", "UG_USER_RESOURCE", "root.team"),
        ("devs", "REMOVE", "UG_GROUP_RESOURCE", "root.team"),
    ]
    assert usage(begins + ends) == [
        ("ann", "ADD", 1),
        ("devs", "ADD", 1),
        ("ann", "REMOVE", 1),
        ("devs", "REMOVE", 1),
    ]


# requirement: SI-EVT-014, SI-ALLOC-012
def test_an_update_of_a_live_allocation_changes_the_usage() -> None:
    rm = watched()
    rm.starts("a1", "free", user="ann")

    assert usage(rm.asks("a1", "a1", memory=4)) == [("ann", "ADD", 3)]
    assert usage(rm.asks("a1", "a1", memory=2)) == [("ann", "REMOVE", 2)]
    assert usage(rm.asks("a1", "a1", memory=2)) == []
    assert usage(rm.removes("a1")) == [("ann", "REMOVE", 2)]


# requirement: SI-EVT-014
def test_no_one_uses_what_an_application_without_a_user_has() -> None:
    assert usage(watched().starts("a1", "free")) == []


# requirement: SI-EVT-014
def test_with_other_limits_an_application_may_count_for_another_group() -> None:
    rm = watched()
    rm.starts("a1", "team", user="ann", groups=("devs", "ops"))

    effects = rm.reconfigures(QUEUES.replace("devs", "ops"))
    free = rm.reconfigures(tree("{name: team}"))

    assert links(effects) == [
        ("devs", "REMOVE", "UG_APP_LINK", "a1"),
        ("ops", "SET", "UG_APP_LINK", "a1"),
    ]
    assert usage(effects) == [("devs", "REMOVE", 1), ("ops", "ADD", 1)]
    assert links(free) == [("ops", "REMOVE", "UG_APP_LINK", "a1")]
    assert usage(rm.removes("a1")) == [("ann", "REMOVE", 1)]


# requirement: SI-EVT-013
def test_earlier_revisions_have_no_user_and_group_records() -> None:
    rm = watched(Rules())

    effects = rm.registered + rm.starts("a1", "team", user="ann", groups=("devs",))
    effects += rm.removes("a1")

    assert {record.type for record in records(effects)}.isdisjoint({RecordType.USERGROUP})
