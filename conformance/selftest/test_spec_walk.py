"""The page on what a change breaks shows what its commands print, and its examples work."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from selftest import worked_example
from selftest.spec_author import author_text, edited_text
from selftest.spec_commands_run import committed, git
from selftest.worked_example import PAGE, Walk, main, without_figures

TEXT = "scheduler-interface-spec.md"
_YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _yaml_blocks() -> list[dict[str, Any]]:
    return [yaml.safe_load(block) for block in _YAML.findall(PAGE.read_text("utf-8"))]


def test_the_page_shows_what_its_commands_print(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--check"])

    assert code == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("shown", "otherwise", "code"),
    [("3 silently misread", "2 silently misread", 1), (" touched, ", "1 touched, ", 0)],
)
def test_a_page_that_shows_something_else_is_noticed(
    shown: str, otherwise: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for figures that change with every test that is added."""
    text = PAGE.read_text("utf-8")
    assert shown in text
    page = tmp_path / PAGE.name
    page.write_text(text.replace(shown, otherwise), "utf-8")
    monkeypatch.setattr(worked_example, "PAGE", page)
    monkeypatch.setattr(worked_example, "CHECKOUT", tmp_path)

    assert main(["--check"]) == code
    main([])
    assert without_figures(page.read_text("utf-8")) == without_figures(text)


def test_an_edit_that_does_not_fit_is_no_part_of_the_walk(tmp_path: Path) -> None:
    walk = Walk(tmp_path)

    with pytest.raises(ValueError, match="the text does not have once:"):
        walk.edits("-  string nodeID = 1;\n+  string name = 1;\n")


def test_the_hook_of_the_page_is_one_of_this_project() -> None:
    configuration, _ = _yaml_blocks()
    hooks = yaml.safe_load((PAGE.parents[1] / ".pre-commit-hooks.yaml").read_text("utf-8"))

    (repository,) = configuration["repos"]
    assert [hook["id"] for hook in repository["hooks"]] == [hook["id"] for hook in hooks]


@pytest.fixture
def merge(tmp_path: Path) -> Path:
    """What a pull request is checked out as: a merge of what it changes into what is there."""
    committed(tmp_path, **{"scheduler-interface-spec": author_text()})
    git(tmp_path, "checkout", "--quiet", "-b", "change")
    edit = ("  int32 priority = 6;", "  int32 priority = 16;")
    committed(tmp_path, **{"scheduler-interface-spec": edited_text(edit)})
    git(tmp_path, "checkout", "--quiet", "-")
    committed(tmp_path, other="of somebody else")
    git(tmp_path, "merge", "--quiet", "--no-ff", "--message", "merged", "change")
    return tmp_path


def test_the_workflow_of_the_page_fails_a_breaking_pull_request_and_says_why(merge: Path) -> None:
    _, workflow = _yaml_blocks()
    checkout, _, install, check = workflow["jobs"]["si-spec-diff"]["steps"]
    # depth 2 has the merge and its parents
    assert checkout["with"]["fetch-depth"] == 2
    assert install["run"] == "pip install 'si-conformance[spec]'"
    folder = merge.parent / "walk"
    folder.mkdir()
    shell = Walk(folder)

    summary = merge.parent / "summary.md"
    done = subprocess.run(  # noqa: S603  # the page's own command, as GitHub runs it
        ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", check["run"]],
        cwd=merge,
        env={**shell.environment, "GITHUB_STEP_SUMMARY": str(summary)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1, done.stderr
    told = summary.read_text("utf-8")
    assert f"**BREAKING git:HEAD^1:{TEXT} -> {TEXT}**" in told
    assert "- *Instead:* Keep priority = 6: a number is never moved." in told
