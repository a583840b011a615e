"""The summary: 100 columns of plain text, a correct denominator, the next command."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest
from siconform import results
from siconform.baseline import Baseline, KnownDeviation
from siconform.catalogue import Level, Side, catalogue, find_requirement
from siconform.config.command_line import CommandLine
from siconform.output import summary
from siconform.policy import ExitCode, RequirementResult, RunStatus, evaluate
from siconform.results import Conditions, DeadlineFacts, Failure, Run, TargetFacts
from siconform.verdicts import OF_ONE_SIDE, Evidence, Verdict

NODES = [r for r in catalogue().values() if r.area == "NODE" and "2023-12" in r.revisions]
MUST = [r for r in NODES if r.level is Level.MUST]
SHOULD = [r for r in NODES if r.level is Level.SHOULD]
FAILURE_OF_A_TEST = Evidence(MUST[0].id, Verdict.FAIL, "suite/test_x.py::test_a", "no " * 50)
COMMAND = CommandLine(("siconform", "run"), ("--target", "127.0.0.1:9080"))
FAILURE = Failure(
    test="suite/test_x.py::test_a",
    requirement=MUST[0].id,
    verdict=Verdict.FAIL,
    text="text",
    expected="one",
    happened="another",
    known="",
    history="histories/test_a.jsonl",
    reference="",
    exchange=(),
    again="siconform run SI-NODE-001",
)
PASS, FAIL = Verdict.PASS.label, Verdict.FAIL.label
LONG = "the answer came " + "very " * 40 + "late"


def run(requirements: Sequence[RequirementResult], status: RunStatus | None = None) -> Run:
    status = status or RunStatus("2023-12")
    return Run(
        target=TargetFacts("127.0.0.1:9080", "127.0.0.1:9080", ""),
        status=status,
        evaluation=evaluate(requirements, status),
        requirements=requirements,
        baseline=Baseline("known.yaml", (KnownDeviation(MUST[0].id, "fail", "x", "known"),)),
        started=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        seconds=6.81,
        left_out={"suite/test_x.py::test_a": "not selected"},
        command=("siconform", "run", "--target", "127.0.0.1:9080"),
        conditions=Conditions(time_scale=1.0, seed=1, workers=4, virtual_time=False),
        notes=["a note"],
        observed={"an ask that does not fit now": "queued"},
        without=["gang"],
        failures=[FAILURE],
        deadlines=[DeadlineFacts("ack", 2.0, 3, 0.1, 0.2, "suite/test_x.py::test_a")],
    )


def every_verdict(reason: str = LONG) -> list[RequirementResult]:
    return [
        RequirementResult(requirement, verdict, reason)
        for requirement, verdict in zip(MUST * 2, [*Verdict, *Verdict, *Verdict], strict=False)
    ]


def everything(shown: Run, width: int = 100) -> list[str]:
    return [
        *summary.by_area(shown.requirements, width),
        *summary.failing(shown.requirements, width),
        *summary.untested(shown, width),
        *summary.recorded(shown.requirements, width),
        *summary.stale([LONG], width),
        *summary.counts(shown, width),
        *summary.observed(shown, width),
        summary.failure(FAILURE_OF_A_TEST, width),
    ]


def test_summary_is_plain_and_fits() -> None:
    shown = run(every_verdict())
    for line in [*everything(shown), *summary.next_steps(shown, COMMAND)]:
        assert len(line) <= 100
        assert line.isascii()
        assert "\n" not in line


@pytest.mark.parametrize("width", [40, 60, 80, 99])
def test_summary_fits_narrow_terminal(width: int) -> None:
    assert max(map(len, everything(run(every_verdict()), width))) <= width


def test_area_shows_each_verdict() -> None:
    requirements = [RequirementResult(r, Verdict.PASS, "") for r in MUST[:20]]
    requirements.append(RequirementResult(MUST[20], Verdict.FAIL, "no"))
    (line,) = summary.by_area(requirements)

    assert line == f" NODE   {'#' * 19}!   20 {PASS}     1 {FAIL}"


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - OF_ONE_SIDE))
def test_one_requirement_of_many_shows_in_the_bar(verdict: Verdict) -> None:
    requirements = [RequirementResult(r, Verdict.PASS, "") for r in MUST[1:]]
    requirements.append(RequirementResult(MUST[0], verdict, "no"))
    (line,) = summary.by_area(requirements)

    bar = line[8:28]
    assert len(bar.strip()) == 20
    assert (len(set(bar)) == 2) is (verdict is not Verdict.PASS)


def test_rm_requirements_are_not_counted() -> None:
    requirements = [RequirementResult(r, Verdict.PASS, "") for r in MUST[:3]]
    requirements.append(RequirementResult(MUST[3], Verdict.OF_THE_RM, ""))

    (line,) = summary.by_area(requirements)
    evaluation = evaluate(requirements, RunStatus("2023-12"))

    assert line == f" NODE   {'#' * 20}    3 {PASS}"
    assert (
        evaluation.sentence == "CONFORMANT: all tested requirements passed (3 of 3 of SI 2023-12)"
    )


def test_run_of_an_rm_is_decided_by_requirements_of_rms() -> None:
    ours, theirs = find_requirement("SI-REL-008"), find_requirement("SI-NODE-002")
    assert ours.sides | theirs.sides == set(Side)
    apart = RequirementResult(theirs, Verdict.OF_THE_SCHEDULER, "")
    status = RunStatus("2024-10", Side.RM)

    passed = evaluate([RequirementResult(ours, Verdict.PASS, ""), apart], status)
    failed = evaluate([RequirementResult(ours, Verdict.FAIL, "no"), apart], status)
    of_schedulers = evaluate([RequirementResult(ours, Verdict.FAIL, "no")], RunStatus("2024-10"))

    assert passed.sentence == ("CONFORMANT: all tested requirements passed (1 of 1 of SI 2024-10)")
    assert failed.exit_code == ExitCode.NON_CONFORMANT
    assert of_schedulers.exit_code == ExitCode.OK


def test_failures_come_worst_first() -> None:
    requirements = [
        RequirementResult(SHOULD[0], Verdict.FAIL, "no"),
        RequirementResult(MUST[0], Verdict.LATE, "late"),
        RequirementResult(MUST[1], Verdict.FAIL, "no"),
        RequirementResult(MUST[2], Verdict.KIT_ERROR, "oops"),
    ]
    received = [line for line in summary.failing(requirements) if "SI-NODE" in line]

    assert [line.split("SI-NODE")[0].strip() for line in received] == [
        verdict.label.upper()
        for verdict in (Verdict.KIT_ERROR, Verdict.FAIL, Verdict.LATE, Verdict.FAIL)
    ]
    assert SHOULD[0].id in received[-1]


def test_inconclusive_requirements_are_grouped_by_reason() -> None:
    requirements = [RequirementResult(r, Verdict.COULD_NOT_RUN, "no node") for r in MUST[:3]]
    assert list(summary.untested(run(requirements))) == [
        f"  {Verdict.COULD_NOT_RUN.label}:",
        f"    {MUST[0].id} and 2 more: no node",
    ]


@pytest.mark.parametrize(
    ("verdict", "reason", "received"),
    [
        (Verdict.NOT_SELECTED, "give --disruptive", ": give --disruptive"),
        (Verdict.NOT_SELECTED, Verdict.NOT_SELECTED.label, ""),
        (Verdict.NOT_APPLICABLE, "it has no queues", ": it has no queues"),
        (Verdict.NO_TEST_YET, "", ""),
        (Verdict.EXCLUDED, "no service", ": no service"),
        (Verdict.NOT_REACHED, f"{Verdict.NOT_REACHED.label}: interrupted", ": interrupted"),
    ],
)
def test_untested_requirements_of_a_selection_are_named(
    verdict: Verdict, reason: str, received: str
) -> None:
    passed = RequirementResult(MUST[0], Verdict.PASS, "")
    untested = [RequirementResult(r, verdict, reason) for r in MUST[1:4]]
    aside = RequirementResult(MUST[4], Verdict.NOT_SELECTED, Verdict.NOT_SELECTED.label)
    chosen = frozenset(r.id for r in MUST[:4])
    shown = run([passed, *untested, aside], RunStatus("2023-12", chosen=chosen))

    assert "1 of 4 selected" in shown.evaluation.sentence
    assert list(summary.untested(shown)) == [
        f"  {verdict.label}:",
        f"    {', '.join(r.id for r in MUST[1:4])}{received}",
    ]


def test_many_untested_requirements_are_clipped() -> None:
    requirements = [RequirementResult(r, Verdict.NOT_REACHED, LONG) for r in NODES[:25]]
    chosen = frozenset(r.id for r in NODES)
    received = list(summary.untested(run(requirements, RunStatus("2023-12", chosen=chosen))))

    assert max(map(len, received)) <= 100
    assert all(f"{one.id}," in " ".join(received) for one in NODES[:19])
    assert received[-2].endswith(" and 5 more:")
    assert received[-1].startswith(f"      {LONG[:40]}")


def test_next_command_is_shown() -> None:
    again = COMMAND
    failed = run([RequirementResult(MUST[3], Verdict.FAIL, "no")])
    passed = run([RequirementResult(MUST[3], Verdict.PASS, "")])

    assert list(summary.next_steps(failed, again)) == [
        f"Look closer:  siconform explain {MUST[3].id}",
        f"Run one:      siconform run {MUST[3].id} --target 127.0.0.1:9080",
    ]
    assert "--target HOST:PORT" in next(
        summary.next_steps(passed, CommandLine(("siconform", "run")))
    )


def test_results_match_schema() -> None:
    requirements = every_verdict()
    evidence = Evidence(MUST[0].id, Verdict.LATE, "suite/test_x.py::test_a", "late", 1.5, "m")
    requirements[0] = replace(
        requirements[0], evidence=(evidence,), tests=("suite/test_x.py::test_a",)
    )
    document = results.document(
        run(requirements, RunStatus("2023-12", stale=("x",), ended_early="y"))
    )

    jsonschema.validate(document, results.schema())


def test_unknown_field_violates_schema() -> None:
    document = results.document(run(every_verdict()))
    document["requirements"][0]["colour"] = "red"

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, results.schema())


def test_results_are_written_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results.write({"first": 1}, tmp_path)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", killed)
    with pytest.raises(KeyboardInterrupt):
        results.write({"second": 2}, tmp_path)

    assert (tmp_path / "results.json").read_text().startswith('{\n "first"')


@pytest.mark.parametrize("side", Side)
def test_requirements_of_the_other_side_are_not_counted_as_not_selected(side: Side) -> None:
    every = [r for r in catalogue().values() if "2024-10" in r.revisions]
    not_selected = [RequirementResult(r, Verdict.NOT_SELECTED, "") for r in every]

    (line,) = summary.counts(run(not_selected, RunStatus("2024-10", side=side)))

    assert f" {sum(side in r.sides for r in every)} not selected" in line
