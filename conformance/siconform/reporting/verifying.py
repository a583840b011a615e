"""Verification of a certificate: same kit, same histories, and a sample of tests run again."""

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from siconform import __version__, digests
from siconform.reporting import certifying
from siconform.reporting.certificate import Certificate, outcome
from siconform.reporting.evaluated_run import EvaluatedRun
from siconform.reporting.stored import read_document
from siconform.results import FILE as RESULTS
from siconform.verdicts import Verdict

_SHOWN: Final = frozenset(
    {Verdict.PASS, Verdict.FAIL, Verdict.LATE, Verdict.COULD_NOT_RUN, Verdict.NOT_APPLICABLE}
)
"""Outcomes that a test can reproduce."""

_UNJUDGED: Final = frozenset({Verdict.COULD_NOT_RUN, Verdict.NOT_SELECTED, Verdict.KIT_ERROR})


@dataclass(frozen=True, slots=True)
class Again:
    """A requirement of the sample: its certified outcome and its outcome now."""

    requirement: str
    level: str
    certified: Verdict
    now: Verdict
    reason: str

    @property
    def is_same(self) -> bool:
        """Whether the outcome is the certified one."""
        return self.now is self.certified

    @property
    def is_unjudged(self) -> bool:
        """Whether the requirement had no result this time, so that it proves nothing."""
        return self.now in _UNJUDGED and not self.is_same


def population(certificate: Certificate, with_tests: Collection[str]) -> list[str]:
    """List the requirements that a sample is taken from: those decided by their own tests."""
    return [
        identifier
        for identifier, sent in certificate.part.requirements.items()
        if outcome(sent) in _SHOWN and not sent.by_monitors_alone and identifier in with_tests
    ]


def sample(all_of: Sequence[str], count: int, seed: int) -> list[str]:
    """Draw ``count`` of them, deterministically by the seed, in the order given."""
    drawn = set(random.Random(seed).sample(all_of, min(count, len(all_of))))  # noqa: S311  # no secret
    return [one for one in all_of if one in drawn]


def compared(certificate: Certificate, run: EvaluatedRun, chosen: Sequence[str]) -> list[Again]:
    """Compare the sample, requirement by requirement."""
    requirements = certificate.part.requirements
    return [
        Again(
            one,
            requirements[one].level,
            outcome(requirements[one]),
            run.outcomes[one].verdict if one in run.outcomes else Verdict.NOT_SELECTED,
            run.outcomes[one].reason if one in run.outcomes else "",
        )
        for one in chosen
    ]


def other_kit(certificate: Certificate) -> list[str]:
    """List how the certifying kit differs from this one; [] if it is the same."""
    kit, here = certificate.part.kit, digests.of_the_kit()
    certified = {"catalogue": kit.catalogue, "suite": kit.suite, "kit": kit.kit}
    received = [] if kit.version == __version__ else [f"version {kit.version}, here {__version__}"]
    return received + [
        f"another {name} ({found.get('sha256', '')[:12]}, here {here[name][:12]})"
        for name, found in certified.items()
        if found.get("sha256") != here[name]
    ]


def other_evidence(certificate: Certificate, folder: Path) -> Iterator[str]:
    """Yield a sentence for each difference between the results folder and the certificate.

    RecordError if there are no complete results.
    """
    read_document(folder)
    certified = {one.name: one.digest for one in certificate.subject}
    if certified.get(RESULTS, {}).get("sha256") != digests.of_file(folder / RESULTS):
        yield f"{folder / RESULTS} is not the file that was certified"
    histories, text = certificate.part.histories, certifying.listed(folder)
    if histories.digest.get("sha256") == digests.of_text(text):
        return
    named = list(_differing(text, folder / certifying.HISTORIES, histories.digest))
    files = text.count("\n")
    which = f": {', '.join(named[:3])}" if named else ""
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""  # noqa: PLR2004  # that are named
    yield (
        f"the histories are not those that were certified ({files} files, certified "
        f"{histories.files}){which}{more}"
    )


def _differing(text: str, list_of_then: Path, digest: dict[str, str]) -> Iterator[str]:
    """Yield the files that changed, vanished or appeared, if the certified list is still there."""
    then = list_of_then.read_text("utf-8") if list_of_then.is_file() else ""
    if digests.of_text(then) != digest.get("sha256"):
        return
    changed = set(then.splitlines()) ^ set(text.splitlines())
    yield from sorted({line.partition("  ")[2] for line in changed})
