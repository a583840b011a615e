"""The states of applications: what is reported, and what leads to the next (SI-APP)."""

from siconform.marks import real_clock, requirement, waits
from siconform.rm.facts import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
)
from siconform.rm.gang_verbs import HARD
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.states import ACCEPTED, COMPLETED, FAILED, RUNNING, WAITING


@requirement("SI-APP-021")
def test_a_state_change_is_reported_in_full(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    rm.releases(rm.has_allocation(app))

    rm.is_not_told(
        ApplicationUpdated(""), ApplicationUpdated(state=""), ApplicationUpdated(timestamp=0)
    )
    rm.needs(1, rm.hears(ApplicationUpdated(app)), "state changes are reported")


@requirement("SI-APP-022")
def test_the_timestamps_of_an_application_never_go_back(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    rm.releases(rm.has_allocation(app))

    updates = rm.collects(ApplicationUpdated(app), most=3)

    rm.needs(2, updates, "several state changes are reported")
    rm.come_in_order_of_time(updates)


@requirement("SI-APP-024")
def test_the_first_ask_takes_an_application_from_new_to_accepted(rm: ResourceManager) -> None:
    app = rm.has_application()
    accepted = ApplicationUpdated(app, state=ACCEPTED)
    rm.is_not_told(accepted)

    rm.has_pending_ask(app)

    rm.is_not_told(
        *(ApplicationUpdated(app, state=s) for s in (RUNNING, WAITING, COMPLETED, FAILED))
    )
    with rm.premise("the step to Accepted is reported"):
        rm.is_told(accepted)


@requirement("SI-APP-025")
def test_the_first_allocation_takes_an_application_out_of_accepted(rm: ResourceManager) -> None:
    app = rm.has_application()
    waiting = rm.has_pending_ask(app)
    running = ApplicationUpdated(app, state=RUNNING)
    rm.is_not_told(running)

    rm.has_node()

    rm.is_told(Allocated(waiting))
    with rm.premise("the step to Running is reported"):
        rm.is_told(running)


@requirement("SI-APP-026")
def test_an_application_with_nothing_left_goes_to_waiting(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()
    allocation = rm.has_allocation(app)

    rm.releases(allocation)

    rm.is_told_waiting(app)


@requirement("SI-APP-027")
def test_an_ask_or_an_allocation_keeps_an_application_from_waiting(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    holding, asking = rm.has_application(), rm.has_application()
    first, second = rm.has_allocation(holding), rm.has_allocation(holding)
    only = rm.has_allocation(asking)
    rm.has_pending_ask(asking, memory=50)

    rm.releases(first)
    rm.releases(only)

    rm.is_not_told(*(ApplicationUpdated(app, state=WAITING) for app in (holding, asking)))
    with rm.control("with its last allocation gone the first one is waiting"):
        rm.releases(second)
        rm.is_told(ApplicationUpdated(holding, state=WAITING))


@requirement("SI-APP-028")
def test_a_new_ask_takes_a_waiting_application_back_to_running(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_waiting_application()

    rm.is_told(Allocated(rm.asks(app)))

    rm.is_not_told(ApplicationUpdated(app, state=COMPLETED))
    back = rm.hears(ApplicationUpdated(app, state=RUNNING))
    rm.records("an application back from waiting", *back[-1:], otherwise="not reported")


@real_clock
@waits
@requirement("SI-APP-029")
def test_only_an_application_that_stays_waiting_is_completed(rm: ResourceManager) -> None:
    limit = rm.waiting_timeout() + rm.patience.timer
    rm.has_node()
    asking = rm.has_waiting_application()
    rm.has_allocation(asking)
    staying = rm.has_waiting_application()

    rm.is_told(ApplicationUpdated(staying, state=COMPLETED), patience=limit)
    rm.is_not_told(ApplicationUpdated(asking, state=COMPLETED))


@requirement("SI-APP-030")
def test_a_completed_application_leaves_its_queue_by_itself(rm: ResourceManager) -> None:
    limit = rm.waiting_timeout() + rm.patience.place
    rm.has_node()
    first, second = rm.has_application(queue="root.single"), rm.has_application(queue="root.single")
    allocation = rm.has_allocation(first)
    with rm.control("while the first one runs the second has to wait"):
        following = rm.asks(second)
        rm.is_not_told(Allocated(following))

    rm.releases(allocation)

    rm.is_told(Allocated(following), patience=limit)


@waits
@requirement("SI-APP-031")
def test_the_id_of_a_completed_application_is_free_again(rm: ResourceManager) -> None:
    limit = rm.waiting_timeout() + rm.patience.timer
    rm.has_node()
    app = rm.has_application()
    allocation = rm.has_allocation(app)
    with rm.control("while it is active its id is taken"):
        rm.submits_application(app)
        rm.is_told(ApplicationRejected(app))
    rm.releases(allocation)
    with rm.premise("it is completed in time"):
        rm.is_told(ApplicationUpdated(app, state=COMPLETED), patience=limit)
    rm.passes_over(ApplicationUpdated(app))  # nobody says that it is free in the same instant

    rm.submits_application(app)

    rm.is_told(ApplicationAccepted(app))
    rm.is_told(Allocated(rm.asks(app)))


@requirement("SI-APP-032")
def test_the_id_of_a_waiting_application_is_taken(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_waiting_application()

    rm.submits_application(app)

    rm.is_told(ApplicationRejected(app))


@requirement("SI-APP-037")
def test_the_id_of_a_failed_application_is_free_again(rm: ResourceManager) -> None:
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    gang = partial.gang
    with rm.control("while it is active its id is taken"):
        rm.submits_application(gang)
        rm.is_told(ApplicationRejected(gang))
    rm.has_expired(partial)
    with rm.premise("its failure is reported"):
        rm.is_told(ApplicationUpdated(gang, state=FAILED))
    rm.passes_over(ApplicationUpdated(gang))  # nobody says that it is free in the same instant

    rm.submits_application(gang)

    rm.is_told(ApplicationAccepted(gang))
    rm.is_told(Allocated(rm.asks(gang)))
