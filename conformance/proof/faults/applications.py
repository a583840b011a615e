"""Faults about applications and their states."""

from typing import Final

from siwire.r2023_12 import si_pb2 as si

from proof.fault import Wire, fault, keep

_AREAS: Final = ("APP", "CONN")
_A_SECOND: Final = 1_000_000_000


@fault(
    "application-verdict-missing",
    "Nothing is said about a new application.",
    *_AREAS,
    "WIRE",
    breaks=("SI-APP-001",),
)
def _(response: si.ApplicationResponse) -> None:
    del response.accepted[:]


@fault(
    "application-rejection-missing",
    "A rejected application is not told of.",
    *_AREAS,
    breaks=("SI-APP-002", "SI-APP-004"),
)
def _(response: si.ApplicationResponse) -> None:
    del response.rejected[:]


@fault(
    "application-verdict-twice",
    "Each verdict on an application comes twice.",
    *_AREAS,
    breaks=("SI-APP-004",),
)
def _(response: si.ApplicationResponse) -> None:
    response.accepted.extend(list(response.accepted))
    response.rejected.extend(list(response.rejected))


@fault(
    "application-rejected-without-reason",
    "A rejected application gets no reason.",
    *_AREAS,
    breaks=("SI-APP-039",),
)
def _(response: si.ApplicationResponse) -> None:
    for one in response.rejected:
        one.reason = ""


@fault(
    "application-removal-ignored",
    "A removed application stays.",
    *_AREAS,
    "REL",
    "GANG",
    breaks=("SI-APP-017",),
)
def _(request: si.ApplicationRequest) -> None:
    del request.remove[:]


@fault(
    "application-partition-ignored",
    "The partition of an application is not read.",
    *_AREAS,
    breaks=("SI-APP-007",),
)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.partitionName = "default"
    for removal in request.remove:
        removal.partitionName = "default"


@fault(
    "queue-ignored",
    "Every application goes to one queue.",
    *_AREAS,
    "GANG",
    "CONST",
    breaks=("SI-APP-005",),
)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.queueName = "root.default"


@fault(
    "application-timeout-ignored",
    "The execution timeout of an application is not kept.",
    "APP",
    breaks=("SI-APP-012",),
)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.executionTimeoutMilliSeconds = 0


@fault(
    "application-timeout-for-all",
    "Every application ends after a while.",
    "APP",
    breaks=("SI-APP-013",),
)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.executionTimeoutMilliSeconds = one.executionTimeoutMilliSeconds or 400


@fault(
    "states-without-time",
    "An update of an application has no timestamp.",
    *_AREAS,
    breaks=("SI-APP-021",),
)
def _(response: si.ApplicationResponse) -> None:
    for update in response.updated:
        update.stateTransitionTimestamp = 0


@fault(
    "states-out-of-time", "Timestamps of updates run backwards.", *_AREAS, breaks=("SI-APP-022",)
)
def _(response: si.ApplicationResponse, wire: Wire) -> None:
    for update in response.updated:
        wire.memory["told"] = (wire.memory["told"] or 0) + 1
        update.stateTransitionTimestamp -= wire.memory["told"] * _A_SECOND


@fault("states-of-nobody", "Updates name another application.", *_AREAS, breaks=("SI-APP-021",))
def _(response: si.ApplicationResponse) -> None:
    for update in response.updated:
        update.applicationID += "-x"


def _skip(name: str, state: str, *, breaks: tuple[str, ...]) -> None:
    @fault(name, f"The state {state} is left out.", "APP", "GANG", breaks=breaks)
    def _(response: si.ApplicationResponse) -> None:
        keep(response.updated, lambda update: update.state != state)


_skip("completed-not-told", "Completed", breaks=("SI-APP-029", "SI-GANG-045"))
_skip("failed-not-told", "Failed", breaks=("SI-GANG-068",))


@fault(
    "completed-at-once",
    "An application that waits is said to be completed.",
    "APP",
    "GANG",
    breaks=("SI-APP-029", "SI-APP-031"),
)
def _(response: si.ApplicationResponse) -> None:
    for update in response.updated:
        update.state = "Completed" if update.state == "Completing" else update.state


@fault(
    "removed-application-is-told-of",
    "A removed application is spoken of again.",
    *_AREAS,
    breaks=("SI-APP-021",),
)
def _(request: si.ApplicationRequest, wire: Wire) -> None:
    for removal in request.remove:
        update = si.UpdatedApplication(applicationID=removal.applicationID, state="Running")
        wire.to_rm(si.ApplicationResponse(updated=[update]))


@fault(
    "application-rejected",
    "An application with a placeholder ask is rejected.",
    "APP",
    "GANG",
    breaks=("SI-GANG-004",),
)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        if one.HasField("placeholderAsk"):
            one.partitionName = "nowhere"
