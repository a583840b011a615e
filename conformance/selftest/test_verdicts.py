"""The policy: how verdicts combine, and the exit code of a run."""

import itertools

import pytest
from siconform.baseline import KnownDeviation
from siconform.catalogue import Level, Requirement, Side, catalogue
from siconform.policy import ExitCode, RequirementResult, RunStatus, RunVerdict, evaluate
from siconform.verdicts import Evidence, Verdict, decisive, of_monitors_alone

MUST = next(r for r in catalogue().values() if r.level is Level.MUST and Side.SCHEDULER in r.sides)
SHOULD = next(r for r in catalogue().values() if r.level is Level.SHOULD)
RM_MUST = next(
    r for r in catalogue().values() if r.level is Level.MUST and r.sides == frozenset({Side.RM})
)
ENTRY = KnownDeviation(MUST.id, "fail", "x", "known")


def evidence(verdict: Verdict, monitor: str = "") -> Evidence:
    return Evidence("SI-NODE-004", verdict, "t.py::t", monitor=monitor)


def result(
    verdict: Verdict, requirement: Requirement = MUST, entries: tuple[KnownDeviation, ...] = ()
) -> RequirementResult:
    return RequirementResult(requirement, verdict, "", entries=entries)


RANK = [
    Verdict.KIT_ERROR,
    Verdict.FAIL,
    Verdict.LATE,
    Verdict.COULD_NOT_RUN,
    Verdict.BASELINED,
    Verdict.CHALLENGED,
    Verdict.PASS,
    Verdict.NOT_SELECTED,
]


@pytest.mark.parametrize(("worse", "better"), list(itertools.combinations(RANK, 2)))
def test_worse_verdict_decides(worse: Verdict, better: Verdict) -> None:
    for pair in ([worse, better], [better, worse]):
        settled = decisive(evidence(v) for v in pair)
        assert settled is not None
        assert settled.verdict is worse


def test_of_equal_verdicts_the_first_test_by_name_decides() -> None:
    failures = [Evidence("SI-NODE-004", Verdict.FAIL, f"t.py::{name}") for name in "bac"]

    for ended in itertools.permutations(failures):
        settled = decisive(ended)
        assert settled is not None
        assert settled.test == "t.py::a"


def test_no_evidence_gives_no_verdict() -> None:
    assert decisive([]) is None


def test_unmet_monitor_precondition_counts_only_alone() -> None:
    unseen = evidence(Verdict.COULD_NOT_RUN, monitor="capacity")

    alone = decisive([unseen])
    seen = decisive([unseen, evidence(Verdict.PASS)])

    assert alone is unseen
    assert seen is not None
    assert seen.verdict is Verdict.PASS


def test_inconclusive_test_is_not_hidden_by_pass() -> None:
    settled = decisive([evidence(Verdict.PASS), evidence(Verdict.COULD_NOT_RUN)])
    assert settled is not None
    assert settled.verdict is Verdict.COULD_NOT_RUN


def test_evidence_travels_as_json() -> None:
    sent = Evidence("SI-NODE-004", Verdict.LATE, "t.py::t", "after 3 s", 3.1, "m", ("it stays",))
    assert Evidence.read(sent.record()) == sent


PASS = result(Verdict.PASS)
PLAIN = RunStatus("2023-12")
POLICY: dict[str, tuple[list[RequirementResult], RunStatus, RunVerdict, int]] = {
    "all pass": ([PASS], PLAIN, RunVerdict.CONFORMANT, 0),
    "no test yet is our gap": (
        [PASS, result(Verdict.NO_TEST_YET)],
        PLAIN,
        RunVerdict.CONFORMANT,
        0,
    ),
    "a MUST fails": ([PASS, result(Verdict.FAIL)], PLAIN, RunVerdict.NON_CONFORMANT, 1),
    "a MUST is late": ([PASS, result(Verdict.LATE)], PLAIN, RunVerdict.NON_CONFORMANT, 1),
    "a SHOULD fails": ([PASS, result(Verdict.FAIL, SHOULD)], PLAIN, RunVerdict.CONFORMANT, 0),
    "a SHOULD fails, and decides": (
        [PASS, result(Verdict.FAIL, SHOULD)],
        RunStatus("2023-12", fail_on=Level.SHOULD),
        RunVerdict.NON_CONFORMANT,
        1,
    ),
    "a SHOULD could not run, and decides": (
        [PASS, result(Verdict.COULD_NOT_RUN, SHOULD)],
        RunStatus("2023-12", fail_on=Level.SHOULD),
        RunVerdict.INCOMPLETE,
        10,
    ),
    "a SHOULD deviates as recorded, and decides": (
        [PASS, result(Verdict.BASELINED, SHOULD, entries=(ENTRY,))],
        RunStatus("2023-12", with_baseline=True, fail_on=Level.SHOULD),
        RunVerdict.NON_CONFORMANT,
        0,
    ),
    "a MUST of the RM": ([PASS, result(Verdict.FAIL, RM_MUST)], PLAIN, RunVerdict.CONFORMANT, 0),
    "a MUST could not run": (
        [PASS, result(Verdict.COULD_NOT_RUN)],
        PLAIN,
        RunVerdict.INCOMPLETE,
        10,
    ),
    "failing outweighs not running": (
        [result(Verdict.FAIL), result(Verdict.COULD_NOT_RUN)],
        PLAIN,
        RunVerdict.NON_CONFORMANT,
        1,
    ),
    "a kit error outweighs all": (
        [result(Verdict.FAIL), result(Verdict.KIT_ERROR, SHOULD)],
        PLAIN,
        RunVerdict.KIT_ERROR,
        13,
    ),
    "a kit error without a requirement": (
        [PASS],
        RunStatus("2023-12", kit_errors=("a worker crashed",)),
        RunVerdict.KIT_ERROR,
        13,
    ),
    "pytest broke": ([PASS], RunStatus("2023-12", ended_by=3), RunVerdict.KIT_ERROR, 13),
    "interrupted": ([PASS], RunStatus("2023-12", ended_by=2), RunVerdict.INCOMPLETE, 2),
    "no test selected": (
        [result(Verdict.NOT_SELECTED)],
        RunStatus("2023-12", ended_by=5),
        RunVerdict.INCOMPLETE,
        5,
    ),
    "unreachable": (
        [result(Verdict.COULD_NOT_RUN)],
        RunStatus("2023-12", unreachable="gone"),
        RunVerdict.INCOMPLETE,
        12,
    ),
    "nothing judged": ([result(Verdict.NOT_SELECTED)], PLAIN, RunVerdict.INCOMPLETE, 12),
    "challenged beside what passes": (
        [PASS, result(Verdict.CHALLENGED)],
        PLAIN,
        RunVerdict.CONFORMANT,
        0,
    ),
    "challenged and nothing else": (
        [result(Verdict.CHALLENGED)],
        PLAIN,
        RunVerdict.INCOMPLETE,
        10,
    ),
    "as recorded": (
        [PASS, result(Verdict.BASELINED, entries=(ENTRY,))],
        RunStatus("2023-12", with_baseline=True),
        RunVerdict.NON_CONFORMANT,
        0,
    ),
    "an entry passes now": (
        [PASS],
        RunStatus("2023-12", with_baseline=True, stale=("x",)),
        RunVerdict.CONFORMANT,
        11,
    ),
    "another message than recorded": (
        [result(Verdict.FAIL, entries=(ENTRY,))],
        RunStatus("2023-12", with_baseline=True, stale=("x",)),
        RunVerdict.NON_CONFORMANT,
        11,
    ),
    "a new failure beside a stale entry": (
        [result(Verdict.FAIL), result(Verdict.FAIL, entries=(ENTRY,))],
        RunStatus("2023-12", with_baseline=True, stale=("x",)),
        RunVerdict.NON_CONFORMANT,
        1,
    ),
    "a SHOULD the baseline does not explain": (
        [PASS, result(Verdict.FAIL, SHOULD)],
        RunStatus("2023-12", with_baseline=True),
        RunVerdict.CONFORMANT,
        11,
    ),
}


@pytest.mark.parametrize("case", POLICY)
def test_policy(case: str) -> None:
    results, status, verdict, code = POLICY[case]

    evaluation = evaluate(results, status)

    assert (evaluation.verdict, evaluation.exit_code) == (verdict, code)


def test_verdict_sentence_has_denominator() -> None:
    evaluation = evaluate([PASS, result(Verdict.NO_TEST_YET), result(Verdict.NOT_SELECTED)], PLAIN)
    assert (
        evaluation.sentence == "CONFORMANT: all tested requirements passed (1 of 3 of SI 2023-12)"
    )


def test_failures_are_counted_by_kind() -> None:
    evaluation = evaluate([result(Verdict.FAIL), result(Verdict.LATE), result(Verdict.LATE)], PLAIN)
    assert evaluation.sentence == "NON-CONFORMANT: 1 MUST fail and 2 MUST late"
    assert evaluation.exit_code is ExitCode.NON_CONFORMANT


def test_failures_are_counted_by_level() -> None:
    results = [result(Verdict.FAIL, SHOULD), result(Verdict.FAIL), result(Verdict.LATE, SHOULD)]
    evaluation = evaluate(results, RunStatus("2023-12", fail_on=Level.SHOULD))
    assert evaluation.sentence == "NON-CONFORMANT: 1 MUST fail, 1 SHOULD fail and 1 SHOULD late"


@pytest.mark.parametrize(
    ("received", "expected"),
    [
        ((), False),
        ((evidence(Verdict.PASS),), False),
        ((evidence(Verdict.FAIL, "wire"),), True),
        ((evidence(Verdict.PASS), evidence(Verdict.FAIL, "wire")), True),
        ((evidence(Verdict.FAIL), evidence(Verdict.FAIL, "wire")), False),
    ],
)
def test_failures_reported_by_monitors_only(
    received: tuple[Evidence, ...], *, expected: bool
) -> None:
    assert of_monitors_alone(received) is expected
