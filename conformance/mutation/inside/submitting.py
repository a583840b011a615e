"""Mutants of submission and timeouts of applications, and of their removal."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sireference.core import application_lifecycle, applications, asks, limits, queues, scheduler
from sireference.core.model import (
    AcceptedApplication,
    Ask,
    Effect,
    NewApplication,
    Refused,
    RejectedApplication,
    RejectedAsk,
    ReleasedAllocation,
    RemoveApplication,
    partition_name,
)
from sireference.core.state.application import Application
from sireference.core.state.quota import Quotas
from sireference.core.states import ApplicationState

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of


def _rejected(rm: Any, new: NewApplication) -> list[Effect]:
    return [RejectedApplication(rm.rm_id, new.application_id, "the id was used before")]


@mutant(
    "no-user-no-verdict",
    "An application without user is never answered.",
    breaks=("SI-APP-004",),
)
@instead_of(applications.submit)
def _(patch: Patch, original: Original, rm: Any, new: NewApplication, now: float) -> list[Effect]:
    if new.user:
        return original(rm, new, now)
    patch.fires()
    return []


@mutant(
    "application-time-from-submission",
    "The execution timeout of an application starts with its submission.",
    breaks=("SI-APP-014",),
)
def _(patch: Patch) -> None:
    submitted: dict[Application, float] = {}

    def submit(original: Original, rm: Any, new: NewApplication, now: float) -> list[Effect]:
        effects = original(rm, new, now)
        for one in rm.partitions.values():
            application = one.applications.get(new.application_id)
            if application is not None:
                submitted.setdefault(application, now)
        return effects

    def enter(original: Callable[..., None], partition: Any, one: Application, now: float) -> None:
        had_timer = one.execution_timer is not None
        original(partition, one, now)
        since = submitted.get(one, now)
        if one.execution_timer is not None and not had_timer and since < now:
            patch.fires()
            one.stop_execution_timer()
            _set_timer(partition, one, since, now)

    patch.instead_of(applications.submit, submit)
    patch.instead_of(application_lifecycle.enter, enter)


@mutant(
    "application-time-runs-while-it-waits",
    "The execution timeout of an application starts with its first ask, served or not.",
    breaks=("SI-APP-014",),
)
def _(patch: Patch) -> None:
    def enter(original: Callable[..., None], partition: Any, one: Application, now: float) -> None:
        original(partition, one, now)
        is_limited = one.submitted.execution_timeout > 0 and one.submitted.placeholder_ask is None
        if one.state is ApplicationState.ACCEPTED and is_limited:
            patch.fires()
            _set_timer(partition, one, now, now)

    patch.instead_of(application_lifecycle.enter, enter)


def _set_timer(partition: Any, application: Application, since: float, now: float) -> None:
    """Set the timeout to end this long from then on."""
    expire = partial(application_lifecycle.execution_timeout, partition, application)
    deadline = max(now, since + application.submitted.execution_timeout)
    application.execution_timer = partition.timers.set(deadline, expire)


@mutant(
    "removal-in-any-partition",
    "An application is removed regardless of the partition the removal names.",
    breaks=("SI-APP-019",),
)
def _(patch: Patch) -> None:
    def remove(original: Original, rm: Any, request: RemoveApplication, now: float) -> list[Effect]:
        for name, partition in rm.partitions.items():
            is_there = request.application_id in partition.applications
            if is_there and name != request.partition:
                patch.fires()
                request = replace(request, partition=name)
        return original(rm, request, now)

    patch.instead_of(applications.remove, remove)


@mutant(
    "unknown-removal-ends-the-stream",
    "Removing an unknown application ends the stream.",
    breaks=("SI-APP-019", "SI-CONN-017"),
)
def _(patch: Patch) -> None:
    def remove(original: Original, rm: Any, request: RemoveApplication, now: float) -> list[Effect]:
        partition = rm.partitions.get(request.partition)
        if partition is not None and request.application_id in partition.applications:
            return original(rm, request, now)
        patch.fires()
        return [Refused(rm.rm_id, "there is no such application")]

    patch.instead_of(applications.remove, remove)


@mutant(
    "removed-id-stays-taken",
    "The id of a removed application is rejected.",
    breaks=("SI-APP-020",),
)
def _(patch: Patch) -> None:
    removed: defaultdict[Any, set[str]] = defaultdict(set)

    def remove(original: Original, rm: Any, request: RemoveApplication, now: float) -> list[Effect]:
        if any(request.application_id in one.applications for one in rm.partitions.values()):
            removed[rm].add(request.application_id)
        return original(rm, request, now)

    def submit(original: Original, rm: Any, new: NewApplication, now: float) -> list[Effect]:
        if new.application_id not in removed[rm]:
            return original(rm, new, now)
        patch.fires()
        return _rejected(rm, new)

    patch.instead_of(applications.remove, remove)
    patch.instead_of(applications.submit, submit)


@mutant(
    "asks-of-the-removed-unanswered",
    "An ask of a removed application is silently dropped.",
    breaks=("SI-APP-020",),
)
def _(patch: Patch) -> None:
    removed: defaultdict[Any, set[str]] = defaultdict(set)

    def remove(original: Original, rm: Any, request: RemoveApplication, now: float) -> list[Effect]:
        removed[rm].add(request.application_id)
        return original(rm, request, now)

    def add(original: Original, rm: Any, ask: Ask, now: float) -> list[Effect]:
        effects = original(rm, ask, now)
        is_rejected = any(isinstance(effect, RejectedAsk) for effect in effects)
        if not is_rejected or ask.application_id not in removed[rm]:
            return effects
        patch.fires()
        return []

    patch.instead_of(applications.remove, remove)
    patch.instead_of(asks.add, add)


@mutant(
    "asks-of-the-completed-unanswered",
    "An ask of a completed application is silently dropped.",
    breaks=("SI-ASK-008",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Ask, now: float) -> list[Effect]:
    effects = original(rm, ask, now)
    is_over = any(ask.application_id in one.finished for one in rm.partitions.values())
    if not is_over or not any(isinstance(effect, RejectedAsk) for effect in effects):
        return effects
    patch.fires()
    return []


@mutant(
    "one-end-stands-for-the-others",
    "Of the allocations that end with their application only the first is reported.",
    breaks=("SI-APP-035",),
)
def _(patch: Patch) -> None:
    def remove(original: Original, rm: Any, request: RemoveApplication, now: float) -> list[Effect]:
        effects = original(rm, request, now)
        ends = [
            one
            for one in effects
            if isinstance(one, ReleasedAllocation)
            and one.release.application_id == request.application_id
        ]
        if len(ends) > 1:
            patch.fires()
        return [one for one in effects if one not in ends[1:]]

    patch.instead_of(applications.remove, remove)


@mutant(
    "failed-id-stays-taken",
    "The id of a failed application is rejected.",
    breaks=("SI-APP-037",),
)
@instead_of(applications.submit)
def _(patch: Patch, original: Original, rm: Any, new: NewApplication, now: float) -> list[Effect]:
    for partition in rm.partitions.values():
        finished = partition.finished.get(new.application_id)
        if finished is not None and finished.state is ApplicationState.FAILED:
            patch.fires()
            return _rejected(rm, new)
    return original(rm, new, now)


@mutant(
    "failed-once-asks-no-more",
    "The id of a failed application is accepted, and its asks are rejected.",
    breaks=("SI-APP-037",),
)
def _(patch: Patch) -> None:
    failed: defaultdict[Any, set[str]] = defaultdict(set)

    def submit(original: Original, rm: Any, new: NewApplication, now: float) -> list[Effect]:
        for partition in rm.partitions.values():
            finished = partition.finished.get(new.application_id)
            if finished is not None and finished.state is ApplicationState.FAILED:
                failed[rm].add(new.application_id)
        return original(rm, new, now)

    def add(original: Original, rm: Any, ask: Ask, now: float) -> list[Effect]:
        if ask.application_id not in failed[rm]:
            return original(rm, ask, now)
        patch.fires()
        return [RejectedAsk(rm.rm_id, ask.key, ask.application_id, "its application failed")]

    patch.instead_of(applications.submit, submit)
    patch.instead_of(asks.add, add)


@mutant(
    "placed-elsewhere-without-limit",
    "A queue chosen by a placement rule does not limit the application.",
    breaks=("SI-CFG-008",),
)
@instead_of(queues.enter)
def _(patch: Patch, original: Callable[..., Any], leaf: Any, new: Any) -> Any:
    quotas = original(leaf, new)
    if not new.queue or new.queue == leaf.name:
        return quotas
    patch.fires()
    return Quotas(one for one in quotas if one is not leaf)


@mutant(
    "added-again-to-its-first-queue",
    "An application that is added again after its removal is in the queue it was in before.",
    breaks=("SI-APP-020",),
)
def _(patch: Patch) -> None:
    queues: dict[tuple[str, str], str] = {}

    def submit(original: Original, rm: Any, new: Any, now: float) -> list[Effect]:
        before = queues.setdefault((rm.rm_id, new.application_id), new.queue)
        if before != new.queue:
            patch.fires()
            new = replace(new, queue=before)
        return original(rm, new, now)

    patch.instead_of(applications.submit, submit)


@mutant(
    "duplicate-in-a-message-accepted",
    "The second of two applications with one id in a message is accepted.",
    breaks=("SI-APP-002",),
)
def _(patch: Patch) -> None:
    accepted: set[str] = set()  # in this message

    def apply(original: Original, rm: Any, event: Any, now: float) -> list[Effect]:
        accepted.clear()
        return original(rm, event, now)

    def submit(original: Original, rm: Any, new: NewApplication, now: float) -> list[Effect]:
        effects = original(rm, new, now)
        if isinstance(effects[0], AcceptedApplication):
            accepted.add(new.application_id)
        elif new.application_id in accepted:
            patch.fires()
            return [AcceptedApplication(rm.rm_id, new.application_id)]
        return effects

    patch.instead_of(scheduler.apply, apply)
    patch.instead_of(applications.submit, submit)


@mutant(
    "duplicate-changes-the-user",
    "A rejected duplicate of an application changes its user.",
    breaks=("SI-APP-003",),
)
@instead_of(applications.submit)
def _(patch: Patch, original: Original, rm: Any, new: NewApplication, now: float) -> list[Effect]:
    partition = rm.partitions.get(partition_name(new.partition))
    earlier = partition.applications.get(new.application_id) if partition is not None else None
    effects = original(rm, new, now)
    if earlier is not None and new.user not in ("", earlier.submitted.user):
        patch.fires()
        earlier.submitted = replace(earlier.submitted, user=new.user)
        limits.renew(partition)
    return effects
