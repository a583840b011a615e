"""Rules about what may not take a queue above its maximum: anything, or by what counts there."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from siconform.catalogue.features import Feature
from siconform.monitors.monitor import NOTHING_TO_EVALUATE, EntryFinding, Evaluator, Monitor
from siconform.monitors.occupancy import OCCUPANCY, Occupancy
from siconform.monitors.quotas import QUOTAS, Quotas
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.notifications import Allocated, ApplicationAccepted, ApplicationRejected
from siconform.protocol.requests import ApplicationRemoval, ApplicationRequest
from siconform.recording.history import Entry

_MEMORY: Final = "memory"


def queues_are_not_overfilled() -> Evaluator:
    """No new allocation takes a queue above the maximum the RM's configuration gives it."""
    return _queue_evaluator(lambda _: True)


def placeholders_count_against_the_quota() -> Evaluator:
    """No new allocation takes a queue with placeholders in it above its maximum."""
    return _queue_evaluator(lambda held: any(allocation.placeholder for allocation in held))


def _queue_evaluator(concerns: Callable[[list[Allocated]], bool]) -> Evaluator:
    quotas = Quotas()
    occupancy = Occupancy(lambda allocation: quotas.limited(allocation.application), quotas.most)

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Allocated() as echo if occupancy.is_not_new(echo):
                occupancy.takes_reported(echo)
            case Allocated() as new if queues := quotas.limited(new.application):
                over = occupancy.takes(new)
                held = [allocation for queue in queues for allocation in occupancy.held(queue)]
                if concerns(held):
                    return f"queue {over}" if over else ""
            case _:
                if quotas.may_limit:
                    occupancy.observe(entry)
                quotas.observe(entry)
        return NOTHING_TO_EVALUATE

    return evaluate


def queues_above_are_not_overfilled() -> Evaluator:
    """No new allocation takes a queue above its application's own one above its maximum."""
    return _LIMITS.rule("queues_above_are_not_overfilled")


def limits_of_memory_hold_for_memory() -> Evaluator:
    """No new allocation takes the resource called memory above a queue's maximum of memory."""
    return _LIMITS.rule("limits_of_memory_hold_for_memory")


def rejected_duplicates_move_no_application() -> Evaluator:
    """An application that was added again for another queue, and rejected, stays in its own."""
    return _LIMITS.rule("rejected_duplicates_move_no_application")


class _Limits:
    def __init__(self) -> None:
        self._quotas = Quotas()
        self._occupancy = Occupancy(
            lambda allocation: self._quotas.limited(allocation.application), self._quotas.most
        )
        self._queues: dict[str, str] = {}  # of accepted applications
        self._open: dict[str, list[ApplicationRequest]] = {}
        self._moved: set[str] = set()  # rejected for another queue than their own

    def __call__(self, entry: Entry) -> Findings:
        match entry.content:
            case Allocated() as echo if self._occupancy.is_not_new(echo):
                self._occupancy.takes_reported(echo)
            case Allocated() as new:
                queues = self._quotas.limited(new.application)
                if queues:
                    self._occupancy.takes(new)
                    return self._evaluated(new, queues)
            case _:
                if self._quotas.may_limit:
                    self._occupancy.observe(entry)
                if not entry.barrier:
                    self._follows(entry)
        return NO_FINDINGS

    def _follows(self, entry: Entry) -> None:
        """Note which queue an application is in: that of its only accepted addition."""
        match entry.content:
            case ApplicationRequest(application=name) as request:
                self._open.setdefault(name, []).append(request)
                if name not in self._queues:
                    self._quotas.observe(entry)
            case ApplicationAccepted(application=name) if self._open.get(name):
                accepted = self._open[name].pop(0)
                if name in self._queues:
                    self._quotas.observe(entry.with_content(accepted))
                self._queues.setdefault(name, accepted.queue)
            case ApplicationRejected(application=name) if self._open.get(name):
                queue = self._open[name].pop(0).queue
                if self._queues.get(name, queue) != queue:
                    self._moved.add(name)
            case ApplicationRemoval(application=name):
                self._moved.discard(name)
                self._queues.pop(name, None)
            case _:
                self._quotas.observe(entry)

    def _evaluated(self, new: Allocated, queues: list[str]) -> Findings:
        found: dict[str, EntryFinding] = {}
        for queue in queues:
            if not self._occupancy.holds(queue, new.identity):
                continue
            for name in (n for n, amount in new.resource.items() if amount > 0):
                most, used = self._quotas.most(queue, name), self._occupancy.used(queue, name)
                if most is not None:
                    over = f"queue {queue} holds {used} of {name}, at most {most}"
                    for rule in self._rules(new.application, queue, name):
                        found[rule] = found.get(rule) or (over if used > most else "")
        return found

    def _rules(self, application: str, queue: str, resource: str) -> Iterator[str]:
        """Yield the rules about an allocation of an application in a queue."""
        if self._open.get(application):
            return  # it may be in another queue soon
        own = self._queues.get(application, "")
        if own.startswith(f"{queue}."):
            yield "queues_above_are_not_overfilled"
        if resource == _MEMORY:
            yield "limits_of_memory_hold_for_memory"
        if application in self._moved:
            yield "rejected_duplicates_move_no_application"


_LIMITS: Final = SharedAnalysis(_Limits)
_OBSERVED: Final = (*OCCUPANCY, *QUOTAS, ApplicationAccepted, ApplicationRejected)
_FINDS: Final = (Allocated,)

_QuotaMonitor = partial(Monitor, presupposes=Feature.QUOTAS)

MONITORS: Final = (
    Monitor(
        queues_are_not_overfilled,
        ("SI-ASK-011",),
        observes=(*OCCUPANCY, *QUOTAS),
        presupposes=Feature.QUEUES,
    ),
    _QuotaMonitor(
        placeholders_count_against_the_quota, ("SI-GANG-027",), observes=(*OCCUPANCY, *QUOTAS)
    ),
    _QuotaMonitor(rejected_duplicates_move_no_application, ("SI-APP-003",), observes=_OBSERVED),
    _QuotaMonitor(queues_above_are_not_overfilled, ("SI-CFG-008",), observes=_FINDS),
    _QuotaMonitor(limits_of_memory_hold_for_memory, ("SI-CONST-009",), observes=_FINDS),
)
