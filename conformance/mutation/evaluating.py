"""Runs the suite against one mutant or variant and caches the result until something changes."""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from siconform.catalogue import Side
from siconform.doctor.examining import selection
from siconform.verdicts import Verdict
from siwire import find_revision

from mutation import fired
from mutation.mutant import CHANGES, Change
from mutation.proxy import NONE, reference

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "build" / "mutation"
BAD: Final = frozenset({Verdict.FAIL, Verdict.LATE, Verdict.CHALLENGED})
_LIMIT: Final = 2400.0  # seconds for one run
_ENDING: Final = 30.0  # seconds for a run to end after SIGINT
_SCALE: Final = "0.4"  # missing messages are waited for again and again; enough on virtual time
_MATTERS: Final = ("conformance/siconform", "proto/siwire")
_ASIDE: Final = (
    *("conformance/siconform/cli.py", "conformance/siconform/commands/"),
    "conformance/siconform/generated.py",
)
"""Beginnings of files that affect no evaluation: changes to them keep every cached result."""
_MAKES: Final = ("mutant", "main_revision", "patching", "patched", "evaluating")


class _Side(NamedTuple):
    """What affects the evaluations of one side only, or none of them."""

    package: str
    aside: tuple[str, ...]
    makes: tuple[str, ...]


_SIDES: Final[Mapping[Side, _Side]] = {
    Side.SCHEDULER: _Side(
        "reference/sireference",
        (
            *("conformance/siconform/scheduler/", "conformance/siconform/suite_rm/"),
            *("conformance/siconform/monitors/rm_", "conformance/siconform/running/rm_"),
            *("conformance/siconform/targets/rm_", "conformance/siconform/transport/rm_"),
        ),
        ("parts", "lists", "held_keys", "proxy"),
    ),
    Side.RM: _Side(
        "reference/sirm",
        (
            *("conformance/siconform/rm/", "conformance/siconform/suite/"),
            *("conformance/siconform/doctor/", "conformance/siconform/exploring/"),
        ),
        ("patched_rm",),
    ),
}

_running: Final[set["subprocess.Popen[bytes]"]] = set()
_is_over: Final = threading.Event()


class RequirementVerdict(msgspec.Struct, frozen=True):
    """The verdict on one requirement."""

    verdict: Verdict
    level: str
    reason: str = ""


class Evaluation(msgspec.Struct, frozen=True):
    """The result of running the suite against one scheduler."""

    requirements: dict[str, RequirementVerdict]
    verdict: str = ""  # of the run; "" if there was none
    has_fired: bool = False
    seconds: float = 0.0

    def detected(self, sound: "Evaluation", *, allowed: Iterable[str] = ()) -> list[str]:
        """Return the requirements that fail here and not without the change."""
        return [
            identifier
            for identifier, sent in self.requirements.items()
            if sent.verdict in BAD
            and not sound.is_bad(identifier)
            and not (identifier in allowed and sent.level != "MUST")
        ]

    def newly_inconclusive(self, sound: "Evaluation") -> list[str]:
        """Return the MUSTs that are inconclusive here and not without the change."""
        return [
            identifier
            for identifier, sent in self.requirements.items()
            if sent.level == "MUST"
            and sent.verdict is Verdict.COULD_NOT_RUN
            and sound.verdict_on(identifier) is not Verdict.COULD_NOT_RUN
        ]

    def newly_inapplicable(self, sound: "Evaluation") -> dict[str, str]:
        """Return the MUSTs that are not applicable here only, each with the reason."""
        return {
            identifier: sent.reason
            for identifier, sent in self.requirements.items()
            if sent.level == "MUST"
            and sent.verdict is Verdict.NOT_APPLICABLE
            and sound.verdict_on(identifier) is not Verdict.NOT_APPLICABLE
        }

    def is_bad(self, identifier: str) -> bool:
        """Return whether the requirement failed here."""
        return self.verdict_on(identifier) in BAD

    def verdict_on(self, identifier: str) -> Verdict | None:
        """Return the verdict on a requirement, None if there is none."""
        sent = self.requirements.get(identifier)
        return sent.verdict if sent is not None else None


@dataclass(frozen=True)
class RunOptions:
    """How schedulers are tested."""

    workers: int | None = None  # of each run; None: none for a mutant, else the default
    again: bool = False  # even if the result is cached
    real_clock: bool = False
    scale: str = ""  # of deadlines; "" for the default
    own: bool = False  # run only the requirements that a mutant breaks
    variant: str = ""  # a permitted variant to combine with each of them

    @property
    def name(self) -> str:
        """The name that tells these options from the default, in file names."""
        suffix = f"-with-{self.variant}" if self.variant else ""
        scale = f"-scale-{self.scale}" if self.scale else ""
        return "-real-clock" * self.real_clock + "-own" * self.own + scale + suffix


def evaluate(change: Change, options: RunOptions) -> Evaluation:
    """Test a scheduler, unless a cached result is still valid."""
    folder = _folder(change, options.name)
    folder.mkdir(parents=True, exist_ok=True)
    known, state = folder / "judgement.json", folder / "state"
    now = _state(change)
    if not options.again and known.exists() and state.exists() and state.read_text() == now:
        return msgspec.json.decode(known.read_bytes(), type=Evaluation)
    state.unlink(missing_ok=True)
    evaluation = _run(change, options, folder)
    if evaluation.requirements and not _is_over.is_set():
        known.write_bytes(msgspec.json.encode(evaluation))
        state.write_text(now)
    return evaluation


def end() -> None:
    """End the current runs and what they have started; their results are not kept."""
    _is_over.set()
    for process in list(_running):
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a run so that it stops its targets; kill it if it does not end."""
    process.terminate()
    try:
        process.wait(_ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _folder(change: Change, options: str = "") -> Path:
    folder = FOLDER if change.side is Side.SCHEDULER else FOLDER / change.side
    return folder / change.revision / (change.name + options)


def _run(change: Change, options: RunOptions, folder: Path) -> Evaluation:
    fired.forget(folder)
    results = folder / "results"
    shutil.rmtree(results, ignore_errors=True)  # of an earlier run
    began = time.monotonic()
    with (folder / "log").open("w", encoding="utf-8") as output:
        process = subprocess.Popen(  # noqa: S603  # our own command
            _command(change, options, results),
            stdout=output,
            stderr=output,
            cwd=ROOT,
            env={**os.environ, fired.FOLDER: str(folder)},
        )
    _running.add(process)
    try:
        process.wait(_LIMIT)
    except subprocess.TimeoutExpired:
        _end(process)
    finally:
        _running.discard(process)
    sent, verdict = _read(results / "results.json")
    return Evaluation(sent, verdict, fired.has_fired(folder), time.monotonic() - began)


def _command(change: Change, options: RunOptions, results: Path) -> list[str]:
    of_side = _rm if change.side is Side.RM else _scheduler
    command = [sys.executable, "-m", "siconform", "run", *of_side(change, options)]
    command += ["--revision", change.revision, "--results", str(results)]
    workers = options.workers if options.workers is not None or not change.areas else 0
    command += [
        "-q",
        "--no-reference",
        *([] if workers is None else ["-n", str(workers)]),
        *change.received,
    ]
    is_brief = bool(change.areas) and not change.is_variant and change.side is Side.SCHEDULER
    scale = options.scale or _SCALE * is_brief
    command += ["--time-scale", scale] if scale else []
    if is_brief:
        command += ["--explore", "0"]  # the broken requirement has tests itself
    chosen = " or ".join(f"SI-{area}" for area in change.areas)
    if options.own and change.breaks:
        areas = [f"SI-{area}" for area in change.more_areas]
        chosen = selection(change.breaks, areas, change.side)
    return [*command, "-k", chosen] if chosen else command


def _scheduler(change: Change, options: RunOptions) -> list[str]:
    """Return the option of a run that starts a changed scheduler."""
    if change.is_on_the_wire:
        serve = [sys.executable, "-P", "-m", "mutation.proxy", change.name]
        serve += ["--revision", change.revision, *["--real-clock"] * options.real_clock]
        serve += ["--variant", options.variant] if options.variant else []
    else:
        variant = CHANGES[options.variant] if options.variant else NONE
        served = find_revision(change.revision)
        serve = [*reference(change, served, variant=variant, real_clock=options.real_clock)]
    return ["--target-command", shlex.join(serve)]


def _rm(change: Change, options: RunOptions) -> list[str]:
    """Return the option of a run that starts a changed RM."""
    names = f"{change.name if change.is_inside else ''}+{options.variant}"
    run = [sys.executable, "-P", "-m", "mutation.patched_rm", names, "run"]
    run += ["--scheduler", "{address}", "--driver", "{driver}", "--revision", change.revision]
    return ["--rm-command", shlex.join(run)]


def _read(results: Path) -> tuple[dict[str, RequirementVerdict], str]:
    if not results.exists():
        return {}, ""
    read: Any = json.loads(results.read_text("utf-8"))
    sent = {
        one["id"]: RequirementVerdict(Verdict(one["verdict"]), one["level"], one["reason"])
        for one in read["requirements"]
    }
    return sent, read["verdict"]


def _state(change: Change) -> str:
    """Return a digest that changes whenever the result may."""
    digest = hashlib.sha256(state_of_the_rest(change.side).encode())
    for source in change.sources:
        digest.update(source.read_bytes())
    digest.update(repr((change.name, change.areas, change.received, change.revision)).encode())
    return digest.hexdigest()


@cache
def state_of_the_rest(side: Side) -> str:
    """Return a digest of the kit and the reference or the RM, the same for every change of it."""
    digest = hashlib.sha256()
    for file in files_of(side):
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def files_of(side: Side) -> Iterator[Path]:
    """Yield the files on which every result of this side depends."""
    package, aside, makes = _SIDES[side]
    for folder in (*_MATTERS, package):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts and not _is_in(file, aside):
                yield file
    for name in (*_MAKES, *makes):
        yield Path(__file__).with_name(f"{name}.py")


def _is_in(file: Path, aside: tuple[str, ...]) -> bool:
    return file.relative_to(ROOT).as_posix().startswith((*_ASIDE, *aside))
