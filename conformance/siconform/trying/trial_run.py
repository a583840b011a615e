"""Tries an edited text: the suite of the nearest revision, its words put into the text's messages.

The runs are those of `siconform run`, in processes of their own, with the same target options. The
scheduler is not told of the text: it speaks the revision.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from siwire import REVISIONS, find_revision

from siconform import child_processes
from siconform.catalogue import catalogue
from siconform.policy import ExitCode
from siconform.results import EDITED_MARK, FILE
from siconform.running.option_list import EDITED, FAILING, NO_FILE, TARGET_FILE
from siconform.spec.compiling import with_imports
from siconform.spec.model import Spec, SpecError, UnreadableSpec
from siconform.spec.places import Footing, nearest_revision
from siconform.transport.dialects.dialect import lost_in
from siconform.trying.trial import BROKEN, Came, Finding, Results, Trial, findings, suspects

DESCRIPTOR_SET: Final = "edited.binpb"
_FAILING: Final = 60  # seconds of all workers: what fails waits long for what never comes
_FAILING_THERE: Final = 300  # the same at a target, whose timers nobody moves on
_FEW: Final = 8  # tests that are run once more before the change is blamed
_ALONE: Final = 24  # tests that are over before more workers would have begun
_OURS: Final = "siconform: "  # before a sentence of ours


class NotTried(Exception):
    """No run could be made: a sentence for the user, and the exit code of that run."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class How:
    """What to try it with: options as `siconform run` has them."""

    target: tuple[str, ...] = ()
    selection: tuple[str, ...] = ()
    results: Path = Path("build/spec-try")
    revision: str | None = None  # None for the nearest one
    every_test: bool = False  # however many fail


def try_text(spec: Spec, how: How, report: Callable[[str], None] = lambda _: None) -> Trial:
    """What still passes with the text, what fails because of the change, what it cannot say.

    `tell` hears what is being done. UnreadableSpec where the text is like no revision, NotTried
    where the target cannot be had or the options are wrong.
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


def _revision(spec: Spec, how: How) -> str:
    if how.revision is not None:
        try:
            return find_revision(how.revision).name
        except LookupError as error:
            raise NotTried(str(error), ExitCode.USAGE) from None
    nearest = nearest_revision(Footing(spec), tuple(catalogue().values()))
    if nearest is None:
        message = "it is like no revision of the SI, so that no suite can be run with it"
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
    how: How
    name: str
    revision: str
    descriptors: Path
    report: Callable[[str], None]

    def compared(self, *, every_test: bool) -> tuple[Results, tuple[Finding, ...]]:
        """The run with the text, and what became of each requirement."""
        edited = self.edited(every_test=every_test)
        plain = self.plain(suspects(edited))
        found = findings(edited, plain)
        failing = (o.test for f in found if f.came is Came.FAILS for o in f.outcomes)
        doubted = tuple(dict.fromkeys(failing))
        if 0 < len(doubted) <= _FEW:
            found = findings(edited, plain, self.again(doubted))
        return edited, found

    def edited(self, *, every_test: bool) -> Results:
        """With the text, as far as it gets."""
        self.report(f"runs the suite of SI {self.revision} in the words of {self.name}")
        seconds = _FAILING_THERE if self.how.target else _FAILING
        limit = () if every_test else (FAILING, str(seconds))
        return self._run("edited", *self._with_the_text, *limit, *self.how.selection)

    def plain(self, tests: Sequence[str]) -> Results | None:
        """Without it, for these tests."""
        if not tests:
            return None
        self.report(f"runs {_counted(tests)} without the change")
        return self._run("plain", *_few(tests), *tests)

    def again(self, tests: Sequence[str]) -> Results:
        """With the text once more, for these tests."""
        self.report(f"runs {_counted(tests)} with it once more")
        return self._run("again", *self._with_the_text, *_few(tests), *tests)

    @property
    def _with_the_text(self) -> tuple[str, str]:
        return EDITED, str(self.descriptors)

    def _run(self, name: str, *options: str) -> Results:
        folder = self.how.results.absolute() / name
        sent = folder.with_suffix(".txt")
        fixed = [TARGET_FILE, NO_FILE, "--revision", self.revision, "--results", str(folder)]
        fixed += ["--explore", "0", "--no-reference"]
        words = (sys.executable, "-P", "-m", "siconform", "run", *fixed, *self.how.target)
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
    """Whether no test met the target, in the words of the revision or before any was tried."""
    is_edited = results["revision"].endswith(EDITED_MARK)
    unreachable = results["sentence"].startswith(_OURS)
    return unreachable and not (is_edited and suspects(results))


def _plain(sentence: str) -> str:
    return sentence.removeprefix(_OURS)


def _few(tests: Sequence[str]) -> tuple[str, ...]:
    """In one process where starting others would take longer."""
    return ("-n", "0") if len(tests) <= _ALONE else ()


def _counted(tests: Sequence[str]) -> str:
    return f"{len(tests)} test{'' if len(tests) == 1 else 's'}"
