"""The command ``siconform target-file``: checks a target file, or creates one."""

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from siconform.commands.errors import wrong
from siconform.config.option_list import BY_FLAG, TARGET_FILE
from siconform.config.option_values import BadOption

NEW = """\
#:schema {schema}
# The scheduler under test, for `siconform run`. Paths are relative to this file.

[target]
# One of these three; without any, the embedded reference is tested.
# address = "127.0.0.1:9080"
# command = ["./my-scheduler", "--listen", "{{address}}"]   # run without a shell
# known = "yunikorn-core@1.8.0"

# revision = "2024-10"
# without = ["gang"]                # features it does not offer
# baseline = "deviations.yaml"      # known failures
# wait = 30                         # seconds until the address answers

# [target.tls]
# ca = "ca.pem"
# cert = "rm.pem"
# key = "rm.key"

# [target.metadata]
# authorization = "Bearer ${{TOKEN}}" # from the environment

# [target.timers]                   # seconds
# placeholder = 10
# waiting = 5

# [target.implementation]
# name = "my-scheduler"
# version = "1.0.0"

# [target.contact]
# email = "scheduler@example.org"

# [targets.staging]                 # siconform run --target staging
# address = "staging.example.org:9443"

[run]
# workers = 4
# explore = 10
"""
FILE = "siconform.toml"
_SCHEMA = "siconform.schema.json"


@click.command(name="target-file")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--target", metavar="NAME", help="Show the options of this target of the file")
@click.option("--schema", "as_schema", is_flag=True, help="Print the JSON schema of target files")
@click.option("--new", is_flag=True, help=f"Create {FILE} with every section, and its schema")
def target_file(file: Path | None, *, target: str | None, as_schema: bool, new: bool) -> None:
    """Check siconform.toml and print its settings as options."""
    if as_schema:
        click.echo(_schema(), nl=False)
    elif new:
        _write(file or Path(FILE))
    else:
        _report(file, target)


def _schema() -> str:
    from siconform.config.target_file import schema  # noqa: PLC0415  # imports grpc

    return json.dumps(schema(), indent=1) + "\n"


def _write(file: Path) -> None:
    """Write the target file, which must not exist, and the schema."""
    schema_file = file.with_name(_SCHEMA)
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(NEW.format(schema=f"./{_SCHEMA}"))
        schema_file.write_text(_schema(), "utf-8")
    except FileExistsError:
        wrong(f"already there: {file}; edit it, or remove it first")
    except OSError as error:
        wrong(f"{file} cannot be written: {error.strerror}")
    click.echo(f"written: {file} and {schema_file}; now set the scheduler in {file}")


def _report(file: Path | None, target: str | None) -> None:
    from siconform.config.access_options import without_secrets  # noqa: PLC0415  # imports grpc
    from siconform.config.target_file_options import of_the_options, with_target_file  # noqa: PLC0415  # the same

    given = ["--target-file", str(file)] if file else []
    try:
        found = of_the_options(str(file) if file else None)
        if found is None:
            wrong(f"no {FILE} in this folder or above; 'siconform target-file --new' creates one")
        if target is not None and target not in found.targets:
            known = f"known: {', '.join(found.targets)}" if found.targets else "it names none"
            wrong(f'{found.path}: unknown target "{target}"; {known}')
        words = with_target_file([*given, *(["--target", target] if target else [])])
        _check(found.path, target)
    except (LookupError, BadOption) as error:
        wrong(str(error))
    click.echo(f"{found.path} sets:")
    for line in _lines(list(without_secrets(words))):
        click.echo(f"  {line}")


def _check(file: Path, target: str | None) -> None:
    """Check the options as a run does, but not the environment that metadata refers to."""
    from siconform.config.options import settings_from  # noqa: PLC0415  # imports grpc
    from siconform.config.target_file_options import fill_in  # noqa: PLC0415  # the same

    values: dict[str, Any] = dict.fromkeys(BY_FLAG)
    values |= {TARGET_FILE: str(file), "--target": target}
    fill_in(values)
    settings_from((values | {"--metadata": None}).get)


def _lines(words: Sequence[str]) -> Iterator[str]:
    """Yield each option with its value."""
    line: list[str] = []
    for word in words:
        if line and (len(line) > 1 or word.startswith("-")):
            yield shlex.join(line)
            line = []
        line.append(word)
    yield shlex.join(line)
