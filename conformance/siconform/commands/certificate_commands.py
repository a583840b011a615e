"""Commands for certificates: ``certify`` writes one, ``verify`` tests a sample of it again."""

import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from siconform.commands.errors import ends, wrong
from siconform.config.click_options import TargetCommand, of_the_target

if TYPE_CHECKING:
    from siconform.reporting.certificate import Certificate, Resource
    from siconform.reporting.verifying import Again, Altered

_SAMPLE: Final = 20
_LISTED: Final = 3  # altered files that are named
_CODES: Final = (
    "Exit codes: 0 as certified, 1 different, 10 not verified: nothing was tested again, some of "
    "the sample had no result, or the certificate is from another version of the kit; others as in "
    "siconform run."
)


_OUTPUT: Final = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Output file, - for standard output (default: certificate and badge in RESULTS)",
)
_SUBJECT: Final = click.option(
    "--subject",
    "subjects",
    multiple=True,
    metavar="NAME=ALGORITHM:DIGEST",
    help="Digest of what was tested: image=sha256:... (default: the files the kit started)",
)
_SAMPLED: Final = click.option(
    "--sample",
    "count",
    type=click.IntRange(min=0),
    default=_SAMPLE,
    show_default=True,
    help="Number of requirements to test again",
)
_EVIDENCE: Final = click.option(
    "--results",
    "evidence",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Results folder of the certified run, to check its files",
)


@click.command(epilog="Exit codes: 0 written, 4 these results cannot be certified.")
@click.argument("results", type=click.Path(path_type=Path))
@_OUTPUT
@click.option("--implementation", default="", metavar="NAME", help="Name of the scheduler")
@click.option(
    "--implementation-version", default="", metavar="VERSION", help="Version of the scheduler"
)
@click.option("--contact", default="", metavar="TEXT", help="Contact for questions about it")
@click.option("--url", default="", metavar="URL", help="URL of the run, such as a CI job")
@_SUBJECT
def certify(
    results: Path, output: Path | None, url: str, subjects: Sequence[str], **received: str
) -> None:
    """Write the certificate and badge of a whole run.

    A whole run writes both itself; use this command to add a name, contact or digests.
    """
    from siconform.reporting import certifying  # noqa: PLC0415  # takes time
    from siconform.reporting.stored import RecordError  # noqa: PLC0415  # the same

    about = certifying.About(
        received["implementation"],
        received["implementation_version"],
        received["contact"],
        url,
        tuple(_subject(one) for one in subjects),
    )
    try:
        _writes(results, output, certifying.certify(results, about))
    except RecordError as error:
        wrong(str(error))
    except OSError as error:
        wrong(f"{output or results} cannot be written: {error.strerror}")


def _writes(results: Path, output: Path | None, made: "Certificate") -> None:
    from siconform.reporting import certificate, certifying  # noqa: PLC0415  # takes time

    if output == Path("-"):
        click.echo(certificate.written(made), nl=False)
        return
    if output is not None:
        output.write_text(certificate.written(made), "utf-8")
    else:
        _refuse_unlisted(results)
        certifying.write(results, made)
    click.echo(f"{output or results / certificate.FILE}: {made.part.sentence}")


@click.command(cls=TargetCommand, epilog=_CODES)
@click.argument("certificate", type=click.Path(path_type=Path))
@_SAMPLED
@click.option("--seed", type=int, help="Seed of the sample (default: random)")
@_EVIDENCE
@click.option(
    "--into",
    default="build/verify",
    show_default=True,
    metavar="DIR",
    help="Results folder of the new run",
)
@of_the_target(without=())
def verify(
    certificate: Path,
    count: int,
    seed: int | None,
    evidence: Path | None,
    into: str,
    **target: Any,
) -> None:
    """Test a random sample of a certificate again and compare.

    You name the scheduler: no command is ever taken from a certificate.
    """
    from siconform.reporting.certificate import read_certificate  # noqa: PLC0415  # takes time
    from siconform.reporting.stored import RecordError  # noqa: PLC0415  # the same

    try:
        read = read_certificate(certificate)
        others, altered = _checks(read, evidence)
    except RecordError as error:
        wrong(str(error))
    number = random.randrange(2**32) if seed is None else seed  # noqa: S311  # not a secret
    again = _evaluated_again(read, count, number, target, Path(into))
    for one in again:
        if not one.is_same:
            click.echo(_received(one))
    sys.exit(_concludes(again, others, altered, into))


def _evaluated_again(
    certificate: "Certificate", count: int, seed: int, target: Mapping[str, Any], into: Path
) -> list["Again"]:
    """Test the sample again and return the comparison."""
    from siconform.commands import verifying_run  # noqa: PLC0415  # takes time
    from siconform.reporting import verifying  # noqa: PLC0415  # the same
    from siconform.running.index import tests_by_requirement  # noqa: PLC0415  # the same

    population = verifying.population(certificate, tests_by_requirement(certificate.part.side))
    chosen = verifying.sample(population, count, seed)
    click.echo(f"  sample     {len(chosen)} of {len(population)} requirements, seed {seed}")
    if not chosen:
        return []
    try:
        run = verifying_run.evaluate(certificate.part, chosen, target, into)
    except verifying_run.NotEvaluated as error:
        ends(str(error), error.code)
    return verifying.compared(certificate, run, chosen)


def _checks(
    certificate: "Certificate", evidence: Path | None
) -> tuple[list[str], "list[Altered] | None"]:
    """Compare the kit and the evidence with the certificate; return the differences of each."""
    from siconform.reporting import verifying  # noqa: PLC0415  # takes time

    part = certificate.part
    click.echo(f"{part.implementation.name}, SI {part.revision}: {part.sentence}")
    others = verifying.other_kit(certificate)
    click.echo(f"  kit        {'; '.join(others) or 'the same version'}")
    if evidence is None:
        return others, None
    altered = list(verifying.altered_files(certificate, evidence))
    received = [str(one) for one in altered[:_LISTED]]
    number = part.histories.files
    histories = f"{number} histor{'y' if number == 1 else 'ies'}"
    for line in received or [f"results.json and {histories} as certified"]:
        click.echo(f"  evidence   {line}")
    if len(altered) > _LISTED:
        click.echo(f"  evidence   {len(altered) - _LISTED} more files are not as certified")
    return others, altered


def _received(one: "Again") -> str:
    word = "NO RESULT" if one.is_untested else "DIFFERENT"
    reason = f": {' '.join(one.reason.split())}" if one.reason else ""
    line = (
        f"  {word:<10} {one.requirement:<12} {one.level:<6} certified {one.certified.label}, "
        f"now {one.now.label}{reason}"
    )
    return line if len(line) <= 100 else f"{line[:97]}..."  # noqa: PLR2004  # columns


def _concludes(
    again: Sequence["Again"], others: Sequence[str], altered: "Sequence[Altered] | None", into: str
) -> int:
    """Print the conclusion and what to do next; return the exit code."""
    from siconform.reporting import verifying  # noqa: PLC0415  # takes time

    ended = verifying.conclusion(again, others, altered)
    click.echo(ended.sentence)
    if altered:
        click.echo(
            "  Get the original files of the certified run, or run the suite again and certify that"
        )
    changed = [one.requirement for one in again if not one.is_same]
    if changed:
        click.echo(f"  siconform explain {changed[0]}; results of this run in {into}")
    return ended.code


def _subject(text: str) -> "Resource":
    from siconform.reporting.certificate import Resource  # noqa: PLC0415  # takes time

    name, _, digest = text.partition("=")
    algorithm, _, digits = digest.partition(":")
    if not (name and algorithm and digits) or set(digits) - set("0123456789abcdef"):
        wrong(f'--subject "{text}" must be NAME=ALGORITHM:DIGEST, such as image=sha256:1f0a...')
    return Resource(name, {algorithm: digits})


def _refuse_unlisted(results: Path) -> None:
    """Refuse to write into a copied folder, which has no list of written files."""
    from siconform.config.results_dir import LIST  # noqa: PLC0415  # takes time

    if not (results / LIST).is_file():
        wrong(f"{results} has no {LIST}, so it is not modified: give -o FILE")
