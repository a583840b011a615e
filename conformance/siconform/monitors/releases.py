"""Rules about releases: confirmations are not answered, and STOPPED_BY_RM has a cause."""

from collections import defaultdict
from collections.abc import Iterator

from siconform.monitors.existing import existing_in
from siconform.monitors.finding import Era, Observation, monitors
from siconform.rm.facts import Allocated, AskReleased, Released, Termination
from siconform.rm.history import Content
from siconform.rm.resource_manager import CONFIRMED
from siconform.rm.sayings import (
    Action,
    ApplicationRemoval,
    AskReleaseSaying,
    NodeSaying,
    ReleaseSaying,
)


@monitors("SI-REL-009")
def confirmations_are_not_confirmed(era: Era) -> Iterator[Observation]:
    """Once the RM has confirmed a release of the scheduler nothing more is said about it."""
    started: dict[str, Termination] = {}
    confirmed: set[str] = set()
    for index, entry in era.entries:
        match entry.content:
            case Released(identity=identity) if identity in confirmed:
                yield Observation(index, f"the confirmation for {identity} was answered")
            case Released(identity=identity, termination=termination) if termination in CONFIRMED:
                started[identity] = termination
            case ReleaseSaying(identity=identity, termination=termination) if (
                identity and started.get(identity) is termination
            ):
                confirmed.add(identity)
                yield Observation(index)
            case content:
                for existing in existing_in(content):
                    started.pop(existing.identity, None)
                    confirmed.discard(existing.identity)


@monitors("SI-REL-013")
def stops_go_back_to_the_rm(era: Era) -> Iterator[Observation]:
    """STOPPED_BY_RM ends an allocation only where the RM asked for something that ends it.

    That is a release, the removal of the application or the decommission of the node; a withdrawn
    ask is let pass, as it is a request of the RM too.
    """
    causes = _Causes()
    for index, entry in era.entries:
        if isinstance(entry.content, Released):
            if entry.content.termination is Termination.STOPPED_BY_RM:
                yield Observation(index, causes.missing_for(entry.content))
        else:
            causes.hears(entry.content)


@monitors("SI-REL-020")
def ask_releases_name_a_partition(era: Era) -> Iterator[Observation]:
    """The release of an ask names a partition, whether it is a decision or a confirmation."""
    for index, entry in era.entries:
        if isinstance(entry.content, AskReleased):
            missing = not entry.content.partition
            yield Observation(
                index,
                f"the release of ask {entry.content.key} names no partition" if missing else "",
            )


class _Causes:
    """What the RM asked to end, and where each allocation is."""

    def __init__(self) -> None:
        self.placed: dict[str, Allocated] = {}
        self.ended: dict[str, set[str]] = defaultdict(set)  # by kind of name

    def hears(self, content: Content) -> None:
        placed = (content,) if isinstance(content, Allocated) else existing_in(content)
        for allocation in placed:
            self.placed[allocation.identity] = allocation
        for kind, name in _asked_to_end(content):
            self.ended[kind].add(name)

    def missing_for(self, release: Released) -> str:
        if release.identity:
            one = self.placed.get(release.identity)
            meant = [one] if one else []
        else:
            meant = [a for a in self.placed.values() if a.application == release.application]
        names = [("identity", release.identity), ("application", release.application)]
        names += [("node", allocation.node) for allocation in meant]
        names += [("key", allocation.key) for allocation in meant]
        if any(name in self.ended[kind] for kind, name in names):
            return ""
        what = release.identity or f"everything of {release.application}"
        return (
            f"{what} was released as STOPPED_BY_RM, and the RM had asked for nothing that ends it"
        )


def _asked_to_end(content: object) -> Iterator[tuple[str, str]]:
    match content:
        case NodeSaying(action=Action.DECOMMISSION, node=node):
            yield "node", node
        case (
            ApplicationRemoval(application=application)
            | ReleaseSaying(identity="", application=application)
            | AskReleaseSaying(key="", application=application)
        ):
            yield "application", application
        case ReleaseSaying(identity=identity):
            yield "identity", identity
        case AskReleaseSaying(key=key):
            yield "key", key
        case _:
            pass
