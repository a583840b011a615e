"""Output in CI: a line for each complete area, annotations and the job summary of GitHub."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from siconform.config.command_line import CommandLine
from siconform.output import events
from siconform.output.area_lines import AreaLines
from siconform.output.github import Annotations, JobSummary
from siconform.output.live.output import Output
from siconform.output.live.progress import RunProgress
from siconform.output.live.terminal import Terminal
from siconform.policy import RequirementResult, RunStatus
from siconform.results import Run
from siconform.verdicts import Evidence, Verdict

from .conftest import FinishedRun
from .test_summary import COMMAND, MUST, SHOULD, run

HOSTILE = "100% <b>`wrong`</b> | a,b: *x*\n::error::no\r\x1b[31m"


def printed(stream: io.StringIO) -> Output:
    return Output(Terminal.of(stream), 0)


def lines_of(tests: dict[str, tuple[str, Verdict]], *, ended: int) -> list[str]:
    """Return the lines after so many of these tests have ended."""
    stream, progress = io.StringIO(), RunProgress()
    listeners: list[events.Listener] = [progress, AreaLines(printed(stream), progress)]
    received: list[events.Event] = [
        events.TestsSelected({test: [identifier] for test, (identifier, _) in tests.items()})
    ]
    for test, (identifier, verdict) in list(tests.items())[:ended]:
        evidence = [Evidence(identifier, verdict, test)]
        received.append(events.TestPhaseEnded(test, "call", "passed", 1.15, evidence=evidence))
        received.append(events.TestPhaseEnded(test, "teardown", "passed", 0.0))
    for event in received:
        for listener in listeners:
            listener.on_event(event)
    return stream.getvalue().splitlines()


def test_area_is_printed_once_with_counts_and_time_when_complete() -> None:
    tests = {
        "a": ("SI-NODE-004", Verdict.PASS),
        "b": ("SI-NODE-006", Verdict.FAIL),
        "c": ("SI-APP-001", Verdict.PASS),
        "d": ("SI-CONST-001", Verdict.PASS),
    }

    assert lines_of(tests, ended=1) == []
    assert lines_of(tests, ended=2) == ["NODE  1 pass, 1 fail   2.3 s"]
    assert lines_of(tests, ended=4) == [
        "NODE  1 pass, 1 fail   2.3 s",
        "APP   1 pass   1.1 s",
        "CONST 1 pass   1.1 s",
    ]


def failing(*requirements: Any, reason: str = "no") -> Run:
    return run([RequirementResult(one, Verdict.FAIL, reason) for one in requirements])


def annotations(of: Run) -> list[str]:
    stream = io.StringIO()
    Annotations(printed(stream)).on_event(events.RunFinished(of))
    return stream.getvalue().splitlines()


def test_failures_are_annotated_must_first_at_most_ten() -> None:
    lines = annotations(failing(*SHOULD[:2], *MUST[:9]))

    assert len(lines) == 10
    must = f"::error title={MUST[0].id} MUST fail::{MUST[0].title}: no"
    assert lines[0] == must
    assert all(line.startswith("::error title=SI-NODE-") for line in lines[:9])
    assert lines[9].startswith(f"::warning title={SHOULD[0].id} SHOULD fail::")


def test_annotation_of_hostile_text_is_one_command() -> None:
    (line,) = annotations(failing(MUST[0], reason=HOSTILE))

    sentence = line.split("::", 2)[2].removeprefix(f"{MUST[0].title}: ")
    assert sentence == "100%25 <b>`wrong`</b> | a,b: *x*%0A::error::no%0D\x1b[31m"


def test_run_without_result_is_annotated() -> None:
    status = RunStatus("2023-12", unreachable="siconform: nothing listens on 127.0.0.1:1")

    (line,) = annotations(run([], status))

    assert line == "::error title=siconform::siconform: nothing listens on 127.0.0.1:1"
    assert annotations(run([RequirementResult(MUST[0], Verdict.PASS, "")])) == []


def summary(file: Path, of: Run, command: CommandLine = COMMAND) -> str:
    JobSummary(file, command).on_event(events.RunFinished(of))
    return file.read_text("utf-8")


def test_job_summary_has_verdict_areas_and_failures(tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    file.write_text("of an earlier step\n")
    passed = [RequirementResult(one, Verdict.PASS, "") for one in MUST[1:4]]

    text = summary(file, run([*passed, RequirementResult(MUST[0], Verdict.FAIL, "no")]))

    assert text.startswith("of an earlier step\n")
    assert "**NON-CONFORMANT: 1 MUST fail**" in text
    assert "| area | pass | fail |\n| --- | --- | --- |\n| NODE | 3 | 1 |" in text
    assert f"- **{MUST[0].id} MUST fail**: {MUST[0].title}: no" in text
    assert f"  ```sh\n  {COMMAND.again(MUST[0].id)}\n  ```" in text


def test_job_summary_shows_hostile_text_as_it_is(tmp_path: Path) -> None:
    command = replace(COMMAND, options=("--config", "```\n# x"))

    text = summary(tmp_path / "summary.md", failing(MUST[0], reason=HOSTILE), command)

    assert r"100% \<b\>\`wrong\`\</b\> \| a,b: \*x\* ::error::no" in text
    assert "\n  ````sh\n" in text
    assert "\n# x" not in text


def test_job_summary_is_bounded(tmp_path: Path) -> None:
    many = failing(*(MUST * 20), reason="very " * 5000)

    text = summary(tmp_path / "summary.md", many, replace(COMMAND, options=("x" * 9000,)))

    assert len(text) < 100_000
    assert re.search(r"\d+ more failures are in results\.json", text)


def test_unwritable_job_summary_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    JobSummary(tmp_path, COMMAND).on_event(events.RunFinished(failing(MUST[0])))

    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f'siconform: warning: the job summary cannot be written to "{tmp_path}": Is a directory'
    )


SUITE = """
@requirement("SI-NODE-004")
def test_one(target): raise ConformanceFailure("no")
"""


@pytest.mark.end_to_end
@pytest.mark.parametrize(
    ("flag", "actions", "reported"),
    [("-v", "true", (1, 1, 1)), ("-v", "", (1, 0, 0)), ("-q", "true", (0, 0, 0))],
)
def test_run_reports_to_log_and_github(
    conformance: Callable[..., FinishedRun],
    monkeypatch: pytest.MonkeyPatch,
    flag: str,
    actions: str,
    reported: tuple[int, int, int],
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", actions)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")

    outcome = conformance(SUITE, flag)

    lines = outcome.out.splitlines()
    areas = sum(line.startswith("NODE  1 fail   ") for line in lines)
    errors = sum(line.startswith("::error title=SI-NODE-004") for line in lines)
    assert (areas, errors, Path("summary.md").exists()) == reported
    assert not set("\x1b\r\b") & set(outcome.out)
    assert outcome.code == 1
