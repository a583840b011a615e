"""Mutants of the timers of applications: some outlive their application, others are lost."""

from collections.abc import Callable
from functools import partial
from typing import Any

from sireference.core import application_lifecycle, applications, asks, recovery, updates
from sireference.core.model import Effect, Register, RejectedAsk, partition_name
from sireference.core.registration import ResourceManagers
from sireference.core.state.application import Application
from sireference.core.state.partition import Partition
from sireference.core.state.timers import Timer
from sireference.core.states import ApplicationState, ApplicationTrigger

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of

_Expire = Callable[[Partition, Application, float], list[Effect]]


def _outlives(
    patch: Patch, timer_of: Callable[[Partition, Application], Timer | None], expire: _Expire
) -> None:
    """Let a timer of a removed application end the next one of its id."""

    def remove(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        ending = [
            (partition, application, timer_of(partition, application))
            for partition in rm.partitions.values()
            if (application := partition.applications.get(request.application_id)) is not None
        ]
        deadlines = [(one[0], one[2].deadline) for one in ending if one[2] is not None]
        effects = original(rm, request, now)
        for partition, deadline in deadlines:
            _ends_next(patch, partition, request.application_id, deadline, expire)
        return effects

    patch.instead_of(applications.remove, remove)


def _ends_next(
    patch: Patch, partition: Partition, application_id: str, deadline: float, expire: _Expire
) -> None:
    """Let the application that has this id at that time end."""

    def due(now: float) -> list[Effect]:
        application = partition.applications.get(application_id)
        if application is None or application.state is ApplicationState.FAILING:
            return []
        patch.fires()
        return expire(partition, application, now)

    partition.timers.set(deadline, due)


def _complete(partition: Partition, application: Application, now: float) -> list[Effect]:
    complete, message = ApplicationTrigger.COMPLETE, "nothing was asked for while it was waiting"
    if application.state is not ApplicationState.COMPLETING:
        application_lifecycle.move(partition, application, complete, now, message)
    return application_lifecycle.move(partition, application, complete, now, message)


@mutant(
    "waiting-timer-survives-the-id",
    "The waiting time of a removed application completes the next one of its id.",
    breaks=("SI-APP-029",),
)
def _(patch: Patch) -> None:
    def waiting_timer(_: Partition, application: Application) -> Timer | None:
        is_waiting = application.state is ApplicationState.COMPLETING
        return application.state_timer if is_waiting else None

    _outlives(patch, waiting_timer, _complete)


@mutant(
    "negative-timeout-is-over",
    "An application with a negative execution timeout has no time: its asks are rejected.",
    breaks=("SI-APP-013",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
    for partition in rm.partitions.values():
        application = partition.applications.get(ask.application_id)
        if application is not None and application.submitted.execution_timeout < 0:
            patch.fires()
            return [RejectedAsk(rm.rm_id, ask.key, ask.application_id, "its time is over")]
    return original(rm, ask, now)


@mutant(
    "execution-timer-survives-the-id",
    "The execution timeout of a removed application ends the next one of its id.",
    breaks=("SI-APP-013",),
)
def _(patch: Patch) -> None:
    def execution_timer(_: Partition, application: Application) -> Timer | None:
        return application.execution_timer

    _outlives(patch, execution_timer, application_lifecycle.execution_timeout)


@mutant(
    "execution-timer-survives-completion",
    "The execution timeout of a completed application ends the next one of its id.",
    breaks=("SI-APP-013",),
)
@instead_of(application_lifecycle.enter)
def _(
    patch: Patch,
    original: Callable[..., None],
    partition: Partition,
    application: Application,
    now: float,
) -> None:
    timer = application.execution_timer
    original(partition, application, now)

    def due(now: float) -> list[Effect]:
        following = partition.applications.get(application.application_id)
        if following in (None, application) or following.state is not ApplicationState.RUNNING:
            return []
        patch.fires()
        return application_lifecycle.execution_timeout(partition, following, now)

    if timer is not None and application.state is ApplicationState.COMPLETING:
        partition.timers.set(timer.deadline, due)


@mutant(
    "gang-timer-survives-the-id",
    "The placeholder timeout of a removed gang ends the next one of its id.",
    breaks=("SI-GANG-031",),
)
def _(patch: Patch) -> None:
    def placeholder_timer(partition: Partition, application: Application) -> Timer | None:
        gang = partition.gangs.get(application)
        return None if gang is None else gang.timer

    _outlives(patch, placeholder_timer, _fail)


@mutant(
    "gang-timer-survives-registration",
    "After another registration the placeholder timeout of a gang ends the next one of its id.",
    breaks=("SI-GANG-031",),
)
@instead_of(ResourceManagers.register)
def _(
    patch: Patch, original: Original, self: ResourceManagers, event: Register, now: float
) -> list[Effect]:
    earlier = self.known(event.rm_id)
    deadlines = [
        (name, application.application_id, gang.timer.deadline)
        for name, partition in (earlier.partitions if earlier is not None else {}).items()
        for application, gang in partition.gangs.items()
        if gang.timer is not None
    ]
    effects = original(self, event, now)
    later = self.known(event.rm_id)
    if later is not None and later is not earlier:
        for name, application_id, deadline in deadlines:
            if name in later.partitions:
                _ends_next(patch, later.partitions[name], application_id, deadline, _fail)
    return effects


def _fail(partition: Partition, application: Application, now: float) -> list[Effect]:
    return application_lifecycle.fail(partition, application, now, "it waited for too long")


def _loses_execution_timer(patch: Patch, loses: Callable[[Application], bool]) -> None:
    """Let the execution timeout of some applications never come."""

    def enter(
        original: Callable[..., None], partition: Partition, application: Application, now: float
    ) -> None:
        original(partition, application, now)
        if loses(application) and application.execution_timer is not None:
            patch.fires()
            application.stop_execution_timer()

    patch.instead_of(application_lifecycle.enter, enter)


def _execution_timeouts_wrap(patch: Patch, bits: int, *, per_millisecond: int) -> None:
    """Let execution timeouts that overflow an integer of so many bits end at once or too early."""

    def enter(
        original: Callable[..., None], partition: Partition, application: Application, now: float
    ) -> None:
        original(partition, application, now)
        milliseconds = round(1000 * application.submitted.execution_timeout)
        exact = milliseconds * per_millisecond
        wrapped = (exact + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
        if wrapped != exact and application.execution_timer is not None:
            patch.fires()
            application.stop_execution_timer()
            application.execution_timer = partition.timers.set(
                now + max(wrapped, 0) / per_millisecond / 1000,
                partial(application_lifecycle.execution_timeout, partition, application),
            )

    patch.instead_of(application_lifecycle.enter, enter)


mutant(
    "execution-timeout-wraps-in-nanoseconds",
    "An execution timeout overflows when it is converted to nanoseconds.",
    breaks=("SI-APP-012",),
)(partial(_execution_timeouts_wrap, bits=64, per_millisecond=1_000_000))
mutant(
    "execution-timeout-wraps-in-32-bits",
    "Only the low 32 bits of an execution timeout count.",
    breaks=("SI-APP-012",),
)(partial(_execution_timeouts_wrap, bits=32, per_millisecond=1))


@mutant(
    "execution-timer-lost-while-waiting",
    "An application that came back from waiting has no execution timeout.",
    breaks=("SI-APP-012",),
)
def _(patch: Patch) -> None:
    waited: set[Application] = set()

    def loses(application: Application) -> bool:
        if application.state is ApplicationState.COMPLETING:
            waited.add(application)
        return application in waited

    _loses_execution_timer(patch, loses)


@mutant(
    "recovered-has-no-execution-timer",
    "An application whose first allocation is recovered has no execution timeout.",
    breaks=("SI-APP-012",),
)
def _(patch: Patch) -> None:
    recovered: set[Application] = set()

    def recover(original: Original, partition: Partition, record: Any, now: float) -> list[Effect]:
        application = partition.applications[record.ask.application_id]
        if application.state is ApplicationState.NEW:
            recovered.add(application)
        return original(partition, record, now)

    patch.instead_of(recovery.recover, recover)
    _loses_execution_timer(patch, lambda application: application in recovered)


@mutant(
    "overdue-application-keeps-its-asks",
    "What an application asked for is placed after its execution timeout ended it.",
    breaks=("SI-APP-012",),
)
def _(patch: Patch) -> None:
    _keeps_asks(patch, lambda _: True)


@mutant(
    "overdue-gang-continues-its-replacements",
    "What replaces a placeholder is allocated after its application's execution timeout.",
    breaks=("SI-APP-012",),
)
def _(patch: Patch) -> None:
    _keeps_asks(patch, lambda pending: bool(pending.awaiting))


def _keeps_asks(patch: Patch, is_meant: Callable[[Any], bool]) -> None:
    """Keep such asks of an application whose execution timeout is over."""
    overdue: set[Application] = set()

    def execution_timeout(
        original: Original, partition: Partition, application: Application, now: float
    ) -> list[Effect]:
        overdue.add(application)
        return original(partition, application, now)

    def withdraw(
        original: Original, partition: Partition, asks: list[Any], held: list[Any], reason: str
    ) -> list[Effect]:
        left = [one for one in asks if one.application not in overdue or not is_meant(one)]
        if len(left) < len(asks):
            patch.fires()
        return original(partition, left, held, reason)

    patch.instead_of(application_lifecycle.execution_timeout, execution_timeout)
    patch.instead_of(application_lifecycle.withdraw, withdraw)


@mutant(
    "overdue-application-keeps-allocations",
    "At its execution timeout an application loses one allocation and runs on with the others.",
    breaks=("SI-APP-012",),
)
def _(patch: Patch) -> None:
    def execution_timeout(
        original: Original, partition: Partition, application: Application, now: float
    ) -> list[Effect]:
        held = list(partition.allocations.of(application).values())
        if len(held) == 1:
            return original(partition, application, now)
        patch.fires()
        return application_lifecycle.withdraw(partition, [], held[:1], "it ran for too long")

    patch.instead_of(application_lifecycle.execution_timeout, execution_timeout)


@mutant(
    "one-execution-timer-for-all",
    "The execution timer of an application stops those of the others.",
    breaks=("SI-APP-012",),
)
def _(patch: Patch) -> None:
    def enter(
        original: Callable[..., None], partition: Partition, application: Application, now: float
    ) -> None:
        before = application.execution_timer
        original(partition, application, now)
        if application.execution_timer is before or application.execution_timer is None:
            return
        for other in partition.applications.values():
            if other is not application and other.execution_timer is not None:
                patch.fires()
                other.stop_execution_timer()

    patch.instead_of(application_lifecycle.enter, enter)


def _survives_registration(
    patch: Patch, timer_of: Callable[[Application], Timer | None], expire: _Expire
) -> None:
    """Let a timer of an earlier registration end the next application of that id."""

    def register(
        original: Original, self: ResourceManagers, event: Register, now: float
    ) -> list[Effect]:
        earlier = self.known(event.rm_id)
        deadlines = [
            (name, application.application_id, timer.deadline)
            for name, partition in (earlier.partitions if earlier is not None else {}).items()
            for application in partition.applications.values()
            if (timer := timer_of(application)) is not None
        ]
        effects = original(self, event, now)
        later = self.known(event.rm_id)
        if later is not None and later is not earlier:
            for name, application_id, deadline in deadlines:
                if name in later.partitions:
                    _ends_next(patch, later.partitions[name], application_id, deadline, expire)
        return effects

    patch.instead_of(ResourceManagers.register, register)


def _state_timer_while_waiting(application: Application) -> Timer | None:
    is_waiting = application.state is ApplicationState.COMPLETING
    return application.state_timer if is_waiting else None


@mutant(
    "execution-timer-survives-registration",
    "After another registration the execution timeout of an application ends the next of its id.",
    breaks=("SI-APP-013",),
)
def _(patch: Patch) -> None:
    def execution_timer(application: Application) -> Timer | None:
        return application.execution_timer

    _survives_registration(patch, execution_timer, application_lifecycle.execution_timeout)


@mutant(
    "waiting-timer-survives-registration",
    "After another registration the waiting time of an application completes the next of its id.",
    breaks=("SI-APP-029",),
)
def _(patch: Patch) -> None:
    _survives_registration(patch, _state_timer_while_waiting, _complete)


@mutant(
    "one-waiting-timer-for-all",
    "The waiting time of an application stops those of the others.",
    breaks=("SI-APP-029",),
)
def _(patch: Patch) -> None:
    def enter(
        original: Callable[..., None], partition: Partition, application: Application, now: float
    ) -> None:
        original(partition, application, now)
        if _state_timer_while_waiting(application) is None:
            return
        for other in partition.applications.values():
            if other is not application and _state_timer_while_waiting(other) is not None:
                patch.fires()
                other.stop_state_timer()

    patch.instead_of(application_lifecycle.enter, enter)


def _restarts(partition: Partition, application: Application, now: float) -> None:
    """Let the execution timeout of an application begin again."""
    application.stop_execution_timer()
    application_lifecycle.enter(partition, application, now)


@mutant(
    "update-restarts-the-execution-timeout",
    "The update of a live allocation restarts the execution timeout of its application.",
    breaks=("SI-APP-012",),
)
@instead_of(updates.change)
def _(
    patch: Patch, original: Original, partition: Partition, live: Any, ask: Any, *rest: Any
) -> list[Effect]:
    if live.application.execution_timer is not None:
        patch.fires()
        _restarts(partition, live.application, rest[0])
    return original(partition, live, ask, *rest)


@mutant(
    "replaced-ask-restarts-the-execution-timeout",
    "A pending ask that comes again restarts the execution timeout of its application.",
    breaks=("SI-APP-012",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
    for partition in rm.partitions.values():
        application = partition.applications.get(ask.application_id)
        is_again = application is not None and ask.key in application.pending
        if is_again and application.execution_timer is not None:
            patch.fires()
            _restarts(partition, application, now)
    return original(rm, ask, now)


@mutant(
    "duplicate-restarts-the-wait",
    "A rejected duplicate of a waiting application restarts its waiting time.",
    breaks=("SI-APP-003",),
)
@instead_of(applications.submit)
def _(patch: Patch, original: Original, rm: Any, new: Any, now: float) -> list[Effect]:
    partition = rm.partitions.get(partition_name(new.partition))
    earlier = partition and partition.applications.get(new.application_id)
    if earlier and earlier.state is ApplicationState.COMPLETING:
        patch.fires()
        application_lifecycle.enter(partition, earlier, now)
    return original(rm, new, now)


@mutant(
    "execution-timeout-spares-placeholders",
    "An application that holds a placeholder has no execution timeout.",
    breaks=("SI-APP-012",),
)
@instead_of(application_lifecycle.execution_timeout)
def _(
    patch: Patch, original: Original, partition: Partition, application: Application, now: float
) -> list[Effect]:
    if application.placeholders_held:
        patch.fires()
        return []
    return original(partition, application, now)
