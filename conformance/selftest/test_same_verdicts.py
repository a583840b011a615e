"""Verdicts do not depend on test order; `nox -s same-verdicts` compares the whole suite."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from mutation import same_verdicts
from siconform.reporting.comparing import differences
from siconform.reporting.record import Record, RequirementRecord
from siconform.verdicts import Verdict

pytestmark = pytest.mark.end_to_end


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the results apart from those of ``nox -s same-verdicts`` and of other tests."""
    monkeypatch.setattr(same_verdicts, "_FOLDER", tmp_path)


def record(**verdicts: Verdict) -> Record:
    evaluated = {
        name.replace("_", "-"): RequirementRecord(v, "why") for name, v in verdicts.items()
    }
    return Record("mine", "2023-12", "c", "s", evaluated)


@pytest.mark.parametrize("extension", [[], ["--without-extension"]], ids=["with", "without"])
def test_verdicts_do_not_depend_on_order_or_workers(extension: list[str]) -> None:
    """On a part of the suite, with the embedded reference."""
    options = ["-k", "SI-RES", "--alone", "1", "--seed", "7", *extension]
    done = CliRunner().invoke(same_verdicts.main, options)

    assert done.exit_code == 0, done.output
    assert done.stdout.count("none differ") == 4
    assert "   0 pass" not in done.stdout


def test_monitor_preconditions_in_partial_runs_are_ignored() -> None:
    first = record(SI_A=Verdict.PASS, SI_B=Verdict.PASS, SI_C=Verdict.NOT_SELECTED)
    second = record(SI_A=Verdict.FAIL, SI_B=Verdict.NOT_SELECTED, SI_C=Verdict.PASS)

    found = same_verdicts._of_tests(list(differences(first, second)))

    assert [difference.requirement for difference in found] == ["SI-A"]


@pytest.mark.parametrize(
    ("second", "received"),
    [
        (record(SI_A=Verdict.PASS, SI_B=Verdict.PASS), []),
        (record(SI_A=Verdict.FAIL, SI_B=Verdict.PASS), ["SI-A: pass (why), then fail (why)"]),
        (record(SI_A=Verdict.PASS), ["SI-B: pass (why), then unknown"]),
        (record(SI_A=Verdict.PASS, SI_B=Verdict.LATE), ["SI-B: pass (why), then late (why)"]),
        (record(SI_A=Verdict.PASS, SI_B=Verdict.PASS, SI_C=Verdict.PASS),
         ["SI-C: unknown, then pass (why)"]),
    ],
)  # fmt: skip
def test_differing_verdicts_are_printed(second: Record, received: list[str]) -> None:
    first = record(SI_A=Verdict.PASS, SI_B=Verdict.PASS)

    assert [str(d) for d in differences(first, second)] == received
