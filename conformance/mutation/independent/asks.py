"""Handles requests about asks."""

from siwire.r2023_12 import si_pb2

from mutation.independent.amounts import read
from mutation.independent.lifecycle import settle
from mutation.independent.state import USUAL_PARTITION, Application, ApplicationState, Ask, RMState


def take(rm: RMState, wish: si_pb2.AllocationAsk) -> None:
    """Enter an ask, or update an existing one."""
    application = _application(rm, wish)
    why = _objection(application, wish)
    if application is None or why:
        rm.outbox.ask_rejected(wish, why)
        return
    ask = application.asks.get(wish.allocationKey)
    if ask is None:
        if wish.maxAllocations == 0:
            rm.outbox.ask_rejected(wish, "it asks for no allocation")
            return
        ask = Ask(application, wish, next(rm.numbers))
        application.asks[ask.key] = ask
    else:
        ask.wish = wish
        ask.fresh = True
        if not ask.pending and ask.living == 0:
            rm.drop(ask)
    started = application.state in {ApplicationState.RUNNING, ApplicationState.WAITING}
    if ask.placeholder and ask.left > 0 and not started and application.gang_began is None:
        application.complete = False
    settle(rm, application)


def _application(rm: RMState, wish: si_pb2.AllocationAsk) -> Application | None:
    application = rm.applications.get(wish.applicationID)
    if application is None and not wish.applicationID and rm.has("independent"):
        partition = rm.partitions.get(wish.partitionName or USUAL_PARTITION)
        if partition is not None:
            request = si_pb2.AddApplicationRequest()
            number = next(rm.numbers)
            application = Application("", partition.name, partition.root, request, number)
            rm.applications[""] = application
    return application


def _objection(application: Application | None, wish: si_pb2.AllocationAsk) -> str:
    if application is None or application.ending is not None:
        return f"there is no application {wish.applicationID}"
    if not wish.allocationKey:
        return "an ask needs a key"
    if application.partition != (wish.partitionName or USUAL_PARTITION):
        return f"{wish.applicationID} is not in the partition {wish.partitionName}"
    if wish.maxAllocations < 0 or any(value < 0 for value in read(wish.resourceAsk).values()):
        return "its resources are negative"
    return ""


def withdraw(rm: RMState, release: si_pb2.AllocationAskRelease) -> None:
    """Withdraw asks by application, by key, by both, or all of them."""
    if release.terminationType == si_pb2.UNKNOWN_TERMINATION_TYPE and rm.has(
        "proper-confirmations"
    ):
        return
    if release.terminationType not in {si_pb2.STOPPED_BY_RM, si_pb2.UNKNOWN_TERMINATION_TYPE}:
        return  # a confirmation: the asks are gone already
    partition = release.partitionName or USUAL_PARTITION
    found = [
        ask
        for application in rm.applications.values()
        if application.partition == partition and release.applicationID in {"", application.name}
        for ask in application.asks.values()
        if release.allocationKey in {"", ask.key}
    ]
    for ask in found:
        if ask.pending:
            rm.drop(ask)
    for application in {ask.application for ask in found}:
        settle(rm, application)
    answers = [release]
    if not rm.has("plain-echo"):
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
        rm.outbox.ask_released(answer)
