"""The traces of ordinary work with mutants of the scheduler, and what is detected in them."""

from click.testing import CliRunner
from mutation import traces
from mutation.evaluating import ROOT

from .commands import python


def test_a_mutant_is_detected_in_ordinary_work_and_the_reference_is_not() -> None:
    ran = python("-m", "mutation.traces", "allocated-elsewhere", cwd=ROOT)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    first, second, *_, last = ran.stdout.splitlines()
    assert first.split() == ["allocated-elsewhere", "own:", "SI-ALLOC-001"]
    assert second.startswith("1 mutants: 1 detected, 1 by a requirement of their own")
    assert last.startswith("unmodified reference: ")


def test_an_unknown_name_is_an_error() -> None:
    ran = CliRunner().invoke(traces.main, ["no-such-mutant"])

    assert ran.exit_code == 2
    assert "unknown mutant of a scheduler of 2024-10: no-such-mutant" in ran.output
