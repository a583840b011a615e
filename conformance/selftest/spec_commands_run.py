"""Runs ``siconform spec`` for its tests, and makes repositories with a specification."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from click.testing import Result

from .commands import finished, invoke

_AUTHOR = ("-c", "user.name=An author", "-c", "user.email=author@example.org")


def spec(*arguments: str) -> Result:
    """Return the result of ``siconform spec`` in this process; its exceptions propagate."""
    return invoke("spec", *arguments)


def git(folder: Path, *arguments: str) -> str:
    """Return the output of git in a folder."""
    done = finished(["git", *_AUTHOR, *arguments], folder)
    done.check_returncode()
    return done.stdout


def committed(folder: Path, **texts: str) -> str:
    """Commit specifications, in a new repository if necessary; return the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet")
    for name, text in texts.items():
        path = folder / f"{name}.md"
        path.write_text(text, "utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "a text")
    return git(folder, "rev-parse", "HEAD").strip()


@contextmanager
def untouched(folder: Path) -> Iterator[None]:
    """Check that nothing in the folder changes during the block."""
    before = _contents(folder)
    yield
    assert _contents(folder) == before


def _contents(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }
