"""Verification of a certificate: same kit, same histories, and a sample of tests run again."""

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from siconform import __version__, digests
from siconform.policy import ExitCode
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

_SHORT: Final = 12  # digits of a digest that are shown

_NO_RESULT: Final = frozenset({Verdict.COULD_NOT_RUN, Verdict.NOT_SELECTED, Verdict.KIT_ERROR})


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
    def is_untested(self) -> bool:
        """Whether the requirement had no result this time, so that it proves nothing."""
        return self.now in _NO_RESULT and not self.is_same


@dataclass(frozen=True, slots=True)
class Altered:
    """A file of the results folder that is not as certified, and in what way."""

    name: str
    how: str

    def __str__(self) -> str:
        return f"{self.name} {self.how}"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The exit code of a verification and its sentence."""

    code: ExitCode
    sentence: str


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
        f"another {name} ({found.get('sha256', '')[:_SHORT]}, here {here[name][:_SHORT]})"
        for name, found in certified.items()
        if found.get("sha256") != here[name]
    ]


def altered_files(certificate: Certificate, folder: Path) -> Iterator[Altered]:
    """Yield the files of the results folder that are not as certified.

    RecordError if there are no complete results.
    """
    read_document(folder)
    certified = {one.name: one.digest.get("sha256", "") for one in certificate.subject}
    yield from _compared_file(
        RESULTS, digests.of_file(folder / RESULTS), certified.get(RESULTS, "")
    )
    histories, text = certificate.part.histories, certifying.listed(folder)
    digest = histories.digest.get("sha256")
    if digest == digests.of_text(text):
        return
    listed = folder / certifying.HISTORIES
    then = listed.read_text("utf-8") if listed.is_file() else ""
    if digests.of_text(then) != digest:
        numbers = f"({len(text.splitlines())}, certified {histories.files})"
        why = f"{listed.name} is not the certified list, so it is not known which"
        yield Altered("the set of histories", f"{numbers} differs: {why}")
        return
    before, now = _digests_in(then), _digests_in(text)
    for name in sorted({**before, **now}):
        yield from _compared_file(name, now.get(name, ""), before.get(name, ""))


def conclusion(
    again: Sequence[Again], others: Sequence[str], altered: Sequence[Altered] | None
) -> Conclusion:
    """Conclude from outcomes, differences of the kit, and altered files (None: not checked)."""
    different = sum(not one.is_same and not one.is_untested for one in again)
    untested = sum(one.is_untested for one in again)
    same = f"{sum(one.is_same for one in again)} of {len(again)} outcomes"
    counts = [f"{same} are as certified"] if again else ["no outcome was tested again"]
    counts += [f"{different} differ{'s' if different == 1 else ''}"] if different else []
    counts += [f"{untested} {'has' if untested == 1 else 'have'} no result"] if untested else []
    counts += ["but the certificate is from another version of the kit"] if others else []
    received = ", ".join(counts)
    if altered:
        more = f" and {len(altered) - 1} more are" if len(altered) > 1 else " is"
        received = f"{altered[0].name}{more} not as certified; {received}"
    if different or altered:
        return Conclusion(ExitCode.NON_CONFORMANT, f"DIFFERENT: {received}")
    if untested or others or (altered is None and not again):
        return Conclusion(ExitCode.INCOMPLETE, f"NOT VERIFIED: {received}")
    files = "" if again else "all files are as certified; "
    return Conclusion(ExitCode.OK, f"AS CERTIFIED: {files}{received}")


def _compared_file(name: str, now: str, certified: str) -> Iterator[Altered]:
    """Yield the file if its digest is not the certified one; "" if there is no such file."""
    if not now:
        yield Altered(name, f"is missing: certified sha256 {certified[:_SHORT]}")
    elif not certified:
        yield Altered(name, f"was added after the run was certified: sha256 {now[:_SHORT]}")
    elif now != certified:
        digest = f"sha256 {now[:_SHORT]}, certified {certified[:_SHORT]}"
        yield Altered(name, f"differs from the certified file: {digest}")


def _digests_in(text: str) -> dict[str, str]:
    """Return the digests in the output of ``certifying.listed()``, by file."""
    lines = (line.partition("  ") for line in text.splitlines())
    return {name: digest for digest, _, name in lines}
