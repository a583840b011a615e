"""Faults about gangs."""

from typing import Final

from siwire.r2023_12 import si_pb2 as si

from proof.fault import Wire, fault, keep

_AREAS: Final = ("GANG", "REC")


@fault(
    "placeholders-are-ordinary",
    "The placeholder flag of an ask is not read.",
    *_AREAS,
    breaks=("SI-GANG-012", "SI-GANG-019"),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.placeholder = False


@fault(
    "everything-is-a-placeholder",
    "Every ask of a task group is a placeholder.",
    *_AREAS,
    breaks=("SI-GANG-019",),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.placeholder = bool(ask.taskGroupName)


@fault(
    "task-groups-ignored", "Placeholders are of no task group.", *_AREAS, breaks=("SI-GANG-012",)
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.taskGroupName = ""


@fault("one-task-group", "All task groups are one.", *_AREAS, breaks=("SI-GANG-017",))
def _(request: si.AllocationRequest) -> None:
    for ask in request.asks:
        ask.taskGroupName = ask.taskGroupName and "group"


@fault(
    "placeholder-not-marked",
    "An allocation is not marked as a placeholder.",
    *_AREAS,
    breaks=("SI-GANG-012",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.placeholder = False


@fault(
    "placeholder-without-group",
    "An allocation does not name its task group.",
    *_AREAS,
    breaks=("SI-GANG-012",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.taskGroupName = ""


@fault(
    "real-marked-as-placeholder",
    "A real allocation is marked as a placeholder.",
    *_AREAS,
    breaks=("SI-GANG-021",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.placeholder = bool(one.taskGroupName)


@fault(
    "placeholder-ask-ignored",
    "What a gang needs as a whole is not looked at.",
    *_AREAS,
    "APP",
    breaks=("SI-GANG-003", "SI-GANG-006", "SI-GANG-009"),
)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.ClearField("placeholderAsk")


@fault(
    "style-ignored",
    "Every gang is soft.",
    *_AREAS,
    breaks=("SI-GANG-034", "SI-GANG-037", "SI-GANG-038"),
)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.gangSchedulingStyle = "Soft"


@fault(
    "failed-as-completed",
    "An application that failed is told to be completed.",
    *_AREAS,
    breaks=("SI-GANG-034", "SI-GANG-037", "SI-GANG-038"),
)
def _(response: si.ApplicationResponse) -> None:
    for update in response.updated:
        if update.state == "Failed":
            update.state = "Completed"


@fault("every-gang-hard", "Every gang is hard.", *_AREAS, breaks=("SI-GANG-035",))
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.gangSchedulingStyle = "Hard"


@fault(
    "replaced-as-timeout",
    "The release of a replaced placeholder is typed as timeout.",
    *_AREAS,
    breaks=("SI-GANG-019",),
)
def _(response: si.AllocationResponse) -> None:
    for release in response.released:
        if release.terminationType == si.PLACEHOLDER_REPLACED:
            release.terminationType = si.TIMEOUT


@fault(
    "timed-out-as-replaced",
    "A placeholder whose time is up is said to be replaced.",
    *_AREAS,
    breaks=("SI-GANG-032", "SI-GANG-044"),
)
def _(response: si.AllocationResponse) -> None:
    for release in response.released:
        if release.terminationType == si.TIMEOUT:
            release.terminationType = si.PLACEHOLDER_REPLACED


@fault(
    "replacement-untold",
    "The release of a replaced placeholder is not told.",
    *_AREAS,
    breaks=("SI-GANG-019",),
)
def _(response: si.AllocationResponse) -> None:
    keep(response.released, lambda release: release.terminationType != si.PLACEHOLDER_REPLACED)


@fault(
    "real-before-confirmation",
    "The real allocation is announced with the release.",
    *_AREAS,
    breaks=("SI-GANG-020",),
)
def _(request: si.AllocationRequest, wire: Wire) -> None:
    real = wire.memory["real"] or {}
    real.update({a.applicationID: a for a in request.asks if a.taskGroupName and not a.placeholder})
    wire.memory["real"] = real


early = _


@early.also
def _(response: si.AllocationResponse, wire: Wire) -> None:
    for release in response.released:
        real = (wire.memory["real"] or {}).get(release.applicationID)
        if release.terminationType == si.PLACEHOLDER_REPLACED and real is not None:
            placeholder = (wire.memory["placeholders"] or {}).get(release.allocationID)
            if placeholder is not None:
                one = response.new.add()
                one.CopyFrom(placeholder)
                one.placeholder, one.allocationKey = False, real.allocationKey
                one.allocationID += "-real"
    known = wire.memory["placeholders"] or {}
    known.update({one.allocationID: one for one in response.new if one.placeholder})
    wire.memory["placeholders"] = known
