"""``siconform target-file`` refuses what ``siconform run`` refuses, with the same sentences."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import Result

from .commands import invoke


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def checked(text: str, *options: str) -> Result:
    Path("siconform.toml").write_text(text, "utf-8")
    return invoke("target-file", *options)


def sentences(text: str, *options: str) -> Sequence[str]:
    """Return the sentences about a file, without its path."""
    done = checked(text, *options)
    assert done.exit_code == 4, done.output
    return [
        re.sub(r"(siconform: )?\S*siconform.toml:", "", line) for line in done.stderr.split("\n")
    ]


@pytest.mark.parametrize(
    ("table", "key", "value", "sentence"),
    [
        ("run", "area", "NOED", 'unknown area "NOED"; did you mean NODE? (known: WIRE, CONN, '),
        ("run", "level", "perhaps", 'unknown level "perhaps"; known: MUST, SHOULD, MAY'),
        ("run", "level", "SHALL, MSUT", 'unknown level "SHALL"; known: MUST, SHOULD, MAY'),
        ("run", "authority", "specs", 'unknown authority "specs"; did you mean spec? (known: '),
        ("run", "feature", "gangs", 'unknown feature "gangs"; did you mean gang? (known: api, '),
        ("run", "profile", "core", 'unknown profile "core" (known: all, base, gang; '),
        ("run", "profile", "bsae", 'unknown profile "bsae"; did you mean base? (known: '),
        ("run", "fail_on", "MAY", '"MAY" must be MUST or SHOULD'),
        ("run", "color", "alway", '"alway" must be one of auto, always, never; did you mean alway'),
        ("target", "known", "core@1", 'unknown target "core@1": give HOST:PORT or NAME@VERSION. '),
        ("target", "without", "gangs", 'unknown feature "gangs"; did you mean gang? (known: api, '),
        ("target", "revision", "2023-13", 'unknown revision "2023-13"; did you mean "2023-12"? ('),
    ],
)
def test_unknown_name_is_refused_with_its_line_and_the_known_ones(
    table: str, key: str, value: str, sentence: str
) -> None:
    [received, _] = sentences(f'[{table}]\n{key} = "{value}"\n')

    assert received.startswith(f"2: {table}.{key}: {sentence}")


def test_problems_are_in_the_order_of_lines() -> None:
    received = sentences(
        """
[run]
area = "NOED"
[target]
wait = 0
tls = { cert = "none.pem", ca = 1 }
contact.mail = "a@b"
adress = "127.0.0.1:1"
[targets.b]
wait = 0
[targets.a]
known = "x@1"
address = "x"
[runs]
"""
    )

    assert [line.partition(":")[0] for line in received if line] == [
        "3", "5", "6", "6", "7", "8", "10", "12", "12", "13", "14",
    ]  # fmt: skip


@pytest.mark.parametrize("key", ["profile", "area", "level", "authority", "feature", "text"])
def test_one_value_is_a_string_or_a_list(key: str) -> None:
    value = {"profile": "base", "area": "NODE", "level": "must", "authority": "spec"}.get(
        key, "gang"
    )
    as_text = checked(f'[run]\n{key} = "{value}"\n')
    as_list = checked(f'[run]\n{key} = ["{value}"]\n')

    assert (as_text.exit_code, as_text.output) == (0, as_list.output)
    assert f"--{key} {value}" in as_text.output


def test_every_value_of_a_list_is_checked() -> None:
    received = sentences('[run]\nlevel = ["MSUT", "must", "perhaps"]\n')

    assert [line[:35] for line in received if line] == [
        '2: run.level: unknown level "MSUT";',
        '2: run.level: unknown level "perhap',
    ]


def test_missing_features_are_a_string_or_a_list() -> None:
    as_text = checked('[target]\nwithout = "gang,preemption"\n')

    assert as_text.exit_code == 0, as_text.output
    assert as_text.output == checked('[target]\nwithout = ["gang", "preemption"]\n').output


def test_list_of_requirements_is_read() -> None:
    Path("some.txt").write_text("node-2\nnod-3\n")

    [received, _] = sentences('[run]\ninclude = "some.txt"\n')

    assert received.startswith("2: run.include: ")
    assert received.endswith('some.txt:2: unknown requirement "nod-3"; did you mean SI-NODE-003?')


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ('[target]\ntls.name = "a"\n', (), "the embedded reference does not support TLS"),
        (
            '[target]\nrevision = "2024-10"\n[run]\nprofile = "2023-12/base"\n',
            (),
            "profile 2023-12/base.1 belongs to SI 2023-12, not to SI 2024-10",
        ),
        ("[targets.a]\nwait = 1\n", ("--target", "b"), 'unknown target "b"; known: a'),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    text: str, options: Sequence[str], sentence: str
) -> None:
    assert sentence in checked(text, *options).stderr


@pytest.mark.parametrize(
    "line",
    ["without = []", "metadata = {}", 'metadata = { team = "" }', "tls = {}", "contact = {}"],
)
def test_key_without_content_is_accepted(line: str) -> None:
    done = checked(f'[target]\naddress = "127.0.0.1:1"\n{line}\n')

    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("command = []", "2: target.command: it is empty"),
        ('command = " "', "2: target.command: it is empty"),
        ("metadata.team = 1", "2: target.metadata: expected text, got a whole number"),
        ("wait = true", "2: target.wait: expected a number, got true or false"),
        ("wait = inf", '2: target.wait: "inf" must be a positive number'),
        ("timers.placeholder = true", "2: target.timers.placeholder: expected a number or text, "),
        ("tls = 1", "2: target.tls: expected a table, got a whole number"),
        ("without = [1]", "2: target.without: expected text, got a whole number"),
        ('contact.email = "x"', '2: target.contact: email: "x" is not valid'),
    ],
)
def test_wrong_value_is_refused(line: str, sentence: str) -> None:
    [received, _] = sentences(f"[target]\n{line}\n")

    assert received.startswith(sentence)


def test_metadata_may_refer_to_an_environment_that_is_not_set() -> None:
    done = checked(
        '[target]\naddress = "127.0.0.1:1"\nmetadata.authorization = "Bearer ${NOT_SET_HERE}"\n'
    )

    assert done.exit_code == 0, done.output
