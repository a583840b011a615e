"""What an RM says about asks."""

from siwire.r2023_12 import si_pb2

from proof.independent.amounts import read
from proof.independent.books import USUAL_PARTITION, Application, Ask, State, World
from proof.independent.lives import settle


def take(world: World, wish: si_pb2.AllocationAsk) -> None:
    """Enter an ask, or what has changed about one."""
    application = _application(world, wish)
    why = _objection(application, wish)
    if application is None or why:
        world.outbox.ask_rejected(wish, why)
        return
    ask = application.asks.get(wish.allocationKey)
    if ask is None:
        if wish.maxAllocations == 0:
            world.outbox.ask_rejected(wish, "it asks for no allocation")
            return
        ask = Ask(application, wish, next(world.turns))
        application.asks[ask.key] = ask
    else:
        ask.wish = wish
        ask.fresh = True
        if not ask.pending and ask.living == 0:
            world.drop(ask)
    started = application.state in {State.RUNNING, State.WAITING}
    if ask.placeholder and ask.left > 0 and not started and application.gang_began is None:
        application.complete = False
    settle(world, application)


def _application(world: World, wish: si_pb2.AllocationAsk) -> Application | None:
    application = world.applications.get(wish.applicationID)
    if application is None and not wish.applicationID and world.has("independent"):
        partition = world.partitions.get(wish.partitionName or USUAL_PARTITION)
        if partition is not None:
            request = si_pb2.AddApplicationRequest()
            turn = next(world.turns)
            application = Application("", partition.name, partition.root, request, turn)
            world.applications[""] = application
    return application


def _objection(application: Application | None, wish: si_pb2.AllocationAsk) -> str:
    if application is None or application.ending is not None:
        return f"there is no application {wish.applicationID}"
    if not wish.allocationKey:
        return "an ask needs a key"
    if application.partition != (wish.partitionName or USUAL_PARTITION):
        return f"{wish.applicationID} is not in the partition {wish.partitionName}"
    if wish.maxAllocations < 0 or any(value < 0 for value in read(wish.resourceAsk).values()):
        return "it asks for less than nothing"
    return ""


def withdraw(world: World, release: si_pb2.AllocationAskRelease) -> None:
    """Take back asks by application, by key, by both, or all there are."""
    if release.terminationType == si_pb2.UNKNOWN_TERMINATION_TYPE and world.has(
        "proper-confirmations"
    ):
        return
    if release.terminationType not in {si_pb2.STOPPED_BY_RM, si_pb2.UNKNOWN_TERMINATION_TYPE}:
        return  # confirms what this scheduler has told; the asks are gone already
    partition = release.partitionName or USUAL_PARTITION
    found = [
        ask
        for application in world.applications.values()
        if application.partition == partition and release.applicationID in {"", application.name}
        for ask in application.asks.values()
        if release.allocationKey in {"", ask.key}
    ]
    for ask in found:
        if ask.pending:
            world.drop(ask)
    for application in {ask.application for ask in found}:
        settle(world, application)
    answers = [release]
    if not world.has("plain-echo"):
        answers = [
            si_pb2.AllocationAskRelease(
                partitionName=partition,
                applicationID=ask.application.name,
                allocationKey=ask.key,
                terminationType=release.terminationType,
            )
            for ask in found
        ]
    for answer in answers:
        world.outbox.ask_released(answer)
