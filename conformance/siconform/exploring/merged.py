"""The results of all seeds as one: the smallest failure of each name, and their report."""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import click

from siconform.config.command_line import PROGRAM
from siconform.config.options import Settings
from siconform.config.results_dir import adds
from siconform.exploring.shard import Finding, ShardResult, file_of
from siconform.policy import ExitCode

_SHOWN: Final = 3  # seeds that are named, of those with one problem
_IDLE_MONITORS: Final = "idle-monitors.txt"


class Merged:
    """Collects results; the order in which they come does not matter."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self._seeds = seeds
        self._results: dict[int, ShardResult] = {}

    def add(self, result: ShardResult) -> None:
        """Add the result of one seed; a second one of the same seed changes nothing."""
        known = self._results.get(result.seed)
        if known is None or known.problem:
            self._results[result.seed] = result

    @property
    def done(self) -> list[ShardResult]:
        """The results of the seeds that were explored, by seed."""
        return [one for _, one in sorted(self._results.items()) if not one.problem]

    @property
    def missing(self) -> list[int]:
        """The seeds that were not explored."""
        done = {one.seed for one in self.done}
        return [seed for seed in self._seeds if seed not in done]

    @property
    def problems(self) -> dict[str, list[int]]:
        """Why seeds were not explored, as far as known, with these seeds."""
        found: dict[str, list[int]] = {}
        for seed, one in sorted(self._results.items()):
            if one.problem:
                found.setdefault(one.problem, []).append(seed)
        return found

    def findings(self) -> list[Finding]:
        """Return the smallest failure of each name: the first seed's first, then by size."""
        smallest: dict[str, Finding] = {}
        for finding in self._found():
            known = smallest.get(finding.name)
            if known is None or finding.size < known.size:
                smallest[finding.name] = finding
        first = next((finding.name for finding in self._found()), "")
        return sorted(smallest.values(), key=lambda one: (one.name != first, one.size, one.name))

    def seeds_with(self, name: str) -> list[int]:
        """Return the seeds that found this failure."""
        return [one.seed for one in self.done if any(f.name == name for f in one.findings)]

    def report(self, settings: Settings, seconds: float) -> ExitCode:
        """Store the histories of failures, print what was done and found; return the exit code."""
        for problem, seeds in self.problems.items():
            click.echo(f"siconform: seed {_numbers(seeds)}: {problem}", err=True)
        if not self.done:
            return ExitCode.NOTHING_RAN
        findings, done = self.findings(), self._summary(seconds)
        if findings:
            self._report_failures(findings, settings, done)
            return ExitCode.NON_CONFORMANT
        click.echo(f"\nNO FAILURE in {done}")
        self._report_idle_monitors(settings)
        return ExitCode.INCOMPLETE if self.missing else ExitCode.OK

    def _found(self) -> Iterable[Finding]:
        return (finding for one in self.done for finding in one.findings)

    def _summary(self, seconds: float) -> str:
        done = self.done
        histories, steps, elements = (
            sum(getattr(one, name) for one in done) for name in ("histories", "steps", "elements")
        )
        seeds = ""
        if len(self._seeds) > 1:
            seeds = f"{len(done)} of {len(self._seeds)} seeds done, "
        again = [one.seed for one in done if one.runs > 1]
        seeds += f"seed {_numbers(again)} begun again, " if again else ""
        late = ", out of time" if any(one.out_of_time for one in done) else ""
        counted = f"{histories} histories, {steps} steps, {elements} elements"
        return f"{seeds}{counted}{late}   {seconds:.1f} s"

    def _report_failures(self, findings: list[Finding], settings: Settings, done: str) -> None:
        failed = [one for one in self.done if one.findings]
        where = f"history {failed[0].when_found}"
        if len(self._seeds) > 1:
            where = f"{len(failed)} seed{'s' * (len(failed) > 1)}"
        click.echo(f"\nFAILED in {where}, then minimised: {done}\n")
        first, *others = findings
        click.echo("\n".join([self._headline(first), "", first.exchange]))
        if first.expectation is not None:
            expected, happened = first.expectation
            click.echo(f"\n  expected   {expected}\n  happened   {happened}")
        click.echo(f"\n  again      {replay_command(first, settings)}")
        if first.again:
            click.echo(f"\n  {first.again}")
        for other in others:
            click.echo(f"  also {self._headline(other)}\n       {replay_command(other, settings)}")

    def _report_idle_monitors(self, settings: Settings) -> None:
        """Print how many monitors had nothing to check, and store their names."""
        evaluations = sum((Counter(one.evaluations) for one in self.done), Counter[str]())
        known = {name: None for one in self.done for name in one.evaluations}
        idle = [name for name in known if not evaluations[name]]
        if idle:
            file = adds(settings.results, settings.results / _IDLE_MONITORS)
            file.write_text("".join(f"{name}\n" for name in idle), "utf-8")
            count = f"{len(idle)} of {len(known)} monitors never exercised"
            click.echo(f"  {count}, named in {_from_here(file)}")

    def _headline(self, finding: Finding) -> str:
        seeds = self.seeds_with(finding.name)
        found = f"   [seed {_numbers(seeds)}]" if len(self._seeds) > 1 else ""
        return f"{headline(finding.name, finding.message, finding.requirements)}{found}"


def headline(name: str, message: str, requirements: Sequence[str]) -> str:
    """Return a failure as one line."""
    cited = f"   ({', '.join(requirements)})" if requirements else ""
    return f"{name.replace('_', ' ')}: {message}{cited}"


def replay_command(finding: Finding, settings: Settings) -> str:
    """Write the history and return the command that replays it."""
    file = adds(settings.results, file_of(finding.name, settings))
    file.write_text(finding.history, "utf-8")
    here = str(_from_here(file))
    return shlex.join((PROGRAM, "replay", here, *settings.command_line.options))


def _from_here(file: Path) -> Path:
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file


def _numbers(seeds: Sequence[int]) -> str:
    more = f" and {len(seeds) - _SHOWN} more" if len(seeds) > _SHOWN else ""
    return ", ".join(str(seed) for seed in seeds[:_SHOWN]) + more
