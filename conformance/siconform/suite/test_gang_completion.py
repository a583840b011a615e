"""The end of a gang application: waiting, leftover placeholders, completion (SI-GANG)."""

from siconform.catalogue.features import Feature
from siconform.marks import requirement, waits
from siconform.protocol.application_states import COMPLETED, RUNNING, AnotherState
from siconform.protocol.notifications import Allocated, ApplicationUpdated, Released, Termination
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import timed_out


@requirement("SI-GANG-042")
def test_leftover_placeholders_do_not_keep_an_application_from_waiting(
    rm: ResourceManager,
) -> None:
    waiting = rm.reported_waiting()
    gang, placeholders = rm.has_complete_gang(members=2)
    real, gone = rm.has_replaced(gang, placeholders)
    rm.passes_over(ApplicationUpdated(gang, state=waiting))

    since = rm.now()
    rm.releases(real)

    if waiting:
        rm.is_told(ApplicationUpdated(gang, state=waiting))
        return
    [left] = [placeholder for placeholder in placeholders if placeholder != gone]
    rm.is_told_when_due(timed_out(left), seconds=rm.waiting_timeout(), since=since)


@waits
@requirement("SI-GANG-044")
def test_the_leftovers_of_a_waiting_application_are_released(rm: ResourceManager) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)

    rm.is_told_clean_up(waiting)


@waits
@requirement("SI-GANG-045")
def test_confirming_its_leftovers_completes_an_application_and_does_nothing_else(
    rm: ResourceManager,
) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)
    gang, another_state = waiting.gang, AnotherState(COMPLETED)

    with rm.confirming_nothing():
        first, left = rm.has_begun_to_clean_up(waiting)
        rm.passes_over(ApplicationUpdated(gang, state=another_state))
        rm.confirms(first)
        rm.fences_all()
        rm.confirms(rm.has_release_of(left))

    rm.is_told_completed(gang)
    rm.is_not_told(
        *(Released(identity=p.identity) for p in waiting.leftovers),
        ApplicationUpdated(gang, state=another_state),
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
    rm.needs(Feature.STATE_REPORTS)
    waiting = rm.has_waiting_gang(leftovers=2)
    completed = ApplicationUpdated(waiting.gang, state=COMPLETED)

    with rm.confirming_nothing():
        first, left = rm.has_begun_to_clean_up(waiting)
        rm.confirms(first)
        second = rm.has_release_of(left)
        rm.is_not_told(completed)
        rm.confirms(second)

    rm.is_told(completed)


@waits
@requirement("SI-GANG-070")
def test_a_stop_counts_as_the_end_of_a_leftover(rm: ResourceManager) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)

    with rm.confirming_nothing():
        first, left = rm.has_begun_to_clean_up(waiting)
        rm.releases(next(p for p in waiting.leftovers if p.identity == first.identity))
        rm.is_told(Released(identity=first.identity, termination=Termination.STOPPED_BY_RM))
        rm.confirms(rm.has_release_of(left))

    rm.is_told_completed(waiting.gang)
    rm.is_not_told(*(Released(identity=p.identity) for p in waiting.leftovers))
