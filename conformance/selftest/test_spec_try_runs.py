"""Edited specifications tried with a part of the suite, against the embedded reference."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import Result
from siconform.reporting.record import read_results
from siconform.reporting.stored import RecordError

from .commands import results_in
from .spec_commands_run import spec
from .spec_edits import UNARY
from .stored_runs import OF_ALL

pytestmark = pytest.mark.end_to_end

SI = Path(__file__).parents[2] / "proto" / "si" / "2024-10" / "si.proto"
Try = Callable[..., Result]


@pytest.fixture
def trying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Try:
    """Try our schema of 2024-10 with each first string replaced by the second."""

    def run(*edits: tuple[str, str], only: str, options: Sequence[str] = ()) -> Result:
        text = SI.read_text("utf-8")
        for before, after in edits:
            assert before in text, before
            text = text.replace(before, after, 1)
        (tmp_path / "si.proto").write_text(text, "utf-8")
        monkeypatch.chdir(tmp_path)
        return spec("try", "si.proto", "-n0", "-k", only, *options)

    return run


def test_unedited_text_breaks_nothing(trying: Try) -> None:
    done = trying(only="SI-NODE-002 or SI-NODE-004")

    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("NOTHING BREAKS   si.proto against the embedded reference")
    assert ", 0 fail because of the change, 0 can no longer be sent\n" in done.stdout


def test_result_with_edited_text_is_not_result_of_revision(trying: Try) -> None:
    trying(only="SI-NODE-004")

    made = results_in(Path("build/spec-try/edited"))
    assert made["revision"] == "2024-10+edited"
    passed = sum(one["verdict"] == "pass" for one in made["requirements"])
    assert made["sentence"].startswith(
        f"PARTIAL: {passed} {OF_ALL}, all passed (SI 2024-10+edited; "
    )
    with pytest.raises(RecordError, match="an edited specification"):
        read_results(Path("build/spec-try/edited"))


def test_renumbered_field_fails(trying: Try) -> None:
    rejected = "message RejectedNode {\n  string nodeID = 1;\n  string reason ="

    done = trying((f"{rejected} 2;", f"{rejected} 3;"), only="SI-NODE-002 or SI-NODE-026")

    assert done.exit_code == 1, done.output
    assert "SI-WIRE-017 SHOULD  Messages have only fields" in done.stdout
    assert "undeclared field 2 in si.v1.RejectedNode" in done.stdout
    assert ", 0 can no longer be sent" in done.stdout


def test_renamed_field_cannot_be_sent(trying: Try) -> None:
    done = trying(
        ("allocationTags = 2", "marks = 2"),
        only="SI-ASK-001 or SI-ALLOC-002",
        options=["--format", "json"],
    )

    assert done.exit_code == 1, done.output
    sent = json.loads(done.stdout)
    came = {one["id"]: one["came"] for one in sent["requirements"]}
    assert came["SI-ASK-001"] == "unsaid"
    assert came["SI-ALLOC-002"] == "passes"
    assert sent["counts"]["fails"] == 0
    assert [one["element"] for one in sent["gone"]] == ["si.v1.Allocation.allocationTags"]


def test_renamed_field_is_not_readable(trying: Try) -> None:
    rejected = "message RejectedNode {\n  string nodeID = 1;\n  string "

    done = trying(
        (f"{rejected}reason", f"{rejected}why"), only="test_the_rejection_of_a_node_gives"
    )

    assert done.exit_code == 1, done.output
    assert (
        "si.v1.RejectedNode.reason (there is no such field) can no longer be received"
        in done.stdout
    )
    assert " 0 fail because of the change" in done.stdout


def test_unaffected_requirements_still_pass(trying: Try) -> None:
    done = trying(*UNARY, only="SI-NODE-002 or SI-APP-004")

    assert done.exit_code == 1, done.output
    assert "CAN NO LONGER BE SENT" in done.stdout
    assert "SI-NODE-002" in done.stdout
    assert "SI-APP-004" not in done.stdout


def test_a_text_that_does_not_compile_is_one_sentence_with_the_line(trying: Try) -> None:
    done = trying(("  string nodeID = 1;", "  string nodeID = 1"), only="SI-NODE-002")

    line = SI.read_text("utf-8").split("  string nodeID = 1;")[0].count("\n") + 1
    assert done.exit_code == 2, done.output
    assert not done.stdout
    (sentence,) = done.stderr.strip().splitlines()
    assert sentence.startswith("siconform: si.proto: line ")
    assert abs(int(sentence.split("line ")[1].split(":")[0]) - line) <= 1


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--target", "127.0.0.1:1"], 12, "nothing listens on 127.0.0.1:1"),
        (["--target-command", f"{sys.executable} -c 'exit(3)'"], 12, "did not start"),
        (["--revision", "2024-13"], 4, 'unknown revision "2024-13"'),
        (["-k", "SI-NODE-4"], 4, 'unknown requirement "SI-NODE-4"'),
        (["-k", "nothing_like_it"], 4, "no test was selected"),
    ],
)
def test_untriable_text_is_one_sentence(
    trying: Try, options: list[str], code: int, sentence: str
) -> None:
    done = trying(only="SI-NODE-002", options=options)

    assert done.exit_code == code, done.output
    assert not done.stdout
    assert sentence in done.stderr.splitlines()[-1]


def test_text_unlike_any_revision_cannot_be_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.proto").write_text('syntax = "proto3";\npackage si.v1;\nmessage A {}\n')

    done = spec("try", "other.proto")

    assert done.exit_code == 2
    assert done.stderr == (
        "siconform: other.proto: it resembles no revision of the SI, so no suite can be run "
        "with it\n"
    )
