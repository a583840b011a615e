"""Comparison of failed tests with the reference."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from siconform import child_processes
from siconform.config.options import settings_from
from siconform.running import reference_histories


@pytest.mark.parametrize(("functions", "in_one_process"), [(1, True), (8, True), (9, False)])
def test_few_failed_tests_are_compared_without_workers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, functions: int, *, in_one_process: bool
) -> None:
    commands: list[Sequence[str]] = []
    monkeypatch.setattr(child_processes, "run", lambda words, **_: commands.append(words))
    tests = [f"suite/test_a.py::test_{number}[x]" for number in range(functions)]

    reference_histories._evaluate(settings_from({"--revision": "2024-10"}.get), tests * 2, tmp_path)

    (command,) = commands
    assert ("-n 0" in " ".join(command)) is in_one_process
