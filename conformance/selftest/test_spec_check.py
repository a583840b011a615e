"""``siconform spec check``: a specification compared with its version in git, and the hook."""

import re
import shlex
import sysconfig
import tomllib
from pathlib import Path

import pytest
import yaml
from selftest.spec_author import author_text, edited_text
from selftest.spec_commands_run import committed, git, spec
from sispec.sources import version_at

from .commands import finished

CHECKOUT = Path(__file__).parents[2]
RENUMBERED = edited_text(("  int32 priority = 6;", "  int32 priority = 16;"))
LOWERED = edited_text(("known already must be", "known already should be"))
BROKEN = edited_text(("  int32 priority = 6;", "  int32 priority = 6"))
NEW = "NEW   text.md: 30 messages, 6 enums, 4 constants\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a committed, unmodified specification."""
    monkeypatch.chdir(tmp_path)
    committed(tmp_path, text=author_text())
    return tmp_path


def test_text_is_compared_with_git_version(repository: Path) -> None:
    same = spec("check", "text.md")
    (repository / "text.md").write_text(RENUMBERED, "utf-8")
    renumbered = spec("check", "text.md")

    assert (same.exit_code, same.stdout.splitlines()[0]) == (
        0,
        "NO CHANGE   git:HEAD:text.md -> text.md",
    )
    assert renumbered.exit_code == 1
    assert renumbered.stdout == spec("diff", "git:HEAD:text.md", "text.md").stdout


def test_new_text_must_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "--quiet")
    (tmp_path / "text.md").write_text(author_text(), "utf-8")

    before_any_commit = spec("check", "text.md", "--fail-on", "all")
    committed(tmp_path, other=LOWERED.replace("message ", "message Other"))
    git(tmp_path, "rm", "--cached", "--quiet", "text.md")
    git(tmp_path, "commit", "--quiet", "--message", "without it")
    alongside_others = spec("check", "text.md", "--fail-on", "all")
    (tmp_path / "text.md").write_text(BROKEN, "utf-8")
    broken = spec("check", "text.md")

    for done in (before_any_commit, alongside_others):
        assert (done.exit_code, done.stdout) == (0, NEW)
    assert (broken.exit_code, broken.stdout) == (2, "")


def test_fixing_edit_passes_check(repository: Path) -> None:
    committed(repository, text=BROKEN)
    (repository / "text.md").write_text(author_text(), "utf-8")

    done = spec("check", "text.md")

    assert done.exit_code == 0
    assert done.stdout.startswith("FIXED   git:HEAD:text.md -> text.md")
    assert "siconform: git:HEAD:text.md: line 253: unexpected" in done.stderr
    assert spec("check", "text.md", "--against", "HEAD~1").stdout.startswith("NO CHANGE")


def test_renamed_text_is_compared_with_old_name(repository: Path) -> None:
    (repository / "docs").mkdir()
    git(repository, "mv", "text.md", "docs/text.md")
    (repository / "docs" / "text.md").write_text(RENUMBERED, "utf-8")

    done = spec("check", "docs/text.md")

    assert done.exit_code == 1
    assert done.stdout.startswith("BREAKING   git:HEAD:text.md -> docs/text.md\n")


def test_text_is_found_from_subfolder(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "below").mkdir()
    monkeypatch.chdir(repository / "below")

    assert version_at("../text.md") == "git:HEAD:text.md"
    assert version_at(str(repository / "text.md")) == "git:HEAD:text.md"
    assert spec("check", "../text.md").exit_code == 0


def test_worst_of_several_texts_decides(repository: Path) -> None:
    committed(repository, other=author_text())
    (repository / "other.md").write_text(RENUMBERED, "utf-8")

    both = spec("check", "text.md", "other.md", "text.md")
    as_markdown = spec("check", "text.md", "other.md", "--format", "markdown", "-o", "report.md")

    assert both.exit_code == as_markdown.exit_code == 1
    verdicts = re.findall(r"^(?:NO CHANGE|BREAKING).*$", both.stdout, re.MULTILINE)
    assert [verdict.split()[-1] for verdict in verdicts] == ["text.md", "other.md"]
    assert (repository / "report.md").read_text("utf-8").count("# What this SI change breaks") == 2


@pytest.mark.usefixtures("repository")
def test_fail_on_rules() -> None:
    Path("text.md").write_text(LOWERED, "utf-8")

    assert spec("check", "text.md").exit_code == 0
    assert spec("check", "text.md", "--fail-on", "rules").exit_code == 1


@pytest.mark.usefixtures("repository")
def test_unknown_to_git_is_one_sentence(tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "text.md"
    elsewhere.write_text(author_text(), "utf-8")

    for arguments, message in (
        (("text.md", "--against", "nowhere"), '"nowhere" is not a commit here: was it fetched?'),
        (("text.md", "--against", "--all"), '"--all" is not a commit here: was it fetched?'),
        ((str(elsewhere),), "text.md is outside of the repository of this folder"),
    ):
        done = spec("check", *arguments)

        assert (done.exit_code, done.stdout) == (4, "")
        (received,) = done.stderr.splitlines()
        assert message in received


def _hook() -> dict[str, object]:
    (hook,) = yaml.safe_load((CHECKOUT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert isinstance(hook, dict)
    return hook


def test_hook_runs_like_pre_commit(repository: Path) -> None:
    """pre-commit runs it with the names of changed files that match its pattern."""
    hook = _hook()
    name = "docs/scheduler-interface-spec.md"
    assert re.search(str(hook["files"]), name)
    assert re.search(str(hook["files"]), Path(name).name)
    assert not re.search(str(hook["files"]), "README.md")
    (repository / "docs").mkdir()
    git(repository, "mv", "text.md", name)
    git(repository, "commit", "--quiet", "--message", "renamed")

    (repository / name).write_text(RENUMBERED, "utf-8")
    program, *arguments = shlex.split(str(hook["entry"]))
    installed = Path(sysconfig.get_path("scripts"), program)
    done = finished([str(installed), *arguments, name], repository)

    assert program == "siconform"
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(f"BREAKING   git:HEAD:{name} -> {name}\n")


def test_hook_requires_compiler_of_project() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]

    assert _hook()["additional_dependencies"] == project["optional-dependencies"]["spec"]
