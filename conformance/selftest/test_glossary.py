"""Every line of the glossary names the place of its term, which exists."""

import ast
import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
ROOTS = {
    "sireference": "reference",
    "siwire": "proto",
    "siconform": "conformance",
    "sispec": "conformance",
    "mutation": "conformance",
}
_ROW = re.compile(r"^\| (?P<term>[^|]+) \| (?P<meaning>[^|]+) \| (?P<where>[^|]*)\|$", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")


def rows(text: str) -> list[tuple[str, str]]:
    """Return each term with the content of its last column."""
    found = [(row["term"].strip(), row["where"].strip()) for row in _ROW.finditer(text)]
    return [(term, where) for term, where in found if term not in {"term", "---"}]


def objections(text: str) -> list[str]:
    """Return a sentence for each line whose file or name does not exist."""
    sent = []
    for term, where in rows(text):
        file = None
        for name in _CODE.findall(where):
            if "/" in name:
                file = CHECKOUT / ROOTS[name.split("/")[0]] / name
                sent += [] if file.is_file() else [f"{term}: there is no {name}"]
            elif file is None:
                sent.append(f"{term}: {name} stands before any file")
            elif file.is_file() and name not in names_in(file):
                sent.append(f"{term}: {file.name} has no {name}")
    return sent


def names_in(file: Path) -> set[str]:
    """Return the classes and functions a module defines."""
    body = ast.parse(file.read_text("utf-8")).body
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in body if isinstance(node, kinds)}


def glossary() -> str:
    return (CHECKOUT / "docs" / "glossary.md").read_text("utf-8")


def test_glossary_places_exist() -> None:
    assert objections(glossary()) == []


def test_every_glossary_line_is_read() -> None:
    heads = glossary().count("\n|---")
    lines = [line for line in glossary().splitlines() if line.startswith("|")]

    assert len(rows(glossary())) == len(lines) - 2 * heads


def test_glossary_terms_are_unique() -> None:
    terms = [one for term, _ in rows(glossary()) for one in term.split(", ")]

    assert sorted({term for term in terms if terms.count(term) > 1}) == []


def test_every_glossary_term_has_a_place() -> None:
    assert [term for term, where in rows(glossary()) if not where] == []


def test_missing_name_is_reported() -> None:
    text = (
        "| term | meaning | where |\n|---|---|---|\n"
        "| one | first | `siconform/no.py` |\n"
        "| two | second | `siconform/policy.py`: `RunVerdict`, `Judge` |\n"
    )

    assert objections(text) == ["one: there is no siconform/no.py", "two: policy.py has no Judge"]
