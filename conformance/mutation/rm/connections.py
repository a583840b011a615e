"""Mutants: the rmID on the streams."""

from typing import Any

from mutation.mutant import rm_mutant
from mutation.patching import Patch
from mutation.rm.messages import edit


@rm_mutant(
    "rm-names-itself-once",
    "Only the first message of a stream carries the rmID.",
    breaks=("SI-CONN-020",),
)
def _(patch: Patch) -> None:
    def unnamed(_method: str, message: Any) -> bool:
        message.rmID = ""
        return True

    edit(patch, unnamed)


@rm_mutant(
    "rm-releases-under-another-name",
    "Requests with releases carry another rmID than the registration.",
    breaks=("SI-CONN-020",),
)
def _(patch: Patch) -> None:
    def renamed(method: str, message: Any) -> bool:
        releases = method == "UpdateAllocation" and message.HasField("releases")
        if releases:
            message.rmID += "-2"
        return releases

    edit(patch, renamed)
