"""Schedulers and RMs that do nothing meet almost no MUST; `nox -s trivial` runs whole suites."""

from pathlib import Path

import pytest
from mutation import idle_rm, trivial
from mutation.idle_rm import IdleRm
from mutation.trivial import passing
from siconform.catalogue import Level, Side, catalogue
from siconform.doctor.examining import BRIEF, evaluated, idle, passed
from siconform.doctor.idle import Idle
from siconform.doctor.vacuous_musts import KEPT
from siconform.reporting.stored import RecordError
from siconform.verdicts import Verdict

pytestmark = pytest.mark.end_to_end

AREA = "SI-RES"
A_PART = ("-k", AREA, "-n", "0", *BRIEF)
"""Monitors see too little of a part to speak for other areas."""
OF_RMS = ("SI-REG-011", "SI-REL-008")


@pytest.mark.parametrize("kind", Idle)
def test_idle_schedulers_pass_no_must(kind: Idle, tmp_path: Path) -> None:
    record = evaluated(idle(kind), tmp_path / "out", A_PART)

    verdicts = {j.verdict for i, j in record.requirements.items() if i.startswith(AREA)}
    assert verdicts & {Verdict.FAIL, Verdict.COULD_NOT_RUN}
    assert [i for i in passed(record) if i.startswith(AREA)] == []


def test_passing_must_not_met_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trivial, "KEPT", {Idle.ACCEPTING: {}})

    options = ("-k", "SI-NODE-001", "--time-scale", "1")  # its answers have to be in time
    assert "SI-NODE-001" in passing(Idle.ACCEPTING, tmp_path, options)


@pytest.mark.parametrize("kind", [kind for kind in IdleRm if kind is not IdleRm.CONNECTING])
def test_idle_rms_pass_no_must(kind: IdleRm, tmp_path: Path) -> None:
    part = ("-k", " or ".join(OF_RMS), "-n", "0", *BRIEF)

    record = evaluated(idle_rm.command(kind), tmp_path / "out", part, Side.RM)

    verdicts = {record.requirements[identifier].verdict for identifier in OF_RMS}
    assert verdicts <= {Verdict.FAIL, Verdict.COULD_NOT_RUN}


def test_rm_that_never_registers_is_not_tested(tmp_path: Path) -> None:
    command = idle_rm.command(IdleRm.CONNECTING)

    with pytest.raises(RecordError, match="it could not be tested"):
        evaluated(command, tmp_path / "out", ("--start-timeout", "3", "-n", "0"), Side.RM)

    assert "was started and did not register" in (tmp_path / "out.log").read_text("utf-8")


def test_exempt_musts_have_a_reason() -> None:
    assert KEPT.keys() == set(Idle)
    assert idle_rm.KEPT.keys() == {*IdleRm} - {IdleRm.CONNECTING}
    for kept in (*KEPT.values(), *idle_rm.KEPT.values()):
        assert {catalogue()[identifier].level for identifier in kept} == {Level.MUST}
        assert all(kept.values())
