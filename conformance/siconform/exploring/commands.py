"""The commands ``siconform explore`` and ``siconform replay``."""

import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from siconform import shutdown
from siconform.config.command_line import RUN, CommandLine
from siconform.config.command_settings import (
    checked_settings,
    header,
    results_folder,
    settings_of,
    values_of,
)
from siconform.config.open_target import prepare
from siconform.config.option_values import BadOption
from siconform.config.options import Settings
from siconform.config.results_dir import CannotWrite
from siconform.exploring.exploration import Budget, Exploration
from siconform.exploring.merged import Merged, headline
from siconform.exploring.recorded import Recorded, read_history
from siconform.exploring.replay import Again, Replay, Replayed
from siconform.exploring.shard import NoWorkers, Shard, ShardResult, explored, open_session
from siconform.exploring.workers import Workers
from siconform.outcomes import TargetLost
from siconform.policy import ExitCode
from siconform.recording.elements import Unreplayable

_SHOWN: Final = 5  # histories between two progress updates


def explores(
    given: Mapping[str, Any], budget: Budget, seeds: range, workers: str, results: str
) -> int:
    """Run random histories of every seed and report the failures; return the exit code.

    A seed ends with its first failure, or when its budget is used up.
    """
    shutdown.on_interrupt("nothing was tested")
    try:
        chosen = Workers.read(workers, len(seeds))
        values = values_of("explore", given, results)
        settings = checked_settings(values)
        first = (lambda _: None) if chosen.dask else prepare
        with results_folder(settings, first):
            header(settings)
            click.echo(_plan(budget, seeds, chosen))
            if chosen.here:
                return _collect(_explored_here(settings, budget, seeds), settings, seeds)
            shards = [Shard.of(seed, budget, values) for seed in seeds]
            return _collect(chosen.explore(shards), settings, seeds)
    except BadOption as error:
        return _ends(ExitCode.USAGE, error)
    except CannotWrite as error:
        return _ends(ExitCode.KIT_ERROR, error)
    except TargetLost as lost:
        return _ends(ExitCode.NOTHING_RAN, lost.message)


def _plan(budget: Budget, seeds: range, workers: Workers) -> str:
    each = f"up to {budget.histories} histories of up to {budget.steps} steps, {budget.seconds:g} s"
    if len(seeds) == 1:
        return f"exploring: {each}, seed {seeds[0]}"
    where = "" if workers.here else f", {workers}"
    return f"exploring: seeds {seeds[0]} to {seeds[-1]}, each {each}{where}"


def _explored_here(settings: Settings, budget: Budget, seeds: range) -> Iterator[ShardResult]:
    """Explore the seeds one after the other, with one target."""
    with open_session(settings, "explore") as session:
        for seed in seeds:
            exploration = Exploration(session, budget, seed, _progress)
            yield explored(exploration, settings, _reporting)


def _collect(results: Iterator[ShardResult], settings: Settings, seeds: range) -> int:
    """Report everything that comes, also if the command is interrupted; return the exit code."""
    merged, began = Merged(seeds), time.monotonic()
    try:
        for result in results:
            merged.add(result)
            _count(merged, seeds)
    except NoWorkers as error:
        _ends(ExitCode.INCOMPLETE, error)
    except TargetLost as lost:
        _ends(ExitCode.INCOMPLETE, lost.message)
    except KeyboardInterrupt:
        if merged.done:
            merged.report(settings, time.monotonic() - began)
        raise
    return merged.report(settings, time.monotonic() - began)


def _count(merged: Merged, seeds: range) -> None:
    """Report how many seeds are done, if there are several."""
    if len(seeds) == 1:
        return
    failed = sum(bool(one.findings) for one in merged.done)
    done = f"{len(merged.done)} of {len(seeds)} seeds done, {failed} with failures"
    shutdown.on_interrupt(f"{done}, all reported")
    if sys.stdout.isatty():
        click.echo(f"\r {done} ", nl=False)


def _reporting() -> None:
    shutdown.on_interrupt("the report is incomplete")


def replays(given: Mapping[str, Any], file: Path, results: str) -> int:
    """Replay a recorded history; return the exit code."""
    shutdown.on_interrupt("the history was not replayed to its end")
    try:
        settings = settings_of("replay", given, results)
        recorded = read_history(file)
        with results_folder(settings), open_session(settings, "replay") as session:
            header(settings)
            replayed = Replay(session, recorded).plays()
    except (BadOption, Unreplayable) as error:
        return _ends(ExitCode.USAGE, error)
    except CannotWrite as error:
        return _ends(ExitCode.KIT_ERROR, error)
    except TargetLost as lost:
        return _ends(ExitCode.NOTHING_RAN, lost.message)
    click.echo(f"{replayed.exchange.render()}\n")
    for fact in replayed.not_received:
        click.echo(f"not received this time: {fact}")
    for counterexample in replayed.counterexamples:
        found = counterexample
        click.echo(headline(found.name, found.message, found.requirements))
    return _concludes(replayed, recorded, settings)


def _concludes(replayed: Replayed, recorded: Recorded, settings: Settings) -> int:
    """Print the conclusion, with the recorded verdict if there is one; return the exit code."""
    evaluated, verdict = recorded.evaluated, replayed.verdict
    if evaluated is None or verdict is None:
        if not replayed.counterexamples and recorded.expected is not None:
            click.echo(f"missing in the recording, received this time: {recorded.expected}")
        elif not replayed.counterexamples:
            click.echo("no violation this time; the history has no recorded verdict")
        return ExitCode.NON_CONFORMANT if replayed.counterexamples else ExitCode.OK
    click.echo(
        f"{evaluated.verdict.upper()} {evaluated.requirement} ({evaluated.message}): "
        f"{verdict.value}"
    )
    if verdict is Again.CANNOT_DECIDE and evaluated.requirement:
        run = CommandLine(RUN, settings.command_line.options)
        click.echo(f"test it again: {run.again(evaluated.requirement)}")
    if replayed.counterexamples or verdict is Again.COMES:
        return ExitCode.NON_CONFORMANT
    return ExitCode.OK if verdict is Again.COMES_NOT else ExitCode.INCOMPLETE


def _progress(exploration: Exploration) -> None:
    """Report the progress on a terminal, or once the command is interrupted."""
    progress = exploration.progress
    done = f"no failure in {progress.histories} histories"
    if exploration.counterexamples():
        done = f"history {progress.when_found} failed and was not minimised"
    shutdown.on_interrupt(f"{done}, nothing was kept (--seed {exploration.seed} repeats it)")
    if sys.stdout.isatty() and progress.histories % _SHOWN == 0:
        what = "minimising" if exploration.counterexamples() else "no failure yet"
        click.echo(f"\r {progress.histories} histories, {what} ", nl=False)


def _ends(code: ExitCode, why: object) -> int:
    click.echo(f"siconform: {why}", err=True)
    return code
