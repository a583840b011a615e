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
from siconform.rm.unregistered_rm import Newcomer


@requirement("SI-REG-001")
def test_a_registration_succeeds(newcomer: Newcomer) -> None:
    newcomer.is_registered()

    newcomer.was_answered_with_nothing()


@requirement("SI-REG-002")
def test_an_rm_whose_registration_failed_is_told_so(newcomer: Newcomer) -> None:
    outcome = newcomer.registers(config=UNUSABLE)

    newcomer.is_treated_as_told(outcome)
    with newcomer.control("the same registration with usable input succeeds"):
        newcomer.is_registered()


@requirement("SI-REG-003")
def test_a_registration_without_rm_id_is_refused(newcomer: Newcomer) -> None:
    newcomer.is_refused_registration(rm_id="")

    with newcomer.control("with an id the registration succeeds"):
        newcomer.is_registered()


@requirement("SI-REG-004")
@registering_again_is_a_race
def test_registering_again_succeeds(newcomer: Newcomer) -> None:
    newcomer.has_registered()
    newcomer.has_node()

    newcomer.is_registered_again()


@requirement("SI-REG-005")
@registering_again_is_a_race
def test_registering_again_forgets_the_nodes(newcomer: Newcomer) -> None:
    newcomer.has_registered()
    node = newcomer.has_node()
    with newcomer.control("without registering again the node is a duplicate"):
        newcomer.registers_node(node)
        newcomer.is_told(NodeRejected(node))

    newcomer.has_registered_again()
    homeless = newcomer.asks(newcomer.has_application())
    newcomer.is_not_told(Allocated(homeless))
    newcomer.registers_node(node)

    newcomer.is_told(NodeAccepted(node))


@requirement("SI-REG-006")
@registering_again_is_a_race
def test_registering_again_forgets_the_applications(newcomer: Newcomer) -> None:
    newcomer.has_registered()
    newcomer.has_node()
    app = newcomer.has_application()
    newcomer.has_allocation(app)
    with newcomer.control("without registering again the application is a duplicate"):
        newcomer.submits_application(app)
        newcomer.is_told(ApplicationRejected(app))

    newcomer.has_registered_again()
    newcomer.submits_application(app)

    newcomer.is_told(ApplicationAccepted(app))


@requirement("SI-REG-007")
@registering_again_is_a_race
def test_registering_again_forgets_asks_and_allocations(newcomer: Newcomer) -> None:
    newcomer.has_registered()
    node = newcomer.has_node(memory=10)
    app = newcomer.has_application(queue="root.quota")  # at most 10
    newcomer.has_allocation(app, memory=10)
    waiting = newcomer.has_waiting_ask(app, memory=10)
    with newcomer.control("without registering again there is no room"):
        newcomer.is_not_told(Allocated(waiting))

    newcomer.has_registered_again()
    newcomer.registers_node(node)
    newcomer.is_told(NodeAccepted(node))
    fresh = newcomer.asks(newcomer.has_application(queue="root.quota"), memory=10)

    newcomer.is_told(Allocated(fresh, node=node))
    newcomer.is_not_told(Allocated(application=app))


@requirement("SI-REG-008")
def test_registering_again_leaves_other_rms_alone(rm: ResourceManager, second_rm: Newcomer) -> None:
    node = rm.has_node()
    allocation = rm.has_allocation(rm.has_application())
    second_rm.joins()
    second_rm.has_node()
    second_rm.has_allocation(second_rm.has_application())

    second_rm.has_registered_again()

    rm.is_not_told(Released(identity=allocation.identity))
    rm.registers_node(node)
    rm.is_told(NodeRejected(node))
    rm.still_holds(allocation)


@requirement("SI-REG-012")
def test_the_policy_group_decides_which_queues_an_rm_has(
    rm: ResourceManager, second_rm: Newcomer
) -> None:
    rm.has_application(queue="root.default")
    second_rm.joins(config=queues("only-first"))

    own = second_rm.submits_application(queue="root.first")
    of_the_other = second_rm.submits_application(queue="root.default")
    foreign = rm.submits_application(queue="root.first")

    second_rm.is_told(ApplicationAccepted(own))
    second_rm.is_told(ApplicationRejected(of_the_other))
    rm.is_told(ApplicationRejected(foreign))


@requirement("SI-REG-013")
def test_rms_of_the_same_configuration_share_a_policy_group(
    rm: ResourceManager, second_rm: Newcomer
) -> None:
    node, app = rm.has_node(), rm.has_application()
    allocation = rm.has_allocation(app, node=node)

    second_rm.is_accepted_in_the_policy_group_of_another()

    rm.is_not_told(Released(identity=allocation.identity))
    rm.still_holds(allocation)
    rm.is_told(Allocated(rm.asks(app), node=node))


@requirement("SI-REG-014")
def test_the_configuration_is_in_force_once_registration_returns(newcomer: Newcomer) -> None:
    newcomer.has_registered(config=queues("only-first"))

    configured = newcomer.submits_application(queue="root.first")
    unknown = newcomer.submits_application(queue="root.default")

    newcomer.is_told(ApplicationAccepted(configured))
    newcomer.is_told(ApplicationRejected(unknown))


@requirement("SI-REG-015")
def test_a_configuration_that_cannot_be_used_fails_the_registration(newcomer: Newcomer) -> None:
    newcomer.is_refused_registration(config=UNUSABLE)

    node = newcomer.registers_node()
    newcomer.stays_quiet(NodeAccepted(node))
    with newcomer.control("with a usable configuration the RM is registered and served"):
        newcomer.is_registered()
        newcomer.registers_node(node)
        newcomer.is_told(NodeAccepted(node))


@requirement("SI-REG-016")
def test_unknown_extra_configuration_changes_nothing(newcomer: Newcomer) -> None:
    newcomer.needs(Feature.QUEUES)
    newcomer.is_registered(extra_config={"siconform.unknown": "x", "": "no key"})

    newcomer.is_told(ApplicationRejected(newcomer.submits_application(queue="root.unknown")))
    newcomer.is_told(ApplicationAccepted(newcomer.submits_application(queue="root.quota")))
    newcomer.is_served_on_every_stream()


@pytest.mark.parametrize("build_info", [{}, {"version": "", "anything": "ä" * 1000, "": "x"}])
@requirement("SI-REG-017")
def test_build_information_is_not_judged(newcomer: Newcomer, build_info: dict[str, str]) -> None:
    newcomer.is_registered(build_info=build_info)

    newcomer.is_served_on_every_stream()


@requirement("SI-REG-018")
@registering_again_is_a_race
def test_values_of_a_second_registration_replace_those_of_the_first(newcomer: Newcomer) -> None:
    newcomer.has_registered(config=queues("only-first"))
    with newcomer.control("the first configuration is in force"):
        newcomer.is_told(ApplicationAccepted(newcomer.submits_application(queue="root.first")))

    newcomer.has_registered_again(config=queues("only-second"))
    replaced = newcomer.submits_application(queue="root.first")
    replacing = newcomer.submits_application(queue="root.second")

    newcomer.is_told(ApplicationAccepted(replacing))
    newcomer.is_told(ApplicationRejected(replaced))


@requirement("SI-REG-012")
def test_the_queues_of_its_policy_group_are_those_of_the_rm(newcomer: Newcomer) -> None:
    group = newcomer.new_name("group")
    newcomer.has_registered(config=queues_with_quotas(first=None), policy_group=group)
    with newcomer.control("the group has no such queue yet"):
        early = newcomer.submits_application(queue="root.second")
        newcomer.is_told(ApplicationRejected(early))

    both = queues_with_quotas(first=None, second=None)
    newcomer.is_reconfigured(both, policy_group=group)

    newcomer.is_told(ApplicationAccepted(newcomer.submits_application(queue="root.second")))


@requirement("SI-REG-019")
def test_the_matching_version_is_accepted(newcomer: Newcomer) -> None:
    newcomer.is_registered()

    newcomer.is_served_on_every_stream()


@pytest.mark.parametrize("version", ["", "99.0"])
@requirement("SI-REG-002", "SI-REG-019")
def test_another_version_is_accepted_or_refused_cleanly(newcomer: Newcomer, version: str) -> None:
    outcome = newcomer.registers(version=version)

    newcomer.is_treated_as_told(outcome)
    newcomer.records(f'a registration of version "{version}": {outcome.status}')
