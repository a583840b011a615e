"""Runs buf, the protobuf compiler and checker of compatibility rules, from the package buf-bin."""

import json
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PATIENCE = 60.0  # seconds; a specification takes about 0.05

_SCRIPTS: Final = sysconfig.get_path("scripts")  # once: sysconfig is not safe among threads

PLAIN_CONFIG = '{"version": "v2"}'  # prevents buf from using a buf.yaml of a parent folder


class NoCompiler(Exception):
    """buf is not installed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of buf: a compiler error or a broken rule."""

    line: int  # 0 when it is about the whole file
    rule: str  # COMPILE, or the rule's name such as FIELD_SAME_TYPE
    message: str
    column: int = 0  # counted from 1; 0 where it is not known


def executable() -> str:
    """Return the path of buf in this Python environment or on the PATH."""
    path = shutil.which("buf", path=_SCRIPTS) or shutil.which("buf")
    if not path:
        raise NoCompiler(
            "the protobuf compiler buf is not installed: install the kit with it, in a checkout by "
            "pip install '.[spec]'"
        )
    return path


def run(arguments: Sequence[str], folder: Path, config: str = PLAIN_CONFIG) -> tuple[Finding, ...]:
    """Run buf in a folder; return its findings, empty if there are none.

    Raises NoCompiler if buf is not installed or fails to run.
    """
    command = [executable(), *arguments, "--error-format", "json", "--config", config]
    try:
        done = subprocess.run(  # noqa: S603  # our own arguments, no shell
            command, cwd=folder, capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoCompiler(f"buf failed: {error}") from error
    findings = []
    sent = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
    for line in sent.splitlines():
        finding = _finding(line)
        if finding:
            findings.append(finding)
    if done.returncode and not findings:
        raise NoCompiler(f"buf failed: {' '.join(sent.split())}")
    return tuple(findings) if done.returncode else ()


def _finding(line: str) -> Finding | None:
    if not line.startswith("{"):
        return None
    sent = json.loads(line)
    at = sent.get("start_line", 0), sent.get("start_column", 0)
    return Finding(at[0], sent.get("type", ""), sent.get("message", ""), at[1])
