"""One seed of randomised testing: a unit of work that any process can run, and its result."""

import platform
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

import msgspec

from siconform import __version__, digests
from siconform.config.command_settings import results_folder
from siconform.config.open_target import open_target
from siconform.config.options import Settings, settings_from
from siconform.config.results_dir import adds
from siconform.expecting.deadlines import Deadlines
from siconform.exploring.counterexample import Counterexample
from siconform.exploring.exploration import Budget, Exploration
from siconform.exploring.recorded import read_history
from siconform.exploring.replay import Replay
from siconform.outcomes import TargetLost
from siconform.rm.session import Session

_RESULTS: Final = "--results"


class NoWorkers(Exception):  # a sentence for the user
    """There is no worker that could explore a seed."""


class Kit(msgspec.Struct, frozen=True):
    """What must be the same wherever the seeds of one run are explored."""

    version: str
    python: str  # major and minor
    catalogue: str  # digest
    code: str  # digest

    def differs_from(self, other: "Kit") -> str:
        """Return in words what another installation has instead, or ""."""
        if self.version != other.version:
            return f"siconform {other.version} instead of {self.version}"
        if self.python != other.python:
            return f"Python {other.python} instead of {self.python}"
        if self.catalogue != other.catalogue:
            return f"another catalogue ({other.catalogue[:12]} instead of {self.catalogue[:12]})"
        if self.code != other.code:
            return f"other code of siconform {other.version}"
        return ""


def kit_here() -> Kit:
    """Return the kit of this process."""
    digest = digests.of_the_kit()
    python = ".".join(platform.python_version_tuple()[:2])
    return Kit(__version__, python, digest["catalogue"], digest["kit"] + digest["suite"])


class Shard(msgspec.Struct, frozen=True):
    """A seed with its budget, and the target as option values by flag."""

    seed: int
    histories: int
    steps: int
    seconds: float
    target: dict[str, Any]

    @classmethod
    def of(cls, seed: int, budget: Budget, target: Mapping[str, Any]) -> "Shard":
        """Return the shard of a seed."""
        return cls(seed, budget.histories, budget.steps, budget.seconds, dict(target))

    @property
    def budget(self) -> Budget:
        """The budget of this seed."""
        return Budget(self.histories, self.steps, self.seconds)


class Finding(msgspec.Struct, frozen=True):
    """A minimised failure, with everything a report needs."""

    name: str
    message: str
    requirements: tuple[str, ...]
    size: tuple[int, int]  # smaller is better
    exchange: str  # for people
    history: str  # JSON lines
    expectation: tuple[str, str] | None = None  # expected, happened
    again: str = ""  # whether a replay gave it again, if it was replayed


class ShardResult(msgspec.Struct, frozen=True):
    """What a seed gave; ``problem`` is why it did not run, or ""."""

    seed: int
    histories: int = 0
    when_found: int = 0  # histories until the first failure
    steps: int = 0
    elements: int = 0
    seconds: float = 0.0
    out_of_time: bool = False
    evaluations: dict[str, int] = {}  # by monitor; msgspec copies the default
    findings: tuple[Finding, ...] = ()  # the first one found, then by size
    problem: str = ""
    runs: int = 1  # more if it began on a worker that was lost


def explore_here(shard: Shard) -> ShardResult:
    """Explore a seed in this process, with a target of its own and a temporary results folder."""
    with tempfile.TemporaryDirectory(prefix="siconform-") as folder:
        settings = settings_from({**shard.target, _RESULTS: folder}.get)
        try:
            with results_folder(settings), open_session(settings, "explore") as session:
                return explored(Exploration(session, shard.budget, shard.seed), settings)
        except TargetLost as lost:
            return ShardResult(shard.seed, problem=lost.message)


@contextmanager
def open_session(settings: Settings, who: str) -> Iterator[Session]:
    """Open the target and a session with RM ids that no other process uses."""
    target = open_target(settings, who)
    try:
        session = Session(target, Deadlines().scaled(settings.time_scale), f"{who}-{token_hex(4)}")
        yield session
        session.discard()
    finally:
        target.stop()


def explored(
    exploration: Exploration, settings: Settings, finished: Callable[[], None] = lambda: None
) -> ShardResult:
    """Use up the budget, replay the first failure, and return everything that was found.

    ``finished`` is called before the replay. Raises TargetLost if there is no target.
    """
    exploration.explores()
    finished()
    progress = exploration.progress
    found = exploration.counterexamples()
    findings = [_finding(one, settings) for one in found]
    if found:
        again = _seen_again(exploration.session, _file(found[0], settings))
        findings[0] = msgspec.structs.replace(findings[0], again=again)
    return ShardResult(
        exploration.seed,
        progress.histories,
        progress.when_found,
        progress.steps,
        progress.elements,
        exploration.seconds,
        progress.out_of_time,
        dict(progress.preconditions),
        tuple(findings),
    )


def file_of(name: str, settings: Settings) -> Path:
    """Return the file of a failure's history in the results folder."""
    return settings.results / "histories" / f"{name}.jsonl"


def _file(counterexample: Counterexample, settings: Settings) -> Path:
    return file_of(counterexample.name, settings)


def _finding(one: Counterexample, settings: Settings) -> Finding:
    file = adds(settings.results, _file(one, settings))
    one.write(file)
    outcome = one.outcome
    expectation = (
        (str(outcome.expected), str(outcome.happened)) if outcome and outcome.expected else None
    )
    return Finding(
        one.name,
        one.message,
        one.requirements,
        one.size,
        one.exchange.render(),
        file.read_text("utf-8"),
        expectation,
    )


def _seen_again(session: Session, file: Path) -> str:
    """Replay the history with normal deadlines and return whether the failure is reproduced."""
    try:
        session.renew()
        again = Replay(session, read_history(file)).plays()
    except TargetLost as lost:
        return f"it could not be replayed: {lost.message}"
    if again.counterexamples:
        return f"replayed once: reproduced ({again.counterexamples[0].message})"
    return "replayed once: not reproduced; it may depend on the time between two messages"
