"""Application ids in a history: which one is used while its application still exists."""

from collections.abc import Iterable
from typing import Final

from siconform.protocol.notifications import ApplicationRejected, ApplicationUpdated
from siconform.protocol.registration import RegistrationRequested
from siconform.protocol.requests import ApplicationRemoval, ApplicationRequest
from siconform.recording.history import Entry

_ENDS: Final = ("completed", "failed", "killed", "expired")


def added_under_a_taken_id(entries: Iterable[Entry]) -> ApplicationRequest | None:
    """Return the first application whose id another one had; a repetition is the same one."""
    existing: dict[str, ApplicationRequest] = {}
    for entry in entries:
        match entry.content:
            case RegistrationRequested():
                existing.clear()
            case ApplicationRequest(application=name) as added:
                if existing.setdefault(name, added) != added:
                    return added
            case ApplicationRemoval(application=name) | ApplicationRejected(application=name):
                existing.pop(name, None)
            case ApplicationUpdated(application=name, state=state) if state.casefold() in _ENDS:
                existing.pop(name, None)
    return None
