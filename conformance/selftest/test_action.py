"""What other projects use: GitHub Action, pre-commit hook, container file, and releases."""

import io
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from dockerfile_parse import DockerfileParser  # type: ignore[import-untyped]  # has no types
from siconform import shipped

from .commands import finished, python
from .stored_runs import OF_ALL

pytestmark = pytest.mark.end_to_end

ACTION = shipped.CHECKOUT / "action.yml"
RELEASE = shipped.CHECKOUT / ".github" / "workflows" / "release.yml"
SCRIPT = shipped.CHECKOUT / ".github" / "actions" / "siconform" / "run.sh"


def action() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(ACTION.read_text("utf-8"))
    return read


def steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = action()["runs"]["steps"]
    return found


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The kit of this checkout, as a program at a path."""
    path = tmp_path / "siconform"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m siconform "$@"\n', "utf-8")
    path.chmod(0o755)
    return path


def evaluated(program: Path, folder: Path, **given: str) -> tuple[int, str, str]:
    """Return exit code, outputs and summary of the action's step with these inputs."""
    received = {
        "SICONFORM": str(program),
        "RESULTS": str(folder / "results"),
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    done = finished(["/bin/bash", str(SCRIPT)], folder, {**os.environ, **received, **given})
    summary = folder / "summary.md"
    return (
        done.returncode,
        (folder / "outputs").read_text("utf-8"),
        summary.read_text("utf-8") if summary.exists() else "",
    )


@pytest.mark.parametrize(
    ("file", "schema"),
    [(ACTION, "vendor.github-actions"), (RELEASE, "vendor.github-workflows")],
    ids=["action", "release"],
)
def test_file_matches_published_schema(file: Path, schema: str) -> None:
    done = python("-m", "check_jsonschema", "--builtin-schema", schema, file)

    assert done.returncode == 0, done.stdout + done.stderr


def test_action_inputs_are_used_without_shell_expansion() -> None:
    text = ACTION.read_text("utf-8")

    used = set(re.findall(r"inputs\.([\w-]+)", text))

    assert used == set(action()["inputs"])
    scripts = [step["run"] for step in steps() if "run" in step]
    assert scripts
    assert not [script for script in scripts if "${{" in script]


def test_release_publishes_what_was_tested_without_password() -> None:
    jobs = yaml.safe_load(RELEASE.read_text("utf-8"))["jobs"]

    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets" not in RELEASE.read_text("utf-8")
    assert all("checkout" not in step["uses"] for step in jobs["publish"]["steps"])


def test_action_step_sets_variables_of_its_script() -> None:
    [step] = [step for step in steps() if step.get("id") == "run"]

    read = set(re.findall(r"\$\{?([A-Z][A-Z_]+)\b", SCRIPT.read_text("utf-8")))

    assert read - {"GITHUB_OUTPUT"} == set(step["env"])


def test_action_passes_and_writes_summary(program: Path, tmp_path: Path) -> None:
    code, outputs, summary = evaluated(
        program, tmp_path, REVISION="2024-10", OPTIONS="SI-NODE-001\n-n\n0\n"
    )

    assert code == 0
    assert outputs == "verdict=CONFORMANT\nexit-code=0\n"
    assert summary.count(f"**PARTIAL: 1 {OF_ALL}, all passed") == 1
    assert "| NODE | 1 |" in summary


def test_action_fails_with_exit_code_without_scheduler(program: Path, tmp_path: Path) -> None:
    code, outputs, _ = evaluated(program, tmp_path, TARGET="127.0.0.1:1")

    assert code == 12
    assert outputs == "verdict=INCOMPLETE\nexit-code=12\n"


def test_action_reports_no_earlier_verdict(program: Path, tmp_path: Path) -> None:
    evaluated(program, tmp_path, OPTIONS="SI-WIRE-001\n-n\n0\n")

    code, outputs, _ = evaluated(program, tmp_path, REVISION="2023-13")

    assert code == 4
    assert outputs.endswith("verdict=\nexit-code=4\n")


def test_action_input_is_not_evaluated_by_shell(program: Path, tmp_path: Path) -> None:
    code, outputs, _ = evaluated(program, tmp_path, TARGET=f"$(touch {tmp_path / 'harm'})")

    assert code == 4
    assert outputs == "verdict=\nexit-code=4\n"
    assert not (tmp_path / "harm").exists()


def test_container_file_order_and_user() -> None:
    text = (shipped.CHECKOUT / "Containerfile").read_bytes()

    parsed = DockerfileParser(fileobj=io.BytesIO(text))

    received = [(part["instruction"], part["value"]) for part in parsed.structure]
    words = [word for word, _ in received if word != "COMMENT"]
    assert words[0] == "FROM"
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert dict(received)["ENTRYPOINT"] == '["siconform"]'
    assert len(set(parsed.parent_images)) == 1
