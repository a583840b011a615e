"""The examples of the page on breaking changes work; `nox -s docs` runs its commands."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from documentation.blocks import DOCS
from documentation.shell import Shell
from selftest.spec_author import author_text, edited_text
from selftest.spec_commands_run import committed, git

from .commands import finished

PAGE = DOCS / "what-a-change-breaks.md"
TEXT = "scheduler-interface-spec.md"
_YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _yaml_blocks() -> list[dict[str, Any]]:
    return [yaml.safe_load(block) for block in _YAML.findall(PAGE.read_text("utf-8"))]


def test_the_hook_of_the_page_is_one_of_this_project() -> None:
    configuration, _ = _yaml_blocks()
    hooks = yaml.safe_load((PAGE.parents[1] / ".pre-commit-hooks.yaml").read_text("utf-8"))

    (repository,) = configuration["repos"]
    assert [hook["id"] for hook in repository["hooks"]] == [hook["id"] for hook in hooks]


@pytest.fixture
def merge(tmp_path: Path) -> Path:
    """Merge a change as a pull request is checked out."""
    committed(tmp_path, **{"scheduler-interface-spec": author_text()})
    git(tmp_path, "checkout", "--quiet", "-b", "change")
    edit = ("  int32 priority = 6;", "  int32 priority = 16;")
    committed(tmp_path, **{"scheduler-interface-spec": edited_text(edit)})
    git(tmp_path, "checkout", "--quiet", "-")
    committed(tmp_path, other="of somebody else")
    git(tmp_path, "merge", "--quiet", "--no-ff", "--message", "merged", "change")
    return tmp_path


def test_documented_workflow_fails_breaking_pull_request(merge: Path) -> None:
    _, workflow = _yaml_blocks()
    checkout, _, install, check = workflow["jobs"]["si-spec-diff"]["steps"]
    # depth 2 has the merge and its parents
    assert checkout["with"]["fetch-depth"] == 2
    assert install["run"] == "pip install 'si-conformance[spec] @ URL'"
    folder = merge.parent / "walk"
    folder.mkdir()
    shell = Shell(folder)

    summary = merge.parent / "summary.md"
    as_github = ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
    environment = {**shell.environment, "GITHUB_STEP_SUMMARY": str(summary)}
    done = finished([*as_github, check["run"]], merge, environment)

    assert done.returncode == 1, done.stderr
    received = summary.read_text("utf-8")
    assert f"**BREAKING git:HEAD^1:{TEXT} -> {TEXT}**" in received
    assert "- *Instead:* Keep priority = 6: a number is never moved." in received
