"""Runs buf, the protobuf compiler and judge of wire rules, from the package buf-bin."""

import json
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 60.0  # seconds; a specification takes a twentieth of one

PLAIN_CONFIG = '{"version": "v2"}'  # given, so that no buf.yaml further up is found


class NoCompiler(Exception):
    """There is no buf on this machine."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing buf found: a compiler error or a rule that is broken."""

    line: int  # 0 when it is about the whole file
    rule: str  # COMPILE, or the rule's name such as FIELD_SAME_TYPE
    message: str
    column: int = 0  # counted from 1; 0 where it is not known


def executable() -> str:
    """The path of buf: that of this Python's environment, or the one on the PATH."""
    path = shutil.which("buf", path=sysconfig.get_path("scripts")) or shutil.which("buf")
    if not path:
        raise NoCompiler(
            "the protobuf compiler buf is not installed: pip install 'si-conformance[spec]'"
        )
    return path


def run(arguments: Sequence[str], folder: Path, config: str = PLAIN_CONFIG) -> tuple[Finding, ...]:
    """What buf finds when it runs in a folder; empty when all is well.

    Raises NoCompiler without buf or when it could not work at all.
    """
    command = [executable(), *arguments, "--error-format", "json", "--config", config]
    try:
        done = subprocess.run(  # noqa: S603  # our own arguments, no shell
            command, cwd=folder, capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoCompiler(f"buf did not work: {error}") from error
    findings = []
    sent = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
    for line in sent.splitlines():
        finding = _finding(line)
        if finding:
            findings.append(finding)
    if done.returncode and not findings:
        raise NoCompiler(f"buf did not work: {' '.join(sent.split())}")
    return tuple(findings) if done.returncode else ()


def _finding(line: str) -> Finding | None:
    if not line.startswith("{"):
        return None
    sent = json.loads(line)
    at = sent.get("start_line", 0), sent.get("start_column", 0)
    return Finding(at[0], sent.get("type", ""), sent.get("message", ""), at[1])
