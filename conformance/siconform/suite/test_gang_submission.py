"""Gang applications: acceptance by placeholderAsk and queue (SI-GANG), and their duplicates."""

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import requirement
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
)
from siconform.protocol.queue_configurations import conformance_queues_and
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gang_timeouts import expiry_of
from siconform.rm.steps.gangs import GANG_QUEUE, HARD, QUOTA_QUEUE, SOFT, Style
from siconform.rm.unregistered_rm import UnregisteredRM


@requirement("SI-GANG-002")
def test_an_application_without_placeholder_ask_is_an_ordinary_one(rm: ResourceManager) -> None:
    rm.has_node()

    app = rm.submits_application(placeholders=None)

    rm.expect(ApplicationAccepted(app))
    rm.expect(Allocated(rm.asks(app)))


@requirement("SI-GANG-003")
def test_a_gang_larger_than_the_quota_is_rejected(rm: ResourceManager) -> None:
    with rm.control("a gang within the quota is accepted"):
        rm.expect(ApplicationAccepted(rm.submits_gang(queue="root.quota", memory=10)))

    too_large = rm.submits_gang(queue="root.quota", memory=11)

    rm.expect(ApplicationRejected(too_large))


@requirement("SI-GANG-003")
def test_a_gang_larger_than_the_quota_by_more_than_32_bits_is_rejected(
    rm: ResourceManager,
) -> None:
    with rm.control("a gang within the quota is accepted"):
        rm.expect(ApplicationAccepted(rm.submits_gang(queue=QUOTA_QUEUE, memory=2)))

    too_large = rm.submits_gang(queue=QUOTA_QUEUE, memory=2**32 + 2)

    rm.expect(ApplicationRejected(too_large))


@requirement("SI-GANG-003")
def test_a_gang_larger_than_the_quota_of_another_resource_is_rejected(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm, queue = unregistered_rm, "root.gpus"
    rm.needs(Feature.QUOTAS)
    rm.has_registered(config=conformance_queues_and("gpus", most={"gpu": 2}))
    style = rm.spelled(None)  # may be probed, which needs an empty cluster
    rm.has_node(resources={"memory": 10, "vcore": 10, "gpu": 10})
    app = rm.has_application(queue=queue)
    amounts = {"memory": 1, "vcore": 1}
    rm.has_ask_left_alone(app, "quotas of every resource", resources={**amounts, "gpu": 3})
    fitting, too_large = (
        rm.submits_application(queue=queue, placeholders={**amounts, "gpu": gpus}, gang_style=style)
        for gpus in (2, 3)
    )

    with rm.control("a gang within the quota is accepted"):
        rm.expect(ApplicationAccepted(fitting))
    rm.expect(ApplicationRejected(too_large))


@requirement("SI-GANG-004")
def test_a_gang_within_the_quota_is_accepted_whatever_is_free(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    rm.has_allocation(rm.has_application(queue="root.quota"), memory=8)

    gang = rm.submits_gang(queue="root.quota", memory=10)

    rm.expect(ApplicationAccepted(gang))
    with rm.control("a gang above the quota is rejected"):
        rm.expect(ApplicationRejected(rm.submits_gang(queue="root.quota", memory=11)))


@requirement("SI-GANG-005")
def test_the_quota_of_a_parent_queue_counts_as_well(rm: ResourceManager) -> None:
    with rm.control("a gang within the quota of the parent is accepted"):
        rm.expect(ApplicationAccepted(rm.submits_gang(queue="root.parent.left", memory=10)))

    too_large = rm.submits_gang(queue="root.parent.left", memory=11)

    rm.expect(ApplicationRejected(too_large))


@pytest.mark.parametrize("style", list(Style))
@requirement("SI-GANG-006")
def test_a_gang_for_a_fair_queue_is_rejected(rm: ResourceManager, style: Style) -> None:
    with rm.control("the same gang for a FIFO queue is accepted"):
        rm.expect(ApplicationAccepted(rm.submits_gang(queue=GANG_QUEUE, style=style)))

    unfair = rm.submits_gang(queue="root.fair", style=style)

    rm.expect(ApplicationRejected(unfair))


@requirement("SI-GANG-006")
def test_a_gang_of_another_resource_for_a_fair_queue_is_rejected(rm: ResourceManager) -> None:
    style = rm.spelled(None)

    taken, unfair = (
        rm.submits_application(queue=queue, placeholders={"gpu": 2}, gang_style=style)
        for queue in (GANG_QUEUE, "root.fair")
    )

    with rm.control("the same gang for a FIFO queue is accepted"):
        rm.expect(ApplicationAccepted(taken))
    rm.expect(ApplicationRejected(unfair))


@requirement("SI-GANG-007")
def test_fifo_and_stateaware_queues_take_gangs(rm: ResourceManager) -> None:
    for queue in rm.queues_in_force(GANG_QUEUE, "root.stateaware"):
        rm.expect(ApplicationAccepted(rm.submits_gang(queue=queue)))
    with rm.control("a gang for a FAIR queue is rejected"):
        rm.expect(ApplicationRejected(rm.submits_gang(queue="root.fair")))


@requirement("SI-APP-004", "SI-GANG-008")
def test_a_fair_queue_gives_an_ordinary_application_one_verdict(rm: ResourceManager) -> None:
    app = rm.submits_application(queue="root.fair")

    verdicts = (ApplicationAccepted(app), ApplicationRejected(app))
    verdict = rm.expect_one_of(*verdicts)
    rm.expect_none(*verdicts)
    rm.records("an application without gang in a FAIR queue", verdict)


@requirement("SI-GANG-051")
def test_a_gang_waits_for_nodes_where_they_are_too_small_today(rm: ResourceManager) -> None:
    rm.has_node(memory=4)

    gang = rm.submits_gang(queue="root.quota", members=5, memory=2)
    rm.expect(ApplicationAccepted(gang))
    asks = rm.asks_placeholders(gang)
    rm.synchronise_all()
    rm.registers_node(memory=6)

    for ask in asks:
        rm.is_served(ask, placeholder=True)


@requirement("SI-APP-003")
def test_a_rejected_duplicate_changes_neither_timeout_nor_style_of_a_gang(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    rm.needs(Feature.PLACEHOLDER_TIMEOUT)
    limit = rm.short_limit(6.0)  # half of it exceeds the resolution of a timer
    partial = rm.has_partial_gang(style=HARD, limit=limit)
    gang, expiry = partial.gang, expiry_of(partial.gang)
    rm.stays_quiet(window=limit.seconds / 2)

    before = rm.now()
    rm.submits_gang(gang, queue=gang.queue, members=3, style=SOFT)
    rm.has_duplicate_rejected(gang)

    due, latest = partial.since + limit.seconds, before + limit.seconds
    shown_by = rm.expect_between(*expiry, earliest=due, latest=latest)
    if not ApplicationUpdated(gang, state=rm.failure()).matches(shown_by):  # it may come first
        rm.expect_failure(gang)
    rm.settles()
    rm.expect_none(Allocated(rm.asks(gang)))


@requirement("SI-APP-003")
def test_a_rejected_duplicate_does_not_enlarge_a_gang(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=20)
    rm.has_allocation(rm.has_application(queue=QUOTA_QUEUE), memory=6)  # of 10
    gang = rm.has_gang(queue=QUOTA_QUEUE, members=2, memory=2)

    rm.submits_gang(gang, queue=QUOTA_QUEUE, members=4, memory=2)
    rm.has_duplicate_rejected(gang)

    for ask in rm.asks_placeholders(gang):
        rm.expect(Allocated(ask, placeholder=True))
