"""Applications: submission and queues (SI-APP)."""

from siconform.marks import requirement
from siconform.protocol.constraints import Affinity, Constraint, where
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    Released,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.queue_configurations import queues
from siconform.protocol.requests import REQUIRED_NODE
from siconform.protocol.snapshot_facts import ApplicationSeen
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.unregistered_rm import UnregisteredRM

HOST = "si/hostname"


@requirement("SI-APP-001")
def test_a_new_application_is_accepted(rm: ResourceManager) -> None:
    app = rm.submits_application()

    rm.expect(ApplicationAccepted(app))


@requirement("SI-APP-001")
def test_applications_whose_ids_differ_in_case_are_accepted(rm: ResourceManager) -> None:
    unique = rm.new_name("app")

    for name in (f"{unique}.App", f"{unique}.app"):
        rm.expect(ApplicationAccepted(rm.submits_application(name)))


@requirement("SI-APP-002")
def test_an_application_that_is_active_is_rejected(rm: ResourceManager) -> None:
    app = rm.has_application()

    rm.submits_application(app)

    rm.expect(ApplicationRejected(app))


@requirement("SI-APP-002")
def test_the_second_of_two_applications_with_one_id_in_a_message_is_rejected(
    rm: ResourceManager,
) -> None:
    with rm.one_message():
        app = rm.submits_application()
        rm.submits_application(app)

    rm.expect(ApplicationRejected(app))


@requirement("SI-APP-039")
def test_the_rejection_of_an_application_gives_a_reason(rm: ResourceManager) -> None:
    app = rm.has_application()

    rm.submits_application(app)

    with rm.precondition("an application that is active is rejected"):
        rejection = rm.expect(ApplicationRejected(app))
    rm.states_reason(rejection)


@requirement("SI-APP-003")
def test_a_rejected_duplicate_keeps_the_asks_and_allocations(rm: ResourceManager) -> None:
    rm.has_node(memory=4)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=4)
    waiting = rm.has_waiting_ask(app, memory=4)

    rm.submits_application(app, queue="root.other")
    with rm.precondition("the duplicate is rejected"):
        rm.expect(ApplicationRejected(app))

    rm.expect_none(Released(identity=allocation.identity))
    node = rm.has_node(memory=4)
    rm.is_served(waiting, node=node)
    rm.still_holds(allocation)


@requirement("SI-APP-003")
def test_a_rejected_duplicate_does_not_move_the_application(rm: ResourceManager) -> None:
    rm.has_node(memory=100)
    app = rm.has_application(queue="root.quota")
    rm.has_allocation(app, memory=4)
    held_back = rm.has_ask_left_alone(app, "the quota of its queue", memory=7)

    rm.submits_application(app, queue="root.other")
    with rm.precondition("the duplicate is rejected"):
        rm.expect(ApplicationRejected(app))

    beyond = rm.asks(app, memory=7)
    rm.expect_none(Allocated(held_back), Allocated(beyond))


@requirement("SI-APP-003")
def test_a_rejected_duplicate_leaves_the_application_the_capacity_of_its_queue(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=100)
    app = rm.has_application(queue="root.other")
    rm.has_allocation(app, memory=4)

    rm.submits_application(app, queue="root.quota")
    with rm.precondition("the duplicate is rejected"):
        rm.expect(ApplicationRejected(app))

    rm.expect(Allocated(rm.asks(app, memory=50)))


@requirement("SI-APP-004")
def test_every_application_gets_exactly_one_verdict(rm: ResourceManager) -> None:
    first, third = rm.has_application(), rm.has_application()

    with rm.one_message():
        rm.submits_application(first)
        second = rm.submits_application()
        rm.submits_application(third)
        fourth = rm.submits_application()

    for known in (first, third):
        rm.expect(ApplicationRejected(known))
    for new in (second, fourth):
        rm.expect(ApplicationAccepted(new))
    every = (first, second, third, fourth)
    rm.expect_none(
        *(ApplicationAccepted(app) for app in every), *(ApplicationRejected(app) for app in every)
    )


@requirement("SI-APP-004")
def test_an_application_that_is_added_twice_in_one_message_gets_two_verdicts(
    rm: ResourceManager,
) -> None:
    with rm.one_message():
        app = rm.submits_application()
        rm.submits_application(app)

    for _ in range(2):
        rm.expect_one_of(ApplicationAccepted(app), ApplicationRejected(app))


@requirement("SI-APP-005")
def test_an_application_for_which_policy_offers_no_queue_is_rejected(rm: ResourceManager) -> None:
    there = rm.submits_application(queue="root.other")
    missing = rm.submits_application(queue="root.missing")

    rm.expect(ApplicationAccepted(there))
    rm.expect(ApplicationRejected(missing))


@requirement("SI-APP-006")
def test_the_queue_an_application_asks_for_need_not_be_its_own(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered(config=queues("small-queue-of-the-user"))
    unregistered_rm.has_node(memory=10)
    app = unregistered_rm.submits_application(queue="root.asked", user="small")
    unregistered_rm.has_accepted(app, "a policy that places by user")

    with unregistered_rm.control("an ask within the limit of the user's queue is allocated"):
        unregistered_rm.expect(Allocated(unregistered_rm.asks(app, memory=4)))
    beyond_it = unregistered_rm.asks(app, memory=4)

    unregistered_rm.expect_none(Allocated(beyond_it))


@requirement("SI-APP-007")
def test_an_application_of_an_unknown_partition_is_rejected(rm: ResourceManager) -> None:
    nowhere = rm.submits_application(partition="nope")
    default = rm.submits_application()

    rm.expect(ApplicationRejected(nowhere))
    rm.expect(ApplicationAccepted(default))


@requirement("SI-APP-008")
def test_a_user_needs_no_groups(rm: ResourceManager) -> None:
    app = rm.submits_application(user="somebody", groups=())

    rm.expect(ApplicationAccepted(app))


@requirement("SI-APP-004", "SI-APP-009")
def test_an_application_without_user_gets_one_verdict(rm: ResourceManager) -> None:
    missing, empty = rm.submits_application(user=None), rm.submits_application(user="")

    of_missing = (ApplicationAccepted(missing), ApplicationRejected(missing))
    of_empty = (ApplicationAccepted(empty), ApplicationRejected(empty))
    rm.records("no user information", rm.expect_one_of(*of_missing))
    rm.records("an empty user", rm.expect_one_of(*of_empty))
    rm.expect_none(*of_missing, *of_empty, StreamEnded(UpdateKind.APPLICATIONS))


@requirement("SI-APP-010")
def test_application_tags_are_free_form(rm: ResourceManager) -> None:
    untagged = rm.submits_application(tags={})
    tagged = rm.submits_application(tags={"x": "y"})

    rm.expect(ApplicationAccepted(untagged))
    rm.expect(ApplicationAccepted(tagged))


@requirement("SI-APP-011")
def test_application_tags_do_not_steer_asks(rm: ResourceManager) -> None:
    roomy = rm.has_node(memory=10)
    small = rm.has_node(memory=1)
    app = rm.has_application(tags={REQUIRED_NODE: small})

    untagged = rm.asks(app, memory=5)

    rm.expect(Allocated(untagged, node=roomy))


@requirement("SI-APP-011")
def test_application_tags_are_not_tags_of_its_allocations(rm: ResourceManager) -> None:
    rm.has_constraints_enforced()
    host = rm.has_node(attributes={HOST: rm.new_name("host")})
    app = rm.has_application(tags={"app": "x"})
    rm.has_allocation(app, node=host)
    rm.has_ask_left_alone(app, "affinity to allocations", constraint=next_to("unknown"))

    alone = rm.asks(app, constraint=next_to("x"))

    rm.expect_none(Allocated(alone))
    with rm.control("next to an allocation with that tag it is allocated"):
        rm.has_allocation(app, tags={"app": "x"}, node=host)
        rm.is_served(alone, node=host)


def next_to(value: str) -> Constraint:
    """Return a constraint to hosts with an allocation that has this value of the tag "app"."""
    return Constraint(others=Affinity(HOST, (where("app", value),), at_least=1))


@requirement("SI-APP-015")
def test_an_ask_without_application_is_served_or_rejected(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    independent = rm.asks("")

    answer = rm.receive_if_any(Allocated(independent), AskRejected(independent))
    rm.records("an ask without application", answer, otherwise="no answer")
    rm.expect_none(
        Allocated(independent), AskRejected(independent), StreamEnded(UpdateKind.ALLOCATIONS)
    )
    rm.expect(Allocated(rm.asks(app)))


@requirement("SI-CONN-017")
def test_an_ask_without_application_spoils_nothing(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    with rm.one_message():
        rm.asks("")
        ask = rm.asks(app)

    rm.expect(Allocated(ask))
    rm.expect_none(StreamEnded(UpdateKind.ALLOCATIONS))


@requirement("SI-APP-023")
def test_a_rejected_application_does_not_exist(rm: ResourceManager) -> None:
    rm.has_node()
    rejected = rm.has_rejected_application()

    ask = rm.asks(rejected)

    rm.expect_none(Allocated(ask))
    with rm.control("an equal ask of an accepted application is allocated"):
        rm.expect(Allocated(rm.asks(rm.has_application())))


@requirement("SI-APP-036")
def test_the_queue_of_an_application_may_depend_on_its_tags(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered(config=queues("queue-for-each-team"))

    tagged = unregistered_rm.submits_application(queue="", tags={"team": "blue"})
    untagged = unregistered_rm.submits_application(queue="")

    unregistered_rm.has_accepted(tagged, "a policy that places by tag")
    unregistered_rm.expect(ApplicationRejected(untagged))


@requirement("SI-APP-036")
def test_an_application_is_in_the_queue_its_tag_names(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered(config=queues("queue-for-each-team"))

    tagged = unregistered_rm.submits_application(queue="", tags={"team": "blue"})

    unregistered_rm.has_accepted(tagged, "a policy that places by tag")
    unregistered_rm.sees(ApplicationSeen(tagged, queue="root.teams.blue"))
