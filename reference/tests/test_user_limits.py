"""Limits: usage of one user, or of one group together, in a queue and below."""

import pytest
from sireference.core.resources import Resource
from tests.driving import RM, identities, keys

QUEUES = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        limits:
          - {users: [alice], maxresources: {memory: 8}}
        queues:
          - name: each
            limits:
              - {users: [alice], maxresources: {memory: 5}}
              - {users: [bob, carl], maxresources: {memory: 3, vcore: 1}}
              - {users: ["*"], maxresources: {memory: 2}}
          - name: group
            limits:
              - {groups: [devs], maxresources: {memory: 4}}
              - {groups: [ops], maxresources: {memory: 3}}
              - {groups: ["*"], maxresources: {memory: 2}}
          - name: both
            limits:
              - {users: [bob], maxresources: {memory: 5}}
              - {groups: [devs], maxresources: {memory: 6}}
          - name: count
            limits:
              - {users: ["*"], maxapplications: 1}
          - name: team
            limits:
              - {groups: [devs], maxapplications: 1}
          - name: parent
            limits:
              - {groups: [ops], maxresources: {memory: 3}}
              - {groups: [devs], maxresources: {memory: 6}}
            queues:
              - name: leaf
                limits: [{groups: [devs], maxresources: {memory: 5}}]
              - {name: other}
"""


class Users(RM):
    """Applications of several users on one large node, each named after its user."""

    def __init__(self) -> None:
        super().__init__(queues=QUEUES)
        self.creates("n1", memory=100, vcore=100_000)

    def of(self, user: str, queue: str, *groups: str, name: str = "") -> str:
        application = name or f"{user}-{queue}"
        self.submits(application, f"root.{queue}", user=user, groups=groups)
        return application

    def gets(self, application: str, memory: int, most: int = 20) -> int:
        """Return how many asks of that size are placed."""
        return len(
            keys(self.asks(f"{application}-{memory}", application, memory=memory, most=most))
        )


@pytest.fixture
def rm() -> Users:
    return Users()


def test_all_applications_of_a_user_count_together(rm: Users) -> None:
    assert rm.gets(rm.of("alice", "each", name="a1"), 2, most=2) == 2
    assert rm.gets(rm.of("alice", "each", name="a2"), 1) == 1


def test_users_of_one_limit_do_not_share_it(rm: Users) -> None:
    assert rm.gets(rm.of("bob", "each"), 1) == 3
    assert rm.gets(rm.of("carl", "each"), 1) == 3


def test_wildcard_applies_to_each_user_without_an_own_limit(rm: Users) -> None:
    assert rm.gets(rm.of("dora", "each"), 1) == 2
    assert rm.gets(rm.of("emil", "each"), 1) == 2
    assert rm.gets(rm.of("", "each"), 1) == 2


def test_types_not_named_in_the_limit_are_unlimited(rm: Users) -> None:
    application = rm.of("alice", "each")

    assert len(keys(rm.asks("k", application, vcore=90_000))) == 1


def test_limit_of_a_parent_queue_applies_to_all_its_children(rm: Users) -> None:
    assert rm.gets(rm.of("alice", "each"), 1) == 5
    assert rm.gets(rm.of("alice", "count"), 1) == 3


def test_user_without_a_limit_is_unlimited(rm: Users) -> None:
    assert rm.gets(rm.of("zed", "both"), 10, most=10) == 10


def test_released_amount_can_be_used_again_by_the_user(rm: Users) -> None:
    application = rm.of("dora", "each")
    made = identities(rm.asks("k1", application, memory=1, most=2))
    rm.asks("k2", application, memory=1)

    assert keys(rm.releases(made[0], application)) == ["k2"]


def test_user_at_its_limit_does_not_block_others(rm: Users) -> None:
    waiting, next_one = rm.of("dora", "each"), rm.of("emil", "each")
    rm.gets(waiting, 1)

    assert rm.gets(next_one, 1) == 2


def test_group_shares_its_limit(rm: Users) -> None:
    assert rm.gets(rm.of("bob", "group", "devs"), 3, most=1) == 1
    assert rm.gets(rm.of("carl", "group", "devs"), 1) == 1


def test_application_counts_for_the_first_group_with_a_limit(rm: Users) -> None:
    assert rm.gets(rm.of("bob", "group", "other", "ops", "devs"), 1) == 4
    assert rm.gets(rm.of("carl", "group", "ops"), 1) == 3


def test_groups_without_a_limit_share_the_wildcard_limit(rm: Users) -> None:
    assert rm.gets(rm.of("dora", "group", "art"), 1, most=1) == 1
    assert rm.gets(rm.of("emil", "group"), 1) == 1


def test_user_without_groups_is_in_the_group_of_that_name(rm: Users) -> None:
    assert rm.gets(rm.of("devs", "group"), 1) == 4


def test_limits_of_user_and_group_both_apply(rm: Users) -> None:
    assert rm.gets(rm.of("bob", "both", "devs"), 1) == 5
    assert rm.gets(rm.of("carl", "both", "devs"), 1) == 1


def test_group_is_found_from_the_leaf_upwards_and_counts_on_the_whole_path(rm: Users) -> None:
    assert rm.gets(rm.of("bob", "parent.leaf", "ops", "devs"), 1) == 5
    assert rm.gets(rm.of("carl", "parent.other", "devs"), 1) == 1
    assert rm.gets(rm.of("dora", "parent.other", "ops", "devs"), 1) == 3


def test_application_limit_counts_running_ones(rm: Users) -> None:
    first, second = (rm.of("alice", "count", name=name) for name in ("a1", "a2"))
    of_bob = rm.of("bob", "count")

    assert rm.gets(first, 1, most=1) == 1
    assert rm.gets(second, 1, most=1) == 0
    assert rm.gets(of_bob, 1, most=1) == 1
    assert keys(rm.removes(first)) == ["a2-1"]


def test_application_limit_counts_a_group_together(rm: Users) -> None:
    assert rm.gets(rm.of("alice", "team", "devs"), 1, most=1) == 1
    assert rm.gets(rm.of("bob", "team", "devs"), 1, most=1) == 0
    assert rm.gets(rm.of("carl", "team", "ops"), 1, most=1) == 1


def test_gang_starts_when_its_user_limit_allows_all_of_it(rm: Users) -> None:
    held = identities(rm.asks("old", rm.of("bob", "each", name="a1"), memory=2))
    rm.submits("g1", "root.each", user="bob", placeholder_ask=Resource({"memory": 2}))
    gang = {"task_group": "tg", "placeholder": True}

    assert keys(rm.asks("p", "g1", memory=1, most=2, more=gang)) == []
    assert keys(rm.releases(held[0], "a1")) == ["p", "p"]
