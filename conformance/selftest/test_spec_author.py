"""The report of an edit of the SI, compared with the verdict of an expert."""

from pathlib import Path

import pytest

from .spec_author import author_text
from .spec_author_edits import BREAKING, COMPATIBLE, EDITS, UNREADABLE, AuthorsEdit
from .spec_commands_run import spec
from .spec_misleading_edits import MISLEADING


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "old.md").write_text(author_text(), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def diff(old: str, new: str) -> tuple[int, str]:
    """Return exit code and output of a comparison, in one line."""
    done = spec("diff", old, new)
    return done.exit_code, " ".join((done.stderr or done.stdout).split())


@pytest.mark.parametrize("edit", [*EDITS, *MISLEADING], ids=lambda edit: edit.name)
def test_edit_report_matches_expert(edit: AuthorsEdit, texts: Path) -> None:
    (texts / "new.md").write_text(edit.text(), "utf-8")

    code, received = diff("old.md", "new.md")

    assert code == edit.code
    assert edit.counts in received
    for sentence in edit.message:
        assert sentence in received
    assert received.count("siconform: ") == (edit.code == UNREADABLE)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_reverse_edit_is_reported(edit: AuthorsEdit, texts: Path) -> None:
    """Every edit is reported in both directions."""
    (texts / "new.md").write_text(edit.text(), "utf-8")

    code, received = diff("new.md", "old.md")

    assert (code == UNREADABLE) == (edit.code == UNREADABLE)
    assert ("NO CHANGE" in received) == ("NO CHANGE" in edit.message)


@pytest.mark.parametrize(
    ("edit", "counts", "message"),
    [
        (MISLEADING[0], "1 source-breaking", "Keep PREEMPTED_BY_CORE, marked deprecated"),
        (MISLEADING[1], "1 JSON-breaking", "From JSON, a new peer does not see AllocationRelease"),
    ],
    ids=lambda value: value.name if isinstance(value, AuthorsEdit) else "",
)
def test_alias_of_removed_number_removes_no_number(
    edit: AuthorsEdit, counts: str, message: str, texts: Path
) -> None:
    (texts / "new.md").write_text(edit.text(), "utf-8")

    code, received = diff("new.md", "old.md")

    assert code == BREAKING
    assert f" {counts}; 0 rules changed" in received
    assert message in received


def test_blocks_with_another_label_are_reported_in_one_line(texts: Path) -> None:
    (texts / "new.md").write_text(author_text().replace("```protobuf", "```proto"), "utf-8")

    code, received = diff("old.md", "new.md")

    assert code == COMPATIBLE
    assert received.count("labelled proto, not protobuf; they are read as that") == 1
