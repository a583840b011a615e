"""Schedulers with randomly combined strategies; `nox -s mixes` runs the whole suite."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from mutation import mixes
from mutation.by_key.strategies import chosen as chosen_by_key
from mutation.independent.strategies import chosen as chosen_independent
from mutation.mixes import SMALL, Small
from siconform.doctor.examining import idle
from siconform.doctor.idle import Idle

pytestmark = pytest.mark.end_to_end

MANY = range(200)
CHOSEN = {"independent": chosen_independent, "by_key": chosen_by_key}
ALL = pytest.mark.parametrize("small", SMALL.values(), ids=SMALL.keys())


class Rejecting(Small):
    """A scheduler that rejects everything."""

    def started(self, _words: object) -> list[str]:
        return idle(Idle.REJECTING)


@ALL
def test_same_seed_gives_same_mix(small: Small) -> None:
    assert small.mix(1) == small.mix(1)
    assert len({tuple(small.mix(seed)) for seed in MANY}) > len(MANY) / 2


@ALL
def test_every_strategy_is_switched_on_and_off(small: Small) -> None:
    everything = [CHOSEN[small.name](small.mix(seed)) for seed in MANY]

    for name in small.is_usual.keys() - {"own-timers"}:
        assert {name in strategies for strategies in everything} == {True, False}, name


@ALL
def test_exclusive_strategies_are_not_mixed(small: Small) -> None:
    assert small.one_of
    for group in small.one_of:
        assert small.is_usual.keys() >= set(group)
        for seed in MANY:
            strategies = CHOSEN[small.name](small.mix(seed))
            assert len(strategies.intersection(group)) <= 1


def test_mix_command_has_strategies() -> None:
    by_key = SMALL["by_key"]

    assert by_key.started(["slow", "echoes"])[-2:] == ["--strategy", "own-timers,slow,echoes"]


def test_nonconformant_mix_lists_failed_musts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = ("-k", "SI-NODE-001", "-n", "0", "--time-scale", "0.5")
    monkeypatch.setattr(mixes, "SMALL", {"by_key": Rejecting("by_key", {}, (), "2024-10")})
    monkeypatch.setattr(mixes, "_FOLDER", tmp_path)
    monkeypatch.setattr(mixes, "_WORKERS", quick)

    received = CliRunner().invoke(mixes.main, ["1"])

    assert received.exit_code == 1
    assert "by_key 1: " in received.output
    assert "fail SI-NODE-001" in received.output


def test_of_option_selects_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[str] = []

    def report(small: Small, seed: int) -> bool:
        evaluated.append(f"{small.name} {seed}")
        return True

    monkeypatch.setattr(mixes, "_report", report)

    assert CliRunner().invoke(mixes.main, ["--of", "by_key", "7"]).exit_code == 0
    assert CliRunner().invoke(mixes.main, ["8"]).exit_code == 0
    assert evaluated == ["by_key 7", "independent 8", "by_key 8"]
