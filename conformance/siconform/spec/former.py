"""What a file was at a commit of the repository one stands in: for hooks and for CI."""

import os
import subprocess
from pathlib import Path

HEAD = "HEAD"
_PATIENCE = 30.0  # seconds for git


class NoFormer(Exception):
    """Git cannot say what the file was, as one sentence."""


def former_of(file: str, commit: str = HEAD) -> str | None:
    """`git:COMMIT:PATH` of what the file was, under another name if it was renamed since.

    None where it is new. Raises NoFormer outside of a repository and for what is no commit.
    """
    folder = _git("rev-parse", "--show-prefix")
    if folder is None:
        raise NoFormer("there is no git repository here: compare two texts by siconform spec diff")
    path = os.path.normpath(Path(folder.rstrip("\n"), os.path.relpath(file)))
    if path.startswith(os.pardir):
        raise NoFormer(f"{file} is outside of the repository around this folder")
    if commit.startswith("-") or _git("rev-parse", "--verify", "--quiet", f"{commit}^0") is None:
        if commit == HEAD:  # before the first commit
            return None
        raise NoFormer(f'"{commit}" is no commit here: was it fetched? (in CI: fetch-depth: 0)')
    if _git("cat-file", "-e", f"{commit}:{path}") is None:
        path = _renamed(path, commit)
    return f"git:{commit}:{path}" if path else None


def _renamed(path: str, commit: str) -> str:
    """The path the file was renamed from since the commit; "" where it is new."""
    found = _git("diff", "--find-renames", "--diff-filter=R", "--name-status", "-z", commit, "--")
    fields = (found or "").split("\0")  # R095, the old path, the new path, R100, ...
    return dict(zip(fields[2::3], fields[1::3], strict=False)).get(path, "")


def _git(*arguments: str) -> str | None:
    """What git says; None where it fails."""
    command = ["git", *arguments]
    try:
        done = subprocess.run(  # noqa: S603  # fixed commands, their arguments no options
            command, capture_output=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoFormer(f"git did not work: {error}") from error
    return None if done.returncode else done.stdout.decode(errors="surrogateescape")
