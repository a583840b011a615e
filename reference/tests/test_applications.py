"""Applications: submission, states, removal."""

from collections.abc import Callable

import pytest
from sireference.core.model import (
    AcceptedApplication,
    Effect,
    NewApplication,
    RejectedApplication,
    ReleasedAsk,
    RemoveApplication,
    UpdateApplications,
    UpdatedApplication,
)
from tests.configuring import tree
from tests.driving import RM, STOPPED, TIMEOUT, identities, keys, of, refused_keys, released, states

ONE_AT_A_TIME = tree("{name: q, maxapplications: 1}")


def verdicts(effects: object) -> list[tuple[str, bool]]:
    assert isinstance(effects, list)
    assert all(rejection.reason for rejection in of(effects, RejectedApplication))
    return [
        (effect.application_id, isinstance(effect, AcceptedApplication))
        for effect in effects
        if isinstance(effect, AcceptedApplication | RejectedApplication)
    ]


# requirement: SI-APP-001, SI-APP-002, SI-APP-039
def test_application_is_accepted_once(rm: RM) -> None:
    assert rm.submits("a1") == [AcceptedApplication("rm", "a1")]
    assert verdicts(rm.submits("a1")) == [("a1", False)]


# requirement: SI-APP-003
def test_rejected_duplicate_changes_nothing(busy: RM) -> None:
    busy.asks("k1", memory=10)
    busy.asks("k2", memory=5)

    effects = busy.submits("a1", "root.nowhere")

    assert verdicts(effects) == [("a1", False)]
    assert released(effects) == []
    assert keys(busy.creates("n2", memory=5)) == ["k2"]


# requirement: SI-APP-004
def test_every_submission_has_one_verdict(rm: RM) -> None:
    for known in ("a1", "a3"):
        rm.submits(known)
    batch = tuple(NewApplication(f"a{i}", "root.default") for i in (1, 2, 3, 4))

    effects = rm.scheduler.handle(UpdateApplications("rm", batch), 0)

    assert verdicts(effects) == [("a1", False), ("a2", True), ("a3", False), ("a4", True)]


def test_application_without_id_is_rejected(rm: RM) -> None:
    assert verdicts(rm.submits("")) == [("", False)]


# requirement: SI-APP-007
def test_application_of_an_unknown_partition_is_rejected(rm: RM) -> None:
    assert verdicts(rm.submits("a1", partition="nope")) == [("a1", False)]


# requirement: SI-APP-008, SI-APP-009, SI-APP-010
def test_groups_user_and_tags_are_optional(rm: RM) -> None:
    assert verdicts(rm.submits("a1", user="u1")) == [("a1", True)]
    assert verdicts(rm.submits("a2")) == [("a2", True)]
    assert verdicts(rm.submits("a3", tags={"x": "y"})) == [("a3", True)]


# requirement: SI-APP-011
def test_application_tags_do_not_affect_its_asks(busy: RM) -> None:
    busy.submits("a2", tags={"yunikorn.apache.org/requiredNode": "n2"})

    assert keys(busy.asks("k1", "a2", memory=1)) == ["k1"]


# requirement: SI-APP-012, SI-APP-014, SI-REL-011
def test_application_fails_at_its_execution_timeout(rm: RM) -> None:
    rm.submits("a1", execution_timeout=3.0)
    rm.asks("k1", memory=5)
    rm.asks("k2", memory=99)
    assert rm.waits(10) == []
    (identity,) = identities(rm.creates("n1", memory=10))
    assert rm.waits(2.9) == []

    effects = rm.waits(0.1)

    assert states(effects) == ["Failing"]
    assert [r.release.key for r in of(effects, ReleasedAsk)] == ["k2"]
    assert released(effects) == [(identity, TIMEOUT)]
    assert refused_keys(rm.asks("k3", memory=1)) == ["k3"]
    assert states(rm.releases(identity, termination=TIMEOUT)) == ["Failed"]
    assert verdicts(rm.submits("a1")) == [("a1", True)]


def test_open_release_is_not_requested_again_at_the_timeout(busy: RM) -> None:
    busy.submits("a2", execution_timeout=3.0)
    (expiring,) = identities(busy.asks("k1", "a2", memory=1, more={"execution_timeout": 1.0}))
    (lasting,) = identities(busy.asks("k2", "a2", memory=1))

    assert released(busy.waits(1)) == [(expiring, TIMEOUT)]
    assert released(busy.waits(2)) == [(lasting, TIMEOUT)]


def test_failing_application_keeps_its_slot_until_it_has_failed() -> None:
    rm = RM(queues=ONE_AT_A_TIME)
    rm.creates("n1", memory=10)
    rm.submits("a1", "root.q", execution_timeout=3.0)
    rm.submits("a2", "root.q")
    (identity,) = identities(rm.asks("k1", memory=1))
    rm.asks("k2", "a2", memory=1)
    assert keys(rm.waits(3)) == []

    assert keys(rm.releases(identity, termination=TIMEOUT)) == ["k2"]


def test_waiting_time_does_not_count_as_execution_time(busy: RM) -> None:
    busy.submits("a2", execution_timeout=3.0)
    (identity,) = identities(busy.asks("k1", "a2", memory=5))
    busy.waits(2)
    busy.releases(identity, "a2")
    assert busy.waits(2) == []

    assert states(busy.asks("k2", "a2", memory=99)) == ["Running"]
    assert states(busy.waits(2.9)) == []
    assert states(busy.waits(0.2)) == ["Failing", "Failed"]


# requirement: SI-APP-013
@pytest.mark.parametrize("timeout", [0.0, -5.0])
def test_no_timeout_means_no_limit(busy: RM, timeout: float) -> None:
    busy.submits("a2", execution_timeout=timeout)
    busy.asks("k1", "a2", memory=1)

    assert states(busy.waits(1e9)) == ["Running"]


# requirement: SI-APP-017
def test_removing_an_application_removes_its_asks(rm: RM) -> None:
    rm.submits("a1")
    rm.asks("k1", memory=1)

    assert rm.removes("a1") == []

    assert keys(rm.creates("n1", memory=9)) == []


# requirement: SI-APP-018, SI-APP-035, SI-CONN-014
def test_removing_an_application_releases_its_allocations_and_capacity(busy: RM) -> None:
    busy.submits("a2")
    ended = identities(busy.asks("k1", memory=3, most=3))
    busy.asks("k2", "a2", memory=10)

    effects = busy.removes("a1")

    assert released(effects) == [(identity, STOPPED) for identity in ended]
    assert states(effects) == ["Starting"]
    assert keys(effects) == ["k2"]


# requirement: SI-APP-019
def test_removing_an_unknown_application_is_ignored(busy: RM) -> None:
    (identity,) = identities(busy.asks("k1", memory=3))

    assert busy.removes("nope") == []
    assert busy.removes("a1", partition="nope") == []

    assert released(busy.releases(identity)) == [(identity, STOPPED)]


# requirement: SI-APP-020
def test_id_is_free_after_removal(busy: RM) -> None:
    busy.removes("a1")

    assert refused_keys(busy.asks("k1", memory=1)) == ["k1"]
    assert verdicts(busy.submits("a1")) == [("a1", True)]
    assert keys(busy.asks("k2", memory=1)) == ["k2"]


def test_additions_are_handled_before_removals(rm: RM) -> None:
    event = UpdateApplications(
        "rm", (NewApplication("a1", "root.default"),), (RemoveApplication("a1"),)
    )

    assert rm.scheduler.handle(event, 0) == [AcceptedApplication("rm", "a1")]
    assert verdicts(rm.submits("a1")) == [("a1", True)]


def test_removal_cancels_the_timers_of_the_application(busy: RM) -> None:
    busy.submits("a2", execution_timeout=5.0)
    busy.asks("k1", "a2", memory=1, more={"execution_timeout": 1.0})
    busy.removes("a2")

    assert busy.scheduler.next_deadline() is None
    assert busy.waits(1e9) == []


# requirement: SI-APP-021, SI-APP-022, SI-APP-024, SI-APP-025, SI-APP-026, SI-APP-029
def test_full_lifecycle_is_reported(busy: RM) -> None:
    received: list[UpdatedApplication] = []
    steps: list[Callable[[], list[Effect]]] = [
        lambda: busy.asks("k0", memory=99),
        lambda: busy.asks("k1", memory=1),
        lambda: busy.asks("k2", memory=1),
        busy.withdraws,
        busy.releases,
        lambda: busy.waits(30),
    ]
    for step in steps:
        received += of(step(), UpdatedApplication)
        busy.now += 1

    assert [update.state.value for update in received] == [
        "Accepted",
        "Starting",
        "Running",
        "Completing",
        "Completed",
    ]
    assert all(update.message and update.application_id == "a1" for update in received)
    times = [update.at for update in received]
    assert times == sorted(times)


# requirement: SI-APP-027
def test_pending_ask_or_allocation_prevents_waiting(busy: RM) -> None:
    busy.submits("a2")
    one, _ = identities(busy.asks("k1", memory=1, most=2))
    other = identities(busy.asks("k2", "a2", memory=1))[0]
    busy.asks("k3", "a2", memory=99)

    assert states(busy.releases(one)) == []
    assert states(busy.releases(other, "a2")) == []


def test_new_application_does_not_wait_before_its_first_ask(rm: RM) -> None:
    rm.submits("a1")

    assert rm.scheduler.next_deadline() is None


# requirement: SI-APP-028, SI-APP-032
def test_waiting_application_runs_again_with_a_new_ask(busy: RM) -> None:
    busy.asks("k1", memory=1)
    busy.releases()
    busy.waits(29)
    assert verdicts(busy.submits("a1")) == [("a1", False)]

    effects = busy.asks("k2", memory=1)

    assert states(effects) == ["Running"]
    assert keys(effects) == ["k2"]
    assert states(busy.waits(100)) == []


# requirement: SI-APP-031
def test_completed_application_does_not_block_its_id(busy: RM) -> None:
    busy.asks("k1", memory=1)
    busy.releases()
    assert states(busy.waits(30)) == ["Completed"]
    assert refused_keys(busy.asks("k2", memory=1)) == ["k2"]

    assert verdicts(busy.submits("a1")) == [("a1", True)]

    assert keys(busy.asks("k2", memory=1)) == ["k2"]
    assert "Expired" not in states(busy.waits(1e9))


def test_finished_application_is_forgotten_after_its_retention(busy: RM) -> None:
    busy.asks("k1", memory=1)
    busy.releases()

    assert states(busy.waits(1e6)) == ["Completed", "Expired"]
    assert busy.scheduler.next_deadline() is None
