"""The target file: its content, its errors, and overriding options."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from siconform.commands.launching import arguments
from siconform.config.option_list import IN_FILES, LAST_FAILED, OPTIONS
from siconform.config.option_list import TARGET_FILE as FLAG
from siconform.config.options import settings_from
from siconform.config.target_file import (
    NAME,
    TargetFileError,
    read_target_file,
    schema,
    table_of_keys,
)
from siconform.config.target_file_options import fill_in, find, with_target_file

from .commands import invoke
from .conftest import ANNOUNCING, FinishedRun

PAGE: Final = Path(__file__).parents[2] / "docs" / "target-file.md"
WHOLE: Final = """
[target]
command = ["./my scheduler", "--listen", "{address}"]
start_timeout = 12.5
wait = 3
revision = "1.8"
rm_version = "7.1"
proposals = false
configuration = "queues.conf"
without = ["gang", "preemption"]
time_scale = 2
baseline = "known.yaml"

[target.tls]
ca = "ca.pem"
cert = "rm.pem"
key = "rm.key"
name = "scheduler.test"
enabled = true

[target.metadata]
authorization = "Bearer ${TOKEN}"
team = "blue"

[target.timers]
placeholder = "application"
waiting = 5
connection_loss = 3
longest = 100

[target.implementation]
name = "mine"
version = "1.4"

[target.contact]
name = "Jo Doe"
email = "jo@example.org"
url = "https://example.org"

[targets.staging]
address = "127.0.0.1:9443"

[targets.core]
known = "yunikorn-core@1.8.0"

[run]
results = "out"
workers = 3
real_clock = true
disruptive = true
explore = 0
reference = false
timings = true
color = "never"
area = ["NODE", "GANG"]
level = ["MUST"]
authority = ["spec"]
feature = ["gang"]
text = ["placeholder"]
include = ["some.txt"]
skip = ["others.txt"]
profile = ["base"]
"""
ALL_WRONG: Final = """[target]
adress = "127.0.0.1:1"
address = "nowhere"
command = "x"
revision = "2.0"
without = ["gangs"]
time_scale = 0
wait = "long"
baseline = "missing.yaml"
proposals = "no"

[target.timers]
placehodler = 3
waiting = -1

[targets."a@b"]
address = "127.0.0.1:1"

[targets.other]
configuration = "missing.conf"

[runs]
workers = 1

[run]
workers = 1.5
color = "sometimes"
"""
FILES: Final = ("queues.conf", "known.yaml", "ca.pem", "rm.pem", "rm.key", "some.txt", "others.txt")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    for name in FILES:
        (tmp_path / name).write_text("NODE\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def written(folder: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        (folder / NAME).write_text(text, "utf-8")
        return folder / NAME

    return write


def mutants(file: Path) -> list[str]:
    with pytest.raises(TargetFileError) as caught:
        read_target_file(file)
    return [line.removeprefix(f"{file}") for line in str(caught.value).splitlines()]


def test_every_option_has_its_place_and_every_place_its_option() -> None:
    options = {option.flag for option in OPTIONS}
    in_the_file = {option.flag for option in IN_FILES}

    assert in_the_file == (options - {FLAG, LAST_FAILED}) | {"-n"}


def test_target_file_fields(written: Callable[[str], Path], folder: Path) -> None:
    written(WHOLE)

    assert with_target_file(["-x"]) == [
        "--target-command", "'./my scheduler' --listen '{address}'", "--start-timeout", "12.5",
        "--wait", "3", "--revision", "1.8", "--rm-version", "7.1", "--no-proposals",
        "--config", str(folder / "queues.conf"), "--without", "gang,preemption",
        "--time-scale", "2", "--baseline", str(folder / "known.yaml"),
        "--tls-ca", str(folder / "ca.pem"), "--tls-cert", str(folder / "rm.pem"),
        "--tls-key", str(folder / "rm.key"), "--tls-name", "scheduler.test", "--tls",
        "--metadata", "authorization=Bearer ${TOKEN}", "--metadata", "team=blue",
        "--placeholder-timeout", "application", "--waiting-timeout", "5",
        "--connection-loss-timeout", "3", "--longest-timer", "100",
        "--implementation", "mine", "--implementation-version", "1.4",
        "--contact", "Jo Doe <jo@example.org> https://example.org",
        "--target-folder", str(folder),
        "--results", str(folder / "out"), "-n", "3", "--real-clock", "--disruptive",
        "--explore", "0", "--no-reference", "--timings", "--color", "never", "--area", "NODE",
        "--area", "GANG", "--level", "MUST", "--authority", "spec", "--feature", "gang",
        "--text", "placeholder", "--include", str(folder / "some.txt"),
        "--skip", str(folder / "others.txt"), "--profile", "base",
        FLAG, str(folder / NAME), "-x",
    ]  # fmt: skip


def test_options_override_target_file(written: Callable[[str], Path], folder: Path) -> None:
    written(WHOLE)
    given = ["--time-scale=3", "-n0", "--area", "REL", "--metadata", "Team=red"]

    words = with_target_file(given)
    assert words[-len(given) :] == given
    assert "--time-scale" not in words
    assert "-n" not in words
    assert "NODE" not in words
    assert "team=blue" not in words
    assert "authorization=Bearer ${TOKEN}" in words
    assert with_target_file([FLAG, "none", "-x"]) == [FLAG, "none", "-x"]
    assert str(folder) not in " ".join(with_target_file([FLAG, "none"]))


@pytest.mark.parametrize(
    ("options", "has", "has_not"),
    [
        (["--target", "127.0.0.1:1"], ["--target 127.0.0.1:1", "--tls-name"], ["--target-command"]),
        (["--target-command", "x"], ["--target-command x", "--tls-name"], ["scheduler' --listen"]),
        (["--target", "staging"], ["--target 127.0.0.1:9443", "-n 3"], ["staging", "--tls-name"]),
        (["--target", "core"], ["--target yunikorn-core@1.8.0"], ["--target core", "--tls-name"]),
        (["--target", "a@1"], ["--target a@1", "-n 3"], ["--tls-name", "--target-command"]),
    ],
)
def test_target_selection(
    options: list[str], has: list[str], has_not: list[str], written: Callable[[str], Path]
) -> None:
    written(WHOLE)

    words = " ".join(with_target_file(options))
    assert [one for one in has if one not in words] == []
    assert [one for one in has_not if one in words] == []


def test_target_file_is_searched_up_to_repository_root(
    written: Callable[[str], Path], folder: Path
) -> None:
    file = written("")
    below = folder / "a" / "b"
    below.mkdir(parents=True)
    assert find(below) == file

    (below / ".git").touch()  # as in a work tree
    assert find(below) is None


def test_all_target_file_errors_are_reported(written: Callable[[str], Path]) -> None:
    file = written(ALL_WRONG)

    received = mutants(file)
    for line, place, message in (
        (2, "target.adress", "unknown key; did you mean address?"),
        (3, "target.address", '"nowhere" has no port: give nowhere:PORT'),
        (4, "target.command", "conflicts with address"),
        (5, "target.revision", 'unknown revision "2.0"'),
        (6, "target.without", "gang"),
        (7, "target.time_scale", '"0" must be a positive number'),
        (8, "target.wait", "expected a number, got text"),
        (9, "target.baseline", "missing.yaml does not exist"),
        (10, "target.proposals", "expected true or false, got text"),
        (13, "target.timers.placehodler", "did you mean placeholder?"),
        (14, "target.timers.waiting", '"-1" must be a positive number'),
        (16, "targets.a@b", "target names must not be addresses or contain @"),
        (20, "targets.other.configuration", "missing.conf does not exist"),
        (22, "runs", "did you mean run?"),
        (26, "run.workers", "expected a whole number"),
        (27, "run.color", '"sometimes" must be one of auto, always, never'),
    ):
        assert any(one.startswith(f":{line}: {place}: ") and message in one for one in received), (
            place
        )
    assert len(received) == 16


@pytest.mark.parametrize(
    ("text", "received"),
    [
        ("[target", "is not valid TOML: "),
        ("a = 1\na = 2\n", "is not valid TOML: "),
        (None, "cannot be read: No"),
    ],
)
def test_invalid_target_file(text: str | None, received: str, folder: Path) -> None:
    if text is not None:
        (folder / NAME).write_text(text)
    [mutant] = mutants(folder / NAME)
    assert received in mutant


def test_other_commands_read_target_file(written: Callable[[str], Path], folder: Path) -> None:
    file = written('[target]\naddress = "127.0.0.1:1"\ntime_scale = 2\n[run]\nworkers = 3\n')
    values: dict[str, Any] = {option.flag: None for option in OPTIONS if option.of_the_target}

    fill_in(values)
    assert {flag: value for flag, value in values.items() if value} == {
        "--target": "127.0.0.1:1",
        "--time-scale": "2",
        FLAG: str(file),
    }
    settings = settings_from({**values, "--results": str(folder)}.get)
    assert (settings.address, settings.time_scale) == ("127.0.0.1:1", 2.0)


def test_repeat_command_is_as_given(written: Callable[[str], Path]) -> None:
    written(WHOLE)
    words = arguments(with_target_file(["--time-scale", "3"]), ["--time-scale", "3"])

    [started] = [word for word in words if word.startswith("--started-as=")]
    assert json.loads(started.partition("=")[2])[1] == ["--time-scale", "3"]


def test_schema_accepts_same_files(written: Callable[[str], Path]) -> None:
    import tomllib  # noqa: PLC0415  # of this test alone

    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(tomllib.loads(WHOLE), schema())
    read_target_file(written(WHOLE))
    wrong: Any
    for wrong in ({"targt": {}}, {"target": {"wait": 0}}, {"run": {"color": "red"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema())


def test_new_target_file_is_valid_and_not_overwritten(folder: Path) -> None:
    made = invoke("target-file", "--new")
    assert made.exit_code == 0, made.output
    assert json.loads((folder / "siconform.schema.json").read_text()) == schema()
    assert (folder / NAME).read_text().startswith("#:schema ./siconform.schema.json\n")
    read_target_file(folder / NAME)

    every_line = re.sub(r"(?m)^# (?=\[|\w+ = )", "", (folder / NAME).read_text())
    without_a_choice = re.sub(r"(?m)^(command|known) = .*", "", every_line)
    for name in ("deviations.yaml",):
        (folder / name).touch()
    (folder / NAME).write_text(without_a_choice)
    assert len(with_target_file([])) > 30

    again = invoke("target-file", "--new")
    assert again.exit_code == 4
    assert "already there: siconform.toml; edit it, or remove it first" in again.stderr


def test_resolved_target_hides_secrets(written: Callable[[str], Path]) -> None:
    written('[target]\naddress = "127.0.0.1:1"\n[target.metadata]\ntoken = "s3cret"\n')

    received = invoke("target-file")
    assert received.exit_code == 0, received.output
    assert "--target 127.0.0.1:1" in received.stdout
    assert "token=***" in received.stdout
    assert "s3cret" not in received.stdout

    written("[target]\nadress = 1\n")
    received = invoke("target-file")
    assert received.exit_code == 4
    assert "did you mean address?" in received.stderr


def test_pytest_itself_takes_a_file(
    conformance: Callable[..., FinishedRun], pytester: pytest.Pytester
) -> None:
    file = pytester.path / "mine.toml"
    file.write_text(
        f"[target]\ncommand = {json.dumps(f'{sys.executable} {ANNOUNCING}')}\ntime_scale = 2\n"
        '[target.implementation]\nname = "mine"\n[target.contact]\nname = "Jo"\n'
        '[target.metadata]\ntoken = "s3cret"\n'
    )
    source = '@requirement("SI-NODE-001")\ndef test_it(target): assert target.time_scale == 2.0\n'
    done = conformance(source, FLAG, str(file), target=False)

    assert done.verdict("SI-NODE-001") == "pass", done.out
    assert done.results["target"]["implementation"] == "mine"
    assert done.results["target"]["contact"] == "Jo"
    assert "target file: " in done.out
    for file in done.folder.rglob("*"):
        assert file.is_dir() or b"s3cret" not in file.read_bytes(), file


def test_page_documents_every_field() -> None:
    assert table_of_keys() in PAGE.read_text("utf-8")
