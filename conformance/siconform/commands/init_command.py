"""The command ``siconform init``: describes a scheduler in files, and makes the first contact."""

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Final

import click
from siwire import DEFAULT_REVISION, find_revision

from siconform import __version__
from siconform.commands.check_command import check
from siconform.commands.errors import wrong
from siconform.commands.target_file_command import FILE, NEW
from siconform.targets.address import is_address

_CI: Final = click.Choice(["github", "none"])
_WORKFLOW_FILE: Final = Path(".github/workflows/conformance.yml")
_WORKFLOW: Final = """\
# Tests the scheduler of siconform.toml for conformance to the Scheduler Interface.
name: conformance
on: [push, pull_request]
permissions:
  contents: read
jobs:
  conformance:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
      # {how}
      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"
      - run: pip install si-conformance=={version}  # before its first release: the URL of a wheel
      - run: siconform run{wait}
      - if: ${{{{ !cancelled() }}}}
        uses: actions/upload-artifact@v4
        with:
          name: si-conformance
          path: build/conformance
"""


@click.command(epilog="Exit codes: those of siconform check; 4 usage error, or a file exists.")
@click.option("--target", metavar="HOST:PORT", help="Address of a running scheduler")
@click.option(
    "--target-command",
    metavar="COMMAND",
    help="Command that starts the scheduler; {address} becomes the HOST:PORT to listen on",
)
@click.option("--revision", help=f"SI revision that it implements (default: {DEFAULT_REVISION})")
@click.option("--name", help="Name of the scheduler in results")
@click.option("--ci", type=_CI, help="Also write a CI workflow")
@click.option("--force", is_flag=True, help="Overwrite existing files")
@click.option("--no-check", is_flag=True, help="Do not check the scheduler")
@click.pass_context
def init(
    context: click.Context,
    *,
    target: str | None,
    target_command: str | None,
    revision: str | None,
    name: str | None,
    ci: str | None,
    force: bool,
    no_check: bool,
) -> None:
    """Write siconform.toml for your scheduler, and check it.

    At a terminal the command asks for what is missing. The check is that of siconform check.
    """
    asks = sys.stdin.isatty()
    if target is None and target_command is None:
        if not asks:
            wrong('give --target HOST:PORT or --target-command "COMMAND"')
        given = click.prompt("HOST:PORT of your running scheduler, or the command that starts it")
        target, target_command = (given, None) if is_address(given) else (None, given)
    if asks:
        revision = revision or _asks(f"SI revision (empty: {DEFAULT_REVISION})")
        name = name or _asks("Name of the scheduler (empty: none)")
        ci = ci or click.prompt(
            "CI workflow", type=click.Choice(["github", "none"]), default="none"
        )
    files = {Path(FILE): _target_file(target, target_command, revision, name)}
    if ci == "github":
        files[_WORKFLOW_FILE] = _workflow(starts=target_command is not None)
    _write(files, force=force)
    if no_check:
        click.echo("Next:  siconform check")
    else:
        click.echo()
        context.invoke(check)


def _asks(what: str) -> str | None:
    given: str = click.prompt(what, default="", show_default=False)
    return given or None


def _target_file(
    target: str | None, command: str | None, revision: str | None, name: str | None
) -> str:
    """Return the template of target files with these values; exit with 4 if one is invalid."""
    text = NEW.partition("\n")[2].format()  # without the schema, which is not written
    if target is not None and command is not None:
        wrong("--target and --target-command are mutually exclusive: give one")
    if target is not None:
        if not is_address(target):
            wrong(f'--target "{target}" must be HOST:PORT')
        text = _set(text, "address", json.dumps(target))
    if command is not None:
        text = _set(text, "command", json.dumps(_words(command), ensure_ascii=False))
    if revision is not None:
        try:
            text = _set(text, "revision", json.dumps(find_revision(revision).name))
        except LookupError as error:
            wrong(f"--revision: {error}")
    if name is not None:
        text = text.replace("# [target.implementation]", "[target.implementation]")
        text = _set(text, "name", json.dumps(name, ensure_ascii=False))
    return text


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        wrong(f"--target-command is not a valid command line: {error}")
    return words or wrong("--target-command is empty")


def _set(text: str, key: str, value: str) -> str:
    """Replace the first commented line of this key."""
    return re.sub(rf"(?m)^# {key} = .*", lambda _: f"{key} = {value}", text, count=1)


def _workflow(*, starts: bool) -> str:
    how = "Build the scheduler here." if starts else "Build the scheduler and start it here."
    return _WORKFLOW.format(how=how, version=__version__, wait="" if starts else " --wait 60")


def _write(files: dict[Path, str], *, force: bool) -> None:
    """Write all files, or none if one exists."""
    existing = [str(file) for file in files if file.exists()]
    if existing and not force:
        wrong(f"already there: {' and '.join(existing)}; give --force to overwrite")
    for file, text in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        except OSError as error:
            wrong(f"{file} cannot be written: {error.strerror}")
        click.echo(f"written: {file}")
