"""Mutants of applications and their states."""

from functools import partial
from typing import Final

from mutation.lists import (
    ACCEPTED_APPLICATIONS,
    CREATED_APPLICATIONS,
    REJECTED_APPLICATIONS,
    REMOVED_APPLICATIONS,
    UPDATED_APPLICATIONS,
)
from mutation.main_revision import NAME, si
from mutation.mutant import Wire, mutant, row

_AREAS: Final = ("APP", "CONN")
_A_SECOND: Final = 1_000_000_000
_mutant: Final = partial(mutant, revision=NAME)
_row: Final = partial(row, __file__, NAME, areas=_AREAS)


_row(
    "application-verdict-missing",
    "A new application is not answered.",
    ACCEPTED_APPLICATIONS.none(),
    breaks=("SI-APP-001",),
    areas=(*_AREAS, "WIRE"),
)
_row(
    "application-rejection-missing",
    "A rejected application is not reported.",
    REJECTED_APPLICATIONS.none(),
    breaks=("SI-APP-002", "SI-APP-004"),
)
_row(
    "application-verdict-twice",
    "Each verdict on an application comes twice.",
    ACCEPTED_APPLICATIONS.twice(),
    REJECTED_APPLICATIONS.twice(),
    breaks=("SI-APP-004",),
)
_row(
    "application-rejected-without-reason",
    "A rejected application gets no reason.",
    REJECTED_APPLICATIONS.without("reason"),
    breaks=("SI-APP-039",),
)
_row(
    "application-removal-ignored",
    "A removed application stays.",
    REMOVED_APPLICATIONS.none(),
    breaks=("SI-APP-017",),
    areas=(*_AREAS, "REL", "GANG"),
)
_row(
    "application-partition-ignored",
    "The partition of an application is ignored.",
    CREATED_APPLICATIONS.put(partitionName="default"),
    REMOVED_APPLICATIONS.put(partitionName="default"),
    breaks=("SI-APP-007",),
)
_row(
    "queue-ignored",
    "Every application goes to one queue.",
    CREATED_APPLICATIONS.put(queueName="root.plain"),
    breaks=("SI-APP-005",),
    areas=(*_AREAS, "GANG", "CONST"),
)
_row(
    "application-timeout-ignored",
    "The execution timeout of an application is ignored.",
    CREATED_APPLICATIONS.without("executionTimeoutMilliSeconds"),
    breaks=("SI-APP-012",),
    areas=("APP",),
)
_row(
    "application-timeout-for-all",
    "Every application ends after a while.",
    CREATED_APPLICATIONS.change("executionTimeoutMilliSeconds", lambda limit: limit or 400),
    breaks=("SI-APP-013",),
    areas=("APP",),
)
_row(
    "states-without-time",
    "An update of an application has no timestamp.",
    UPDATED_APPLICATIONS.without("stateTransitionTimestamp"),
    breaks=("SI-APP-021",),
)


@_mutant(
    "states-out-of-time", "Timestamps of updates run backwards.", *_AREAS, breaks=("SI-APP-022",)
)
def _(response: si.ApplicationResponse, wire: Wire) -> None:
    for update in response.updated:
        wire.memory["told"] = (wire.memory["told"] or 0) + 1
        update.stateTransitionTimestamp -= wire.memory["told"] * _A_SECOND


_row(
    "states-of-unknown-applications",
    "Updates name another application.",
    UPDATED_APPLICATIONS.change("applicationID", lambda name: f"{name}-x"),
    breaks=("SI-APP-021",),
)


_row(
    "completed-not-reported",
    "The state Completed is left out.",
    UPDATED_APPLICATIONS.only(lambda update: update.state != "Completed"),
    breaks=("SI-APP-029", "SI-GANG-045"),
    areas=("APP", "GANG"),
)
_row(
    "failed-not-reported",
    "The state Failed is left out.",
    UPDATED_APPLICATIONS.only(lambda update: update.state != "Failed"),
    breaks=("SI-GANG-068",),
    areas=("APP", "GANG"),
)
_row(
    "completed-at-once",
    "A Completing application is reported as Completed.",
    UPDATED_APPLICATIONS.turn("state", {"Completing": "Completed"}),
    breaks=("SI-APP-029", "SI-APP-031"),
    areas=("APP", "GANG"),
)


@_mutant(
    "removed-application-reported",
    "A removed application is reported again.",
    *_AREAS,
    breaks=("SI-APP-021",),
)
def _(request: si.ApplicationRequest, wire: Wire) -> None:
    for removal in request.remove:
        update = si.UpdatedApplication(applicationID=removal.applicationID, state="Running")
        wire.to_rm(si.ApplicationResponse(updated=[update]))


_row(
    "application-rejected",
    "An application with a placeholder ask is rejected.",
    CREATED_APPLICATIONS.where(lambda one: one.HasField("placeholderAsk")).put(
        partitionName="nowhere"
    ),
    breaks=("SI-GANG-004",),
    areas=("APP", "GANG"),
)


@_mutant(
    "application-ids-in-lower-case",
    "The IDs of new and removed applications are converted to lower case.",
    breaks=("SI-APP-001",),
)
def _(request: si.ApplicationRequest) -> None:
    for new in request.new:
        new.applicationID = new.applicationID.lower()
    for removal in request.remove:
        removal.applicationID = removal.applicationID.lower()
