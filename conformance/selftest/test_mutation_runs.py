"""Results of mutation testing: complaints, cached results, the sample and the page."""

import signal
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from mutation import choosing, evaluating, matrix, outcomes
from mutation import page as proving
from mutation.evaluating import Evaluation, RequirementVerdict, RunOptions, evaluate
from mutation.known import load
from mutation.main_revision import NAME
from mutation.matrix import complaints
from mutation.mutant import CHANGES, Change, of_side
from mutation.outcomes import Outcome, outcome_of
from mutation.page import (
    MutationReport,
    WrongVerdict,
    WrongVerdicts,
    committed,
    page,
    read_wrong_verdicts,
)
from siconform.catalogue import Level, Side, catalogue
from siconform.verdicts import Verdict

pytestmark = pytest.mark.end_to_end

load()
OWN, OTHER, SHOULD = "SI-NODE-026", "SI-NODE-028", "SI-NODE-027"
SOUND = Evaluation(
    {
        OWN: RequirementVerdict(Verdict.PASS, "MUST"),
        OTHER: RequirementVerdict(Verdict.PASS, "MUST"),
        SHOULD: RequirementVerdict(Verdict.PASS, "SHOULD"),
    },
    "CONFORMANT",
)
MUTANT = Change("a-mutant", "Wrong.", breaks=(OWN,))
VARIANT = Change("a-variant", "Free.", is_variant=True)


def _with(**verdicts: Verdict) -> Evaluation:
    changed = {f"SI-NODE-{name[1:]}": verdict for name, verdict in verdicts.items()}
    sent = {
        identifier: RequirementVerdict(changed.get(identifier, Verdict.PASS), one.level)
        for identifier, one in SOUND.requirements.items()
    }
    return Evaluation(sent, "CONFORMANT", has_fired=True)


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.LATE])
def test_mutant_killed_by_broken_requirement_is_right(verdict: Verdict) -> None:
    assert list(complaints(MUTANT, _with(n026=verdict), SOUND)) == []


def test_mutant_killed_only_by_others_is_wrong() -> None:
    evaluation = _with(n026=Verdict.COULD_NOT_RUN, n028=Verdict.FAIL)

    assert list(complaints(MUTANT, evaluation, SOUND)) == [f"survived {OWN}: could-not-run"]


def test_change_that_never_fired_is_wrong() -> None:
    evaluation = replace_fired(_with(n026=Verdict.FAIL))

    (complaint,) = complaints(MUTANT, evaluation, SOUND)

    assert complaint.startswith("a-mutant of SI 2024-10 never fired")


@pytest.mark.parametrize("name", ["confirmation-lost", "tells-of-queues-only"])
def test_unused_message_change_fails_the_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where_it_cannot = replace(CHANGES[name], breaks=("SI-ASK-001",), more_areas=())
    monkeypatch.setitem(CHANGES, name, where_it_cannot)
    monkeypatch.setattr(evaluating, "FOLDER", tmp_path)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    recorded: dict[str, bool] = {}
    monkeypatch.setattr(outcomes, "record", recorded.update)

    done = CliRunner().invoke(matrix.main, [name, "--own"])

    awaited = " or ".join(kind.DESCRIPTOR.name for kind in where_it_cannot.messages)
    assert done.exit_code == 1
    assert recorded == {name: False}
    assert (
        f"WRONG: {name} of SI 2024-10 never fired: no {awaited} to change was sent" in done.output
    )


def test_missing_results_are_wrong() -> None:
    (complaint,) = complaints(MUTANT, Evaluation({}), SOUND)

    assert complaint.startswith("the run has no results")


def test_variant_fails_nothing_and_keeps_musts_conclusive() -> None:
    assert list(complaints(VARIANT, _with(), SOUND)) == []
    assert list(complaints(VARIANT, _with(n027=Verdict.COULD_NOT_RUN), SOUND)) == []
    assert len(list(complaints(VARIANT, _with(n027=Verdict.LATE), SOUND))) == 1
    assert len(list(complaints(VARIANT, _with(n026=Verdict.COULD_NOT_RUN), SOUND))) == 1


def test_variant_may_fail_named_shoulds_only() -> None:
    departs = replace(VARIANT, departs_from=(SHOULD, OWN))

    assert list(complaints(departs, _with(n027=Verdict.FAIL), SOUND)) == []
    assert len(list(complaints(departs, _with(n026=Verdict.FAIL), SOUND))) == 1


def test_variant_must_be_conformant() -> None:
    evaluation = Evaluation(_with().requirements, "INCOMPLETE", has_fired=True)

    assert list(complaints(VARIANT, evaluation, SOUND)) == ["the verdict of the run is INCOMPLETE"]


def replace_fired(evaluation: Evaluation) -> Evaluation:
    return Evaluation(evaluation.requirements, evaluation.verdict, has_fired=False)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of those whose suite was really run."""
    ran: list[str] = []

    def run(change: Change, _options: RunOptions, _folder: Path) -> Evaluation:
        ran.append(change.name)
        return SOUND

    monkeypatch.setattr(evaluating, "FOLDER", tmp_path)
    monkeypatch.setattr(evaluating, "_run", run)
    return ran


def test_cached_result_is_reused(runs: list[str]) -> None:
    assert evaluate(MUTANT, RunOptions()) == evaluate(MUTANT, RunOptions()) == SOUND
    assert runs == ["a-mutant"]

    evaluate(MUTANT, RunOptions(again=True))
    evaluate(MUTANT, RunOptions(own=True))
    evaluate(replace(MUTANT, more_areas=("GANG",)), RunOptions())

    assert runs == ["a-mutant"] * 4


def test_missing_result_is_not_cached(runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def run(change: Change, _options: RunOptions, _folder: Path) -> Evaluation:
        runs.append(change.name)
        return Evaluation({})

    monkeypatch.setattr(evaluating, "_run", run)

    for _ in range(2):
        assert evaluate(MUTANT, RunOptions()) == Evaluation({})

    assert runs == ["a-mutant"] * 2


def test_cache_is_invalidated_by_kit_and_reference(
    runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(MUTANT, RunOptions())

    monkeypatch.setattr(evaluating, "state_of_the_rest", lambda _side: "another tree")
    evaluate(MUTANT, RunOptions())

    assert runs == ["a-mutant"] * 2


def test_sample_begins_with_touched_and_has_variants(monkeypatch: pytest.MonkeyPatch) -> None:
    touched = CHANGES["existing-twice"].sources[0]
    monkeypatch.setattr(choosing, "changed_files", lambda _since: {touched})

    chosen = choosing.sample(CHANGES.values(), 6, "main")

    mutants = [change for change in chosen if not change.is_variant]
    assert len(chosen) == 6
    assert len(mutants) == 4
    assert all(touched in change.sources for change in mutants)


def test_slow_scheduler_is_not_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = CHANGES["hopeless-rejected-late-answers"]
    monkeypatch.setattr(choosing, "changed_files", lambda _since: set(slow.sources))

    chosen = choosing.sample(CHANGES.values(), 3 * len(CHANGES), "main")

    assert slow not in chosen
    assert len([change for change in chosen if change.is_variant]) > 1


def test_sample_is_deterministic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "changed_files", lambda _since: set())

    first, second = (choosing.sample(CHANGES.values(), 9, "main") for _ in range(2))

    assert [change.name for change in first] == [change.name for change in second]
    monkeypatch.setattr(choosing, "state_of_the_rest", lambda _side: "another tree")
    assert first != choosing.sample(CHANGES.values(), 9, "main")


def test_changed_file_selects_areas(tmp_path: Path) -> None:
    nodes, everything = tmp_path / "nodes.py", tmp_path / "all.py"
    nodes.write_text('"SI-NODE-001", "SI-RES-001", "SI-NOAREA-001"', "utf-8")
    everything.write_text(" ".join(catalogue()), "utf-8")

    assert choosing.areas_of({nodes, everything, tmp_path / "gone.py"}) == {"NODE", "RES"}


def test_nothing_is_touched_without_branch_point() -> None:
    assert choosing.changed_files("no-such-branch") == set()
    assert choosing.changed_files("") == set()


def test_page_shows_outcomes_and_missing_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    fair = WrongVerdict("this", "is legal", ("a-variant",))
    sharp = WrongVerdict("that", "is not", ("a-mutant", "another-fault"), "and more")
    monkeypatch.setattr(
        proving,
        "read_wrong_verdicts",
        lambda: WrongVerdicts((fair, WrongVerdict("x", "y")), (sharp,)),
    )
    other = Change("another-fault", "Wrong, too.", breaks=(SHOULD,))
    mutation = MutationReport(
        {one.name: one for one in (MUTANT, other, VARIANT)},
        {one.name: outcome_of(one) for one in (MUTANT, VARIANT)},
        {NAME: SOUND.requirements.keys()},
    )

    text = page(mutation)

    assert "**Without an outcome yet**: another-fault." in text
    assert "of the 3 MUSTs and SHOULDs the reference passes 1 kill a mutant." in text
    assert f"- kills none: {OTHER} MUST {catalogue()[OTHER].title}: no mutant yet" in text
    assert f"| {OWN} MUST {catalogue()[OWN].title} | a-mutant |" in text
    assert f"| a-mutant | Wrong. | inside | killed by {OWN} |" in text
    assert "| another-fault | Wrong, too. | inside | **not recorded** |" in text
    assert "| this | is legal | a-variant | accepted |" in text
    assert "| x | y |  | **no outcome yet** |" in text
    assert f"killed by {OWN}; **not recorded**; and more |" in text
    assert "| a-variant | Free. |  | accepted |  |" in text


def test_outcome_replaces_recorded_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "killed.jsonl"
    file.write_text('{"name":"gone","revision":"2024-10","verdict":"accepted"}\n')
    for one in (MUTANT, VARIANT):
        monkeypatch.setitem(CHANGES, one.name, one)

    outcomes.record({"a-mutant": True, "a-variant": True}, file)
    assert outcomes.read_outcomes(file) == {
        "a-mutant": Outcome("a-mutant", NAME, "killed", (OWN,)),
        "a-variant": Outcome("a-variant", NAME, "accepted"),
    }
    outcomes.record({"a-mutant": False}, file)
    assert outcomes.read_outcomes(file).keys() == {"a-variant"}


def test_every_change_has_a_recorded_outcome() -> None:
    recorded = outcomes.read_outcomes()

    wrong = [
        name
        for name in {*recorded, *CHANGES}
        if name not in CHANGES or recorded.get(name) != outcome_of(CHANGES[name])
    ]
    assert wrong == [], "run nox -s mutation -- with these names"


def test_every_must_and_should_that_the_reference_passes_kills_a_mutant() -> None:
    passing = {identifier for ids in committed().passing.values() for identifier in ids}
    recorded = outcomes.read_outcomes()
    schedulers = recorded.keys() & of_side(Side.SCHEDULER).keys()
    killed = {one for name in schedulers for one in recorded[name].killed_by}

    assert [
        one.id
        for one in catalogue().values()
        if one.id in passing
        and one.level is not Level.MAY
        and not one.no_mutant
        and one.id not in killed
    ] == []


def test_wrong_verdicts_name_existing_changes() -> None:
    wrong_verdicts = read_wrong_verdicts()
    named = {
        name for one in (*wrong_verdicts.legal, *wrong_verdicts.illegal) for name in one.shown_by
    }

    assert named <= CHANGES.keys()


@pytest.mark.parametrize(
    ("breaks", "served"),
    [(("SI-REC-006", "SI-NODE-002"), [("SI-NODE-002",)]), (("SI-REC-006",), [])],
)
def test_change_in_another_revision_breaks_the_requirements_of_that_one(
    breaks: tuple[str, ...], served: list[tuple[str, ...]]
) -> None:
    patch = Change("changed", "", breaks, inside=[lambda _: None], revision="2023-12")

    there = list(matrix._served_in("2024-10", patch))

    assert [one.breaks for one in there] == served
    assert {one.revision for one in there} <= {"2024-10"}


def test_change_of_messages_is_served_in_its_own_revision_only() -> None:
    on_the_wire = Change("changed", "", ("SI-NODE-002",), revision="2023-12")

    assert not list(matrix._served_in("2024-10", on_the_wire))
