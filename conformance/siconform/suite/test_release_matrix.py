"""Releases by type, subject and names (SI-REL).

The effect of a release by the RM, and the file of its test (this one unless named):

=================  ==================  ====================  ======================
names              STOPPED_BY_RM       no type               a type that confirms
=================  ==================  ====================  ======================
an allocation      ends: releases      ends or is refused    makes no replacement
a placeholder      ends: gang          ends or is refused    makes no replacement
nothing, of an     ends all: releases  ends all or is        makes no replacement
application                            refused
unknown or ended   nothing             nothing               nothing
of another         that one at most    that one at most      nothing
application
a pending ask      ends: releases      leaves allocations    leaves allocations
=================  ==================  ====================  ======================

The last row is a separate message until 2023-12. From 2024-10 on, releases name keys, and the key
may be that of a pending ask: a stop by the RM is tested with the ask releases, and no type ends it
under the wrong application.

An identity alone names an allocation; the application is not required by the design, so a wrong
one may be ignored.

An open release of the scheduler is confirmed by its own type (releases, gangs, preemption), left
open or ended by another type, and not affected by a release that names something else.
"""

from typing import Final

import pytest

from siconform.marks import requirement
from siconform.protocol.notifications import (
    Allocated,
    AskReleased,
    Released,
    StreamEnded,
    Termination,
    UpdateKind,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.allocations import refusals
from siconform.rm.steps.gangs import otherwise_released
from siconform.rm.steps.preemption import ENTITLED_QUEUE, TAKING_QUEUE
from siconform.rm.unregistered_rm import UnregisteredRM

STOPPED: Final = Termination.STOPPED_BY_RM
TYPES: Final = tuple(t for t in Termination if t is not Termination.UNDEFINED)
CONFIRMING: Final = (
    Termination.TIMEOUT,
    Termination.PREEMPTED_BY_SCHEDULER,
    Termination.PLACEHOLDER_REPLACED,
)

of_every_type = pytest.mark.parametrize("termination", TYPES)
of_types_that_confirm = pytest.mark.parametrize("termination", CONFIRMING)


@of_every_type
@requirement("SI-REL-005")
def test_a_release_that_names_nothing_live_ends_nothing(
    rm: ResourceManager, termination: Termination
) -> None:
    rm.has_node(memory=10)
    app, other_app = rm.has_application(), rm.has_application()
    over = rm.has_released(rm.has_allocation(app, memory=5))
    allocation = rm.has_allocation(app, memory=10)
    waiting = rm.has_waiting_ask(other_app, memory=5)

    rm.releases(allocation, termination, identity=rm.new_name("unknown"), key="")
    rm.releases(over, termination)

    rm.expect_none(Released(identity=allocation.identity))
    rm.is_not_served(waiting)
    rm.still_holds(allocation)


@of_every_type
@requirement("SI-REL-005")
def test_a_release_that_names_no_live_placeholder_ends_none(
    rm: ResourceManager, termination: Termination
) -> None:
    rm.has_node(memory=10)
    gang, other_app = rm.has_gang(members=1, memory=4), rm.has_application()
    over = rm.has_released(rm.has_placeholder(gang))
    placeholder = rm.has_placeholder(gang)
    rm.has_allocation(gang, memory=2)  # keeps the application active
    waiting = rm.has_waiting_ask(other_app, memory=6)

    rm.releases(placeholder, termination, identity=rm.new_name("unknown"), key="")
    rm.releases(over, termination)

    rm.expect_none(Released(identity=placeholder.identity))
    rm.is_not_served(waiting)
    rm.still_holds(placeholder)


@of_every_type
@requirement("SI-REL-005")
def test_a_release_that_names_another_application_leaves_that_alone(
    rm: ResourceManager, termination: Termination
) -> None:
    rm.has_node(memory=10)
    app, other_app = rm.has_application(), rm.has_application()
    misnamed, other = rm.has_allocation(app, memory=5), rm.has_allocation(other_app, memory=5)

    rm.releases(misnamed, termination, application=other_app)

    rm.expect_none(Released(identity=other.identity))
    rm.is_not_served(rm.asks(app, memory=10))
    rm.still_holds(other)


@of_every_type
@requirement("SI-REL-018")
def test_an_ask_release_that_names_no_pending_ask_withdraws_none(
    rm: ResourceManager, termination: Termination
) -> None:
    rm.has_full_node()
    app, other_app = rm.has_application(), rm.has_application()
    kept, over = rm.has_pending_ask(app), rm.has_pending_ask(app)
    rm.withdraws(over)

    rm.withdraws(kept, termination, key=rm.new_name("unknown"))
    rm.withdraws(kept, termination, application=other_app)
    rm.withdraws(kept, termination, partition="nope")
    rm.withdraws(over, termination)
    rm.has_node()

    rm.is_served(kept)
    rm.expect_none(Allocated(over))


@of_every_type
@requirement("SI-REL-028")
def test_a_release_that_names_the_wrong_application_withdraws_nothing(
    rm: ResourceManager, termination: Termination
) -> None:
    rm.has_full_node()
    app, other_app = rm.has_application(), rm.has_application()
    kept = rm.has_pending_ask(app)

    for wrong in (other_app, rm.new_name("app"), ""):
        rm.withdraws(kept, termination, application=wrong)
    rm.has_node()

    rm.expect(Allocated(kept, app))


@of_every_type
@requirement("SI-REL-018")
def test_an_ask_release_of_any_type_leaves_allocations_alone(
    rm: ResourceManager, termination: Termination
) -> None:
    rm.has_node(memory=10)
    ask = rm.asks(rm.has_application(), memory=10, times=2)
    [allocation] = rm.has_first_allocations(ask, 1)

    rm.withdraws(ask, termination)
    rm.withdraws_asks(termination, application=ask.sent.application)

    rm.expect_none(Released(identity=allocation.identity))
    rm.still_holds(allocation)


@requirement("SI-REL-007")
def test_a_placeholder_released_without_type_ends_or_the_release_is_refused(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    placeholder = rm.has_placeholder(rm.has_gang(memory=10))
    waiting = rm.has_waiting_ask(rm.has_application(), memory=10)

    rm.releases(placeholder, Termination.UNKNOWN)

    received = rm.expect_one_of(
        Released(identity=placeholder.identity),
        *refusals(placeholder),
    )
    rm.has_capacity_exactly_if_released(received, waiting, held=placeholder)


@requirement("SI-REL-007")
def test_a_release_of_everything_without_type_is_carried_out_or_refused(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    allocation = rm.has_allocation(rm.has_application(), memory=10)
    waiting = rm.has_waiting_ask(rm.has_application(), memory=10)

    rm.releases_all(allocation.application, Termination.UNKNOWN)

    received = rm.expect_one_of(
        Released(application=allocation.application),
        *refusals(allocation),
    )
    rm.has_capacity_exactly_if_released(received, waiting, held=allocation)


@of_types_that_confirm
@requirement("SI-REL-014")
def test_a_confirmation_of_nothing_makes_no_replacement(
    unregistered_rm: UnregisteredRM, termination: Termination
) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.has_node(memory=4)
    allocation, placeholder = unregistered_rm.has_allocations_of_both_sorts(memory=1)
    other, other_placeholder = unregistered_rm.has_allocations_of_both_sorts(memory=1)

    unregistered_rm.releases(allocation, termination)
    unregistered_rm.releases(placeholder, termination)
    unregistered_rm.releases_all(other.application, termination)
    unregistered_rm.releases_all(other_placeholder.application, termination)

    unregistered_rm.expect_none(Allocated(), StreamEnded(UpdateKind.ALLOCATIONS))
    with unregistered_rm.control("the stream serves an ordinary request"):
        unregistered_rm.has_node(memory=1)
        unregistered_rm.expect(
            Allocated(unregistered_rm.asks(unregistered_rm.has_application(), memory=1))
        )


@of_types_that_confirm
@requirement("SI-REL-014")
def test_a_pending_ask_that_a_confirmation_of_nothing_ended_is_not_allocated(
    rm: ResourceManager, termination: Termination
) -> None:
    rm.has_full_node()
    ask = rm.has_pending_ask(rm.has_application())

    rm.withdraws(ask, termination)
    answer = rm.receive_if_any(AskReleased(ask))
    rm.has_node()

    rm.records("a confirmation of a pending ask", answer, otherwise="no answer")
    with rm.control("the stream serves an ordinary request"):
        rm.expect(Allocated(rm.asks(rm.has_application())))
    if answer is not None:
        rm.expect_none(Allocated(ask))


@requirement("SI-REL-011")
def test_a_confirmation_that_names_something_else_confirms_nothing(rm: ResourceManager) -> None:
    rm.has_node(memory=10)
    other_app = rm.has_application()
    with rm.confirming_nothing():
        replaced = rm.has_replacement_under_way(memory=10)
    placeholder, confirmed = replaced.placeholder, replaced.release.termination

    rm.releases(placeholder, confirmed, identity=rm.new_name("unknown"), key="")
    rm.releases_all(other_app, confirmed)

    rm.expect_none(Allocated(replaced.real), *otherwise_released(placeholder))
    with rm.control("the right confirmation is taken"):
        rm.confirms(replaced.release)
        rm.expect(Allocated(replaced.real))


@pytest.mark.parametrize(
    "termination", [STOPPED, Termination.TIMEOUT, Termination.PLACEHOLDER_REPLACED]
)
@requirement("SI-REL-026")
def test_a_preemption_confirmed_by_another_type_frees_nothing_twice(
    unregistered_rm: UnregisteredRM, termination: Termination
) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.has_node(memory=10)
    taker = unregistered_rm.has_application(queue=TAKING_QUEUE)
    allocations = [unregistered_rm.has_allocation(taker, memory=5) for _ in range(2)]
    entitled = unregistered_rm.has_application(queue=ENTITLED_QUEUE)
    with unregistered_rm.confirming_nothing():
        ask = unregistered_rm.claims(entitled, memory=5)
        release = unregistered_rm.sees_preemption_of(*allocations, by=ask)
        unregistered_rm.spares_others(release, allocations)

    unregistered_rm.confirms(release, termination)
    unregistered_rm.synchronise_all()
    unregistered_rm.confirms(release)

    unregistered_rm.expect(Allocated(ask))
    waiting = unregistered_rm.asks(entitled, memory=5)
    unregistered_rm.expect_none(
        Allocated(ask), Allocated(waiting), StreamEnded(UpdateKind.ALLOCATIONS)
    )


@pytest.mark.parametrize(
    "termination",
    [STOPPED, Termination.PREEMPTED_BY_SCHEDULER, Termination.PLACEHOLDER_REPLACED],
)
@requirement("SI-REL-026")
def test_a_timeout_confirmed_by_another_type_frees_nothing_twice(
    unregistered_rm: UnregisteredRM, termination: Termination
) -> None:
    unregistered_rm.has_registered()
    partial = unregistered_rm.has_partial_gang(members=2, limit=unregistered_rm.short_limit())
    with unregistered_rm.confirming_nothing():
        [release] = unregistered_rm.has_expired(partial)

    unregistered_rm.confirms(release, termination)
    unregistered_rm.synchronise_all()
    unregistered_rm.confirms(release)

    other_app = unregistered_rm.has_application()
    unregistered_rm.expect(Allocated(unregistered_rm.asks(other_app, memory=2)))
    waiting = unregistered_rm.asks(other_app, memory=2)
    unregistered_rm.expect_none(Allocated(waiting), StreamEnded(UpdateKind.ALLOCATIONS))
