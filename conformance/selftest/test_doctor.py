"""The doctor: every area has a mutant that its requirements must kill."""

from pathlib import Path

import pytest
from siconform.catalogue import Level, catalogue
from siconform.doctor import examining
from siconform.doctor.changes import CHANGES
from siconform.doctor.examining import Examined, examine, selection
from siconform.doctor.idle import Idle
from siconform.doctor.revision import NAME
from siconform.reporting.record import Record, RequirementRecord
from siconform.reporting.stored import RecordError
from siconform.verdicts import Verdict

from .commands import invoke

MUTANTS = [change for change in CHANGES.values() if not change.is_variant]
AREAS = {r.area for r in catalogue().values() if NAME in map(str, r.revisions)}


def test_each_area_has_a_mutant() -> None:
    first = [catalogue()[change.breaks[0]] for change in MUTANTS]

    assert {requirement.area for requirement in first} == AREAS
    assert {r.id for r in first if r.level is not Level.MUST} <= {"SI-CONST-006", "SI-FOR-002"}


def test_monitor_only_requirements_use_busy_tests() -> None:
    assert selection(["SI-NODE-010"]) == "SI-NODE-010"
    assert "SI-ALLOC" in selection(["SI-WIRE-006"])


@pytest.mark.parametrize(
    ("verdict", "is_right", "found"),
    [
        (Verdict.FAIL, True, "detected by SI-NODE-026"),
        (Verdict.LATE, True, "detected by SI-NODE-026"),
        (Verdict.COULD_NOT_RUN, False, f"not detected: SI-NODE-026 {Verdict.COULD_NOT_RUN.label}"),
    ],
)
def test_mutant_is_killed_by_broken_requirement(
    *,
    verdict: Verdict,
    is_right: bool,
    found: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = Record("it", "2023-12", "run", "said", {"SI-NODE-026": RequirementRecord(verdict)})
    monkeypatch.setattr(examining, "evaluated", lambda *_: record)

    examined = examining._mutant(CHANGES["drain-ignored"])(tmp_path)

    assert examined == Examined("mutant drain-ignored", is_right=is_right, found=found)


def test_every_change_is_examined_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def evaluated(*_: object) -> None:
        raise RecordError("nothing was judged")

    monkeypatch.setattr(examining, "evaluated", evaluated)

    found = list(examine(tmp_path, 2))

    assert len(found) == len(CHANGES) + len(Idle)
    assert {(one.is_right, one.found) for one in found} == {(False, "nothing was judged")}


@pytest.mark.parametrize(("is_right", "code"), [(True, 0), (False, 1)])
def test_doctor_exit_code(*, is_right: bool, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Examined("mutant x", is_right=is_right, found="said so", seconds=1.0)]
    monkeypatch.setattr(examining, "examine", lambda _folder, _jobs: found)

    result = invoke("doctor")

    assert result.exit_code == code
    assert "mutant x" in result.output
