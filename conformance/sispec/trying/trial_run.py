"""Tries an edited specification with the suite of the nearest revision, re-encoded to its messages.

The runs are those of `siconform run`, in separate processes with the same target options. The
scheduler does not know the edited specification; it implements the revision.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from siconform import child_processes
from siconform.catalogue import catalogue
from siconform.config.option_list import EDITED, FAILING, TARGET_FILE
from siconform.config.option_values import NONE
from siconform.config.results_dir import ResultsDir
from siconform.policy import ExitCode
from siconform.results import EDITED_MARK, FILE
from siconform.transport.dialects.dialect import lost_in
from siwire import REVISIONS, find_revision

from sispec.compiling import with_imports
from sispec.model import Spec, SpecError, UnreadableSpec
from sispec.places import SpecIndex, nearest_revision
from sispec.trying.trial import BROKEN, Finding, Results, Trial, TrialVerdict, findings, suspects

DESCRIPTOR_SET: Final = "edited.binpb"
_FAILING: Final = 60  # seconds of all workers; a failing test waits for its whole deadline
_FAILING_THERE: Final = 300  # the same at a target, whose clock cannot be advanced
_FEW: Final = 8  # tests that are repeated before the change is blamed
_ALONE: Final = 24  # tests that finish before more workers would start
_OURS: Final = "siconform: "  # prefix of the kit's messages


class NotTried(Exception):
    """No run was possible: a sentence for the user, and the exit code of that run."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """Options of the trial, as `siconform run` has them."""

    target: tuple[str, ...] = ()
    selection: tuple[str, ...] = ()
    results: Path = Path("build/spec-try")
    revision: str | None = None  # None for the nearest one
    every_test: bool = False  # even if many fail


def try_text(
    spec: Spec, how: TrialOptions, report: Callable[[str], None] = lambda _: None
) -> Trial:
    """Return what still passes with the specification, what the change breaks, what it cannot send.

    `report` receives progress messages. UnreadableSpec if the specification resembles no revision,
    NotTried if the target is unavailable or the options are wrong.
    """
    revision = _revision(spec, how)
    data = with_imports(spec.file).SerializeToString(deterministic=True)
    losses = lost_in(REVISIONS[revision], data)
    runs = _Runs(how, spec.name, revision, _kept(data, how.results), report)
    edited, found = runs.compared(every_test=how.every_test)
    if edited["ended_early"] and not any(f.came in BROKEN for f in found):
        edited, found = runs.compared(every_test=True)
    return Trial(
        spec.name,
        revision,
        edited["target"]["name"],
        found,
        tuple(losses.items()),
        edited["ended_early"],
        spec.guesses,
    )


def _revision(spec: Spec, how: TrialOptions) -> str:
    if how.revision is not None:
        try:
            return find_revision(how.revision).name
        except LookupError as error:
            raise NotTried(str(error), ExitCode.USAGE) from None
    nearest = nearest_revision(SpecIndex(spec), tuple(catalogue().values()))
    if nearest is None:
        message = "it resembles no revision of the SI, so no suite can be run with it"
        raise UnreadableSpec(spec.name, [SpecError(message)])
    return nearest


def _kept(data: bytes, folder: Path) -> Path:
    path = folder.absolute() / DESCRIPTOR_SET
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise NotTried(f"{path} cannot be written: {error.strerror}", ExitCode.USAGE) from None
    return path


@dataclass(frozen=True, slots=True)
class _Runs:
    how: TrialOptions
    name: str
    revision: str
    descriptors: Path
    report: Callable[[str], None]

    def compared(self, *, every_test: bool) -> tuple[Results, tuple[Finding, ...]]:
        """Run with the edited specification; return the outcome of each requirement."""
        edited = self.edited(every_test=every_test)
        plain = self.plain(suspects(edited))
        found = findings(edited, plain)
        failing = (o.test for f in found if f.came is TrialVerdict.FAILS for o in f.outcomes)
        doubted = tuple(dict.fromkeys(failing))
        if 0 < len(doubted) <= _FEW:
            found = findings(edited, plain, self.again(doubted))
        return edited, found

    def edited(self, *, every_test: bool) -> Results:
        """Run with the edited specification, as far as it gets."""
        self.report(f"runs the suite of SI {self.revision} with the messages of {self.name}")
        seconds = _FAILING_THERE if self.how.target else _FAILING
        limit = () if every_test else (FAILING, str(seconds))
        return self._run("edited", *self._with_the_text, *limit, *self.how.selection)

    def plain(self, tests: Sequence[str]) -> Results | None:
        """Run these tests without the change."""
        if not tests:
            return None
        self.report(f"runs {_counted(tests)} without the change")
        return self._run("plain", *_few(tests), *tests)

    def again(self, tests: Sequence[str]) -> Results:
        """Run these tests with the change once more."""
        self.report(f"runs {_counted(tests)} with it once more")
        return self._run("again", *self._with_the_text, *_few(tests), *tests)

    @property
    def _with_the_text(self) -> tuple[str, str]:
        return EDITED, str(self.descriptors)

    def _run(self, name: str, *options: str) -> Results:
        folder = self.how.results.absolute() / name
        sent = folder.with_suffix(".txt")
        fixed = [TARGET_FILE, NONE, "--revision", self.revision, "--results", str(folder)]
        fixed += ["--explore", "0", "--no-reference"]
        words = (sys.executable, "-P", "-m", "siconform", "run", *fixed, *self.how.target)
        ResultsDir(folder).forget()
        with sent.open("wb") as log:
            done = child_processes.run([*words, *options], stdout=log, stderr=subprocess.PIPE)
        complaint = done.stderr.decode(errors="replace").strip().splitlines()
        sentence = complaint[-1] if complaint else f"see {sent}"
        try:
            results: Results = json.loads((folder / FILE).read_text("utf-8"))
        except (OSError, ValueError):
            raise NotTried(_plain(sentence), done.returncode) from None
        if done.returncode == ExitCode.NOTHING_SELECTED:
            raise NotTried("no test was selected", ExitCode.USAGE)
        if done.returncode in _NO_RESULTS or _found_nothing(results):
            raise NotTried(_plain(results["sentence"]), done.returncode)
        return results


_NO_RESULTS: Final = (ExitCode.USAGE, ExitCode.INTERRUPTED)


def _found_nothing(results: Results) -> bool:
    """Whether no test reached the target, with the revision or at all."""
    is_edited = results["revision"].endswith(EDITED_MARK)
    unreachable = results["sentence"].startswith(_OURS)
    return unreachable and not (is_edited and suspects(results))


def _plain(sentence: str) -> str:
    return sentence.removeprefix(_OURS)


def _few(tests: Sequence[str]) -> tuple[str, ...]:
    """Choose one process if starting more would take longer."""
    return ("-n", "0") if len(tests) <= _ALONE else ()


def _counted(tests: Sequence[str]) -> str:
    return f"{len(tests)} test{'' if len(tests) == 1 else 's'}"
