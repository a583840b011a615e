"""The reference scheduler, run as a separate process and reached over gRPC like any target."""

import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from siwire import Capability, Revision

from siconform.protocol.queue_configurations import policy_groups
from siconform.protocol.timers import SHORT, Timers
from siconform.targets.launch import ADDRESS, DRIVER, START_TIMEOUT, Launch

NAME = "the embedded reference"
MODULE: Final = "sireference"
RM_MODULE: Final = "sirm"
EMBEDDED_RM: Final = f"rm: {RM_MODULE}"
_TIMEOUT = 10.0  # seconds until it listens

TIMERS: Final = SHORT
"""The timers it is started with."""


def embedded(revision: Revision, timers: Timers, *, real_clock: bool) -> Launch:
    """Return how to start the reference for this revision; it picks and prints its port."""
    serve = ["serve", "--listen", "127.0.0.1:0", "--revision", revision.name]
    if not real_clock:
        serve.append("--virtual-clock")
    options = (*_options(timers), *_policies(revision))
    words = (sys.executable, "-P", "-m", MODULE, *serve, *options)
    return Launch(NAME, words, _TIMEOUT)


def embedded_rm(revision: Revision) -> Launch:
    """Return how to start the embedded RM for this revision."""
    run = ["run", "--scheduler", ADDRESS, "--driver", DRIVER, "--revision", revision.name]
    return Launch(EMBEDDED_RM, (sys.executable, "-P", "-m", RM_MODULE, *run), START_TIMEOUT)


def code(module: str = MODULE) -> tuple[list[Path], Path]:
    """Return the source files of the reference or the RM, without running them, and their root."""
    spec = find_spec(module)
    root = Path(spec.origin).parent if spec is not None and spec.origin else Path()
    return (sorted(root.rglob("*.py")), root) if root.name == module else ([], root)


def embedded_version() -> str:
    """Return its version: kit and reference are one distribution."""
    return version("si-conformance")


def _options(timers: Timers) -> list[str]:
    values = {
        "--placeholder-timeout": timers.placeholder,
        "--completing-timeout": timers.waiting_to_completed,
        "--connection-loss-timeout": timers.connection_loss,
    }
    given = {flag: seconds for flag, seconds in values.items() if seconds is not None}
    words = [word for flag, seconds in given.items() for word in (flag, f"{seconds:g}")]
    if timers.placeholder_from_application_timeout:
        words.append("--placeholder-timeout-from-application")
    return words


def _policies(revision: Revision) -> list[str]:
    """Return the configurations that an RM of this revision can only refer to."""
    if revision.can(Capability.CONFIGURATION_IN_REGISTRATION):
        return []
    return [
        word
        for group, file in policy_groups().items()
        for word in ("--policy-group", f"{group}={file}")
    ]
