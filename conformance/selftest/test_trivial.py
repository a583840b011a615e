"""Schedulers that do nothing meet almost no MUST; `nox -s trivial` runs the whole suite."""

from pathlib import Path

import pytest
from mutation import trivial
from mutation.trivial import passing
from siconform.catalogue import Level, catalogue
from siconform.doctor.examining import BRIEF, evaluated, idle, passed
from siconform.doctor.idle import Idle
from siconform.doctor.kept import KEPT
from siconform.verdicts import Verdict

pytestmark = pytest.mark.end_to_end

AREA = "SI-RES"
A_PART = ("-k", AREA, "-n", "0", *BRIEF)
"""Monitors see too little of a part to speak for other areas."""


@pytest.mark.parametrize("kind", Idle)
def test_idle_schedulers_pass_no_must(kind: Idle, tmp_path: Path) -> None:
    record = evaluated(idle(kind), tmp_path / "out", A_PART)

    verdicts = {j.verdict for i, j in record.requirements.items() if i.startswith(AREA)}
    assert verdicts & {Verdict.FAIL, Verdict.COULD_NOT_RUN}
    assert [i for i in passed(record) if i.startswith(AREA)] == []


def test_passing_must_not_met_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trivial, "KEPT", {Idle.ACCEPTING: {}})

    assert "SI-NODE-001" in passing(Idle.ACCEPTING, tmp_path, ("-k", "SI-NODE-001"))


def test_exempt_musts_have_a_reason() -> None:
    assert KEPT.keys() == set(Idle)
    for kept in KEPT.values():
        assert {catalogue()[identifier].level for identifier in kept} == {Level.MUST}
        assert all(kept.values())
