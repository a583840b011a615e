"""Certifies a run from its results folder: certificate, badge and digests of its histories."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from siconform import __version__, digests
from siconform.catalogue import Level, catalogue
from siconform.policy import RunVerdict
from siconform.reporting import badge, certificate
from siconform.reporting.certificate import (
    Certificate,
    Certified,
    Digest,
    Histories,
    Implementation,
    Kit,
    Part,
    Resource,
)
from siconform.reporting.evaluated_run import coverage_in, name_in, paces_in
from siconform.reporting.stored import RecordError, read_document, side_in
from siconform.results import FILE as RESULTS
from siconform.verdicts import REACHED, Verdict

HISTORIES: Final = "histories.sha256"
FILES: Final = (certificate.FILE, badge.FILE, HISTORIES)
"""Files written into the results folder."""


class NotCertified(RecordError):
    """A run that is incomplete or cannot be certified; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class About:
    """User-supplied data about the scheduler; it takes precedence over the run's."""

    name: str = ""
    version: str = ""
    contact: str = ""
    url: str = ""  # of the run
    artifacts: tuple[Resource, ...] = ()  # under test


def certify(folder: Path, about: About | None = None) -> Certificate:
    """Certify the complete run in this folder; only its histories are read in addition.

    RecordError if the run was killed, did not reach the target, or was changed; NotCertified if the
    kit failed, only a part of the suite was selected, or another kit made it.
    """
    results = read_document(folder)
    received = about or About()
    _refuse(results, folder)
    try:
        part = _part(results, folder, received)
        subject = (*_artifacts(results, received), _resource(folder / RESULTS))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"{folder} has no results of siconform: {error!r}") from None
    configuration = tuple(
        Resource(name, {"sha256": digest}) for name, digest in results["judged_by"].items()
    )
    return certificate.new(subject, configuration, part, received.url)


def write(folder: Path, made: Certificate, output: Path | None = None) -> Path:
    """Write certificate, badge and digests of histories into the folder; return the path."""
    file = output or folder / certificate.FILE
    _write(folder / HISTORIES, listed(folder))
    _write(folder / badge.FILE, badge.written(made.part))
    _write(file, certificate.written(made))
    return file


def withdraw(folder: Path) -> None:
    """Remove the certificate of a run that then failed."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)


def listed(folder: Path) -> str:
    """Return the digests of all histories in the folder, as ``sha256sum --check`` reads them."""
    files = sorted((folder / "histories").glob("*.jsonl"))
    return "".join(
        f"{digests.of_file(file)}  {file.relative_to(folder).as_posix()}\n" for file in files
    )


def not_chosen(results: Mapping[str, Any]) -> list[str]:
    """Return what the user did not select; [] for a complete run, also of one profile."""
    profile = profile_of(results)
    asked = set(results["selection"]["requirements"]) if profile else set()
    by_user = Verdict.NOT_SELECTED.label  # as the reason: not because of the target
    left_out = [one["test"] for one in results["left_out"] if one["reason"] == by_user]
    unselected = [
        one["id"]
        for one in results["requirements"]
        if one["verdict"] == Verdict.NOT_SELECTED
        and one["reason"] == by_user
        and (not profile or one["id"] in asked)
    ]
    return unselected if profile else left_out or unselected


def profile_of(results: Mapping[str, Any]) -> str:
    """Return the profile that was tested completely, or ""."""
    selection = results.get("selection") or {}
    return str(selection.get("profile", ""))


def _refuse(results: Mapping[str, Any], folder: Path) -> None:
    if results["verdict"] == RunVerdict.KIT_ERROR:
        raise NotCertified(f"{folder} is not certified: {results['sentence']}")
    missing = not_chosen(results)
    if missing or results.get("partial"):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        without = f", without {missing[0]}{more}" if missing else ""
        raise NotCertified(
            f"{folder} is not certified: it ran a part of the suite{without}; run the whole suite"
        )
    if not any(Verdict(one["verdict"]) in REACHED for one in results["requirements"]):
        raise NotCertified(f"{folder} is not certified: nothing was tested")
    if results.get("judged_by") != digests.of_the_kit():
        made_by = "an older kit" if "judged_by" not in results else f"siconform {results['kit']}"
        raise NotCertified(
            f"{folder} is not certified: it was made by {made_by} with another catalogue or suite "
            f"than this siconform {__version__}; run it again"
        )


def _part(results: Mapping[str, Any], folder: Path, about: About) -> Part:
    requirements = {one["id"]: _certified(one) for one in results["requirements"]}
    by_kit = results["judged_by"]
    return Part(
        schema=certificate.SCHEMA_VERSION,
        implementation=_implementation(results["target"], about),
        kit=Kit(results["kit"], *(_sha256(by_kit[name]) for name in ("catalogue", "suite", "kit"))),
        revision=results["revision"],
        profile=profile_of(results),
        verdict=results["verdict"],
        sentence=results["sentence"],
        exit_code=results["exit_code"],
        counts=certificate.counted(requirements),
        requirements=requirements,
        not_armed=_not_killed(requirements),
        left_out={one["test"]: one["reason"] for one in results["left_out"]},
        without=tuple(results["target"]["without"]),
        conditions=results.get("conditions", {}),
        environment=results.get("environment", {}),
        paces=paces_in(results),
        histories=_histories(folder),
        command=results["command"],
        started=results["started"],
        seconds=results["seconds"],
        coverage=coverage_in(results),
        side=side_in(results),
    )


def _implementation(target: Mapping[str, Any], about: About) -> Implementation:
    return Implementation(
        about.name or name_in(target),
        about.version or target["version"],
        about.contact or target.get("contact", ""),
        target["name"],
    )


def _artifacts(results: Mapping[str, Any], about: About) -> tuple[Resource, ...]:
    """Return the artifacts the user named, else the files the kit started the target from."""
    started = (
        Resource(one["name"], _sha256(one["sha256"]))
        for one in results["target"].get("artifacts", ())
    )
    return about.artifacts or tuple(started)


def _certified(requirement: Mapping[str, Any]) -> Certified:
    verdict = Verdict(requirement["verdict"])
    known = requirement["known"] if verdict is Verdict.BASELINED else ()
    return Certified(
        requirement["level"],
        verdict,
        tuple(sorted({one["outcome"] for one in known})),
        _by_monitors_alone(requirement, verdict),
    )


def _by_monitors_alone(requirement: Mapping[str, Any], verdict: Verdict) -> bool:
    """Check that only monitors reached this verdict, so that its tests need not repeat it."""
    matching = [one for one in requirement["tests"] if one["verdict"] == verdict]
    return bool(matching) and all(one["monitor"] for one in matching)


def _not_killed(requirements: Iterable[str]) -> tuple[str, ...]:
    """List the MUSTs without a mutant; a selftest checks that the catalogue names each."""
    known = catalogue()
    return tuple(
        one
        for one in requirements
        if one in known and known[one].level is Level.MUST and known[one].no_mutant
    )


def _histories(folder: Path) -> Histories:
    text = listed(folder)
    return Histories(text.count("\n"), _sha256(digests.of_text(text)))


def _resource(file: Path) -> Resource:
    return Resource(file.name, _sha256(digests.of_file(file)))


def _sha256(digits: str) -> Digest:
    return {"sha256": digits}


def _write(file: Path, text: str) -> None:
    """Write the file atomically."""
    unfinished = file.with_name(f"{file.name}.new")
    unfinished.write_text(text, "utf-8")
    os.replace(unfinished, file)  # noqa: PTH105  # the atomic one, by its name
