"""Targets known by name and version, which the kit can build and start.

fixtures/targets/NAME describes a scheduler, fixtures/rms/NAME a resource manager (RM).
"""

import difflib
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import yaml
from siwire import Revision, find_revision

from siconform import plain_yaml, shipped
from siconform.catalogue import Side
from siconform.catalogue.features import find_feature
from siconform.protocol.timers import UNKNOWN, Timers
from siconform.targets import TargetUnavailable
from siconform.targets.launch import Launch
from siconform.targets.terms import Terms, read_config

_FILES = {Side.SCHEDULER: ("targets", "target.yaml"), Side.RM: ("rms", "rm.yaml")}
_WHY = "error: "  # prefix of the line in which a build reports its failure
Text = Annotated[str, msgspec.Meta(min_length=1)]


class _Version(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What is specific to one version."""

    revision: Text
    baseline: str = ""  # relative to the file
    baselines: Mapping[str, str] = {}  # by revision, if tested against other ones
    traits: tuple[str, ...] = ()
    timers: Timers = UNKNOWN  # if different from those of all versions
    without: tuple[str, ...] = ()


class _Description(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The file target.yaml, or rm.yaml.

    Commands run in its folder. {python}, {version}, {builds} (the build directory) and, in serve,
    {address} are substituted; {driver} too, for an RM, whose {address} is that of the kit.
    """

    title: Text
    serve: Text
    versions: Mapping[str, _Version]
    name: str = ""  # if different from that of the folder
    build: str = ""  # cheap without changes; its stderr is shown, "error: WHY" reported
    traits: tuple[str, ...] = ()
    timers: Timers = UNKNOWN
    without: tuple[str, ...] = ()  # features no version offers (siconform/catalogue/features.py)
    rm_version: str | None = None  # required from an RM
    config: str | None = None  # the file an RM sends, relative to this one; "none" for none
    proposes_timers: bool = True  # whether an RM may ask for timers in extraConfig
    listen_within: float = 30.0  # seconds; an RM has to register within them


@dataclass(frozen=True, slots=True)
class NamedTarget:
    """One version of a target that the kit can build and start."""

    name: str
    version: str
    title: str
    revision: Revision
    traits: frozenset[str]
    folder: Path
    build_command: str
    serve_command: str
    listen_within: float
    baselines: Mapping[str, Path]  # by revision name
    timers: Timers
    terms: Terms

    @property
    def baseline(self) -> Path | None:
        """The known failures in its main revision."""
        return self.baselines.get(self.revision.name)

    @property
    def full_name(self) -> str:
        """NAME@VERSION, as in --target or --rm."""
        return f"{self.name}@{self.version}"

    def launch(self) -> Launch:
        """Return how to start it."""
        return Launch.of(self.full_name, self.serve_command, self.listen_within, self.folder)

    def build(self) -> None:
        """Run its build command with visible output. TargetUnavailable if it fails."""
        if not self.build_command:
            return
        words = Launch.of(self.full_name, self.build_command, 0.0).command
        try:
            status, why = _built(words, self.folder)
        except OSError as error:
            message = f"{self.full_name} cannot be built: {words[0]}: {error.strerror}"
            raise TargetUnavailable(message) from None
        if status != 0:
            why = why or f"its build ended with exit status {status}: see above"
            raise TargetUnavailable(f"{self.full_name} cannot be built: {why}")


def find_named(target: str, side: Side = Side.SCHEDULER) -> NamedTarget:
    """Return the target NAME@VERSION; TargetUnavailable with the known ones otherwise."""
    known = _known(side)
    name, _, version = target.partition("@")
    if name not in known:
        there_are = _list([f"{n}@{v}" for n, (_, d) in known.items() for v in d.versions], side)
        close = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        what = "target" if side is Side.SCHEDULER else side.noun
        give = "HOST:PORT or NAME@VERSION" if side is Side.SCHEDULER else "NAME@VERSION"
        message = f'unknown {what} "{target}": give {give}.{hint} {there_are}'
        raise TargetUnavailable(message)
    folder, description = known[name]
    if version not in description.versions:
        versions = ", ".join(description.versions)
        message = f'"{target}": unknown version of {name}. Known: {versions}.'
        raise TargetUnavailable(message)
    return _named(name, version, folder, description)


def all_named(side: Side = Side.SCHEDULER) -> Iterator[NamedTarget]:
    """Yield every version of every known target."""
    for name, (folder, description) in _known(side).items():
        for version in description.versions:
            yield _named(name, version, folder, description)


def _built(words: Sequence[str], folder: Path) -> tuple[int, str]:
    """Run a build and show its progress; return its exit status and reason of failure."""
    why = ""
    with subprocess.Popen(  # noqa: S603  # files of the kit
        words,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as build:
        assert build.stderr is not None  # noqa: S101  # a pipe
        for line in build.stderr:
            if line.startswith(_WHY):
                why = line.removeprefix(_WHY).strip()
            else:
                sys.stderr.write(line)
                sys.stderr.flush()
        status = build.wait()
    return status, why


def _list(names: list[str], side: Side) -> str:
    if names:
        return f"Known: {', '.join(names)}."
    folder, _ = _FILES[side]
    return f"There is none in {shipped.fixtures(folder)}: the installation is incomplete."


def _known(side: Side) -> dict[str, tuple[Path, _Description]]:
    folder, name = _FILES[side]
    read = [
        (file.parent, _read(file)) for file in sorted(shipped.fixtures(folder).glob(f"*/{name}"))
    ]
    return {known.name or folder.name: (folder, known) for folder, known in read}


def _read(file: Path) -> _Description:
    try:
        return msgspec.convert(plain_yaml.load(file.read_text("utf-8")), _Description)
    except (OSError, yaml.YAMLError, msgspec.ValidationError) as error:
        message = f"{file} cannot be read: {' '.join(str(error).split())}"
        raise TargetUnavailable(message) from None


def _named(name: str, version: str, folder: Path, description: _Description) -> NamedTarget:
    particular = description.versions[version]
    try:
        revision = find_revision(particular.revision)
        recorded = {find_revision(n).name: file for n, file in particular.baselines.items()}
    except LookupError as error:
        raise TargetUnavailable(f"{folder}: {error}") from None
    if particular.baseline:
        recorded[revision.name] = particular.baseline
    return NamedTarget(
        name=name,
        version=version,
        title=description.title,
        revision=revision,
        traits=frozenset((*description.traits, *particular.traits)),
        folder=folder,
        build_command=_filled_in(description.build, version),
        serve_command=_filled_in(description.serve, version),
        listen_within=description.listen_within,
        baselines={name: folder / file for name, file in recorded.items()},
        timers=description.timers.with_known(particular.timers),
        terms=_terms(folder, description, particular),
    )


def _terms(folder: Path, description: _Description, particular: _Version) -> Terms:
    try:
        without = [find_feature(name) for name in (*description.without, *particular.without)]
        config = description.config
        return Terms(
            description.rm_version,
            config if config is None else read_config(config, folder),
            description.proposes_timers,
            frozenset(without),
        )
    except LookupError as error:
        raise TargetUnavailable(f"{folder}: {error}") from None


def _filled_in(command: str, version: str) -> str:
    known = {"{python}": sys.executable, "{version}": version, "{builds}": str(shipped.builds())}
    for name, value in known.items():
        command = command.replace(name, shlex.quote(value))
    return command
