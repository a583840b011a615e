"""The commands ``siconform spec`` end to end: formats, options, sources, exit codes."""

import json
import os
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from selftest.spec_author import author_text, edited_text
from selftest.spec_commands_run import committed, git, spec, untouched
from siconform.cli import main
from sispec.layout import headline
from sispec.report import report
from sispec.sources import read_spec
from siwire import REVISIONS

RENUMBERED = edited_text(("  int32 priority = 6;", "  int32 priority = 16;"))
SCHEMA = jsonschema.Draft202012Validator(
    json.loads(resources.files("sispec").joinpath("report.schema.json").read_text("utf-8"))
)
LOWERED = edited_text(("known already must be", "known already should be"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("old", author_text()), ("new", RENUMBERED), ("lowered", LOWERED)):
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_every_format_has_verdict_first_and_same_content() -> None:
    verdict = headline(report(read_spec("old.md"), read_spec("new.md")))
    sentence = "An old peer does not see Allocation.priority: it counts with the default priority."

    terminal = spec("diff", "old.md", "new.md")
    markdown = spec("diff", "old.md", "new.md", "--format", "markdown")
    as_json = spec("diff", "old.md", "new.md", "--format", "json")

    assert terminal.stdout.startswith(f"{verdict}\n")
    assert sentence in terminal.stdout
    heading, _, bold, *_ = markdown.stdout.splitlines()
    assert heading == "# What this SI change breaks"
    assert bold.strip("*").split() == verdict.split()
    assert f"- {sentence}" in markdown.stdout
    document = json.loads(as_json.stdout)
    SCHEMA.validate(document)
    assert document["changes"][0]["old_peer"] == sentence
    assert {document["exit_code"], terminal.exit_code, markdown.exit_code, as_json.exit_code} == {1}


@pytest.mark.parametrize("command", ["diff", "impact"])
@pytest.mark.parametrize(("old", "new"), [("2021-02", "2023-04"), ("2023-12", "2024-10")])
def test_json_of_known_revisions_is_valid(command: str, old: str, new: str) -> None:
    document = json.loads(spec(command, old, new, "--format", "json").stdout)

    SCHEMA.validate(document)
    assert (document["impact"] is None) == (command == "diff")


def test_every_revision_equals_itself() -> None:
    for name in REVISIONS:
        done = spec("diff", name, name)

        assert done.exit_code == 0
        verdict, why = done.stdout.splitlines()
        assert verdict == f"NO CHANGE   {name} -> {name}"
        assert why == "  both are identical: nothing to compare"


@pytest.mark.usefixtures("folder")
def test_details_show_decoded_bytes() -> None:
    short, long = (spec("diff", "old.md", "new.md", *more) for more in ([], ["--details"]))

    assert "Allocation.priority  30 05  is not seen" not in short.stdout
    assert "old -> new  Allocation.priority  30 05  is not seen" in long.stdout


@pytest.mark.usefixtures("folder")
def test_fail_on_option_of_spec() -> None:
    def code(new: str, *fail_on: str) -> int:
        options = [word for name in fail_on for word in ("--fail-on", name)]
        return spec("diff", "old.md", new, *options).exit_code

    assert code("new.md") == 1
    assert code("new.md", "misread") == 0
    assert code("new.md", "misread", "wire") == 1
    assert code("new.md", "rules") == 0
    assert code("lowered.md") == 0
    assert code("lowered.md", "rules") == 1
    assert code("lowered.md", "all") == 1
    assert code("old.md", "all") == 0


def test_output_file_is_complete(folder: Path) -> None:
    (folder / "report.md").write_text("older", "utf-8")

    done = spec("diff", "old.md", "new.md", "--format", "markdown", "-o", "deep/report.md")
    over = spec("diff", "old.md", "new.md", "--format", "markdown", "-o", "report.md")

    assert (done.exit_code, done.stdout, over.exit_code, over.stdout) == (1, "", 1, "")
    written = (folder / "deep" / "report.md").read_text("utf-8")
    assert written == spec("diff", "old.md", "new.md", "--format", "markdown").stdout
    assert (folder / "report.md").read_text("utf-8") == written
    assert sorted(path.name for path in (folder / "deep").iterdir()) == ["report.md"]


def test_output_to_link_and_device(folder: Path) -> None:
    (folder / "link.md").symlink_to(folder / "report.md")

    spec("diff", "old.md", "new.md", "-o", "link.md")
    spec("diff", "old.md", "new.md", "-o", os.devnull)

    assert (folder / "link.md").is_symlink()
    assert (folder / "report.md").read_text("utf-8").startswith("BREAKING")
    assert not Path(os.devnull).is_file()


@pytest.mark.usefixtures("folder")
def test_full_disk_leaves_no_partial_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *_arguments: object) -> int:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, untouched(Path()):
        patched.setattr(Path, "write_text", full)
        done = spec("diff", "old.md", "new.md", "-o", "report.md")

    assert done.exit_code == 4
    assert done.stderr == "siconform: report.md cannot be written: No space left on device\n"


@pytest.mark.usefixtures("folder")
def test_unprintable_characters_are_replaced() -> None:
    drawn = author_text().replace("known already must be", "known already (naïve) must be")
    Path("accent.md").write_text(drawn, "utf-8")
    done = CliRunner(charset="ascii").invoke(main, ["spec", "diff", "old.md", "accent.md"])

    assert done.exit_code == 0
    assert "(na?ve)" in done.stdout


def test_each_kind_of_source_gives_same_report(folder: Path) -> None:
    extracted = spec("extract", "old.md", "-o", "out")

    assert extracted.exit_code == 0
    assert extracted.stdout.splitlines()[0] == "30 messages, 6 enums, 4 constants"
    files = [f"out/{name}" for name in ("si.proto", "si.binpb")]
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "constants.json",
        "si.binpb",
        "si.proto",
    ]
    for file in files:
        same = spec("diff", file, "old.md", "--fail-on", "all")
        assert same.exit_code == 0, same.stdout
        assert same.stdout.startswith("NO CHANGE")
        assert spec("diff", file, "new.md").exit_code == 1


def test_git_text_against_edited_file(folder: Path) -> None:
    (folder / "deep").mkdir()
    first = committed(folder, text=author_text())
    committed(folder, text=RENUMBERED)
    (folder / "text.md").write_text(LOWERED, "utf-8")

    assert spec("diff", f"git:{first}:text.md", "git:HEAD:text.md").exit_code == 1
    assert spec("diff", "git:HEAD~1:text.md", "old.md").exit_code == 0
    done = spec("diff", "git:HEAD:text.md", "text.md")
    assert done.stdout.startswith("BREAKING   git:HEAD:text.md -> text.md\n")
    assert "1 rule changed" in done.stdout
    assert git(folder, "status", "--porcelain").split() == ["M", "text.md"]


@pytest.mark.usefixtures("folder")
def test_impact_names_touched_code() -> None:
    done = spec("impact", "old.md", "new.md")
    detailed = spec("impact", "old.md", "new.md", "--details")

    assert done.exit_code == 1
    assert "of the requirements of SI 2024-10:" in done.stdout
    assert "affects: SI-" in done.stdout
    assert "--details lists them" in done.stdout
    assert "--details lists them" not in detailed.stdout
    assert len(detailed.stdout) > len(done.stdout)
    assert max(map(len, detailed.stdout.splitlines())) <= 100
