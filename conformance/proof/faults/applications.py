"""Faults about applications and their states."""

from typing import Final

from siwire.r2023_12 import si_pb2 as si

from proof.fault import Wire, fault, keep, liberty

_AREAS: Final = ("APP", "CONN")


@fault("application-accepted-twice", "A known application is accepted again.", *_AREAS, "REG")
def _(response: si.ApplicationResponse) -> None:
    response.accepted.extend(
        si.AcceptedApplication(applicationID=one.applicationID) for one in response.rejected
    )
    del response.rejected[:]


@fault("application-verdict-missing", "Nothing is said about a new application.", *_AREAS, "WIRE")
def _(response: si.ApplicationResponse) -> None:
    del response.accepted[:]


@fault("application-rejection-missing", "A rejected application is not told of.", *_AREAS)
def _(response: si.ApplicationResponse) -> None:
    del response.rejected[:]


@fault("application-verdict-twice", "Each verdict on an application comes twice.", *_AREAS)
def _(response: si.ApplicationResponse) -> None:
    response.accepted.extend(list(response.accepted))
    response.rejected.extend(list(response.rejected))


@fault("application-rejected-without-reason", "A rejected application gets no reason.", *_AREAS)
def _(response: si.ApplicationResponse) -> None:
    for one in response.rejected:
        one.reason = ""


@fault("application-removal-ignored", "A removed application stays.", *_AREAS, "REL", "GANG")
def _(request: si.ApplicationRequest) -> None:
    del request.remove[:]


@fault("application-partition-ignored", "The partition of an application is not read.", *_AREAS)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.partitionName = "default"
    for removal in request.remove:
        removal.partitionName = "default"


@fault("queue-ignored", "Every application goes to one queue.", *_AREAS, "GANG", "CONST")
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.queueName = "root.default"


@fault("user-ignored", "Every application is of the same user.", *_AREAS)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.ugi.user = "somebody"
        del one.ugi.groups[:]


@fault("application-tags-ignored", "Tags of an application are not read.", *_AREAS, "CONST")
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.tags.clear()


@fault("application-timeout-ignored", "The execution timeout of an application is not kept.", "APP")
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.executionTimeoutMilliSeconds = 0


@fault("application-timeout-for-all", "Every application ends after a while.", "APP")
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.executionTimeoutMilliSeconds = one.executionTimeoutMilliSeconds or 400


@fault("states-not-told", "The state of an application is never told.", *_AREAS, "GANG")
def _(response: si.ApplicationResponse) -> None:
    del response.updated[:]


@liberty("states-without-message", "An update of an application has no message.", *_AREAS)
def _(response: si.ApplicationResponse) -> None:
    for update in response.updated:
        update.message = ""


@fault("states-without-time", "An update of an application has no timestamp.", *_AREAS)
def _(response: si.ApplicationResponse) -> None:
    for update in response.updated:
        update.stateTransitionTimestamp = 0


@fault("states-out-of-time", "Timestamps of updates run backwards.", *_AREAS)
def _(response: si.ApplicationResponse) -> None:
    for update in response.updated:
        update.stateTransitionTimestamp = 2**62 - update.stateTransitionTimestamp


@fault("states-of-nobody", "Updates name another application.", *_AREAS)
def _(response: si.ApplicationResponse) -> None:
    for update in response.updated:
        update.applicationID += "-x"


@fault("states-back-and-forth", "After each state an application is said to be new.", *_AREAS)
def _(response: si.ApplicationResponse) -> None:
    for update in list(response.updated):
        again = response.updated.add()
        again.CopyFrom(update)
        again.state = "New"


def _skip(name: str, state: str, *areas: str, is_liberty: bool = True) -> None:
    @fault(name, f"The state {state} is left out.", "APP", *areas, is_liberty=is_liberty)
    def _(response: si.ApplicationResponse) -> None:
        keep(response.updated, lambda update: update.state != state)


_skip("accepted-not-told", "Accepted", "GANG")
_skip("starting-not-told", "Starting")
_skip("running-not-told", "Running")
_skip("completing-not-told", "Completing", "GANG")
_skip("completed-not-told", "Completed", "GANG", is_liberty=False)
_skip("failing-not-told", "Failing", "GANG")
_skip("failed-not-told", "Failed", "GANG", is_liberty=False)
_skip("resuming-not-told", "Resuming", "GANG")


@fault("completed-at-once", "An application that waits is said to be completed.", "APP", "GANG")
def _(response: si.ApplicationResponse) -> None:
    for update in response.updated:
        update.state = "Completed" if update.state == "Completing" else update.state


@fault("removed-application-is-told-of", "A removed application is spoken of again.", *_AREAS)
def _(request: si.ApplicationRequest, wire: Wire) -> None:
    for removal in request.remove:
        update = si.UpdatedApplication(applicationID=removal.applicationID, state="Running")
        wire.to_rm(si.ApplicationResponse(updated=[update]))


@fault("application-rejected", "An application with a placeholder ask is rejected.", "APP", "GANG")
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        if one.HasField("placeholderAsk"):
            one.partitionName = "nowhere"
