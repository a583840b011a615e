"""Rules of the suite for RMs: when an application id is taken."""

from dataclasses import replace

import pytest
from siconform.protocol.notifications import ApplicationRejected, ApplicationUpdated, Fact
from siconform.protocol.registration import RegistrationRequested
from siconform.protocol.requests import ApplicationRemoval, ApplicationRequest, Request
from siconform.recording.history import History
from siconform.suite_rm.application_ids import added_under_a_taken_id

ADDED = ApplicationRequest("a", "root.default", "default", "somebody")
ANOTHER = replace(ADDED, user="another")


@pytest.mark.parametrize(
    ("between", "taken"),
    [
        ((), ANOTHER),
        ((ADDED,), ANOTHER),
        ((ApplicationUpdated("a", "Completing"),), ANOTHER),
        ((ApplicationRemoval("b", "default"),), ANOTHER),
        ((ApplicationRemoval("a", "default"),), None),
        ((ApplicationRejected("a"),), None),
        ((ApplicationUpdated("a", "Completed"),), None),
        ((RegistrationRequested("rm"),), None),
    ],
)
def test_id_is_taken_until_its_application_is_over(
    between: tuple[Request | Fact | RegistrationRequested, ...], taken: ApplicationRequest | None
) -> None:
    history = History()
    history.add("rm", [ADDED, *between, ANOTHER], sent_by_rm=True)

    assert added_under_a_taken_id(history.since(0)) == taken
