"""A certificate is verified by testing a sample of it again, against a named scheduler."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from siconform.cli import main
from siconform.reporting import certifying, verifying
from siconform.reporting.certificate import read_certificate
from siconform.targets.embedded import NAME
from siconform.verdicts import Verdict

from .stored_runs import Document, document, folder_of, requirement

pytestmark = pytest.mark.end_to_end

CARELESS = f"{sys.executable} {Path(__file__).with_name('careless_scheduler.py')}"
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
    return CliRunner().invoke(main, ["verify", str(certificate), "--into", str(into), *words])


def test_same_scheduler_verifies(certified: Path) -> None:
    done = verified(certified, "--results", str(certified.parent), "--seed", "7")

    assert done.exit_code == 0, done.output
    assert "  kit        the same version" in done.stdout
    assert "  evidence   1 histories and results.json as certified" in done.stdout
    assert "  sample     2 of 2 requirements, seed 7" in done.stdout
    assert done.stdout.endswith("AS CERTIFIED: 2 of 2 outcomes are as certified\n")


def test_other_scheduler_does_not_verify(certified: Path) -> None:
    done = verified(certified, "--target-command", CARELESS)

    assert done.exit_code == 1, done.output
    assert f"  DIFFERENT  {BROKEN_BY_IT}   SHOULD certified pass, now fail: " in done.stdout
    assert done.stdout.endswith("DIFFERENT: 1 of 2 outcomes are as certified\n")


def test_missing_scheduler_verifies_nothing(certified: Path, closed_address: str) -> None:
    done = verified(certified, "--target", closed_address)

    assert done.exit_code == 12
    assert done.stderr.startswith(f"siconform: nothing listens on {closed_address}. ")
    assert done.stderr.count("\n") == 1


def test_inconclusive_repetition_is_not_a_difference() -> None:
    again = verifying.Again(KEPT, "MUST", certified=PASS, now=NOT_RUN, reason="it died")

    assert again.is_unjudged
    assert not verifying.Again(KEPT, "MUST", PASS, FAIL, "").is_unjudged
    assert verifying.Again(KEPT, "MUST", NOT_RUN, NOT_RUN, "").is_same


def changed(certificate: Path, change: Callable[[Document], Any]) -> None:
    read = json.loads(certificate.read_text("utf-8"))
    change(read["predicate"]["https://si-conformance.example/certificate/v1"])
    certificate.write_text(json.dumps(read), "utf-8")


def test_no_command_is_taken_from_a_certificate(certified: Path) -> None:
    changed(certified, lambda part: part["implementation"].update(target="rm -rf /"))

    done = verified(certified)

    assert done.exit_code == 4
    assert "the certificate is for rm -rf /: give --target" in done.stderr


def test_certificate_of_other_kit_is_not_verified(certified: Path) -> None:
    changed(certified, lambda part: part["kit"]["suite"].update(sha256="ab" * 32))
    changed(certified, lambda part: part["kit"].update(version="0.0.9"))

    done = verified(certified, "--sample", "0")

    assert done.exit_code == 10
    assert "kit        version 0.0.9, here 0.1.0; another suite (abababababab, here " in done.stdout
    assert "NOT VERIFIED: 0 of 0 outcomes are as certified, but the certificate" in done.stdout


@pytest.mark.parametrize(
    ("name", "received"),
    [
        ("histories/test_a.jsonl", "certified 1): histories/test_a.jsonl"),
        ("histories/test_b.jsonl", "certified 1): histories/test_b.jsonl"),
        ("results.json", "results.json is not the file that was certified"),
    ],
)
def test_evidence_that_changed_is_named(certified: Path, name: str, received: str) -> None:
    with (certified.parent / name).open("a", encoding="utf-8") as file:
        file.write("\n")

    done = verified(certified, "--sample", "0", "--results", str(certified.parent))

    assert done.exit_code == 1
    assert received in done.stdout


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
