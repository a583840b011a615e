"""Mutants of gangs: their places in a queue, their replacements and their ends."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from sireference.core import application_lifecycle, predicates
from sireference.core.gang import replacement, timeout
from sireference.core.model import Effect
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application, PendingAsk
from sireference.core.state.partition import Partition
from sireference.core.states import ApplicationState, ApplicationTrigger

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of

_COMPLETING: Final = ApplicationState.COMPLETING
_THIRD: Final = 3


def _keep_their_slots(
    patch: Patch, function: Callable[..., Any], which: Callable[[Application], bool]
) -> None:
    """Let a queue count these applications although they have ended."""

    def end(original: Callable[..., None], partition: Any, ended: Application, now: float) -> None:
        original(partition, ended, now)
        if which(ended):
            patch.fires()
            for quota in ended.quotas:
                quota.application_runs()

    patch.instead_of(function, end)


def _is_completing_gang(application: Application) -> bool:
    return application.state is _COMPLETING and application.is_gang


def _is_failing(application: Application) -> bool:
    return application.state is ApplicationState.FAILING


mutant(
    "completed-gang-keeps-its-slot",
    "A gang that waits or is completed still counts among the applications of its queue.",
    breaks=("SI-APP-030",),
)(partial(_keep_their_slots, function=application_lifecycle.enter, which=_is_completing_gang))
mutant(
    "application-removed-while-it-fails-keeps-its-slot",
    "An application that is removed while it fails still counts among those of its queue.",
    breaks=("SI-GANG-038",),
)(partial(_keep_their_slots, function=application_lifecycle.retire, which=_is_failing))


@mutant(
    "unplaced-ask-lost-while-clearing-up",
    "An ask that came while leftovers are released is dropped if it is pending when one is gone.",
    breaks=("SI-ASK-011",),
)
def _(patch: Patch) -> None:
    def has_ask(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        gang = partition.gangs.get(application)
        if gang is not None and gang.is_clearing_up:
            return []
        return original(partition, application, now)

    def settle(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        gang = partition.gangs.get(application)
        is_clearing_up = gang is not None and gang.is_clearing_up
        if is_clearing_up and application.pending and not application.is_active:
            patch.fires()
            _drop_asks(partition, application)
        return original(partition, application, now)

    patch.quietly().instead_of(application_lifecycle.has_ask, has_ask)
    patch.instead_of(application_lifecycle.settle, settle)


def _drop_asks(partition: Partition, application: Application) -> None:
    for pending in list(application.pending.values()):
        partition.asks.drop(pending)


def _complete(partition: Partition, application: Application, now: float) -> list[Effect]:
    _drop_asks(partition, application)
    trigger, message = ApplicationTrigger.COMPLETE, "it waited long enough"
    return application_lifecycle.move(partition, application, trigger, now, message)


@mutant(
    "unplaced-ask-does-not-end-the-wait",
    "An application with a real ask that does not fit goes on waiting, and is completed.",
    breaks=("SI-APP-028",),
)
def _(patch: Patch) -> None:
    def has_ask(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        is_real = all(not one.ask.is_placeholder for one in application.pending.values())
        if application.state is _COMPLETING and is_real:
            return []
        return original(partition, application, now)

    def has_allocation(
        original: Original, partition: Any, application: Any, now: float
    ) -> list[Effect]:
        effects: list[Effect] = []
        if application.state is _COMPLETING:
            trigger, message = ApplicationTrigger.RUN, "an ask of it was allocated"
            effects = application_lifecycle.move(partition, application, trigger, now, message)
        return effects + original(partition, application, now)

    def completing_timeout(
        original: Original, partition: Any, application: Any, now: float
    ) -> list[Effect]:
        if application.pending:
            patch.fires()
            return _complete(partition, application, now)
        return original(partition, application, now)

    patch.quietly().instead_of(application_lifecycle.has_ask, has_ask)
    patch.quietly().instead_of(application_lifecycle.has_allocation, has_allocation)
    patch.instead_of(application_lifecycle.completing_timeout, completing_timeout)


@mutant(
    "hard-gang-of-two-groups-goes-on",
    "A gang of style hard goes on after its timeout if it has several task groups.",
    breaks=("SI-GANG-034",),
)
@instead_of(timeout.expire)
def _(
    patch: Patch, original: Original, partition: Partition, application: Application, now: float
) -> list[Effect]:
    asks = list(application.pending.values())
    held = list(partition.allocations.of(application).values())
    groups = {one.ask.task_group for one in asks} | {one.record.ask.task_group for one in held}
    is_hard = application.submitted.gang_style.casefold() == "hard"
    if not (is_hard and application.is_gathering and len(groups) > 1):
        return original(partition, application, now)
    patch.fires()
    partition.gangs[application].timer = None
    trigger, reason = ApplicationTrigger.RESUME, "not all placeholders were allocated in time"
    effects = application_lifecycle.move(partition, application, trigger, now, reason)
    return effects + application_lifecycle.withdraw(partition, asks, held, reason)


@mutant(
    "third-real-ask-goes-elsewhere",
    "The third real ask of a gang goes to another node than that of its placeholder.",
    breaks=("SI-GANG-021",),
)
def _(patch: Patch) -> None:
    replaced: Counter[Application] = Counter()

    def go_on(
        original: Original, partition: Partition, gone: Allocation, now: float
    ) -> list[Effect]:
        pending = partition.replacements.by_placeholder.get(gone)
        if pending is None:
            return original(partition, gone, now)
        replaced[gone.application] += 1
        others = [
            node
            for node in partition.nodes.values()
            if node is not gone.node and node.can_take(pending.ask.resource)
        ]
        if replaced[gone.application] < _THIRD or not others:
            return original(partition, gone, now)
        patch.fires()
        partition.replacements.resume(gone)
        return predicates.place(partition, pending, others[0], now)

    patch.instead_of(replacement.go_on, go_on)


@mutant(
    "placeholder-of-the-leaf-taken",
    "A real ask replaces the oldest placeholder of its task group in its queue, whosever it is.",
    breaks=("SI-GANG-017",),
)
@instead_of(replacement.choose)
def _(
    patch: Patch,
    original: Callable[..., Allocation | None],
    partition: Partition,
    pending: PendingAsk,
) -> Allocation | None:
    own = original(partition, pending)
    group = pending.key.replaces
    if own is None or not group:
        return own
    for application, gang in partition.gangs.items():
        is_other = application is not pending.application
        if is_other and application.leaf is pending.application.leaf:
            for placeholder in gang.replaceable.get(group, {}).values():
                patch.fires()
                return placeholder
    return own


@mutant(
    "second-gang-of-a-queue-has-no-timeout",
    "A gang does not time out while an earlier gang of its queue exists.",
    breaks=("SI-GANG-032",),
)
@instead_of(timeout.expire)
def _(
    patch: Patch, original: Original, partition: Partition, application: Application, now: float
) -> list[Effect]:
    earlier = next(one for one in partition.gangs if one.leaf is application.leaf)
    if earlier is application or not application.is_gathering:
        return original(partition, application, now)
    patch.fires()
    partition.gangs[application].timer = None
    return []


@mutant(
    "replacement-keeps-a-gang-failing",
    "A gang that fails while a placeholder is replaced is never failed for good.",
    breaks=("SI-APP-037",),
)
def _(patch: Patch) -> None:
    stuck: set[Application] = set()

    def withdraw(
        original: Original, partition: Partition, asks: list[PendingAsk], *rest: Any
    ) -> list[Effect]:
        stuck.update(one.application for one in asks if one.awaiting)
        return original(partition, asks, *rest)

    def settle(
        original: Original, partition: Partition, application: Application, now: float
    ) -> list[Effect]:
        is_last = application.state is ApplicationState.FAILING and not application.held
        if application not in stuck or not is_last:
            return original(partition, application, now)
        patch.fires()
        return []

    patch.quietly().instead_of(application_lifecycle.withdraw, withdraw)
    patch.instead_of(application_lifecycle.settle, settle)
