"""Rules about releases: confirmations are not answered, and STOPPED_BY_RM has a cause."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from siconform.monitors.bulk_ends import BULK_ENDS, BulkEnds, Race
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    of_each,
    violated_if,
)
from siconform.monitors.recovered_allocations import REPORTING, recovered_in
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    Allocated,
    AskReleased,
    Released,
    Termination,
)
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    AskReleaseRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, Identity, OneAllocation, OneAsk
from siconform.recording.history import Content, Entry


def confirmations_are_not_confirmed() -> Evaluator:
    """Once the RM has confirmed a release of the scheduler, it gets no further answer.

    Releases that the RM sent on its own, before or after that, may each be answered.
    """
    started: dict[str, Termination] = {}
    confirmed: set[str] = set()
    sent: Counter[str] = Counter()  # unanswered releases by the RM itself
    bulk_ends, race = BulkEnds(), Race()

    def evaluate(entry: Entry) -> EntryFinding:
        race.observe(entry)
        ending = bulk_ends.observe(entry.content)
        sent.update(i for i in ending if i not in confirmed or i in race)
        match entry.content:
            case Released(identity=identity, termination=termination) if identity in confirmed:
                if termination not in BY_THE_SCHEDULER and sent[identity] > 0:
                    sent[identity] -= 1
                    return NOTHING_TO_EVALUATE
                if race.has_repeated(entry.content):
                    return NOTHING_TO_EVALUATE
                return f"the confirmation for {identity} was answered"
            case Released(identity=identity, termination=kind) if kind in BY_THE_SCHEDULER:
                started[identity] = kind
            case Released(identity=identity):
                sent[identity] -= 1
            case ReleaseRequest(OneAllocation(identity=identity), termination):
                if started.get(identity) is termination:
                    confirmed.add(identity)
                    race.begins(identity, termination)
                    return ""
                sent[identity] += 1
            case content:
                for existing in recovered_in(content):
                    started.pop(existing.identity, None)
                    confirmed.discard(existing.identity)
        return NOTHING_TO_EVALUATE

    return evaluate


def stops_go_back_to_the_rm() -> Evaluator:
    """STOPPED_BY_RM ends an allocation only if the RM requested something that ends it.

    That is a release, the removal of the application or the decommission of the node; a withdrawn
    ask is accepted, too, as it is also a request of the RM. Earlier allocations end with a new
    registration, before or after its answer, so unknown ones are ignored.
    """
    causes = _Causes()

    def evaluate(entry: Entry) -> EntryFinding:
        if isinstance(entry.content, Released):
            if entry.content.termination is Termination.STOPPED_BY_RM:
                return causes.missing_for(entry.content)
        elif isinstance(entry.content, (RegistrationRequested, RegistrationAnswered)):
            causes.reregisters()
        else:
            causes.observe(entry.content)
        return NOTHING_TO_EVALUATE

    return evaluate


def ask_releases_name_a_partition() -> Evaluator:
    """The release of an ask names a partition, in a decision as in a confirmation."""

    def evaluation(received: AskReleased) -> str:
        return violated_if(
            not received.partition, f"the release of ask {received.key} names no partition"
        )

    return of_each(AskReleased, evaluation)


class _Causes:
    """What the RM asked to end, and the node of each allocation."""

    def __init__(self) -> None:
        self.placed: dict[str, Allocated] = {}
        self.ended: dict[str, set[str]] = defaultdict(set)  # by kind of name

    def reregisters(self) -> None:
        """Count everything as ended: the RM registers again."""
        self.ended["identity"].update(self.placed)

    def observe(self, content: Content) -> None:
        placed = (content,) if isinstance(content, Allocated) else recovered_in(content)
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
        if not meant:
            return ""
        names = [("identity", release.identity), ("application", release.application)]
        names += [("node", allocation.node) for allocation in meant]
        names += [("key", allocation.key) for allocation in meant]
        if any(name in self.ended[kind] for kind, name in names):
            return ""
        what = release.identity or f"everything of {release.application}"
        return f"{what} was released as STOPPED_BY_RM, but the RM had not asked for its end"


def _asked_to_end(content: object) -> Iterator[tuple[str, str]]:
    match content:
        case NodeRequest(action=Action.DECOMMISSION, node=node):
            yield "node", node
        case (
            ApplicationRemoval(application=application)
            | ReleaseRequest(subject=AllOf(application=application))
            | AskReleaseRequest(subject=AllOf(application=application))
        ):
            yield "application", application
        case ReleaseRequest(subject=OneAllocation(identity=identity)):
            yield "identity", identity
        case AskReleaseRequest(subject=OneAsk(key=key)):
            yield "key", key
        case _:
            pass


MONITORS: Final = (
    Monitor(confirmations_are_not_confirmed, ("SI-REL-009",), observes=(Released, *BULK_ENDS)),
    Monitor(
        stops_go_back_to_the_rm,
        ("SI-REL-013",),
        observes=(
            Allocated,
            Released,
            *REPORTING,
            ApplicationRemoval,
            ReleaseRequest,
            AskReleaseRequest,
            RegistrationRequested,
            RegistrationAnswered,
        ),
    ),
    Monitor(
        ask_releases_name_a_partition,
        ("SI-REL-020",),
        observes=(AskReleased,),
        about_one_message=True,
        identity=Identity.GIVEN_BY_THE_SCHEDULER,
    ),
)
