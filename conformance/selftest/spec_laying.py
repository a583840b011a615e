"""A checkout as it was before its newest revisions, and texts of our own for those."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import yaml
from siconform.catalogue import Requirement, catalogue
from siconform.spec.laying.plan import Known
from siconform.spec.laying.writing import read_checkout
from siwire import REVISIONS

CHECKOUT = Path(__file__).parents[2]
_GOLDEN_CONSTANTS = "fixtures/golden/schema/constants.yaml"


def text_of(revision: str, declared: str = "", constants: Mapping[str, str] | None = None) -> str:
    """A text with our declaration of a revision, or another one, and its constants."""
    proto = CHECKOUT / "proto" / "si" / revision / "si.proto"
    rows = constants_of(revision) if constants is None else constants
    body = "\n".join(f'  {name} = "{value}"' for name, value in rows.items())
    return (
        "# Scheduler Interface Spec\n\n"
        f"```protobuf\n{declared or proto.read_text('utf-8')}```\n\n"
        "### Following are constant of spec\n\n"
        f"```constants\nconst (\n{body}\n)\n```\n"
    )


def constants_of(revision: str) -> dict[str, str]:
    """The constants of a revision by the name a text gives them, from the golden table."""
    rows = yaml.safe_load((CHECKOUT / _GOLDEN_CONSTANTS).read_text("utf-8"))
    return {
        name: row["value"]
        for name, row in rows.items()
        if row["since"] <= revision <= row.get("until", revision)
    }


def known_until(newest: str) -> Known:
    """What there was when `newest` was the newest revision.

    The modules in which messages of several revisions are put together are left out.
    """
    revisions = [one for name, one in REVISIONS.items() if name <= newest]
    later = [name for name in REVISIONS if name > newest]
    files = {
        path: without(path, text, later, newest)
        for path, text in read_checkout(CHECKOUT).items()
        if not any(name in path or _package(name) in path for name in later)
        and not path.endswith(("/messages.py", "/callbacks.py"))
    }
    names = {one.name for one in revisions}
    return Known(revisions, [*_until(catalogue().values(), names)], files)


def without(path: str, text: str, later: Collection[str], newest: str) -> str:
    """A file without the revisions `later`, as it was before them."""
    packages = [_package(name) for name in later]
    if path == _GOLDEN_CONSTANTS:
        return _constants_before(text, later, newest)
    if path == "proto/siwire/constants.py":
        text = _python_constants_before(text, later, newest)
    for package in packages:
        text = re.sub(rf'"\(?{package}\)?", |, {package}\b', "", text)
        text = re.sub(rf"^_{package[1:]}: Final = .*\n", "", text, flags=re.MULTILINE)
    for name in later:
        text = text.replace(f', "{name}"', "") if path == "noxfile.py" else text
    entries = "|".join([f'"{name}"(?!,\n)' for name in later] + [f'"{one}"' for one in packages])
    named = "|".join(f"si/{name}" for name in later)
    text = re.sub(
        rf'^ +(?:Revision\(|\(".*, )?(?:{entries})[^=\n]*\n', "", text, flags=re.MULTILINE
    )
    text = re.sub(rf"^.*(?:{named}).*\n", "", text, flags=re.MULTILINE)
    for name in later:
        text = text.replace(f'"{name}"', f'"{newest}"')
    return text


def _until(requirements: Iterable[Requirement], names: set[str]) -> Iterable[Requirement]:
    for one in requirements:
        if one.revisions & names:
            sources = [s for s in one.sources if s.revision in names or s.revision == "gang"]
            yield replace(one, revisions=one.revisions & names, sources=tuple(sources))


def _constants_before(text: str, later: Collection[str], newest: str) -> str:
    for name in later:
        text = re.sub(rf'^.*since: "{name}".*\n', "", text, flags=re.MULTILINE)
        text = text.replace(f', until: "{name}"', "")
    return text.replace(f', until: "{newest}"', "")


def _python_constants_before(text: str, later: Collection[str], newest: str) -> str:
    earlier = set(constants_of(newest).values())
    gone = {value for name in later for value in constants_of(name).values()} - earlier
    for value in gone:
        text = re.sub(rf'^\w+: Final = "{re.escape(value)}"\n', "", text, flags=re.MULTILINE)
    for name in later:
        start = rf"^_{_package(name)[1:]}: Final = .*(?:\n .*)*\n(?:\}}\n)?"
        text = re.sub(start, "", text, flags=re.MULTILINE)
    return text


def _package(name: str) -> str:
    return f"r{name.replace('-', '_')}"
