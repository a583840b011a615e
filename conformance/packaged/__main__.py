"""Builds the package, installs it with the oldest and the newest Python, and uses it: -m packaged.

After installation everything runs offline, from an empty folder. With --core the wheel alone also
builds and tests a real yunikorn-core, for which Go downloads modules from its proxy.
"""

import argparse
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from packaged.offline import environment, environment_offline, how, offline
from packaged.pythons import oldest_and_newest

ROOT: Final = Path(__file__).resolve().parents[2]
OUTPUT: Final = ROOT / "build" / "packaged"
CORE: Final = "yunikorn-core@1.5.1"
_RELATIVE_LINK: Final = re.compile(r"\]\((?!https?://|#)([^)]*)\)")
_LIMIT: Final = 300.0  # seconds for one command
_CHOSEN: Final = ("SI-NODE-001", "node-3", "SI-ASK-001", "-n", "2")
_REPORTS: Final = (
    (("siconform", "--version"), "siconform, version"),
    (("sireference", "--version"), "sireference"),
    (("siconform", "list", "--area", "NODE"), "SI-NODE-001"),
    (("siconform", "explain", "SI-NODE-001"), "yunikorn-core@1.9.0: "),
    (("siconform", "targets"), CORE),
    (("siconform", "queues", "conformance"), "partitions:"),
    (("siconform", "run", *_CHOSEN), "requirements tested, all passed "),
    (("siconform", "page", "build/conformance-selected"), "SI-NODE-001"),
)
"""Commands run in the empty folder, each with a part of its expected output."""


def main() -> int:
    """Run everything; return 1 if anything fails."""
    parser = argparse.ArgumentParser(prog="packaged", description="Test the built package.")
    parser.add_argument("--core", action="store_true", help=f"also test {CORE} with the wheel")
    given = parser.parse_args()
    wheel = built()
    pythons = oldest_and_newest()
    if not pythons:
        sys.stderr.write("packaged: no supported Python found\n")
        return 1
    for version, python in pythons:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="siconform-") as folder:
            programs = installed(wheel, python, Path(folder) / "venv")
            used(programs, Path(folder))
            if given.core and (version, python) == pythons[-1]:
                core_evaluated(programs, Path(folder))
        seconds = time.monotonic() - began
        print(f"Python {version} ({python}): installed and used in {seconds:.0f} s, by {how()}")  # noqa: T201  # the result
    return 0


def built() -> Path:
    """Return the wheel built from the sdist, which must equal the one built from the checkout."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    by_sdist, directly = OUTPUT / "by-sdist", OUTPUT / "directly"
    build = [sys.executable, "-m", "build", "--no-isolation"]
    _run([*build, "--outdir", str(by_sdist), str(ROOT)])
    _run([*build, "--wheel", "--outdir", str(directly), str(ROOT)])
    [one], [other] = by_sdist.glob("*.whl"), directly.glob("*.whl")
    differing = _contents(one).items() ^ _contents(other).items()
    if differing:
        names = ", ".join(sorted({name for name, _ in differing})[:5])
        raise SystemExit(f"packaged: the wheels from sdist and checkout differ: {names}")
    _run([sys.executable, "-m", "twine", "check", "--strict", *map(str, by_sdist.iterdir())])
    described(one)
    return one


def described(wheel: Path) -> None:
    """Check that the wheel's description has only links that work on a package index."""
    with zipfile.ZipFile(wheel) as contents:
        [name] = [name for name in contents.namelist() if name.endswith(".dist-info/METADATA")]
        relative = _RELATIVE_LINK.findall(contents.read(name).decode())
    if relative:
        raise SystemExit(f"packaged: links of the description lead nowhere: {', '.join(relative)}")


def installed(wheel: Path, python: Path, venv: Path) -> Path:
    """Install the wheel and its dependencies in a new environment; return its bin folder."""
    _run([str(python), "-m", "venv", str(venv)])
    quiet = ("--quiet", "--disable-pip-version-check", "--no-warn-script-location")
    _run([str(venv / "bin" / "python"), "-m", "pip", "install", *quiet, str(wheel)])
    return venv / "bin"


def used(programs: Path, folder: Path) -> None:
    """Use both programs, and the pytest plugin in a project outside the checkout."""
    empty = folder / "empty"
    empty.mkdir()
    for words, message in _REPORTS:
        received = _offline(programs, words, empty)
        if message not in received:
            raise SystemExit(f'packaged: {" ".join(words)} does not print "{message}":\n{received}')
    project = folder / "own-project"
    shutil.copytree(ROOT / "fixtures" / "own-project", project)
    received = _offline(programs, ("pytest", "-p", "no:cacheprovider"), project)
    if "1 requirement cited: 1 pass" not in received:
        raise SystemExit(f"packaged: a custom requirement is not tested:\n{received}")
    serves(programs, empty)


def serves(programs: Path, folder: Path) -> None:
    """Start the reference, wait for its address, and end it."""
    command = offline([str(programs / "sireference"), "serve", "--listen", "127.0.0.1:0"])
    with subprocess.Popen(  # noqa: S603  # our own words
        command,
        cwd=folder,
        env=_with(programs),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as served:
        assert served.stdout is not None  # noqa: S101  # a pipe
        try:
            first = served.stdout.readline()
        finally:
            os.killpg(served.pid, signal.SIGTERM)
            served.wait(_LIMIT)
    if "listening on 127.0.0.1:" not in first:
        raise SystemExit(f'packaged: sireference serve prints "{first.strip()}"')


def core_evaluated(programs: Path, folder: Path) -> None:
    """Build a named target from the wheel alone, with an empty cache, and test it."""
    cache = folder / "cache"
    words = [str(programs / "siconform"), "run", "--target", CORE, *_CHOSEN]
    go = {"GOCACHE": os.environ.get("GOCACHE", str(Path.home() / ".cache" / "go-build"))}
    received = _run(words, folder / "empty", {**environment(), **go, "XDG_CACHE_HOME": str(cache)})
    is_built = any(cache.rglob("yunikorn-core-target"))
    if "requirements tested, all passed" not in received or not is_built:
        raise SystemExit(f"packaged: {CORE} is not tested:\n{received}")


def _offline(programs: Path, words: Sequence[str], folder: Path) -> str:
    program, *options = words
    return _run(offline([str(programs / program), *options]), folder, _with(programs))


def _with(programs: Path) -> dict[str, str]:
    kept = environment_offline()
    return {**kept, "PATH": f"{programs}{os.pathsep}{kept['PATH']}"}


def _run(
    command: Sequence[str], folder: Path = ROOT, variables: dict[str, str] | None = None
) -> str:
    """Return the output; raises SystemExit with it if the command fails."""
    done = subprocess.run(  # noqa: S603  # our own words
        command,
        cwd=folder,
        env=environment() if variables is None else variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_LIMIT,
        check=False,
    )
    if done.returncode:
        raise SystemExit(
            f"packaged: {' '.join(command)} ended with {done.returncode}:\n{done.stdout}"
        )
    return done.stdout


def _contents(wheel: Path) -> dict[str, str]:
    """Return the hash of each file in the wheel, by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


if __name__ == "__main__":
    sys.exit(main())
