"""The catalogue: every requirement of the SI, one file per area, in reading order."""

from collections import ChainMap
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import resources
from types import MappingProxyType

from siconform.catalogue.reading import Area, CatalogueError, read_area
from siconform.catalogue.requirement import (
    Authority,
    Challenge,
    DeadlineClass,
    Level,
    Observation,
    Requirement,
    Side,
    Source,
)

__all__ = [
    "AREAS",
    "AREA_FILES",
    "Authority",
    "CatalogueError",
    "Challenge",
    "DeadlineClass",
    "Level",
    "Observation",
    "Requirement",
    "Side",
    "Source",
    "adopt",
    "catalogue",
    "find_requirement",
    "known_requirements",
    "nearest_own",
    "own_requirements",
    "subjects",
]

AREA_FILES: Mapping[str, str] = MappingProxyType(
    {
        "WIRE": "wire.yaml",
        "CONN": "connections.yaml",
        "REG": "registration.yaml",
        "NODE": "nodes.yaml",
        "APP": "applications.yaml",
        "ASK": "asks.yaml",
        "ALLOC": "allocations.yaml",
        "RES": "resources.yaml",
        "REL": "releases.yaml",
        "PRE": "preemption.yaml",
        "PLACE": "placement_constraints.yaml",
        "UTIL": "utilisation.yaml",
        "NREC": "node_recommendations.yaml",
        "AUTO": "auto_scaling.yaml",
        "GANG": "gang.yaml",
        "REC": "recovery.yaml",
        "CFG": "configuration.yaml",
        "CB": "callbacks.yaml",
        "EVT": "events.yaml",
        "CONST": "constants.yaml",
        "FOR": "foreign.yaml",
    }
)
"""Area name to file, in the order of the SI."""

AREAS: tuple[str, ...] = tuple(AREA_FILES)


@cache
def catalogue() -> Mapping[str, Requirement]:
    """Return every requirement by its id, areas in reading order, ids ascending.

    Raises CatalogueError if a file cannot be read or an id is duplicated.
    """
    found: dict[str, Requirement] = {}
    for area in _areas():
        for requirement in area.requirements:
            if requirement.id in found:
                raise CatalogueError(f"{AREA_FILES[area.name]}: {requirement.id} exists already")
            found[requirement.id] = requirement
    return MappingProxyType(found)


_OWN: dict[str, Requirement] = {}


def adopt(own: Iterable[Requirement]) -> None:
    """Add the requirements of another project, replacing those added before."""
    _OWN.clear()
    _OWN.update((requirement.id, requirement) for requirement in own)


def own_requirements() -> Mapping[str, Requirement]:
    """Return the added requirements, by id."""
    return MappingProxyType(_OWN)


def known_requirements() -> Mapping[str, Requirement]:
    """Return the requirements of the catalogue and the added ones, by id."""
    return ChainMap(_OWN, catalogue()) if _OWN else catalogue()  # type: ignore[arg-type]  # read only


@cache
def subjects() -> Mapping[str, str]:
    """Return the subject of each area, in reading order."""
    return MappingProxyType({area.name: area.subject for area in _areas()})


@cache
def _areas() -> tuple[Area, ...]:
    folder = resources.files(__name__)
    found = []
    for name, file in AREA_FILES.items():
        area = read_area(folder.joinpath(file).read_text("utf-8"), file)
        if area.name != name:
            raise CatalogueError(f"{file}: the area is {area.name}, expected {name}")
        found.append(area)
    return tuple(found)


def find_requirement(identifier: str) -> Requirement:
    """Find the requirement with that id; LookupError with a suggestion if there is none."""
    known = known_requirements()
    if identifier in known:
        return known[identifier]
    sentence = f'unknown requirement "{identifier}"'
    near = nearest_own(identifier) or _nearest(identifier, tuple(known))
    if near:
        sentence += f"; did you mean {near}?"
    raise LookupError(sentence)


def nearest_own(identifier: str) -> str:
    """Return the added requirement the user most likely meant, or ""."""
    return next(iter(get_close_matches(identifier.upper(), _OWN, n=1, cutoff=0.8)), "")


def _nearest(identifier: str, known: tuple[str, ...]) -> str:
    """Return the known id the user most likely meant, or "" if none is close."""
    parts = identifier.upper().replace("_", "-").replace(" ", "-").split("-")
    if parts[-1].isdecimal():
        padded = "-".join(["SI", *parts[-2:-1], parts[-1].lstrip("0").zfill(3)])
        if padded in known:
            return padded
    close = get_close_matches(identifier.upper(), known, n=1, cutoff=0.6)
    return close[0] if close else ""
