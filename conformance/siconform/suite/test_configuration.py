"""Configuration: another one for a scheduler that runs (SI-CFG)."""

from siconform.marks import requirement
from siconform.rm.cluster import UNUSABLE, queues_with_quotas
from siconform.rm.facts import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Released,
)
from siconform.rm.newcomer import Newcomer
from siconform.rm.seen import SettingSeen


@requirement("SI-CFG-001")
def test_an_update_takes_effect_without_registering_again(newcomer: Newcomer) -> None:
    newcomer.has_registered(config=queues_with_quotas(first=None))
    with newcomer.control("before the update there is no such queue"):
        early = newcomer.submits_application(queue="root.second")
        newcomer.is_told(ApplicationRejected(early))

    newcomer.is_reconfigured(queues_with_quotas(first=None, second=None))

    app = newcomer.submits_application(queue="root.second")
    newcomer.is_told(ApplicationAccepted(app))


@requirement("SI-CFG-002")
def test_an_update_keeps_what_the_scheduler_holds(newcomer: Newcomer) -> None:
    newcomer.has_registered(config=queues_with_quotas(first=8))
    newcomer.has_node(memory=100)
    app = newcomer.has_application(queue="root.first")
    allocation = newcomer.has_allocation(app, memory=6)
    waiting = newcomer.has_pending_ask(app, memory=3)
    newcomer.passes_over(ApplicationUpdated(app))

    newcomer.is_reconfigured(queues_with_quotas(first=7))

    newcomer.is_not_told(
        Released(application=app),
        AskReleased(application=app),
        AskRejected(waiting),
        ApplicationUpdated(app),
    )
    newcomer.still_holds(allocation)
    newcomer.is_told(Allocated(waiting))


@requirement("SI-CFG-003")
def test_an_invalid_configuration_is_refused_and_the_old_one_stays(newcomer: Newcomer) -> None:
    newcomer.has_registered(config=queues_with_quotas(first=None))

    newcomer.is_refused_configuration(UNUSABLE)

    app = newcomer.submits_application(queue="root.first")
    newcomer.is_told(ApplicationAccepted(app))
    with newcomer.control("a usable configuration is applied"):
        newcomer.is_reconfigured(queues_with_quotas(first=None, second=None))


@requirement("SI-CFG-004")
def test_an_update_for_an_unknown_rm_or_group_fails_and_changes_nothing(
    newcomer: Newcomer,
) -> None:
    newcomer.has_registered(config=queues_with_quotas(first=None))
    other = queues_with_quotas(second=None)

    newcomer.is_refused_configuration(other, rm_id=newcomer.new_name("nobody"))
    newcomer.is_refused_configuration(other, policy_group=newcomer.new_name("no-group"))

    newcomer.is_told(ApplicationAccepted(newcomer.submits_application(queue="root.first")))
    newcomer.is_told(ApplicationRejected(newcomer.submits_application(queue="root.second")))
    with newcomer.control("for the RM and group that are registered it is applied"):
        newcomer.is_reconfigured(queues_with_quotas(first=None, second=None))


@requirement("SI-CFG-005")
def test_a_changed_quota_holds_for_what_is_allocated_next(newcomer: Newcomer) -> None:
    newcomer.has_registered(config=queues_with_quotas(first=8))
    newcomer.has_node(memory=100)
    app = newcomer.has_application(queue="root.first")
    newcomer.has_allocation(app, memory=5)
    newcomer.has_allocation(app, memory=1)

    newcomer.is_reconfigured(queues_with_quotas(first=5))
    small = newcomer.asks(app, memory=1)
    newcomer.is_not_told(Allocated(small))

    newcomer.is_reconfigured(queues_with_quotas(first=10))
    newcomer.is_told(Allocated(small))
    too_much = newcomer.asks(app, memory=4)
    newcomer.is_not_told(Allocated(too_much))


@requirement("SI-CFG-006")
def test_extra_settings_of_an_update_replace_those_before(newcomer: Newcomer) -> None:
    queues = queues_with_quotas(first=None)
    newcomer.has_registered(config=queues, extra_config={"siconform.note": "before"})
    with newcomer.premise("a snapshot shows extra settings"):
        newcomer.sees(SettingSeen("siconform.note", "before"))

    newcomer.is_reconfigured(queues, extra_config={"siconform.note": "after"})

    newcomer.sees(SettingSeen("siconform.note", "after"))
