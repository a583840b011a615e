"""One scheduler is judged by the suite, and what came of it is kept until something changes."""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from siconform.doctor.change import Change
from siconform.doctor.examining import selection
from siconform.verdicts import Verdict

from mutation import fired

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "build" / "mutation"
BAD: Final = frozenset({Verdict.FAIL, Verdict.LATE, Verdict.CHALLENGED})
_LIMIT: Final = 2400.0  # seconds for one run
_ENDING: Final = 30.0  # seconds for a run that was told to end
_SCALE: Final = "0.4"  # what is missing is waited for over and over; on virtual time that is enough
_MATTERS: Final = ("conformance/siconform", "reference/sireference", "proto/siwire")
_ASIDE: Final = (
    *("conformance/siconform/spec", "conformance/siconform/trying"),
    *("conformance/siconform/cli.py", "conformance/siconform/commands"),
    "conformance/siconform/generated.py",
)
"""What judges no scheduler: changes of it leave every judgement as it was."""
_MAKES: Final = (
    *("mutant", "main_revision", "parts", "lists", "held_keys"),
    *("altering", "altered", "proxy", "evaluating"),
)


_running: Final[set["subprocess.Popen[bytes]"]] = set()
_is_over: Final = threading.Event()


class RequirementVerdict(msgspec.Struct, frozen=True):
    """What was said of one requirement."""

    verdict: Verdict
    level: str
    reason: str = ""


class Evaluation(msgspec.Struct, frozen=True):
    """What came of judging one scheduler."""

    requirements: dict[str, RequirementVerdict]
    verdict: str = ""  # of the run; "" where there was none
    has_fired: bool = False
    seconds: float = 0.0

    def detected(self, sound: "Evaluation", *, allowed: Iterable[str] = ()) -> list[str]:
        """Who says it is wrong, and does not say so of the same scheduler without it."""
        return [
            identifier
            for identifier, sent in self.requirements.items()
            if sent.verdict in BAD
            and not sound.is_bad(identifier)
            and not (identifier in allowed and sent.level != "MUST")
        ]

    def without_a_chance(self, sound: "Evaluation") -> list[str]:
        """The MUSTs that are inconclusive, and are not without it."""
        return [
            identifier
            for identifier, sent in self.requirements.items()
            if sent.level == "MUST"
            and sent.verdict is Verdict.COULD_NOT_RUN
            and sound.verdict_on(identifier) is not Verdict.COULD_NOT_RUN
        ]

    def left_alone(self, sound: "Evaluation") -> dict[str, str]:
        """The MUSTs that are not applicable to it, and are without it; with the reason."""
        return {
            identifier: sent.reason
            for identifier, sent in self.requirements.items()
            if sent.level == "MUST"
            and sent.verdict is Verdict.NOT_APPLICABLE
            and sound.verdict_on(identifier) is not Verdict.NOT_APPLICABLE
        }

    def is_bad(self, identifier: str) -> bool:
        """Whether the requirement notices something here."""
        return self.verdict_on(identifier) in BAD

    def verdict_on(self, identifier: str) -> Verdict | None:
        """What was said of it, None for nothing."""
        sent = self.requirements.get(identifier)
        return sent.verdict if sent is not None else None


@dataclass(frozen=True)
class RunOptions:
    """How schedulers are judged."""

    workers: int | None = None  # of each run; None: none but itself for a fault, else the usual
    again: bool = False  # even where the judgement is known
    real_clock: bool = False
    scale: str = ""  # of deadlines; "" for the usual one
    own: bool = False  # by nothing but what a fault breaks
    variant: str = ""  # a liberty each of them takes, too

    @property
    def name(self) -> str:
        """What tells it from the usual one."""
        suffix = f"-with-{self.variant}" if self.variant else ""
        scale = f"-scale-{self.scale}" if self.scale else ""
        return "-real-clock" * self.real_clock + "-own" * self.own + scale + suffix


def evaluate(change: Change, options: RunOptions) -> Evaluation:
    """Judge it, unless that was done since anything that matters changed."""
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
    """End the runs that are under way, and with them what they have started; none is kept."""
    _is_over.set()
    for process in list(_running):
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """A run that is told to end stops its targets; one that does not end is killed."""
    process.terminate()
    try:
        process.wait(_ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _folder(change: Change, options: str = "") -> Path:
    return FOLDER / change.revision / (change.name + options)


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
    serve = [sys.executable, "-P", "-m", "mutation.proxy", change.name]
    serve += ["--revision", change.revision, *["--real-clock"] * options.real_clock]
    serve += ["--variant", options.variant] if options.variant else []
    command = [sys.executable, "-m", "siconform", "run", "--target-command", shlex.join(serve)]
    command += ["--revision", change.revision, "--results", str(results)]
    workers = options.workers if options.workers is not None or not change.areas else 0
    command += [
        "-q",
        "--no-reference",
        *([] if workers is None else ["-n", str(workers)]),
        *change.received,
    ]
    scale = options.scale or ("" if change.is_variant or not change.areas else _SCALE)
    command += ["--time-scale", scale] if scale else []
    if change.areas and not change.is_variant:
        command += ["--explore", "0"]  # the sentence that is broken has tests of its own
    chosen = " or ".join(f"SI-{area}" for area in change.areas)
    if options.own and change.breaks:
        chosen = selection(change.breaks, [f"SI-{area}" for area in change.more_areas])
    return [*command, "-k", chosen] if chosen else command


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
    """Changes whenever the judgement may."""
    digest = hashlib.sha256(state_of_the_rest().encode())
    for source in change.sources:
        digest.update(source.read_bytes())
    digest.update(repr((change.name, change.areas, change.received, change.revision)).encode())
    return digest.hexdigest()


@cache
def state_of_the_rest() -> str:
    """Changes with the kit and the reference, whatever scheduler is judged."""
    digest = hashlib.sha256()
    for file in _files():
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _files() -> Iterator[Path]:
    for folder in _MATTERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts and not _is_aside(file):
                yield file
    for name in _MAKES:
        yield Path(__file__).with_name(f"{name}.py")


def _is_aside(file: Path) -> bool:
    return any(file.is_relative_to(ROOT / name) for name in _ASIDE)
