"""Options for policies configured at the scheduler: valid files and errors."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from sireference.cli import main
from sireference.cli.operations import operation_options
from sireference.cli.policies import policies, policy_options
from sireference.codec import NoPolicyError, Policies
from sireference.configuration.problems import ConfigurationError

QUEUES = "partitions: [{{name: {name}, queues: [{{name: root, submitacl: '*'}}]}}]"


def chosen(*arguments: str) -> Policies:
    """Return the settings from the options, without serving."""
    found: list[Policies] = []

    @click.command()
    @policy_options
    @operation_options
    def command(**options: object) -> None:
        found.append(policies(options))

    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return found[0]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    for name in ("one", "two"):
        (tmp_path / name).write_text(QUEUES.format(name=name), encoding="utf-8")
    return {name: tmp_path / name for name in ("one", "two")}


def partitions(sent: Policies, group: str) -> list[str]:
    return [partition.name for partition in sent.configuration(group).partitions]


# requirement: SI-REG-012
def test_queues_are_read_from_files(files: dict[str, Path]) -> None:
    one, two = files["one"], files["two"]

    everybody = chosen("--config", str(one))
    by_group = chosen("--config", str(one), "--policy-group", f"g={two}")

    assert partitions(everybody, "anything") == partitions(everybody, "") == ["one"]
    assert (partitions(by_group, "g"), partitions(by_group, "")) == (["two"], ["one"])
    with pytest.raises(NoPolicyError):
        by_group.configuration("h")
    assert partitions(chosen(), "anything") == ["default"]


# requirement: SI-ASK-013
def test_priorities_have_names() -> None:
    sent = chosen("--priority-class", "high=9", "--priority-class", "a=b=-3")

    assert [sent.priority(name) for name in ("high", "a=b", "b")] == [9, -3, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "{missing}"], "does not exist"),
        (["--config", "{bad}"], "{bad}: 2 errors\n  partitions[0].quues: "),
        (["--config", "{binary}"], "{binary}: 'utf-8' codec can't decode"),
        (["--policy-group", "{one}"], "NAME=FILE"),
        (["--policy-group", "g={bad}"], "{bad}: 2 errors\n  partitions[0].quues: "),
        (["--policy-group", "=x"], "NAME=FILE"),
        (["--policy-group", "g=nowhere"], "does not exist"),
        (["--priority-class", "high"], "NAME=NUMBER"),
        (["--priority-class", "high=x"], "NAME=NUMBER"),
        (["--priority-class", "=3"], "NAME=NUMBER"),
        (["--priority-class", "high=2147483648"], "32 bits"),
        (["--priority-class", "high=-2147483649"], "32 bits"),
    ],
)
def test_invalid_policy_is_a_usage_error(
    files: dict[str, Path], arguments: list[str], message: str
) -> None:
    bad, binary = files["one"].with_name("bad"), files["one"].with_name("binary")
    bad.write_text("partitions: [{name: p, quues: [], queues: [{name: q, parnt: true}]}]")
    binary.write_bytes(b"\xff\xfe")
    places = {
        **files,
        "bad": bad,
        "binary": binary,
        "missing": files["one"].with_name("missing"),
    }

    result = CliRunner().invoke(main, ["serve", *(one.format(**places) for one in arguments)])

    assert result.exit_code == 4
    assert message.format(**places) in result.output


def test_size_limit_applies_to_sent_configurations_not_to_files(tmp_path: Path) -> None:
    file = tmp_path / "queues.yaml"
    file.write_text(QUEUES.format(name="one") + "#" * 100, encoding="utf-8")

    sent = chosen("--config", str(file), "--max-configuration-bytes", "100")

    assert partitions(sent, "") == ["one"]
    with pytest.raises(ConfigurationError, match="no more than 100 are read"):
        sent.configuration("", file.read_text(encoding="utf-8"))


def test_unchanged_configuration_is_not_parsed_again() -> None:
    text, another = (f"partitions: [{{queues: [{{name: {name}}}]}}]" for name in "ab")
    one = Policies().configuration("", text)

    assert Policies().configuration("", text) is one
    assert Policies().configuration("", another) != one
    assert Policies().configuration("", text) == one
