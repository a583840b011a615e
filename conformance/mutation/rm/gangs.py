"""Mutants: gangs, from their placeholders to their real containers."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from sirm.codec import parts, r2021_02
from sirm.codec.codec import Codec
from sirm.core import confirmations, gangs, reporting, requests
from sirm.core import containers as members
from sirm.core.cluster import Application, Cluster, Container
from sirm.core.model import (
    ContainerRecord,
    Effect,
    FromScheduler,
    Group,
    Release,
    RequestAllocation,
    Resource,
    Termination,
    Update,
    UpdatedApplication,
)
from sirm.core.state import State
from sirm.core.states import ContainerState, ContainerTrigger

from mutation.mutant import rm_mutant, rm_variant
from mutation.patching import Patch, instead_of

Sum: TypeAlias = Callable[[Iterable[Group]], Resource | None]
CreateMembers: TypeAlias = Callable[[Cluster, Application], None]
NewRequests: TypeAlias = Callable[[State], Iterator[Update]]
Record: TypeAlias = Callable[[Container], ContainerRecord]


@rm_mutant(
    "rm-placeholder-ask-of-one-member",
    "placeholderAsk has each task group once, whatever its number of members.",
    breaks=("SI-GANG-001",),
)
@instead_of(gangs.placeholder_sum)
def _(patch: Patch, original: Sum, groups: Iterable[Group]) -> Resource | None:
    patch.fires()
    return original([replace(one, members=1) for one in groups])


@rm_mutant(
    "rm-placeholder-ask-of-the-first-group",
    "placeholderAsk is that of the first task group.",
    breaks=("SI-GANG-001",),
)
@instead_of(gangs.placeholder_sum)
def _(patch: Patch, original: Sum, groups: Iterable[Group]) -> Resource | None:
    patch.fires()
    return original([one for one in groups if one.task_group][:1])


@rm_mutant(
    "rm-real-asks-before-placeholders",
    "The real members of a gang are requested before its placeholders.",
    breaks=("SI-GANG-013",),
)
def _(patch: Patch) -> None:
    def may_request(original: Callable[..., bool], *args: Any, **kwargs: Any) -> bool:
        del original, args, kwargs
        return True

    def new_requests(original: NewRequests, state: State) -> Iterator[Update]:
        sent = list(original(state))
        if len(sent) > 1:
            patch.fires()
        yield from reversed(sent)

    patch.instead_of(gangs.may_request, may_request)
    patch.instead_of(reporting.new_requests, new_requests)


@rm_mutant(
    "rm-no-placeholder-for-the-first-member",
    "The container that opens a gang has no placeholder.",
    breaks=("SI-GANG-013",),
)
def _(patch: Patch) -> None:
    patch.instead_of(gangs.create_members, _with_members(patch, lambda count: count - 1))


@rm_mutant(
    "rm-real-asks-before-the-last-placeholder",
    "The real members of a gang are requested when one placeholder is missing.",
    breaks=("SI-GANG-014",),
)
@instead_of(gangs.is_complete)
def _(patch: Patch, original: Callable[[Application], bool], application: Application) -> bool:
    if application.missing_placeholders == 1:
        patch.fires()
        return True
    return original(application)


@rm_mutant(
    "rm-one-ask-for-a-group",
    "The placeholders of a group of three are requested by one ask with maxAllocations 3.",
    breaks=("SI-GANG-029",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    def ask(original: Callable[..., None], record: ContainerRecord, message: Any) -> None:
        original(record, message)
        if record.placeholder:
            message.maxAllocations = 3

    patch.instead_of(gangs.create_members, _with_members(patch, lambda count: count // 3))
    patch.instead_of(parts.ask, ask)


@rm_mutant(
    "rm-one-placeholder-too-many",
    "A task group has one placeholder more than members.",
    breaks=("SI-GANG-029",),
)
def _(patch: Patch) -> None:
    patch.instead_of(gangs.create_members, _with_members(patch, lambda count: count + 1))


def _with_members(patch: Patch, changed: Callable[[int], int]) -> Callable[..., None]:
    def create_members(original: CreateMembers, cluster: Cluster, application: Application) -> None:
        workload = application.workload
        groups = [
            replace(one, members=changed(one.members)) if one.task_group else one
            for one in workload.groups
        ]
        if tuple(groups) != workload.groups:
            patch.fires()
        application.workload = replace(workload, groups=tuple(groups))
        original(cluster, application)
        application.workload = workload

    return create_members


@rm_mutant(
    "rm-released-asks-unconfirmed",
    "The release of a pending ask is carried out without a confirmation.",
    breaks=("SI-GANG-040",),
)
def _(patch: Patch) -> None:
    def last_release(
        original: Callable[[State, Container], list[Release]], state: State, container: Container
    ) -> list[Release]:
        was_begun = container.key in state.knowledge.releases
        sent = original(state, container)
        if was_begun and not container.identity:
            patch.fires()
            return []
        return sent

    patch.instead_of(confirmations.last_release, last_release)


@rm_mutant(
    "rm-application-before-its-releases",
    "The end of an application is handled before the releases of the same message.",
    breaks=("SI-GANG-040",),
    revision="2021-02",
)
@instead_of(r2021_02.events)
def _(patch: Patch, original: Callable[[Any], Iterator[FromScheduler]], message: Any) -> Any:
    read = list(original(message))
    in_order = sorted(read, key=lambda one: not isinstance(one, UpdatedApplication))
    if in_order != read:
        patch.fires()
    return iter(in_order)


@rm_mutant(
    "rm-real-asks-without-task-group",
    "The real asks of a gang name no task group.",
    breaks=("SI-GANG-049",),
)
@instead_of(requests.record)
def _(patch: Patch, original: Record, container: Container) -> ContainerRecord:
    sent = original(container)
    if not sent.task_group or sent.placeholder:
        return sent
    patch.fires()
    return replace(sent, task_group="")


@rm_mutant(
    "rm-real-asks-as-placeholders",
    "The real asks of a gang have the placeholder flag.",
    breaks=("SI-GANG-049",),
)
@instead_of(requests.record)
def _(patch: Patch, original: Record, container: Container) -> ContainerRecord:
    sent = original(container)
    if not sent.task_group or sent.placeholder:
        return sent
    patch.fires()
    return replace(sent, placeholder=True)


@rm_mutant(
    "rm-placeholders-of-one-group",
    "Every placeholder names the first task group of its application.",
    breaks=("SI-GANG-049",),
)
@instead_of(requests.record)
def _(patch: Patch, original: Record, container: Container) -> ContainerRecord:
    sent = original(container)
    first = container.application.workload.groups[0].task_group
    if not sent.placeholder or sent.task_group == first:
        return sent
    patch.fires()
    return replace(sent, task_group=first)


@rm_mutant(
    "rm-real-containers-start-with-the-gang",
    "The first real container starts with the last placeholder, not with its own allocation.",
    breaks=("SI-GANG-050",),
)
def _(patch: Patch) -> None:
    def start(original: Callable[..., list[Effect]], state: State, *args: Any) -> list[Effect]:
        effects = original(state, *args)
        container, node_id = args[:2]
        if container.placeholder and gangs.is_complete(container.application):
            patch.fires()
            for one in container.application.containers.values():
                if one.state is ContainerState.WAITING and not one.placeholder:
                    one.move(ContainerTrigger.ALLOCATED)
                    one.node_id = node_id
                    break
        return effects

    patch.instead_of(members.start, start)


@rm_variant(
    "rm-requests-real-members-one-by-one",
    "A real member is requested with the next event after the one before.",
    areas=("GANG", "CB"),
)
@instead_of(reporting.new_requests)
def _(patch: Patch, original: NewRequests, state: State) -> Iterator[Update]:
    for one in original(state):
        yield one
        if isinstance(one, RequestAllocation) and not one.container.placeholder:
            patch.fires()
            return


@rm_variant(
    "rm-confirms-a-timeout-at-once",
    "The releases of a gang that timed out are confirmed by one, for all of the application.",
    areas=("GANG",),
)
def _(patch: Patch) -> None:
    def messages(
        original: Callable[..., Iterator[Any]], codec: Codec, updates: Iterable[Update], rm_id: str
    ) -> Iterator[Any]:
        sent = list(updates)
        timed_out = [
            one
            for one in sent
            if isinstance(one, Release) and one.termination is Termination.TIMEOUT
        ]
        if not timed_out[1:]:
            return original(codec, sent, rm_id)
        patch.fires()
        everything = replace(timed_out[0], key="", identity="")
        others = [one for one in sent if one not in timed_out]
        return original(codec, [*others, everything], rm_id)

    patch.instead_of(Codec.requests, messages)


@rm_variant(
    "rm-confirms-allocations-before-asks",
    "Of the releases of one message, those of allocations are confirmed first.",
    areas=("GANG",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    def messages(
        original: Callable[..., Iterator[Any]], codec: Codec, updates: Iterable[Update], rm_id: str
    ) -> Iterator[Any]:
        for one in sorted(updates, key=lambda one: isinstance(one, Release) and not one.identity):
            patch.fires()
            yield from original(codec, [one], rm_id)

    patch.instead_of(Codec.requests, messages)
