"""The files that ``siconform init`` writes are accepted, and it overwrites nothing."""

import re
import sys
import tomllib
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from click.testing import Result
from siconform import __version__
from siconform.config.target_file import read_target_file

from .commands import invoke, siconform
from .terminals import at_terminal

COMMAND: Final = f"'{sys.executable}' -m sireference serve --listen {{address}}"
WORKFLOW: Final = Path(".github/workflows/conformance.yml")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def init(*options: str) -> Result:
    return invoke("init", "--no-check", *options)


def written() -> dict[str, Any]:
    read_target_file(Path("siconform.toml"))  # raises if it is invalid
    return tomllib.loads(Path("siconform.toml").read_text("utf-8"))


def workflow() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    return found


def test_target_file_with_everything(folder: Path) -> None:
    name = 'my "scheduler" \u2713'
    result = init("--target-command", COMMAND, "--revision", "1.8", "--name", name)

    assert result.exit_code == 0, result.output
    assert result.output == "written: siconform.toml\nNext:  siconform check\n"
    assert written() == {
        "target": {
            "command": [sys.executable, *["-m", "sireference", "serve", "--listen", "{address}"]],
            "revision": "2024-10",
            "implementation": {"name": name},
        },
        "run": {},
    }
    assert [file.name for file in folder.iterdir()] == ["siconform.toml"]
    assert "${TOKEN}" in Path("siconform.toml").read_text("utf-8")  # a comment of the template
    checked = invoke("target-file")
    assert checked.exit_code == 0
    assert f"--implementation '{name}'" in checked.output


def test_target_file_with_an_address_only() -> None:
    assert init("--target", "127.0.0.1:9080").exit_code == 0

    assert written() == {"target": {"address": "127.0.0.1:9080"}, "run": {}}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give --target HOST:PORT or --target-command"),
        (("--target", "nowhere"), '--target "nowhere" must be HOST:PORT'),
        (("--target", "a:1", "--target-command", "b"), "mutually exclusive"),
        (("--target-command", "a 'b"), "--target-command is not a valid command line"),
        (("--target-command", " "), "--target-command is empty"),
        (("--target", "a:1", "--revision", "1066"), "--revision: "),
        (("--target", "a:1", "--ci", "gitlab"), "--ci"),
    ],
)
def test_invalid_options_write_nothing(
    folder: Path, options: tuple[str, ...], message: str
) -> None:
    result = init(*options)

    assert result.exit_code == 4
    assert message in result.output
    assert result.output.count("\n") == 1
    assert list(folder.iterdir()) == []


def test_existing_files_are_kept_unless_forced() -> None:
    WORKFLOW.parent.mkdir(parents=True)
    WORKFLOW.write_text("mine")

    refused = init("--target", "a:1", "--ci", "github")

    assert refused.exit_code == 4
    assert f"already there: {WORKFLOW}; give --force" in refused.output
    assert WORKFLOW.read_text() == "mine"
    assert not Path("siconform.toml").exists()
    assert init("--target", "a:1", "--ci", "github", "--force").exit_code == 0
    assert written()
    assert "jobs" in workflow()


def test_workflow_keeps_results_of_failed_runs() -> None:
    init("--target-command", COMMAND, "--ci", "github")

    steps = workflow()["jobs"]["conformance"]["steps"]

    used = {step["uses"]: step for step in steps if "uses" in step}
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", name) for name in used)
    run = [step["run"] for step in steps if "run" in step]
    assert run == [f"pip install si-conformance=={__version__}", "siconform run"]
    assert steps[-1]["if"] == "${{ !cancelled() }}"
    assert used["actions/upload-artifact@v4"]["with"]["path"] == "build/conformance"


def test_workflow_waits_for_a_scheduler_that_it_has_to_start() -> None:
    init("--target", "127.0.0.1:9080", "--ci", "github")

    steps = workflow()["jobs"]["conformance"]["steps"]
    assert "siconform run --wait 60" in [step.get("run") for step in steps]
    assert "start it here" in WORKFLOW.read_text()


def test_first_contact_follows(closed_address: str) -> None:
    result = invoke("init", "--target", closed_address)

    assert result.exit_code == 12
    assert f"nothing listens on {closed_address}" in " ".join(result.output.split())
    assert result.output.endswith("Next:  siconform check\n")
    assert written()["target"] == {"address": closed_address}


def test_questions_at_a_terminal(folder: Path) -> None:
    command = [sys.executable, "-m", "siconform", "init", "--no-check", "--name", "mine"]
    with at_terminal(command, folder) as terminal:
        for asked, answer in [
            ("HOST:PORT of your", "./mine {address}"),
            ("SI revision", ""),
            ("CI workflow", "github"),
        ]:
            terminal.until(partial(terminal.shows, asked))
            terminal.types(f"{answer}\n")
        assert terminal.to_its_end() == 0
        assert not terminal.shows("Name of")

    assert written()["target"] == {
        "command": ["./mine", "{address}"],
        "implementation": {"name": "mine"},
    }
    assert WORKFLOW.is_file()


@pytest.mark.end_to_end
def test_run_uses_the_file(folder: Path) -> None:
    init("--target-command", COMMAND)

    done = siconform("run", "SI-REG-001", cwd=folder)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "siconform.toml" in done.stdout
    assert "1 pass" in done.stdout
