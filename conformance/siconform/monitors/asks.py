"""Rules about asks: never more than asked for, complete rejections, and rejected means over."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from siconform.monitors.existing import existing_in
from siconform.monitors.finding import Era, Observation, monitors
from siconform.rm.facts import Allocated, AskRejected
from siconform.rm.sayings import AskSaying


@monitors("SI-ASK-005")
def asks_are_not_served_too_often(era: Era) -> Iterator[Observation]:
    """A key never yields more allocations than all its asks together wanted.

    What an ask for zero or fewer means is another, weaker rule (SI-ASK-007): not judged here.
    """
    wanted: Counter[str] = Counter()
    served: Counter[str] = Counter()
    recovered: set[str] = set()
    unclear: set[str] = set()
    for index, entry in era.entries:
        match entry.content:
            case AskSaying(key=key, max_allocations=most) if most <= 0:
                unclear.add(key)
            case AskSaying() as ask:
                wanted[ask.key] += ask.max_allocations
            case Allocated(key=key) if key in unclear:
                pass
            case Allocated(key=key, identity=identity) if identity not in recovered:
                served[key] += 1
                surplus = served[key] > wanted[key]
                yield Observation(
                    index,
                    f"{served[key]} allocations of {key}, asked were {wanted[key]}"
                    if surplus
                    else "",
                )
            case content:
                recovered |= {existing.identity for existing in existing_in(content)}


@monitors("SI-ASK-022")
def rejections_of_asks_are_complete(era: Era) -> Iterator[Observation]:
    """A rejection names key and application of an ask and a reason, once for each ask."""
    asked: dict[str, list[str]] = defaultdict(list)
    rejected: Counter[str] = Counter()
    for index, entry in era.entries:
        match entry.content:
            case AskSaying() as ask:
                asked[ask.key].append(ask.application)
            case AskRejected() as rejection:
                rejected[rejection.key] += 1
                yield Observation(
                    index, _incomplete(rejection, asked[rejection.key], rejected[rejection.key])
                )
            case _:
                pass


def _incomplete(rejection: AskRejected, applications: list[str], times: int) -> str:
    if not applications:
        return f"rejection of {rejection.key!r}, which nobody asked for"
    if rejection.application not in applications:
        return f"rejection of {rejection.key} names application {rejection.application!r}"
    if not rejection.reason.strip():
        return f"rejection of {rejection.key} gives no reason"
    if times > len(applications):
        return f"{times} rejections of {rejection.key}, asked was {len(applications)} times"
    return ""


@monitors("SI-ASK-017")
def rejected_asks_stay_rejected(era: Era) -> Iterator[Observation]:
    """After the rejection of its only ask a key is not allocated until it is asked for again."""
    open_asks: Counter[str] = Counter()
    rejected: dict[str, int] = {}
    for index, entry in era.entries:
        match entry.content:
            case AskSaying(key=key):
                open_asks[key] += 1
                rejected.pop(key, None)
            case AskRejected(key=key):
                open_asks[key] -= 1
                if open_asks[key] <= 0:
                    rejected[key] = index
                    yield Observation(index)
            case Allocated(key=key) if key in rejected:
                yield Observation(index, f"{key} was allocated after its rejection")
            case _:
                pass


@monitors("SI-ASK-019")
def allocated_asks_are_not_rejected(era: Era) -> Iterator[Observation]:
    """An ask that was allocated in full is not rejected afterwards."""
    wanted: Counter[str] = Counter()
    served: Counter[str] = Counter()
    for index, entry in era.entries:
        match entry.content:
            case AskSaying() as ask:
                wanted[ask.key] += max(ask.max_allocations, 0)
            case Allocated(key=key):
                served[key] += 1
                if served[key] == wanted[key]:
                    yield Observation(index)
            case AskRejected(key=key) if wanted[key] and served[key] >= wanted[key]:
                yield Observation(index, f"{key} was rejected after it had been allocated")
            case _:
                pass
