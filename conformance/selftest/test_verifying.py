"""A certificate is verified by testing a sample of it again, against a named scheduler."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from siconform import digests
from siconform.reporting import certifying, verifying
from siconform.reporting.certificate import read_certificate
from siconform.targets.embedded import NAME
from siconform.verdicts import Verdict

from .commands import invoke
from .stored_runs import Document, document, folder_of, requirement

pytestmark = pytest.mark.end_to_end

FAULTY = f"{sys.executable} {Path(__file__).with_name('overcommitter.py')}"
PASS, FAIL, NOT_RUN = Verdict.PASS, Verdict.FAIL, Verdict.COULD_NOT_RUN
KEPT, BROKEN_BY_IT = "SI-NODE-004", "SI-ASK-010"
REFERENCE = {"name": NAME, "address": "", "version": "", "without": [], "observed": {}}


@pytest.fixture
def certified(tmp_path: Path) -> Path:
    """The certificate of a run in which the reference passes two requirements."""
    passed = [requirement(KEPT, "pass"), requirement(BROKEN_BY_IT, "pass")]
    run = folder_of(document(*passed, target=REFERENCE), tmp_path / "out")
    return certifying.write(run, certifying.certify(run))


def verified(certificate: Path, *words: str) -> Result:
    into = certificate.parent.parent / "again"
    return invoke("verify", certificate, "--into", into, *words)


def test_same_scheduler_verifies(certified: Path) -> None:
    done = verified(certified, "--results", str(certified.parent), "--seed", "7")

    assert done.exit_code == 0, done.output
    assert "  kit        the same version" in done.stdout
    assert "  evidence   results.json and 1 history as certified" in done.stdout
    assert "  sample     2 of 2 requirements, seed 7" in done.stdout
    assert done.stdout.endswith("AS CERTIFIED: 2 of 2 outcomes are as certified\n")


def test_other_scheduler_does_not_verify(certified: Path) -> None:
    done = verified(certified, "--target-command", FAULTY)

    assert done.exit_code == 1, done.output
    assert f"  DIFFERENT  {BROKEN_BY_IT}   SHOULD certified pass, now fail: " in done.stdout
    assert "\nDIFFERENT: 1 of 2 outcomes are as certified, 1 differs\n" in done.stdout
    assert f"  siconform explain {BROKEN_BY_IT}; results of this run in " in done.stdout


def test_missing_scheduler_verifies_nothing(certified: Path, closed_address: str) -> None:
    done = verified(certified, "--target", closed_address)

    assert done.exit_code == 12
    assert done.stderr.startswith(f"siconform: nothing listens on {closed_address}. ")
    assert done.stderr.count("\n") == 1


def test_inconclusive_repetition_is_not_a_difference() -> None:
    again = verifying.Again(KEPT, "MUST", certified=PASS, now=NOT_RUN, reason="it died")

    assert again.is_untested
    assert not verifying.Again(KEPT, "MUST", PASS, FAIL, "").is_untested
    assert verifying.Again(KEPT, "MUST", NOT_RUN, NOT_RUN, "").is_same


def changed(certificate: Path, change: Callable[[Document], Any]) -> None:
    read = json.loads(certificate.read_text("utf-8"))
    change(read["predicate"]["https://si-conformance.example/certificate/v1"])
    certificate.write_text(json.dumps(read), "utf-8")


def test_no_command_is_taken_from_a_certificate(certified: Path) -> None:
    changed(certified, lambda part: part["implementation"].update(target="rm -rf /"))

    done = verified(certified)

    assert done.exit_code == 4
    assert "(target rm -rf /): give --target" in done.stderr


def test_certificate_of_other_kit_is_not_verified(certified: Path) -> None:
    changed(certified, lambda part: part["kit"]["suite"].update(sha256="ab" * 32))
    changed(certified, lambda part: part["kit"].update(version="0.0.9"))

    done = verified(certified, "--sample", "0")

    assert done.exit_code == 10
    assert "kit        version 0.0.9, here 0.1.0; another suite (abababababab, here " in done.stdout
    assert "NOT VERIFIED: no outcome was tested again, but the certificate" in done.stdout


HISTORY = "{}\n"  # of folder_of()


def short(text: str) -> str:
    """The beginning of the digest of a file with this text."""
    return digests.of_text(text)[:12]


@pytest.mark.parametrize(
    ("name", "text", "received"),
    [
        (
            "histories/test_a.jsonl",
            "{}",
            f"differs from the certified file: sha256 {short('{}')}, certified {short(HISTORY)}",
        ),
        (
            "histories/test_b.jsonl",
            "{}",
            f"was added after the run was certified: sha256 {short('{}')}",
        ),
        ("histories/test_a.jsonl", None, f"is missing: certified sha256 {short(HISTORY)}"),
    ],
)
def test_altered_history_is_named_with_its_digest(
    certified: Path, name: str, text: str | None, received: str
) -> None:
    file = certified.parent / name
    if text is None:
        file.unlink()
    else:
        file.write_text(text, "utf-8")

    done = verified(certified, "--sample", "0", "--results", str(certified.parent))

    assert done.exit_code == 1
    assert f"  evidence   {name} {received}\n" in done.stdout
    assert f"\nDIFFERENT: {name} is not as certified; no outcome was tested again\n" in done.stdout
    assert "\n  Get the original files of the certified run, or " in done.stdout


def test_altered_results_are_named_with_their_digest(certified: Path) -> None:
    file = certified.parent / "results.json"
    then = digests.of_file(file)[:12]
    file.write_text(file.read_text("utf-8") + "\n", "utf-8")
    now = digests.of_file(file)[:12]

    done = verified(certified, "--sample", "0", "--results", str(certified.parent))

    assert f"results.json differs from the certified file: sha256 {now}, certified {then}" in (
        done.stdout
    )


def test_altered_histories_without_the_certified_list(certified: Path) -> None:
    (certified.parent / "histories.sha256").unlink()
    (certified.parent / "histories" / "test_b.jsonl").write_text("{}", "utf-8")

    done = verified(certified, "--sample", "0", "--results", str(certified.parent))

    assert (
        "  evidence   the set of histories (2, certified 1) differs: histories.sha256 is not the "
        in done.stdout
    )
    assert "\nDIFFERENT: the set of histories is not as certified; no outcome" in done.stdout


SAME = verifying.Again(KEPT, "MUST", PASS, PASS, "")
OTHER = verifying.Again(BROKEN_BY_IT, "SHOULD", PASS, FAIL, "it does not")
NO_RESULT = verifying.Again(BROKEN_BY_IT, "SHOULD", PASS, NOT_RUN, "it died")
ALTERED = [verifying.Altered("test_a.jsonl", "differs")]
ALL = "1 of 1 outcomes are as certified"
BOTH = "1 of 2 outcomes are as certified, 1 differs"
LOST = "1 of 2 outcomes are as certified, 1 has no result"
BUT = "but the certificate is from another version of the kit"
KIT = ["version 0.0.9, here 0.1.0"]


@pytest.mark.parametrize(
    ("again", "others", "altered", "code", "received"),
    [
        ([SAME], [], None, 0, f"AS CERTIFIED: {ALL}"),
        ([SAME], [], [], 0, f"AS CERTIFIED: {ALL}"),
        ([], [], [], 0, "AS CERTIFIED: all files are as certified; no outcome was tested again"),
        ([], [], None, 10, "NOT VERIFIED: no outcome was tested again"),
        ([SAME, NO_RESULT], [], None, 10, f"NOT VERIFIED: {LOST}"),
        ([SAME, NO_RESULT], KIT, None, 10, f"NOT VERIFIED: {LOST}, {BUT}"),
        ([SAME], [], ALTERED, 1, f"DIFFERENT: test_a.jsonl is not as certified; {ALL}"),
        (
            *([SAME, OTHER], [], ALTERED * 3, 1),
            f"DIFFERENT: test_a.jsonl and 2 more are not as certified; {BOTH}",
        ),
        ([SAME, OTHER], KIT, None, 1, f"DIFFERENT: {BOTH}, {BUT}"),
    ],
)
def test_ending_states_files_and_outcomes_apart(
    again: list[verifying.Again],
    others: list[str],
    altered: list[verifying.Altered] | None,
    code: int,
    received: str,
) -> None:
    ended = verifying.conclusion(again, others, altered)

    assert (ended.code, ended.sentence) == (code, received)


def test_sample_depends_on_seed() -> None:
    every = [str(number) for number in range(100)]

    drawn = verifying.sample(every, 20, seed=5)

    assert drawn == verifying.sample(every, 20, seed=5) != verifying.sample(every, 20, seed=6)
    assert sorted(drawn, key=int) == drawn
    assert verifying.sample(every, 200, seed=5) == every


def test_monitor_only_requirements_are_not_sampled(tmp_path: Path) -> None:
    seen = requirement("SI-NODE-006", "fail")
    seen["tests"][0]["monitor"] = "nodes"
    run = folder_of(document(requirement(KEPT, "pass"), seen), tmp_path / "out")
    made = read_certificate(certifying.write(run, certifying.certify(run)))

    assert verifying.population(made, {KEPT, "SI-NODE-006"}) == [KEPT]
    assert verifying.population(made, {"SI-NODE-006"}) == []
