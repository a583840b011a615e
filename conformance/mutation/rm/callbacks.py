"""Mutants: the callbacks that the RM offers."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from sirm.codec import callbacks as codec
from sirm.core import callbacks
from sirm.core.model import Resource
from sirm.core.state import State
from sirm.core.states import ContainerState
from sirm.shell.connection import Connection
from sirm.shell.instance import Instance
from siwire.ext import extension_pb2 as ext

from mutation.mutant import rm_mutant, rm_variant
from mutation.patching import Patch, instead_of

Called: TypeAlias = Callable[[Instance, ext.ToRm], ext.FromRm.Answer]
Read: TypeAlias = Callable[[codec.CallbackCodec, State, ext.ToRm], codec.Reply]


@rm_mutant(
    "rm-first-attempt-is-the-answer",
    "The index of an eviction check is that of the first attempt, whatever has to go.",
    breaks=("SI-CB-006",),
)
@instead_of(callbacks.preemption_predicate)
def _(patch: Patch, original: Callable[..., int | None], *args: Any) -> int | None:
    index, start = original(*args), args[-1]
    if index is None or index == start:
        return index
    patch.fires()
    return int(start)


@rm_mutant(
    "rm-eviction-checks-stop-early",
    "An eviction check is refused if the first attempt does not suffice.",
    breaks=("SI-CB-006",),
)
@instead_of(callbacks.preemption_predicate)
def _(patch: Patch, original: Callable[..., int | None], *args: Any) -> int | None:
    index, start = original(*args), args[-1]
    if index is None or index == start:
        return index
    patch.fires()
    return None


@rm_mutant(
    "rm-eviction-checks-begin-with-one-victim",
    "The first attempt of an eviction check removes one victim, whatever its startIndex is.",
    breaks=("SI-CB-006",),
)
@instead_of(callbacks.preemption_predicate)
def _(patch: Patch, original: Callable[..., int | None], *args: Any) -> int | None:
    index = original(*args[:-1], 0)
    if index != original(*args):
        patch.fires()
    return index


@rm_mutant(
    "rm-any-eviction-will-do",
    "An eviction check succeeds with the first attempt, wherever and whatever it is.",
    breaks=("SI-CB-006",),
)
@instead_of(callbacks.preemption_predicate)
def _(patch: Patch, original: Callable[..., int | None], *args: Any) -> int | None:
    start = int(args[-1])
    if original(*args) != start:
        patch.fires()
    return start


@rm_variant(
    "rm-eviction-checks-without-capacity",
    "An eviction check leaves the capacity of the node to the scheduler.",
    areas=("CB",),
)
def _(patch: Patch) -> None:
    def fits(
        original: Callable[[Resource, Resource], bool], need: Resource, available: Resource
    ) -> bool:
        if not original(need, available):
            patch.fires()
        return True

    patch.instead_of(callbacks.fits, fits)


@rm_mutant(
    "rm-requests-again-for-each-container-state",
    "Each report of a container state has its ask sent again.",
    breaks=("SI-CB-008",),
)
def _(patch: Patch) -> None:
    def reported(instance: Instance, call: ext.ToRm) -> None:
        del call
        patch.fires()
        state = instance.rm.state
        for one in state.cluster.containers.values():
            if one.state is ContainerState.WAITING and one.key in state.knowledge.sent:
                state.knowledge.report(one)
        instance.handle([])

    _on_container_state(patch, reported)


@rm_mutant(
    "rm-repeated-container-state-is-an-error",
    "A container state that repeats the last one ends the connection.",
    breaks=("SI-CB-008",),
)
def _(patch: Patch) -> None:
    known: set[bytes] = set()

    def reported(instance: Instance, call: ext.ToRm) -> None:
        del instance
        (payload,) = call.payloads
        if payload.data in known:
            patch.fires()
            raise ValueError("the container state has not changed")
        known.add(payload.data)

    _on_container_state(patch, reported)


def _on_container_state(patch: Patch, react: Callable[[Instance, ext.ToRm], None]) -> None:
    def called(original: Called, instance: Instance, call: ext.ToRm) -> ext.FromRm.Answer:
        if call.kind == ext.CONTAINER_STATE:
            react(instance, call)
        return original(instance, call)

    patch.instead_of(Instance.answer_call, called)


@rm_mutant(
    "rm-cache-is-not-synchronised",
    "Allocations to assume or to forget are refused.",
    breaks=("SI-CB-011",),
    revision="2021-02",
)
def _(patch: Patch) -> None:
    def reply(state: State, made: codec.Reply) -> codec.Reply:
        del state, made
        patch.fires()
        return codec.Reply(ok=False, text="there is no cache")

    _answers(patch, ext.CACHE_SYNC, reply)


@rm_mutant(
    "rm-any-node-will-do",
    "A predicate call is answered without an error for each node.",
    breaks=("SI-CB-014",),
)
@instead_of(callbacks.predicate)
def _(patch: Patch, original: Callable[[State, str, str], str], *args: Any) -> str:
    if original(*args):
        patch.fires()
    return ""


@rm_mutant(
    "rm-no-node-will-do",
    "A predicate call is answered with an error for each node.",
    breaks=("SI-CB-014",),
)
@instead_of(callbacks.predicate)
def _(patch: Patch, original: Callable[[State, str, str], str], *args: Any) -> str:
    patch.fires()
    return original(*args) or "the predicates failed"


@rm_variant(
    "rm-offers-callbacks-late",
    "Callbacks are offered three tenths of a second after the registration.",
    areas=("CB",),
)
def _(patch: Patch) -> None:
    async def offer(
        original: Callable[[Connection], Coroutine[Any, Any, None]], connection: Connection
    ) -> None:
        async def offer_late() -> None:
            await asyncio.sleep(0.3)
            patch.fires()
            await original(connection)

        tasks.add(asyncio.get_running_loop().create_task(offer_late()))

    tasks: set[asyncio.Task[None]] = set()
    patch.instead_of(Connection.offer_callbacks, offer)


@rm_mutant(
    "rm-former-configuration-unknown",
    "The former configuration is not in the answer to a new one.",
    breaks=("SI-CFG-007",),
    revision="2021-02",
)
def _(patch: Patch) -> None:
    _changes_configuration_answer(patch, "oldConfig")


@rm_mutant(
    "rm-configuration-refused-without-reason",
    "A configuration is refused without a reason.",
    breaks=("SI-CFG-007",),
    revision="2021-02",
)
def _(patch: Patch) -> None:
    _changes_configuration_answer(patch, "reason")


def _changes_configuration_answer(patch: Patch, field: str) -> None:
    """Leave a field of the answer empty."""

    def reply(state: State, made: codec.Reply) -> codec.Reply:
        del state
        if made.payload is not None and getattr(made.payload, field):
            patch.fires()
            made.payload.ClearField(field)
        return made

    _answers(patch, ext.STORE_CONFIGURATION, reply)


@rm_mutant(
    "rm-refused-configuration-is-saved",
    "A configuration that is answered with a failure is saved all the same.",
    breaks=("SI-CFG-007",),
    revision="2021-02",
)
def _(patch: Patch) -> None:
    def reply(state: State, made: Any) -> codec.Reply:
        if not made.payload.success:
            patch.fires()
            state.cluster.configuration = "saved all the same"
        return made  # type: ignore[no-any-return]  # its payload has no type

    _answers(patch, ext.STORE_CONFIGURATION, reply)


def _answers(
    patch: Patch, kind: codec.Kind, change: Callable[[State, codec.Reply], codec.Reply]
) -> None:
    """Change the answers to one kind of callback."""

    def reply(
        original: Read, callback_codec: codec.CallbackCodec, state: State, call: ext.ToRm
    ) -> codec.Reply:
        made = original(callback_codec, state, call)
        return change(state, made) if call.kind == kind else made

    patch.instead_of(codec.CallbackCodec.reply, reply)
