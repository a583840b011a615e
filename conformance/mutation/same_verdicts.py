"""Checks that verdicts do not depend on test order, number of workers or earlier tests.

Run as ``python -m mutation.same_verdicts``. The suite tests the embedded reference, or the same
without the extension: in its own order, shuffled with one worker, shuffled with two, and some
requirements one by one. Every requirement has to get the same verdict. The exit code is 1 if one
does not.
"""

import random
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
from siconform.config.results_dir import ResultsDir
from siconform.policy import ExitCode
from siconform.reporting.comparing import Difference, differences
from siconform.reporting.record import Record, read_results
from siconform.running.index import tests_by_requirement
from siconform.verdicts import Verdict

from mutation.main_revision import NAME
from mutation.without_extension import RECEIVED

_ROOT: Final = Path(__file__).parents[2]
_FOLDER: Final = _ROOT / "build" / "same-verdicts"
_LIMIT: Final = 600.0  # seconds for one run
_SHUFFLED: Final = ("-p", "random_order.plugin", "--random-order-bucket=global")
_WAYS: Final = {
    "shuffled-one-worker": ("-n", "1"),
    "shuffled-two-workers": ("-n", "2", "--dist", "worksteal"),
}


@click.command(help=__doc__)
@click.option("--revision", default=NAME, show_default=True)
@click.option(
    "--alone", default=12, show_default=True, help="How many requirements to run one by one."
)
@click.option("--seed", type=int, help="Seed of the shuffle and the choice (default: random).")
@click.option("-k", "selection", default="", help="Only these requirements, in every run.")
@click.option("--without-extension", is_flag=True, help="Test a scheduler without the extension.")
def main(
    *, revision: str, alone: int, seed: int | None, selection: str, without_extension: bool
) -> None:
    """Run the suite in every order and print where verdicts differ."""
    seed = random.SystemRandom().randrange(10_000) if seed is None else seed
    click.echo(f"SI {revision}, seed {seed}")
    folder = _FOLDER / revision / ("without-extension" if without_extension else "reference")
    target = _without_extension(revision) if without_extension else ()
    chosen = (*target, *(("-k", selection) if selection else ()))
    usual = _run(revision, folder / "in-order", chosen)
    _report("in-order", usual, ())
    found: list[Difference] = []
    for name, workers in _WAYS.items():
        order = (*_SHUFFLED, f"--random-order-seed={seed}", *workers)
        other = _run(revision, folder / name, (*chosen, *order))
        differ = list(differences(usual, other))
        found += _report(name, other, _of_tests(differ) if selection else differ)
    for identifier in _sample(usual, alone, seed):
        other = _run(revision, folder / identifier, (*target, "-k", identifier))
        differ = [d for d in differences(usual, other) if d.requirement == identifier]
        found += _report(identifier, other, differ)
    click.echo("verdicts differ" if found else "the same verdicts in every run")
    sys.exit(bool(found))


def _without_extension(revision: str) -> tuple[str, ...]:
    serve = (sys.executable, "-P", "-m", "mutation.without_extension", "--listen", "127.0.0.1:0")
    return ("--target-command", shlex.join((*serve, "--revision", revision)), *RECEIVED)


def _run(revision: str, results: Path, options: Sequence[str]) -> Record:
    command = [sys.executable, "-m", "siconform", "run", "--revision", revision]
    command += ["--results", str(results), *options]
    ResultsDir(results).forget()
    done = subprocess.run(  # noqa: S603  # our own command
        command, capture_output=True, text=True, check=False, timeout=_LIMIT, cwd=_ROOT
    )
    if done.returncode == ExitCode.USAGE or not (results / "results.json").exists():
        raise click.ClickException(f"{results.name}: {done.stderr.strip() or done.stdout.strip()}")
    return read_results(results)[0]


def _of_tests(found: Sequence[Difference]) -> list[Difference]:
    """Drop requirements that only monitors test and whose precondition held in one run only."""
    return [
        difference
        for difference in found
        if all(
            evaluated is not None and evaluated.verdict is not Verdict.NOT_SELECTED
            for evaluated in (difference.first, difference.second)
        )
    ]


def _sample(usual: Record, count: int, seed: int) -> Iterator[str]:
    """Choose requirements that have tests, not monitors alone, in catalogue order."""
    evaluated = [
        identifier
        for identifier, one in usual.requirements.items()
        if one.verdict is Verdict.PASS and identifier in tests_by_requirement()
    ]
    chosen = set(random.Random(seed).sample(evaluated, min(count, len(evaluated))))  # noqa: S311  # no secret
    return (identifier for identifier in evaluated if identifier in chosen)


def _report(name: str, found: Record, differ: Sequence[Difference]) -> Sequence[Difference]:
    passed = sum(evaluated.verdict is Verdict.PASS for evaluated in found.requirements.values())
    click.echo(f"{name:<22} {passed:>4} passed   {len(differ) or 'none'} differ")
    for difference in differ:
        click.echo(f"  {difference}")
    return differ


if __name__ == "__main__":
    main()
