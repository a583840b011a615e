"""The end of a gang application: waiting, leftover placeholders, completion (SI-GANG)."""

from siconform.marks import requirement, waits
from siconform.rm.facts import Allocated, ApplicationUpdated, Released, Termination
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.states import COMPLETED, RUNNING, WAITING, AnotherState


@requirement("SI-GANG-042")
def test_leftover_placeholders_do_not_keep_an_application_from_waiting(
    rm: ResourceManager,
) -> None:
    gang, placeholders = rm.has_complete_gang(members=2)
    real, gone = rm.has_replaced(gang, placeholders)
    rm.passes_over(ApplicationUpdated(gang, state=WAITING))

    rm.releases(real)

    rm.is_told_waiting(gang, [p for p in placeholders if p != gone])


@waits
@requirement("SI-GANG-044", "SI-GANG-045")
def test_a_waiting_application_is_cleaned_up_and_completed_once(rm: ResourceManager) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)

    with rm.confirming_nothing():
        first, second = rm.is_told_clean_up(waiting)
    rm.passes_over(ApplicationUpdated(waiting.gang, state=AnotherState(COMPLETED)))
    rm.confirms(first)
    rm.fences_all()
    rm.confirms(second)

    rm.is_told(ApplicationUpdated(waiting.gang, state=COMPLETED))
    rm.is_not_told(
        *(Released(identity=p.identity) for p in waiting.leftovers),
        ApplicationUpdated(waiting.gang),
    )


@requirement("SI-GANG-046")
def test_a_real_ask_takes_a_waiting_application_back(rm: ResourceManager) -> None:
    waiting = rm.has_waiting_gang()

    real = rm.asks_member(waiting.gang)

    rm.is_told_replacement(real, waiting.leftovers)
    rm.is_told(Allocated(real, placeholder=False))
    rm.is_not_told(ApplicationUpdated(waiting.gang, state=COMPLETED))
    back = rm.hears(ApplicationUpdated(waiting.gang, state=RUNNING))
    rm.records("a gang application back from waiting", *back[-1:], otherwise="not reported")


@waits
@requirement("SI-GANG-069")
def test_completed_is_reported_after_the_last_confirmation(rm: ResourceManager) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)
    completed = ApplicationUpdated(waiting.gang, state=COMPLETED)
    with rm.confirming_nothing():
        first, second = rm.has_clean_up(waiting)

    rm.confirms(first)
    rm.is_not_told(completed)
    rm.confirms(second)

    rm.is_told(completed)


@waits
@requirement("SI-GANG-070")
def test_a_stop_counts_as_the_end_of_a_leftover(rm: ResourceManager) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)
    stopped, _ = waiting.leftovers
    with rm.confirming_nothing():
        _, second = rm.has_clean_up(waiting)

    rm.releases(stopped)
    rm.is_told(Released(identity=stopped.identity, termination=Termination.STOPPED_BY_RM))
    rm.confirms(second)

    rm.is_told(ApplicationUpdated(waiting.gang, state=COMPLETED))
    rm.is_not_told(*(Released(identity=p.identity) for p in waiting.leftovers))
