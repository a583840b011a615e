"""Mutants of the scheduler's snapshots."""

from functools import partial
from typing import Final

from siwire.ext import extension_pb2 as ext

from mutation.main_revision import NAME
from mutation.mutant import mutant

_AREAS: Final = ("CONN", "REG", "APP", "NODE", "GANG", "REC", "CFG", "CONST")
_mutant: Final = partial(mutant, revision=NAME)


@_mutant(
    "always-running", "A lost or stopped RM is shown as running.", *_AREAS, breaks=("SI-CONN-006",)
)
def _(shown: ext.SnapshotResult) -> None:
    shown.phase = ext.SnapshotResult.RUNNING


@_mutant("never-paused", "A lost RM is stopped at once.", *_AREAS, breaks=("SI-CONN-006",))
def _(shown: ext.SnapshotResult) -> None:
    if shown.phase == ext.SnapshotResult.PAUSED:
        shown.phase = ext.SnapshotResult.STOPPED


@_mutant("never-stopped", "A stopped RM is shown as paused.", *_AREAS, breaks=("SI-CONN-007",))
def _(shown: ext.SnapshotResult) -> None:
    if shown.phase in (ext.SnapshotResult.STOPPED, ext.SnapshotResult.UNKNOWN_RM):
        shown.phase = ext.SnapshotResult.PAUSED


@_mutant("nothing-shown", "Allocations are not shown.", *_AREAS, breaks=("SI-GANG-048",))
def _(shown: ext.SnapshotResult) -> None:
    del shown.nodes[:]
    del shown.applications[:]
    del shown.queues[:]


@_mutant(
    "placeholders-shown-as-real",
    "Placeholders are shown as real allocations.",
    *_AREAS,
    breaks=("SI-GANG-048",),
)
def _(shown: ext.SnapshotResult) -> None:
    for application in shown.applications:
        for name, amount in application.allocated_placeholder.items():
            application.allocated_real[name] += amount
        application.allocated_placeholder.clear()
