"""Seeds shared among workers: results are merged, and every way to lose one is reported."""

import sys
from pathlib import Path

import msgspec
import pytest
from siconform.config.option_values import BadOption
from siconform.config.options import Settings, settings_from
from siconform.exploring.merged import Merged
from siconform.exploring.processes import explore_apart
from siconform.exploring.shard import Finding, Kit, NoWorkers, Shard, ShardResult, kit_here
from siconform.exploring.workers import Workers
from siconform.policy import ExitCode


def found(name: str, size: int, message: str = "too much") -> Finding:
    return Finding(name, message, ("SI-NODE-006",), (size, size), "exchange", '{"number": 1}\n')


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "histories").mkdir()
    return settings_from({"--results": str(tmp_path)}.get)


def test_smallest_failure_of_each_name_is_kept() -> None:
    merged = Merged(range(1, 4))

    merged.add(ShardResult(3, findings=(found("overfilled", 2), found("leaks", 1))))
    merged.add(ShardResult(1, findings=(found("overfilled", 5),)))
    merged.add(ShardResult(2))

    assert [(one.name, one.size) for one in merged.findings()] == [
        ("overfilled", (2, 2)),  # the first seed found it first
        ("leaks", (1, 1)),
    ]
    assert merged.seeds_with("overfilled") == [1, 3]


def test_order_of_arrival_does_not_matter() -> None:
    results = [ShardResult(seed, findings=(found("leaks", 9 - seed),)) for seed in range(4)]
    one, other = Merged(range(4)), Merged(range(4))

    for result in results:
        one.add(result)
    for result in reversed(results):
        other.add(result)

    assert one.findings() == other.findings()


def test_problem_is_replaced_by_a_result_and_never_replaces_one() -> None:
    merged = Merged(range(1, 3))

    merged.add(ShardResult(1, problem="lost"))
    merged.add(ShardResult(2, histories=5))
    merged.add(ShardResult(1, histories=5))
    merged.add(ShardResult(2, problem="lost"))

    assert [one.histories for one in merged.done] == [5, 5]
    assert merged.missing == []
    assert merged.problems == {}


def test_report_stores_histories_and_names_seeds(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    merged = Merged(range(1, 4))
    merged.add(ShardResult(1))
    merged.add(ShardResult(2, findings=(found("leaks", 3),), runs=2))

    code = merged.report(settings, 1.0)

    shown = capsys.readouterr().out
    assert code is ExitCode.NON_CONFORMANT
    assert "FAILED in 1 seed" in shown
    assert "2 of 3 seeds done" in shown
    assert "seed 2 begun again" in shown
    assert (settings.results / "histories" / "leaks.jsonl").read_text() == '{"number": 1}\n'


def test_report_counts_idle_monitors_and_stores_their_names(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    merged = Merged(range(1, 3))
    merged.add(ShardResult(1, evaluations={"capacity": 0, "names": 3, "order": 0}))
    merged.add(ShardResult(2, evaluations={"capacity": 1, "names": 0, "order": 0, "ends": 0}))

    merged.report(settings, 1.0)

    file = settings.results / "idle-monitors.txt"
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"  2 of 4 monitors never exercised, named in {file}"
    )
    assert file.read_text("utf-8") == "order\nends\n"


def test_report_without_idle_monitors_does_not_mention_them(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    merged = Merged(range(1, 2))
    merged.add(ShardResult(1, evaluations={"capacity": 1}))

    merged.report(settings, 1.0)

    assert "monitors" not in capsys.readouterr().out
    assert not (settings.results / "idle-monitors.txt").exists()


def test_missing_seed_makes_the_run_incomplete(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    merged = Merged(range(1, 3))
    merged.add(ShardResult(1))
    merged.add(ShardResult(2, problem="its process failed"))

    code = merged.report(settings, 1.0)

    assert code is ExitCode.INCOMPLETE
    assert "seed 2: its process failed" in capsys.readouterr().err


def test_run_without_any_result_is_not_a_pass(settings: Settings) -> None:
    merged = Merged(range(1, 2))
    merged.add(ShardResult(1, problem="nothing listens"))

    assert merged.report(settings, 1.0) is ExitCode.NOTHING_RAN


def test_result_survives_the_way_between_processes() -> None:
    result = ShardResult(1, 2, 3, 4, 5, 6.0, findings=(found("leaks", 1),), evaluations={"a": 1})

    again = msgspec.json.decode(msgspec.json.encode(result), type=ShardResult)

    assert again == result


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": "9.9"}, "siconform 9.9 instead of"),
        ({"python": "2.7"}, "Python 2.7 instead of"),
        ({"catalogue": "other"}, "another catalogue"),
        ({"code": "other"}, "other code of siconform"),
        ({}, ""),
    ],
)
def test_difference_between_kits_is_named(change: dict[str, str], sentence: str) -> None:
    kit = kit_here()
    other = Kit(**{**msgspec.structs.asdict(kit), **change})

    difference = kit.differs_from(other)

    assert sentence in difference
    assert bool(difference) is bool(change)


@pytest.mark.parametrize("text", ["0", "-1", "many", "dask:", "dask:host", "HOST:8786"])
def test_invalid_workers_are_refused(text: str) -> None:
    with pytest.raises(BadOption, match="neither a number of processes nor dask:HOST:PORT"):
        Workers.read(text, seeds=2)


def test_one_seed_is_not_shared() -> None:
    with pytest.raises(BadOption, match="give --seeds 2 or more"):
        Workers.read("2", seeds=1)


def test_dask_is_imported_only_when_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "siconform.exploring.dask_cluster", None)

    with pytest.raises(NoWorkers, match=r"pip install '.\[dask\]'"):
        list(Workers.read("dask:127.0.0.1:1", seeds=2).explore([]))


def test_cancelled_process_ends_without_a_result() -> None:
    shard = Shard(1, 1000, 30, 100.0, {})

    result = explore_apart(shard, lambda: True)

    assert result.problem == "cancelled"
