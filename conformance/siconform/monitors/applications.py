"""Rules about applications: one verdict each, complete state changes, time that goes forward."""

from collections import Counter
from collections.abc import Iterator

from siconform.monitors.finding import Era, Observation, monitors
from siconform.rm.facts import ApplicationAccepted, ApplicationRejected, ApplicationUpdated
from siconform.rm.sayings import ApplicationSaying


@monitors("SI-APP-004")
def each_application_gets_at_most_one_verdict(era: Era) -> Iterator[Observation]:
    """There are never more verdicts on an application than additions of it."""
    added: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    for index, entry in era.entries:
        match entry.content:
            case ApplicationSaying(application=application):
                added[application] += 1
            case (
                ApplicationAccepted(application=application)
                | ApplicationRejected(application=application)
            ):
                judged[application] += 1
                surplus = judged[application] > added[application]
                yield Observation(
                    index, f"one verdict too many on application {application}" if surplus else ""
                )
            case _:
                pass


@monitors("SI-APP-021")
def state_changes_are_complete(era: Era) -> Iterator[Observation]:
    """A state change names an application of this RM, a state and a time.

    News of an application from before a new registration may have been under way.
    """
    known = {e.content.application for e in era.earlier if isinstance(e.content, ApplicationSaying)}
    for index, entry in era.entries:
        match entry.content:
            case ApplicationSaying(application=application):
                known.add(application)
            case ApplicationUpdated() as update:
                yield Observation(index, _incomplete(update, known))
            case _:
                pass


def _incomplete(update: ApplicationUpdated, known: set[str]) -> str:
    if update.application not in known:
        return f"state {update.state} of {update.application!r}, which was never added"
    if not update.state:
        return f"a state change of {update.application} names no state"
    if not update.timestamp:
        return f"the change of {update.application} to {update.state} has no timestamp"
    return ""


@monitors("SI-APP-022")
def state_timestamps_do_not_go_back(era: Era) -> Iterator[Observation]:
    """Timestamps of successive state changes of one application never decrease."""
    last: dict[str, int] = {}
    for index, entry in era.entries:
        if isinstance(entry.content, ApplicationSaying):
            last.pop(entry.content.application, None)
        if isinstance(entry.content, ApplicationUpdated):
            update = entry.content
            if update.application in last:
                back = update.timestamp < last[update.application]
                yield Observation(
                    index,
                    f"{update.application} became {update.state} before its former state"
                    if back
                    else "",
                )
            last[update.application] = update.timestamp
