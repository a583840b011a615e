"""Rules about releases: confirmations are not answered, and STOPPED_BY_RM has a cause."""

from collections import Counter
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
from siconform.monitors.recovered_allocations import recovered_in
from siconform.protocol.notifications import BY_THE_SCHEDULER, AskReleased, Released, Termination
from siconform.protocol.requests import ReleaseRequest
from siconform.protocol.subjects import Identity, OneAllocation
from siconform.recording.history import Entry


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
        sent.update([i for i in ending if i not in confirmed or i in race] if ending else ())
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


def ask_releases_name_a_partition() -> Evaluator:
    """The release of an ask names a partition, in a decision as in a confirmation."""

    def evaluation(received: AskReleased) -> str:
        return violated_if(
            not received.partition, f"the release of ask {received.key} names no partition"
        )

    return of_each(AskReleased, evaluation)


MONITORS: Final = (
    Monitor(confirmations_are_not_confirmed, ("SI-REL-009",), observes=(Released, *BULK_ENDS)),
    Monitor(
        ask_releases_name_a_partition,
        ("SI-REL-020",),
        observes=(AskReleased,),
        about_one_message=True,
        identity=Identity.GIVEN_BY_THE_SCHEDULER,
    ),
)
