"""Schedulers put together by chance; `nox -s mixes` judges some by the whole suite."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from proof import mixes
from proof.independent.manners import MANNERS, chosen
from siconform.doctor.examining import idle
from siconform.doctor.idle import Idle

MANY = range(200)


def test_a_seed_is_always_the_same_scheduler() -> None:
    assert mixes.manners(1) == mixes.manners(1)
    assert len({tuple(mixes.manners(seed)) for seed in MANY}) > len(MANY) / 2


def test_every_manner_comes_and_is_left_out() -> None:
    everything = [chosen(mixes.manners(seed)) for seed in MANY]

    for name in MANNERS.keys() - {"own-timers"}:
        assert {name in manners for manners in everything} == {True, False}, name


@pytest.mark.parametrize(
    "group", [("largest-node", "round-robin"), ("silent", "mute", "other-names")]
)
def test_what_excludes_each_other_is_not_mixed(group: tuple[str, ...]) -> None:
    for seed in MANY:
        assert len(chosen(mixes.manners(seed)).intersection(group)) <= 1


def test_one_that_is_not_conformant_is_told_with_its_musts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mixes, "_FOLDER", tmp_path)
    monkeypatch.setattr(mixes, "_started", lambda _words: idle(Idle.REJECTING))
    monkeypatch.setattr(mixes, "_TOLD", ("-k", "SI-NODE-001", "-n", "0", "--time-scale", "0.1"))

    told = CliRunner().invoke(mixes.main, ["1"])

    assert told.exit_code == 1
    assert "fail SI-NODE-001" in told.output
