"""The commands ``siconform explore`` and ``siconform replay``."""

import os
import random
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click

from siconform import shutdown
from siconform.expecting.deadlines import Deadlines
from siconform.exploring.counterexample import Counterexample
from siconform.exploring.exploration import Budget, Exploration
from siconform.exploring.recorded import Recorded, read_history
from siconform.exploring.replay import Again, Replay, Replayed
from siconform.outcomes import TargetLost
from siconform.policy import ExitCode
from siconform.recording.elements import Unreplayable
from siconform.rm.session import Session
from siconform.running.command_line import PROGRAM, RUN, CommandLine
from siconform.running.command_settings import header, results_folder, settings_of
from siconform.running.open_target import open_target
from siconform.running.option_values import BadOption
from siconform.running.options import Settings
from siconform.running.results_dir import CannotWrite, adds

_SHOWN: Final = 5  # histories between two progress updates


def explores(given: Mapping[str, Any], budget: Budget, number: int | None, results: str) -> int:
    """Run random histories until one fails or the budget is used up; return the exit code."""
    shutdown.on_interrupt("nothing was tested")
    seed = random.randrange(2**32) if number is None else number  # noqa: S311  # no secret
    try:
        settings = settings_of("explore", given, results)
        with results_folder(settings), _session(settings, "explore") as session:
            header(settings)
            click.echo(
                f"exploring: up to {budget.histories} histories of up to {budget.steps} steps, "
                f"{budget.seconds:g} s, seed {seed}"
            )
            exploration = Exploration(session, budget, seed, _progress)
            exploration.explores()
            shutdown.on_interrupt("the report is incomplete")
            return _reports(exploration, settings)
    except BadOption as error:
        return _ends(ExitCode.USAGE, error)
    except CannotWrite as error:
        return _ends(ExitCode.KIT_ERROR, error)
    except TargetLost as lost:
        return _ends(ExitCode.NOTHING_RAN, lost.message)


def replays(given: Mapping[str, Any], file: Path, results: str) -> int:
    """Replay a recorded history; return the exit code."""
    shutdown.on_interrupt("the history was not replayed to its end")
    try:
        settings = settings_of("replay", given, results)
        recorded = read_history(file)
        with results_folder(settings), _session(settings, "replay") as session:
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
        click.echo(_headline(counterexample))
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


@contextmanager
def _session(settings: Settings, who: str) -> Iterator[Session]:
    target = open_target(settings, who)
    try:
        name = f"{who}-{os.getpid()}-{int(time.time())}"
        session = Session(target, Deadlines().scaled(settings.time_scale), name)
        yield session
        session.discard()
    finally:
        target.stop()


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


def _reports(exploration: Exploration, settings: Settings) -> int:
    progress, counterexamples = exploration.progress, exploration.counterexamples()
    done = (
        f"{progress.histories} histories, {progress.steps} steps, {progress.elements} elements"
        f"{', out of time' if progress.out_of_time else ''}   {exploration.seconds:.1f} s"
    )
    if not counterexamples:
        click.echo(f"\nNO FAILURE in {done}")
        idle = [name for name, held in progress.preconditions.items() if not held]
        if idle:
            click.echo(f"  monitors never exercised: {', '.join(idle)}")
        return ExitCode.OK
    first, *others = counterexamples
    click.echo(f"\nFAILED in history {progress.when_found}, then minimised: {done}\n")
    click.echo(_text(first, settings))
    click.echo(f"\n  {_seen_again(exploration.session, first, settings)}")
    for other in others:
        click.echo(f"  also {_headline(other)}\n       {_replay_command(other, settings)}")
    return ExitCode.NON_CONFORMANT


def _text(counterexample: Counterexample, settings: Settings) -> str:
    lines = [_headline(counterexample), "", counterexample.exchange.render()]
    if counterexample.outcome is not None and counterexample.outcome.expected:
        lines += ["", f"  expected   {counterexample.outcome.expected}"]
        lines += [f"  happened   {counterexample.outcome.happened}"]
    return "\n".join([*lines, "", f"  again      {_replay_command(counterexample, settings)}"])


def _headline(counterexample: Counterexample) -> str:
    requirements = (
        f"   ({', '.join(counterexample.requirements)})" if counterexample.requirements else ""
    )
    return f"{counterexample.name.replace('_', ' ')}: {counterexample.message}{requirements}"


def _file(counterexample: Counterexample, settings: Settings) -> Path:
    return settings.results / "histories" / f"{counterexample.name}.jsonl"


def _replay_command(counterexample: Counterexample, settings: Settings) -> str:
    """Write the history and return the command that replays it."""
    file = _file(counterexample, settings)
    counterexample.write(adds(settings.results, file))
    here = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    words = (PROGRAM, "replay", str(here), *settings.command_line.options)
    return shlex.join(words)


def _seen_again(session: Session, counterexample: Counterexample, settings: Settings) -> str:
    """Replay the history with normal deadlines and return whether the failure is reproduced."""
    try:
        session.renew()
        again: Replayed = Replay(session, read_history(_file(counterexample, settings))).plays()
    except TargetLost as lost:
        return f"it could not be replayed: {lost.message}"
    if again.counterexamples:
        return f"replayed once: reproduced ({again.counterexamples[0].message})"
    return "replayed once: not reproduced; it may depend on the time between two messages"


def _ends(code: ExitCode, why: object) -> int:
    click.echo(f"siconform: {why}", err=True)
    return code
