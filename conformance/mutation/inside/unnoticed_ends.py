"""Mutants in which an application does not notice the end of the last that it held."""

from collections.abc import Callable
from functools import partial
from typing import Any

from sireference.core import application_lifecycle, nodes, releases
from sireference.core.model import Effect
from sireference.core.state.application import Application
from sireference.core.states import ApplicationState

from mutation.inside import Original, Patch
from mutation.mutant import mutant


def _goes_unnoticed(patch: Patch, end: Callable[..., Any], state: ApplicationState) -> None:
    """Let applications in this state ignore what ends by this function."""
    depth = 0

    def ends(original: Original, *arguments: Any) -> list[Effect]:
        nonlocal depth
        depth += 1
        try:
            return original(*arguments)
        finally:
            depth -= 1

    def settle(
        original: Original, partition: Any, application: Application, now: float
    ) -> list[Effect]:
        if not depth or application.state is not state:
            return original(partition, application, now)
        patch.fires()
        return []

    patch.instead_of(end, ends)
    patch.instead_of(application_lifecycle.settle, settle)


mutant(
    "gang-does-not-resume-without-its-node",
    "A gang of soft style that timed out does not go on if its last placeholder lost its node.",
    breaks=("SI-GANG-035",),
)(partial(_goes_unnoticed, end=nodes.decommission, state=ApplicationState.RESUMING))
mutant(
    "gang-does-not-resume-after-a-stop",
    "A gang of soft style that timed out does not go on if the RM stops its last placeholder.",
    breaks=("SI-GANG-035",),
)(partial(_goes_unnoticed, end=releases.stop, state=ApplicationState.RESUMING))
mutant(
    "gang-does-not-complete-without-its-node",
    "A gang in clean-up is not completed if its last placeholder lost its node.",
    breaks=("SI-GANG-045",),
)(partial(_goes_unnoticed, end=nodes.decommission, state=ApplicationState.COMPLETING))
mutant(
    "gang-does-not-complete-after-a-stop",
    "A gang in clean-up is not completed if the RM stops its last placeholder.",
    breaks=("SI-GANG-070",),
)(partial(_goes_unnoticed, end=releases.stop, state=ApplicationState.COMPLETING))
mutant(
    "gang-does-not-wait-without-its-node",
    "A gang that lost its only placeholder with its node stays Accepted.",
    breaks=("SI-APP-026",),
)(partial(_goes_unnoticed, end=nodes.decommission, state=ApplicationState.ACCEPTED))
mutant(
    "gang-does-not-fail-after-a-stop",
    "A failing gang stays Failing if the RM stops its last placeholder.",
    breaks=("SI-APP-037",),
)(partial(_goes_unnoticed, end=releases.stop, state=ApplicationState.FAILING))
