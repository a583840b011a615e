"""Configuration updates in a running scheduler: atomic and without loss."""

import pytest
from sireference.core import configuration_update
from sireference.core.model import AllocationRecord, Ask, Configured, Refused, Register, Settings
from sireference.core.resources import Resource
from sireference.core.scheduler import Scheduler
from tests.configuring import is_taken, queues, running, takes, tree
from tests.driving import RM, identities, keys, of, placed

# Atomicity


# requirement: SI-CFG-001
def test_new_queue_accepts_applications_at_once() -> None:
    rm = running("{name: q1}")

    assert rm.reconfigures(tree("{name: q1}", "{name: q2}")) == [Configured("rm")]
    assert takes(rm, "a2", "root.q2")
    assert keys(rm.asks("k", "a2", memory=1)) == ["k"]


# requirement: SI-CFG-002
def test_running_allocations_continue() -> None:
    rm = running("{name: q1}", a1="q1")
    made = identities(rm.asks("k1", memory=60))
    rm.asks("k2", memory=50)

    assert rm.reconfigures(tree("{name: q1, resources: {max: {memory: 90}}}")) == [Configured("rm")]
    assert keys(rm.releases(made[0])) == ["k2"]


# requirement: SI-CFG-004
def test_update_for_another_rm_changes_nothing() -> None:
    rm = running("{name: q1}")
    before = rm.partition.root
    both = tree("{name: q1}", "{name: q2}")
    registered = rm.scheduler.rms.all()[0].register
    stranger = RM(scheduler=Scheduler())
    stranger.rm_id = "rm9"
    stranger.scheduler = rm.scheduler

    (refused,) = of(stranger.reconfigures(both), Refused)
    assert "rm9" in refused.reason
    (refused,) = of(rm.reconfigures(both, policy_group="pg9"), Refused)
    assert "pg9" in refused.reason
    assert rm.partition.root is before
    assert queues(rm) == ["q1"]
    assert rm.scheduler.rms.all()[0].register is registered


def test_policy_group_of_the_registration_may_be_named() -> None:
    rm = running("{name: q1}")
    registered = rm.scheduler.rms.all()[0].register
    again = Register("rm", registered.configuration, policy_group="pg1")
    rm.scheduler.handle(again, rm.now)

    assert is_taken(rm.reconfigures(tree("{name: q2}"), policy_group="pg1"))
    assert is_taken(rm.reconfigures(tree("{name: q3}")))
    assert not is_taken(rm.reconfigures(tree("{name: q4}"), policy_group="pg2"))


def test_update_does_not_change_the_queues_of_another_rm() -> None:
    rm = running("{name: q1}")
    other = RM(scheduler=rm.scheduler, rm_id="other", queues=tree("{name: q1}"))
    other.reconfigures(tree("{name: q2}"))

    assert queues(rm) == ["q1"]


# requirement: SI-CFG-003
def test_every_error_is_named_and_nothing_is_changed() -> None:
    rm = running("{name: leaf}", "{name: up, queues: [{name: in}]}", a1="leaf", a2="up.in")
    before = queues(rm)

    (refused,) = rm.reconfigures(
        tree("{name: leaf, queues: [{name: x}]}", "{name: up}", "{name: new}"), policy_group="pg9"
    )
    assert isinstance(refused, Refused)
    for sent in ("pg9", "'root.leaf' has applications", "'root.up' has applications below"):
        assert sent in refused.reason
    assert queues(rm) == before
    assert not takes(rm, "a3", "root.new")
    assert takes(rm, "a4", "root.leaf")
    assert takes(rm, "a5", "root.up.in")


# requirement: SI-CFG-006
def test_extra_config_is_replaced() -> None:
    rm = running("{name: q1}")
    rm.reconfigures(tree("{name: q1}"), extra_config={"key": "one", "old": "x"})
    assert rm.scheduler.snapshot("rm").extra_config == {"key": "one", "old": "x"}
    rm.reconfigures(tree("{name: q1}"), extra_config={"key": "two"})
    assert rm.scheduler.snapshot("rm").extra_config == {"key": "two"}

    rm.reconfigures(tree("{name: q1}"), extra_config={"key": "three"}, policy_group="nope")
    assert rm.scheduler.snapshot("rm").extra_config == {"key": "two"}


# Raised and lowered limits


# requirement: SI-CFG-005
def test_lowered_maximum_blocks_and_raised_maximum_unblocks() -> None:
    rm = running("{name: q1, resources: {max: {memory: 8}}}", a1="q1")
    rm.asks("k1", memory=6)
    rm.asks("k2", memory=3)

    assert is_taken(rm.reconfigures(tree("{name: q1, resources: {max: {memory: 5}}}")))
    assert keys(rm.asks("k3", memory=1)) == []
    effects = rm.reconfigures(tree("{name: q1, resources: {max: {memory: 10}}}"))
    assert keys(effects) == ["k2", "k3"]


def test_many_unblocked_asks_are_woken_in_chunks_and_placed_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(configuration_update, "_MOST_TO_WAKE", 1)
    names = [f"a{number}" for number in range(6)]
    rm = running("{name: q1, resources: {max: {memory: 1}}}")
    for name in names:
        rm.submits(name, "root.q1")
        rm.asks(f"of-{name}", name, memory=2)

    assert is_taken(rm.reconfigures(tree("{name: q1}")))
    rm.withdraws("of-a4", "a4")
    assert keys(rm.asks("new", "a0", memory=1)) == []

    assert keys(rm.waits(0)) == ["of-a0", "new", "of-a1", "of-a2", "of-a3", "of-a5"]


def test_lowered_limit_releases_nothing() -> None:
    rm = running("{name: q1}", a1="q1")
    made = identities(rm.asks("k1", memory=2, most=4))

    small = tree("{name: q1, maxapplications: 1, resources: {max: {memory: 3}}}")
    assert rm.reconfigures(small) == [Configured("rm")]
    assert keys(rm.asks("k2", memory=1)) == []
    assert [keys(rm.releases(identity)) for identity in made[:2]] == [[], []]
    assert keys(rm.releases(made[2])) == ["k2"]


def test_raised_application_limit_lets_more_run() -> None:
    rm = running("{name: q1, maxapplications: 1}", a1="q1", a2="q1", a3="q1")
    for application in ("a1", "a2", "a3"):
        rm.asks(f"k-{application}", application, memory=1)

    effects = rm.reconfigures(tree("{name: q1, maxapplications: 2}"))
    assert keys(effects) == ["k-a2"]


def test_lowered_application_limit_keeps_running_applications() -> None:
    rm = running("{name: q1, maxapplications: 2}", a1="q1", a2="q1", a3="q1")
    for application in ("a1", "a2", "a3"):
        rm.asks(f"k-{application}", application, memory=1)

    assert rm.reconfigures(tree("{name: q1, maxapplications: 1}")) == [Configured("rm")]
    assert keys(rm.asks("more", "a2", memory=1)) == ["more"]
    assert keys(rm.removes("a1")) == []
    assert keys(rm.removes("a2")) == ["k-a3"]


def test_new_guarantee_decides_the_order() -> None:
    rm = running("{name: q1}", "{name: q2}", memory=2, a1="q1", a2="q2")
    rm.asks("k1", "a1", memory=1)
    rm.asks("k2", "a2", memory=1)
    rm.reconfigures(tree("{name: q1}", "{name: q2, resources: {guaranteed: {memory: 10}}}"))
    for application in ("a1", "a2"):
        rm.asks(f"more-{application}", application, memory=1)

    assert keys(rm.creates("n2", memory=2)) == ["more-a2", "more-a1"]


def test_user_limits_can_be_added_changed_and_removed() -> None:
    limited = "limits: [{users: [u1], maxresources: {memory: %d}}]"
    rm = RM(queues=tree("{name: q1}"))
    rm.creates("n1", memory=100)
    rm.submits("a1", "root.q1", user="u1")
    assert len(keys(rm.asks("k1", memory=1, most=3))) == 3

    rm.reconfigures(tree("{name: q1}", root=limited % 4))
    assert len(keys(rm.asks("k2", memory=1, most=3))) == 1
    assert len(keys(rm.reconfigures(tree("{name: q1}", root=limited % 5)))) == 1
    rm.submits("a2", "root.q1", user="u1")
    assert keys(rm.asks("k3", "a2", memory=1)) == []
    assert keys(rm.reconfigures(tree("{name: q1}"))) == ["k2", "k3"]
    assert not rm.partition.root.user_quotas


def test_running_applications_count_towards_a_new_user_limit() -> None:
    rm = RM(queues=tree("{name: q1}"))
    rm.creates("n1", memory=100)
    for application in ("a1", "a2"):
        rm.submits(application, "root.q1", user="u1")
    rm.asks("k1", "a1", memory=1)

    rm.reconfigures(tree("{name: q1}", root='limits: [{users: ["*"], maxapplications: 1}]'))
    assert keys(rm.asks("k2", "a2", memory=1)) == []
    assert keys(rm.removes("a1")) == ["k2"]


# Added and removed queues


def test_removed_queue_keeps_its_applications_and_accepts_no_more() -> None:
    rm = running("{name: q1}", "{name: q2}", a1="q1")
    made = identities(rm.asks("k1", memory=1))

    assert is_taken(rm.reconfigures(tree("{name: q2}")))
    assert not takes(rm, "a2", "root.q1")
    assert keys(rm.asks("k2", memory=1)) == ["k2"]
    assert queues(rm) == ["q2", "q1"]
    assert keys(rm.releases(made[0])) == []


def test_draining_queue_is_removed_with_its_last_application() -> None:
    rm = running("{name: q1}", "{name: q2}", a1="q1", a2="q1")
    rm.reconfigures(tree("{name: q2}"))

    rm.removes("a1")
    assert queues(rm) == ["q2", "q1"]
    rm.removes("a2")
    assert queues(rm) == ["q2"]


def test_draining_queue_is_removed_when_its_last_application_completes() -> None:
    rm = RM(queues=tree("{name: q1}"), settings=Settings(completing_timeout=30))
    rm.creates("n1", memory=1)
    rm.submits("a1", "root.q1")
    made = identities(rm.asks("k1", memory=1))
    rm.reconfigures(tree("{name: q2}"))
    rm.releases(made[0])

    rm.waits(29)
    assert queues(rm) == ["q2", "q1"]
    rm.waits(1)
    assert queues(rm) == ["q2"]


def test_removed_empty_queue_is_gone_at_once() -> None:
    rm = running("{name: q1}", "{name: up, queues: [{name: in}]}")
    rm.reconfigures(tree("{name: q2}"))

    assert queues(rm) == ["q2"]


def test_removed_parent_goes_after_all_its_children() -> None:
    rm = running("{name: up, queues: [{name: in}, {name: empty}]}", a1="up.in")
    rm.reconfigures(tree("{name: q2}"))
    assert queues(rm) == ["q2", "up", "up.in"]
    assert not takes(rm, "a2", "root.up.in")

    rm.removes("a1")
    assert queues(rm) == ["q2"]


def test_restored_queue_is_active_again() -> None:
    rm = running("{name: q1}", a1="q1")
    rm.reconfigures(tree("{name: q2}"))
    rm.reconfigures(tree("{name: q1}", "{name: q2}"))

    assert takes(rm, "a2", "root.q1")
    rm.removes("a1")
    rm.removes("a2")
    assert queues(rm) == ["q1", "q2"]


def test_restored_queue_keeps_its_usage() -> None:
    rm = running("{name: q1}", a1="q1")
    rm.asks("k1", memory=7)
    rm.reconfigures(tree("{name: q2}"))
    rm.reconfigures(tree("{name: q1, resources: {max: {memory: 10}}}"))
    rm.submits("a2", "root.q1")

    assert len(keys(rm.asks("k2", "a2", memory=1, most=9))) == 3


def test_draining_queue_is_still_scheduled_within_its_limits() -> None:
    rm = running("{name: q1, resources: {max: {memory: 2}}}", a1="q1")
    made = identities(rm.asks("k1", memory=1, most=5))
    assert len(made) == 2
    rm.reconfigures(tree("{name: q2}"))

    assert keys(rm.releases(made[0])) == ["k1"]
    old = Ask("old", "a1", resource=Resource({"memory": 1}))
    assert rm.reports(AllocationRecord("old-1", old, "n1")) == []


def test_empty_leaf_can_become_a_parent_and_a_leaf_again() -> None:
    rm = running("{name: q1}")

    assert is_taken(rm.reconfigures(tree("{name: q1, queues: [{name: in}]}")))
    assert not takes(rm, "a1", "root.q1")
    assert takes(rm, "a1", "root.q1.in")
    rm.removes("a1")
    assert is_taken(rm.reconfigures(tree("{name: q1}")))
    assert takes(rm, "a1", "root.q1")
    assert queues(rm) == ["q1"]


def test_leaf_with_applications_stays_a_leaf_even_when_it_was_draining() -> None:
    rm = running("{name: q1}", a1="q1")
    rm.reconfigures(tree("{name: q2}"))

    assert not is_taken(rm.reconfigures(tree("{name: q1, parent: true}")))
    rm.removes("a1")
    assert is_taken(rm.reconfigures(tree("{name: q1, parent: true}")))


def test_queues_are_sorted_as_in_the_new_configuration() -> None:
    rm = running("{name: q1}", "{name: q2}", memory=1, a1="q1", a2="q2", a0="q1")
    rm.asks("full", "a0", memory=1)
    rm.reconfigures(tree("{name: q3}", "{name: q2}", "{name: q1}"))
    assert queues(rm) == ["q3", "q2", "q1"]
    rm.removes("a0")
    rm.decommissions("n1")
    for application in ("a1", "a2"):
        rm.asks(f"k-{application}", application, memory=1)

    assert keys(rm.creates("n2", memory=2)) == ["k-a2", "k-a1"]


def test_dynamic_queues_stay_until_they_are_empty() -> None:
    rules = "    placementrules: [{name: provided, create: true}]\n"
    rm = RM(queues=tree("{name: q1}", "{name: up, parent: true}", rest=rules))
    for application, queue in (("a1", "dynamic"), ("a2", "up.dynamic")):
        rm.submits(application, f"root.{queue}")

    rm.reconfigures(tree("{name: q1}", rest=rules))
    assert queues(rm) == ["q1", "up", "up.dynamic", "dynamic"]
    assert takes(rm, "a3", "root.dynamic")
    assert not takes(rm, "a4", "root.up.dynamic")
    assert not takes(rm, "a5", "root.up.other")
    rm.reconfigures(tree("{name: q1}", "{name: up, parent: true}", rest=rules))
    assert takes(rm, "a4", "root.up.dynamic")
    for application in ("a1", "a2", "a3", "a4"):
        rm.removes(application)
    rm.waits(60)
    assert queues(rm) == ["q1", "up"]


def test_dynamic_queue_becomes_configured_when_it_is_named() -> None:
    rules = "    placementrules: [{name: provided, create: true}]\n"
    rm = RM(queues=tree("{name: q1}", rest=rules))
    rm.submits("a1", "root.dynamic")
    rm.removes("a1")

    named = tree("{name: dynamic, resources: {max: {memory: 1}}}", rest=rules)
    rm.reconfigures(named)
    rm.waits(60)
    assert queues(rm) == ["dynamic"]
    assert rm.partition.root.children["dynamic"].maximum == Resource({"memory": 1})


# Rules and policies


def test_placement_rules_and_permissions_are_replaced() -> None:
    rm = running("{name: q1}", "{name: q2}")
    fixed = "    placementrules: [{name: fixed, value: root.q2}]\n"
    rm.reconfigures(tree("{name: q1}", "{name: q2}", rest=fixed))
    rm.submits("a1", "root.q1")
    assert rm.partition.applications["a1"].leaf.name == "root.q2"

    closed = tree("{name: q1}", "{name: q2}").replace('submitacl: "*"', "submitacl: boss")
    rm.reconfigures(closed)
    assert not takes(rm, "a2", "root.q1", user="u1")
    assert takes(rm, "a3", "root.q1", user="boss")
    assert "a1" in rm.partition.applications


def test_application_order_follows_the_new_policy() -> None:
    rm = running("{name: q1}", a1="q1", a2="q1")
    rm.decommissions("n1")
    for application in ("a1", "a2"):
        rm.asks(f"k-{application}", application, memory=1, most=2)
    rm.reconfigures(tree("{name: q1, properties: {application.sort.policy: fair}}"))

    assert keys(rm.creates("n2", memory=9)) == ["k-a1", "k-a2", "k-a1", "k-a2"]


def test_leaf_can_switch_to_state_aware_and_back() -> None:
    rm = running("{name: q1}", a1="q1", a2="q1")
    aware = "{name: q1, properties: {application.sort.policy: stateaware}}"
    rm.asks("k1", "a1", memory=1)
    rm.reconfigures(tree(aware))

    assert keys(rm.asks("k2", "a2", memory=1)) == []
    assert keys(rm.reconfigures(tree("{name: q1}"))) == ["k2"]
    rm.submits("a3", "root.q1")
    rm.reconfigures(tree(aware))
    assert keys(rm.asks("k3", "a3", memory=1)) == []


@pytest.mark.parametrize(
    ("policy", "order"), [("fair", ["n2", "n1", "n2"]), ("binpacking", ["n1", "n1", "n2"])]
)
def test_nodes_are_sorted_by_the_new_policy(policy: str, order: list[str]) -> None:
    other = {"fair": "binpacking", "binpacking": "fair"}[policy]
    nodes = "    nodesortpolicy: {type: %s, resourceweights: {memory: 1}}\n"
    rm = RM(queues=tree("{name: q1}", rest=nodes % other))
    rm.submits("a1", "root.q1")
    rm.creates("n1", memory=3, gpu=5)
    rm.asks("first", memory=1)
    rm.creates("n2", memory=3, gpu=1)
    rm.reconfigures(tree("{name: q1}", rest=nodes % policy))

    assert [node for _, node in placed(rm.asks("k1", memory=1, most=3))] == order


def test_waiting_gangs_start_when_the_limit_is_raised() -> None:
    rm = running("{name: q1, resources: {max: {memory: 5}}}", a1="q1")
    rm.asks("k1", memory=3)
    rm.submits("g1", "root.q1", placeholder_ask=Resource({"memory": 4}))
    gang = {"task_group": "tg", "placeholder": True}
    assert keys(rm.asks("p", "g1", memory=2, most=2, more=gang)) == []

    wide = tree("{name: q1, resources: {max: {memory: 7}}}")
    assert keys(rm.reconfigures(wide)) == ["p", "p"]
