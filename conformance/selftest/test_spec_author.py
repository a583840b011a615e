"""The report of an edit of the SI, compared with the verdict of an expert."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from selftest.spec_author import author_text
from selftest.spec_author_edits import EDITS, UNREADABLE, AuthorsEdit
from siconform.cli import main

each_edit = pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "old.md").write_text(author_text(), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@each_edit
def test_edit_verdict_matches_expert(edit: AuthorsEdit, texts: Path) -> None:
    (texts / "new.md").write_text(edit.text(), "utf-8")

    done = CliRunner().invoke(main, ["spec", "diff", "old.md", "new.md"])

    assert done.exit_code == edit.code
    received = " ".join((done.stderr if edit.code == UNREADABLE else done.stdout).split())
    assert edit.counts in received
    for sentence in edit.message:
        assert sentence in received


@each_edit
def test_reverse_edit_is_reported(edit: AuthorsEdit, texts: Path) -> None:
    """Every edit is reported in both directions."""
    (texts / "new.md").write_text(edit.text(), "utf-8")

    done = CliRunner().invoke(main, ["spec", "diff", "new.md", "old.md"])

    assert (done.exit_code == UNREADABLE) == (edit.code == UNREADABLE)
    assert ("NO CHANGE" in done.stdout) == ("NO CHANGE" in edit.message)


def test_spec_exit_code(texts: Path) -> None:
    edit = EDITS[0]
    (texts / "new.md").write_text(edit.text(), "utf-8")

    command = [sys.executable, "-m", "siconform", "spec", "diff", "old.md", "new.md"]
    done = subprocess.run(  # noqa: S603  # our own arguments
        command, cwd=texts, capture_output=True, text=True, check=False
    )

    assert done.returncode == edit.code
    assert done.stderr == ""
    assert edit.message[0] in " ".join(done.stdout.split())
