"""Quotations in the guides match the quoted files, and files named by pages exist."""

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
GUIDES = (
    *("adding-a-requirement.md", "adding-a-mutant.md", "adding-a-revision.md"),
    "writing-a-scheduler.md",
)
_QUOTED = re.compile(r"^`(?P<file>\S+)`\n\n```\w+\n(?P<lines>.*?)^```$", re.MULTILINE | re.DOTALL)
_BARRIER = re.compile(r"^```(?!console)\w+$", re.MULTILINE)
_LEFT_OUT = re.compile(r"^\.\.\.\n", re.MULTILINE)
_NAMED = re.compile(r"`((?:conformance|docs|fixtures|proto|reference)/[\w./@-]+)`")
_LINKED = re.compile(r"\]\(([\w./-]+)(?:#[\w-]+)?\)")

_MODULE = re.compile(r"`([\w./-]+/[\w.-]+\.py)`")
ROOTS = (
    *("", "conformance", "proto", "reference", "reference/sireference"),
    *("reference/sireference/core", "conformance/siconform"),
)
"""From where a page names a module."""

each_guide = pytest.mark.parametrize("guide", GUIDES)


def text_of(guide: str) -> str:
    return (CHECKOUT / "docs" / guide).read_text("utf-8")


@each_guide
def test_guide_quotes_match_file(guide: str) -> None:
    quotations = list(_QUOTED.finditer(text_of(guide)))
    assert quotations

    for quotation in quotations:
        rest = (CHECKOUT / quotation["file"]).read_text("utf-8")
        for part in _LEFT_OUT.split(quotation["lines"]):
            _, found, rest = rest.partition(part)
            assert found, f"{quotation['file']} does not have\n{part}"


@each_guide
def test_guide_quotes_name_their_file(guide: str) -> None:
    text = text_of(guide)

    assert len(_BARRIER.findall(text)) == len(_QUOTED.findall(text))


@each_guide
def test_files_named_in_guides_exist(guide: str) -> None:
    text = text_of(guide)
    named = {*_NAMED.findall(text), *(f"docs/{page}" for page in _LINKED.findall(text))}

    assert [name for name in sorted(named) if not (CHECKOUT / name).exists()] == []


def test_modules_named_in_pages_exist() -> None:
    pages = [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")]
    named = {
        (str(page.relative_to(CHECKOUT)), name)
        for page in pages
        for name in _MODULE.findall(page.read_text("utf-8"))
    }

    assert named
    assert not {
        (page, name)
        for page, name in named
        if not any((CHECKOUT / root / name).is_file() for root in ROOTS)
    }
