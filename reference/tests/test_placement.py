"""Placement rules: order, filters, parents, creation, permission."""

from typing import Any

import pytest
from sireference.core.model import AcceptedApplication, RejectedApplication
from tests.driving import RM, keys, of

HEAD = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: q1
          - name: default
          - name: upper
            queues: [{name: leaf}]
          - name: made
            parent: true
            childtemplate: {maxapplications: 1, resources: {max: {memory: 5}}}
"""


def with_rules(rules: str) -> RM:
    return RM(queues=f"{HEAD}    placementrules:\n{rules}" if rules else HEAD)


def queue_of(rm: RM, application_id: str, queue: str = "", **more: object) -> str:
    effects = rm.submits(application_id, queue, **more)
    rejected = of(effects, RejectedApplication)
    if rejected:
        assert rejected[0].reason
        return ""
    assert of(effects, AcceptedApplication)
    return rm.partition.applications[application_id].leaf.name


# requirement: SI-APP-005
@pytest.mark.parametrize(
    ("sent", "placed"),
    [
        ("root.q1", "root.q1"),
        ("q1", "root.q1"),
        ("Root.Q1", "root.q1"),
        ("upper.leaf", "root.upper.leaf"),
        ("root.upper.leaf", "root.upper.leaf"),
        ("", "root.default"),
        ("root.missing", ""),
        ("root", ""),
        ("root.upper", ""),
        ("root.q1.below", ""),
        ("root.made.new", ""),
        ("root..q1", ""),
        (".", ""),
        ("root.", ""),
        ("." * 100_000, ""),
    ],
)
def test_without_rules_the_named_leaf_is_used(sent: str, placed: str) -> None:
    assert queue_of(with_rules(""), "a1", sent) == placed


# requirement: SI-APP-006
def test_fixed_rule_overrides_the_request() -> None:
    rm = with_rules("      - {name: fixed, value: root.q1}\n")

    assert queue_of(rm, "a1", "root.upper.leaf") == "root.q1"


# requirement: SI-APP-036
def test_tag_rule_creates_a_leaf_from_the_template() -> None:
    rm = with_rules(
        "      - {name: tag, value: team, create: true, parent: {name: fixed, value: root.made}}\n"
    )
    assert queue_of(rm, "a1", "root.q1", tags={"team": "blue"}) == "root.made.blue"
    assert queue_of(rm, "a2", "root.q1", tags={"team": "blue"}) == "root.made.blue"
    assert queue_of(rm, "a3", "root.q1", tags={"team": "a.b"}) == "root.made.a_dot_b"
    assert queue_of(rm, "a4", "root.q1") == ""

    rm.creates("n1", memory=100)
    assert keys(rm.asks("k1", memory=6)) == []
    assert keys(rm.asks("k2", memory=5)) == ["k2"]
    assert keys(rm.asks("k3", "a2", memory=1)) == []


def test_tag_name_is_case_insensitive() -> None:
    rm = with_rules("      - {name: tag, value: Team, create: true}\n")
    forced = {"Application.Create.Force": "true"}

    assert queue_of(rm, "a1", "", tags={"tEAM": "blue"}) == "root.blue"
    assert queue_of(rm, "a2", "root.no", tags=forced) == "root.@recovery@"


def test_user_rule_and_its_fallback() -> None:
    rm = with_rules("      - {name: user, create: true}\n      - {name: fixed, value: q1}\n")

    assert queue_of(rm, "a1", user="a.b") == "root.a_dot_b"
    assert queue_of(rm, "a2", user="upper") == "root.q1"
    assert queue_of(rm, "a3") == "root.q1"


def test_provided_queue_below_a_parent() -> None:
    rm = with_rules("      - {name: provided, create: true, parent: {name: user, create: true}}\n")

    assert queue_of(rm, "a1", "mine", user="u1") == "root.u1.mine"
    assert queue_of(rm, "a2", "root.x.y", user="u1") == "root.x.y"
    assert queue_of(rm, "a3", "mine", user="q1") == ""
    assert queue_of(rm, "a4", "mine") == ""


def test_parent_rule_that_may_not_create_needs_an_existing_queue() -> None:
    rm = with_rules("      - {name: provided, create: true, parent: {name: user}}\n")

    assert queue_of(rm, "a1", "mine", user="upper") == "root.upper.mine"
    assert queue_of(rm, "a2", "mine", user="u1") == ""


@pytest.mark.parametrize(
    ("condition", "users"),
    [
        ("{type: allow, users: [u1]}", {"u1"}),
        ("{type: deny, users: [u1]}", {"u2", "u3"}),
        ("{type: allow, groups: [g]}", {"u3"}),
        ("{type: allow, groups: [u1]}", {"u1"}),
        ("{type: allow, users: ['^u[12]$']}", {"u1", "u2"}),
        ("{type: deny, groups: ['g.*']}", {"u1", "u2"}),
        ("{type: allow}", {"u1", "u2", "u3"}),
    ],
)
def test_filter_selects_the_applications_of_a_rule(condition: str, users: set[str]) -> None:
    rm = with_rules(f"      - {{name: fixed, value: root.q1, filter: {condition}}}\n")
    groups = {"u1": (), "u2": ("h",), "u3": ("g",)}

    seen = {user for user in groups if queue_of(rm, user, "root.x", user=user, groups=groups[user])}

    assert seen == users


@pytest.mark.parametrize("kind", ["users", "groups"])
def test_ambiguous_expression_is_searched_in_linear_time(kind: str) -> None:
    rule = f"filter: {{{kind}: ['^(a+)+$']}}"
    rm = with_rules(f"      - {{name: fixed, value: root.q1, {rule}}}\n")
    unlike = "a" * 60 + "!"

    assert queue_of(rm, "a1", user="a" * 60, groups=("a" * 60,)) == "root.q1"
    assert queue_of(rm, "a2", user=unlike, groups=("g", unlike)) == "root.default"


def test_expression_anchors_at_the_end_and_supports_letters_of_any_script() -> None:
    rm = with_rules(r"      - {name: fixed, value: root.q1, filter: {users: ['^\pL[[:digit:]]$']}}")

    assert queue_of(rm, "a1", user="\N{GREEK SMALL LETTER ALPHA}1") == "root.q1"
    assert queue_of(rm, "a2", user="a1\n") == "root.default"
    assert queue_of(rm, "a3", user="11") == "root.default"


@pytest.mark.parametrize("kind", ["allow", "deny"])
def test_names_that_take_too_long_to_search_are_rejected(kind: str) -> None:
    names: Any = {"groups": ("g" * 99,) * 102}
    condition = f"{{type: {kind}, groups: ['x.*']}}"
    rm = with_rules(f"      - {{name: fixed, value: root.q1, filter: {condition}}}\n")

    (rejected,) = of(rm.submits("a1", "", **names), RejectedApplication)

    assert rejected.reason == "names of 10001 characters and more are not searched by an expression"
    forced = {"application.create.force": "true"}
    assert queue_of(rm, "a2", tags=forced, **names) == "root.@recovery@"


def test_user_without_submit_permission_is_rejected() -> None:
    acl = HEAD.replace('submitacl: "*"', "submitacl: 'u1 g'\n        adminacl: boss").replace(
        "- name: q1", "- {name: q1, submitacl: u2}"
    )
    rm = RM(queues=acl)

    assert queue_of(rm, "a1", "root.default", user="u1") == "root.default"
    assert queue_of(rm, "a2", "root.default", user="u2") == ""
    assert queue_of(rm, "a3", "root.q1", user="u2") == "root.q1"
    assert queue_of(rm, "a4", "root.default", user="u3", groups=("g",)) == "root.default"
    assert queue_of(rm, "a5", "root.default", user="boss") == "root.default"
    assert queue_of(rm, "a6", "root.default") == ""


@pytest.mark.parametrize("name", ["root.made..leaf", "root.q1.below", f"root.made{'.deep' * 100}"])
def test_queue_that_cannot_exist_is_not_created(name: str) -> None:
    rm = with_rules("      - {name: provided, create: true}\n")

    (rejected,) = of(rm.submits("a1", name), RejectedApplication)

    assert rejected.reason.endswith("cannot be created")


def test_number_of_created_queues_is_bounded() -> None:
    rm = with_rules("      - {name: provided, create: true}\n")

    assert queue_of(rm, "a1", "root." + "x." * 60 + "x").endswith(".x")
    assert queue_of(rm, "a2", "root." + "y." * 100_000 + "y") == ""
