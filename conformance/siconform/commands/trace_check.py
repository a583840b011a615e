"""Checks a trace as ``siconform check-trace`` asks, and reports the result."""

import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from siwire import Revision

from siconform import shutdown
from siconform.baseline import Baseline, BaselineError, read_baseline
from siconform.catalogue import Level
from siconform.config.option_list import BY_FLAG, FAIL_ON
from siconform.config.option_values import BadOption
from siconform.config.results_dir import CannotWrite
from siconform.monitors.traces import UnusableTrace, check_trace
from siconform.output.live.output import Output
from siconform.output.live.terminal import Terminal
from siconform.output.trace_report.document import Check
from siconform.output.trace_report.outputs import Showing, TraceOutputs
from siconform.policy import ExitCode


class CannotCheck(Exception):  # a sentence for the user
    """The trace was not checked, or its result not stored."""

    def __init__(self, sentence: str, code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """What is checked, and how much is printed."""

    source: str
    revision: Revision
    without: tuple[str, ...]
    follow: bool
    verbosity: int


class _Clock:
    """When the check began."""

    def __init__(self, settings: TraceSettings) -> None:
        self._settings = settings
        self._started = datetime.now(UTC)
        self._began = time.monotonic()

    def look(self) -> Check:
        """Return the circumstances of the check so far."""
        command = ("siconform", *sys.argv[1:])
        seconds = time.monotonic() - self._began
        return Check(command, self._started, seconds, self._settings.without)


def check(
    settings: TraceSettings, *, results: Path | None, baseline: Path | None, fail_on: str | None
) -> ExitCode:
    """Check a trace, print and store the result; CannotCheck if that fails."""
    if settings.source != "-" and not Path(settings.source).exists():
        raise CannotCheck(f"{settings.source} cannot be read: No such file or directory")
    try:
        showing = Showing(
            Output(Terminal.of(sys.stdout), settings.verbosity),
            results,
            _baseline(baseline, settings.revision),
            Level(BY_FLAG[FAIL_ON].read(fail_on) or Level.MUST),
        )
        outputs = TraceOutputs(showing)
    except (BadOption, BaselineError) as error:
        raise CannotCheck(str(error)) from None
    except CannotWrite as error:
        raise CannotCheck(str(error), ExitCode.KIT_ERROR) from None
    try:
        return _checked(settings, outputs)
    except UnusableTrace as error:
        raise CannotCheck(str(error)) from None
    except OSError as error:
        sentence = f"results cannot be written to {results}: {error.strerror}"
        raise CannotCheck(sentence, ExitCode.KIT_ERROR) from None
    finally:
        outputs.close()


def _checked(settings: TraceSettings, outputs: TraceOutputs) -> ExitCode:
    clock = _Clock(settings)
    outputs.begin(settings.source, settings.revision.name)
    result = check_trace(
        settings.source,
        settings.revision,
        settings.without,
        follow=settings.follow,
        report=lambda so_far: outputs.update(so_far, clock.look()),
    )
    if settings.follow:
        shutdown.settle(outputs.code_of(result))  # a signal is its usual end
    return outputs.finish(result, clock.look())


def _baseline(file: Path | None, revision: Revision) -> Baseline:
    return Baseline() if file is None else read_baseline(file).in_revision(revision.name)
