"""Tests the sample of a certificate again, in a separate process."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from siconform import shutdown
from siconform.catalogue import Side
from siconform.config.click_options import by_flag, words_of
from siconform.config.option_list import RMS, SIDE, TARGET_FILE, TARGETS
from siconform.config.option_values import NONE
from siconform.config.results_dir import ResultsDir
from siconform.config.target_file_options import fill_in
from siconform.policy import ExitCode
from siconform.reporting.certificate import Part
from siconform.reporting.evaluated_run import EvaluatedRun, run_in
from siconform.reporting.stored import RecordError, read_object
from siconform.results import FILE
from siconform.targets.embedded import EMBEDDED_RM
from siconform.targets.embedded import NAME as REFERENCE

_OF_THE_KIT: Final = (REFERENCE, EMBEDDED_RM)
_WAYS: Final = {
    Side.SCHEDULER: "--target or --target-command",
    Side.RM: " or ".join(RMS),
}
_LIMIT: Final = 7200.0  # seconds; the run has its own limit, which grows with its deadlines


class NotEvaluated(Exception):
    """A sample that produced no results: a sentence and an exit code."""

    def __init__(self, sentence: str, code: ExitCode) -> None:
        super().__init__(sentence)
        self.code = code


def evaluate(
    part: Part, chosen: Sequence[str], given: Mapping[str, Any], folder: Path
) -> EvaluatedRun:
    """Run these requirements against the given scheduler; raise NotEvaluated without results.

    The defaults are the certified revision, time scale and features.
    """
    values = by_flag(given)
    of_the_kit = part.implementation.target in _OF_THE_KIT
    if not of_the_kit or values.get("--target"):
        try:
            fill_in(values)
        except LookupError as error:
            raise NotEvaluated(str(error), ExitCode.USAGE) from None
    values = _as_it_was(part, values) | {TARGET_FILE: NONE}
    is_named = any(values.get(flag) for flag in TARGETS)
    if not is_named and not of_the_kit:
        name, target = part.implementation.name, part.implementation.target
        of_the_run = "" if name == target else f" (target {target})"
        raise NotEvaluated(
            f"the certificate is for {name}{of_the_run}: give {_WAYS[part.side]}",
            ExitCode.USAGE,
        )
    command = [sys.executable, "-P", "-m", "siconform", "run", *words_of(values)]
    command += [
        "--baseline",
        "none",
        "--results",
        str(folder),
        "-k",
        " or ".join(chosen),
    ]
    shutdown.on_interrupt("the certificate was not verified")
    ResultsDir(folder).forget()
    done = subprocess.run(  # noqa: S603  # our own command
        command, capture_output=True, text=True, check=False, timeout=_LIMIT
    )
    if done.returncode in (ExitCode.USAGE, ExitCode.INTERRUPTED, ExitCode.NOTHING_RAN):
        raise NotEvaluated(_why(folder, done.stderr), ExitCode(done.returncode))
    try:
        return run_in(folder)
    except RecordError as error:
        raise NotEvaluated(str(error), ExitCode.KIT_ERROR) from None


def _as_it_was(part: Part, values: dict[str, Any]) -> dict[str, Any]:
    then = {
        SIDE: part.side.value,
        "--revision": part.revision,
        "--time-scale": str(part.conditions.get("time_scale") or "") or None,
        "--fail-on": part.conditions.get("fail_on"),
        "--without": ",".join(part.without) or None,
    }
    return {**values, **{flag: v for flag, v in then.items() if values.get(flag) is None}}


def _why(folder: Path, received: str) -> str:
    """Return the run's sentence from its results, else its standard error."""
    try:
        sentence = str(read_object(folder / FILE)["sentence"])
    except (RecordError, KeyError):
        sentence = " ".join(received.split()) or "the run reported nothing"
    return sentence.removeprefix("siconform: ")
