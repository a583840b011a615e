"""Registration: the first call of an RM, and calling it again (SI-REG)."""

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import registering_again_is_a_race, requirement
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    NodeAccepted,
    NodeRejected,
    Released,
)
from siconform.protocol.queue_configurations import UNUSABLE, queues, queues_with_quotas
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import QUOTA_QUEUE, replaced
from siconform.rm.unregistered_rm import UnregisteredRM


@requirement("SI-REG-001")
def test_a_registration_succeeds(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.is_registered()

    unregistered_rm.was_answered_with_nothing()


@requirement("SI-REG-002")
def test_an_rm_whose_registration_failed_is_reported_so(unregistered_rm: UnregisteredRM) -> None:
    outcome = unregistered_rm.registers(config=UNUSABLE)

    unregistered_rm.is_treated_as_reported(outcome)
    with unregistered_rm.control("the same registration with usable input succeeds"):
        unregistered_rm.is_registered()


@requirement("SI-REG-003")
def test_a_registration_without_rm_id_is_refused(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.is_refused_registration(rm_id="")

    with unregistered_rm.control("with an id the registration succeeds"):
        unregistered_rm.is_registered()


@requirement("SI-REG-004")
@registering_again_is_a_race
def test_registering_again_succeeds(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.has_node()

    unregistered_rm.is_registered_again()


@requirement("SI-REG-005")
@registering_again_is_a_race
def test_registering_again_forgets_the_nodes(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    node = unregistered_rm.has_node()
    with unregistered_rm.control("without registering again the node is a duplicate"):
        unregistered_rm.registers_node(node)
        unregistered_rm.expect(NodeRejected(node))

    unregistered_rm.has_registered_again()
    homeless = unregistered_rm.asks(unregistered_rm.has_application())
    unregistered_rm.expect_none(Allocated(homeless))
    unregistered_rm.registers_node(node)

    unregistered_rm.expect(NodeAccepted(node))
    unregistered_rm.has_registered_again()
    unregistered_rm.registers_node(node)
    unregistered_rm.expect(NodeAccepted(node))


@requirement("SI-REG-005")
@registering_again_is_a_race
def test_registering_again_forgets_that_a_node_is_draining(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered()
    node = unregistered_rm.has_node()
    unregistered_rm.drains(node)
    waiting = unregistered_rm.asks(unregistered_rm.has_application())
    with unregistered_rm.precondition("a draining node takes no work"):
        unregistered_rm.expect_none(Allocated(waiting))

    unregistered_rm.has_registered_again()
    unregistered_rm.registers_node(node)
    unregistered_rm.expect(NodeAccepted(node))

    fresh = unregistered_rm.asks(unregistered_rm.has_application())
    unregistered_rm.expect(Allocated(fresh, node=node))


@requirement("SI-REG-006")
@registering_again_is_a_race
def test_registering_again_forgets_the_applications(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.has_node()
    app = unregistered_rm.has_application()
    unregistered_rm.has_allocation(app)
    with unregistered_rm.control("without registering again the application is a duplicate"):
        unregistered_rm.submits_application(app)
        unregistered_rm.expect(ApplicationRejected(app))

    unregistered_rm.has_registered_again()
    unregistered_rm.submits_application(app)

    unregistered_rm.expect(ApplicationAccepted(app))


@requirement("SI-REG-006")
@registering_again_is_a_race
def test_registering_again_ends_the_running_applications_of_a_queue(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered()
    node = unregistered_rm.has_node()
    unregistered_rm.has_allocation(unregistered_rm.has_application(queue="root.single"))

    unregistered_rm.has_registered_again()
    unregistered_rm.registers_node(node)
    unregistered_rm.expect(NodeAccepted(node))
    app = unregistered_rm.submits_application(queue="root.single")  # one application at a time

    unregistered_rm.expect(ApplicationAccepted(app))
    unregistered_rm.expect(Allocated(unregistered_rm.asks(app), node=node))


@requirement("SI-REG-007")
@registering_again_is_a_race
def test_registering_again_forgets_that_a_placeholder_is_being_replaced(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.has_registered()
    node = rm.has_node(memory=10)
    rm.does_gang_scheduling()
    gang = rm.has_gang(memory=4)
    placeholder = rm.has_placeholder(gang)
    with rm.confirming_nothing():
        rm.has_open_replacement(gang, [placeholder])
        rm.has_registered_again()

    rm.submits_gang_again(gang)
    rm.registers_node(node, memory=10, existing=(placeholder,))
    rm.expect(NodeAccepted(node))

    too_large = rm.asks(rm.has_application(), memory=7)
    rm.expect_none(Allocated(too_large))
    rm.withdraws(too_large)
    real = rm.asks_member(gang)
    rm.expect(replaced(placeholder))
    rm.expect(Allocated(real, node=node))


@requirement("SI-REG-007")
@registering_again_is_a_race
def test_registering_again_forgets_asks_and_allocations(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    node = unregistered_rm.has_node(memory=10)
    app = unregistered_rm.has_application(queue="root.quota")  # at most 10
    unregistered_rm.has_allocation(app, memory=10)
    waiting = unregistered_rm.has_waiting_ask(app, memory=10)
    with unregistered_rm.control("without registering again there is no capacity"):
        unregistered_rm.expect_none(Allocated(waiting))

    unregistered_rm.has_registered_again()
    unregistered_rm.registers_node(node)
    unregistered_rm.expect(NodeAccepted(node))
    fresh = unregistered_rm.asks(unregistered_rm.has_application(queue="root.quota"), memory=10)

    unregistered_rm.expect(Allocated(fresh, node=node))
    unregistered_rm.expect_none(Allocated(application=app))


@requirement("SI-REG-007")
@registering_again_is_a_race
def test_registering_again_forgets_the_share_of_what_was_being_released(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.has_registered()
    rm.does_gang_scheduling()
    rm.needs(Feature.QUOTAS)
    node = rm.has_node(memory=10)
    gang = rm.has_gang(queue=QUOTA_QUEUE, memory=4)
    placeholder = rm.has_placeholder(gang)
    with rm.confirming_nothing():
        rm.has_open_replacement(gang, [placeholder])
        rm.has_registered_again()

    rm.registers_node(node, memory=10)
    rm.expect(NodeAccepted(node))

    whole = rm.asks(rm.has_application(queue=QUOTA_QUEUE), memory=10)
    rm.expect(Allocated(whole, node=node))


@requirement("SI-REG-007")
@registering_again_is_a_race
def test_registering_again_forgets_foreign_allocations(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.has_foreign_allocations()
    node = unregistered_rm.has_node(memory=10)
    unregistered_rm.has_foreign(node, memory=6)

    unregistered_rm.has_registered_again()
    unregistered_rm.registers_node(node, memory=10)
    unregistered_rm.expect(NodeAccepted(node))

    whole = unregistered_rm.asks(unregistered_rm.has_application(), memory=10)
    unregistered_rm.expect(Allocated(whole, node=node))


@requirement("SI-REG-008")
def test_registering_again_leaves_other_rms_alone(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    node = rm.has_node()
    allocation = rm.has_allocation(rm.has_application())
    second_rm.joins()
    second_rm.has_node()
    second_rm.has_allocation(second_rm.has_application())

    second_rm.has_registered_again()

    rm.expect_none(Released(identity=allocation.identity))
    rm.registers_node(node)
    rm.expect(NodeRejected(node))
    rm.still_holds(allocation)


@requirement("SI-REG-012")
def test_the_policy_group_decides_which_queues_an_rm_has(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    rm.has_application(queue="root.plain")
    second_rm.joins(config=queues("only-first"))

    own = second_rm.submits_application(queue="root.first")
    of_the_other = second_rm.submits_application(queue="root.plain")
    foreign = rm.submits_application(queue="root.first")

    second_rm.expect(ApplicationAccepted(own))
    second_rm.expect(ApplicationRejected(of_the_other))
    rm.expect(ApplicationRejected(foreign))


@requirement("SI-REG-013")
def test_rms_of_the_same_configuration_share_a_policy_group(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    node, app = rm.has_node(), rm.has_application()
    allocation = rm.has_allocation(app, node=node)

    second_rm.is_accepted_in_the_policy_group_of_another()

    rm.expect_none(Released(identity=allocation.identity))
    rm.still_holds(allocation)
    rm.expect(Allocated(rm.asks(app), node=node))


@requirement("SI-REG-014")
def test_the_configuration_is_in_force_once_registration_returns(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered(config=queues("only-first"))

    configured = unregistered_rm.submits_application(queue="root.first")
    unknown = unregistered_rm.submits_application(queue="root.plain")

    unregistered_rm.expect(ApplicationAccepted(configured))
    unregistered_rm.expect(ApplicationRejected(unknown))


@requirement("SI-REG-015")
def test_a_configuration_that_cannot_be_used_fails_the_registration(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.is_refused_registration(config=UNUSABLE)

    node = unregistered_rm.registers_node()
    unregistered_rm.stays_quiet(NodeAccepted(node))
    with unregistered_rm.control("with a usable configuration the RM is registered and served"):
        unregistered_rm.is_registered()
        unregistered_rm.registers_node(node)
        unregistered_rm.expect(NodeAccepted(node))


@requirement("SI-REG-016")
def test_unknown_extra_configuration_changes_nothing(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.needs(Feature.QUEUES)
    unregistered_rm.is_registered(extra_config={"siconform.unknown": "x", "": "no key"})

    unregistered_rm.expect(
        ApplicationRejected(unregistered_rm.submits_application(queue="root.unknown"))
    )
    unregistered_rm.expect(
        ApplicationAccepted(unregistered_rm.submits_application(queue="root.quota"))
    )
    unregistered_rm.is_served_on_every_stream()


@pytest.mark.parametrize("build_info", [{}, {"version": "", "anything": "ä" * 1000, "": "x"}])
@requirement("SI-REG-017")
def test_build_information_is_not_tested(
    unregistered_rm: UnregisteredRM, build_info: dict[str, str]
) -> None:
    unregistered_rm.is_registered(build_info=build_info)

    unregistered_rm.is_served_on_every_stream()


@requirement("SI-REG-018")
@registering_again_is_a_race
def test_values_of_a_second_registration_replace_those_of_the_first(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered(config=queues("only-first"))
    with unregistered_rm.control("the first configuration is in force"):
        unregistered_rm.expect(
            ApplicationAccepted(unregistered_rm.submits_application(queue="root.first"))
        )

    unregistered_rm.has_registered_again(config=queues("only-second"))
    replaced = unregistered_rm.submits_application(queue="root.first")
    replacing = unregistered_rm.submits_application(queue="root.second")

    unregistered_rm.expect(ApplicationAccepted(replacing))
    unregistered_rm.expect(ApplicationRejected(replaced))


@requirement("SI-REG-018")
@registering_again_is_a_race
def test_the_limits_of_a_queue_are_those_of_the_latest_registration(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.has_registered(config=queues_with_quotas(first=2))
    rm.has_node(memory=100)
    rm.has_ask_left_alone(rm.has_application(queue="root.first"), "the quota of a queue", memory=6)

    rm.has_registered_again(config=queues_with_quotas(first=8))
    rm.has_node(memory=100)
    rm.expect(Allocated(rm.asks(rm.has_application(queue="root.first"), memory=6)))

    rm.has_registered_again(config=queues_with_quotas(first=4))
    rm.has_node(memory=100)
    app = rm.has_application(queue="root.first")
    beyond = rm.asks(app, memory=6)
    rm.expect_none(Allocated(beyond))
    with rm.control("an ask within the new limit is allocated"):
        rm.withdraws(beyond)
        rm.expect(Allocated(rm.asks(app, memory=4)))


@requirement("SI-REG-012")
def test_the_queues_of_its_policy_group_are_those_of_the_rm(
    unregistered_rm: UnregisteredRM,
) -> None:
    group = unregistered_rm.new_name("group")
    unregistered_rm.has_registered(config=queues_with_quotas(first=None), policy_group=group)
    with unregistered_rm.control("the group has no such queue yet"):
        early = unregistered_rm.submits_application(queue="root.second")
        unregistered_rm.expect(ApplicationRejected(early))

    both = queues_with_quotas(first=None, second=None)
    unregistered_rm.is_reconfigured(both, policy_group=group)

    unregistered_rm.expect(
        ApplicationAccepted(unregistered_rm.submits_application(queue="root.second"))
    )


@requirement("SI-REG-019")
def test_the_matching_version_is_accepted(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.is_registered()

    unregistered_rm.is_served_on_every_stream()


@pytest.mark.parametrize("version", ["", "99.0"])
@requirement("SI-REG-002", "SI-REG-019")
def test_another_version_is_accepted_or_refused_cleanly(
    unregistered_rm: UnregisteredRM, version: str
) -> None:
    outcome = unregistered_rm.registers(version=version)

    unregistered_rm.is_treated_as_reported(outcome)
    unregistered_rm.records(f'a registration of version "{version}": {outcome.status}')
