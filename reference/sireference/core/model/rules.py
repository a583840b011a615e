"""Scheduler rules that differ between revisions, as values chosen by the codec."""

from dataclasses import dataclass, field
from enum import Enum

from sireference.core.model.event_records import DETAILS_UNTIL_2023_12, ChangeDetail
from sireference.core.states import (
    APPLICATION_TRANSITIONS,
    ApplicationState,
    ApplicationTrigger,
    Table,
)


class Identification(Enum):
    """What identifies an allocation."""

    MINTED = "an identity assigned by the scheduler"
    BY_KEY = "its allocation key"


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one revision; the defaults are those up to 2023-12.

    Later revisions identify allocations by key, have no state Starting (``WITHOUT_STARTING``) and
    other details of event records: a record whose detail is not in ``event_details`` is not
    written.
    """

    identification: Identification = Identification.MINTED
    application_transitions: Table[ApplicationState, ApplicationTrigger] = field(
        default_factory=lambda: APPLICATION_TRANSITIONS
    )
    event_details: frozenset[ChangeDetail] = DETAILS_UNTIL_2023_12
