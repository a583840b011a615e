"""The five ways of docs/finding-a-rule.md lead where they say: files, tests, rules and faults."""

import ast
import re
from pathlib import Path

import pytest
from proof.fault import CHANGES
from proof.known import load
from siconform.catalogue import catalogue
from siconform.running import index

CHECKOUT = Path(__file__).parents[2]
TEXT = (CHECKOUT / "docs" / "finding-a-rule.md").read_text("utf-8")
_WAY = re.compile(
    r"^## (?P<title>.+)\n\n.+\n\|---\|---\|\n"
    r"\| text \| `(?P<source>.+)` \|\n"
    r"\| requirement \| (?P<id>\S+) in `(?P<catalogue>\S+)`"
    r"(?:, read as (?P<reading>C-\d+) says)? \|\n"
    r"\| check \| `(?P<check>\w+)` in `(?P<suite>\S+)` \|\n"
    r"\| rule \| `(?P<rule>\w+)` in `(?P<core>\S+)` \|\n"
    r"\| its test \| `(?P<test>\w+)` in `(?P<tests>\S+)` \|\n"
    r"\| fault \| `(?P<fault>\S+)` in `(?P<proof>\S+)` \|$",
    re.MULTILINE,
)
WAYS = list(_WAY.finditer(TEXT))

load()
each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way["id"])


def read(name: str) -> str:
    return (CHECKOUT / name).read_text("utf-8")


def defines(file: str, name: str) -> bool:
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return any(isinstance(node, kinds) and node.name == name for node in ast.parse(read(file)).body)


def test_every_section_is_a_way() -> None:
    assert [way["title"] for way in WAYS] == re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    assert len(WAYS) == 5


@each_way
def test_the_requirement_stands_there_and_is_about_that_place(way: re.Match[str]) -> None:
    requirement = catalogue()[way["id"]]

    assert f"- id: {way['id']}\n" in read(way["catalogue"])
    assert any(source.where.endswith(way["source"]) for source in requirement.sources)
    assert (way["reading"] or "") in requirement.interpretation


@each_way
def test_the_check_and_the_test_are_about_the_requirement(way: re.Match[str]) -> None:
    checks = index.tests_by_requirement()[way["id"]]
    above = (
        rf"# requirement:[^\n]*{way['id']}[^\n]*\n(?:[@#][^\n]*\n)*(?:async )?def {way['test']}\("
    )

    assert f"{Path(way['suite']).name}::{way['check']}" in {
        check.rpartition("/")[2] for check in checks
    }
    assert defines(way["suite"], way["check"])
    assert re.search(above, read(way["tests"]))


@each_way
def test_the_rule_is_there(way: re.Match[str]) -> None:
    assert defines(way["core"], way["rule"])


@each_way
def test_the_fault_breaks_the_requirement(way: re.Match[str]) -> None:
    assert way["id"] in CHANGES[way["fault"]].breaks
    assert f'"{way["fault"]}"' in read(way["proof"])


def test_the_files_and_pages_it_names_are_there() -> None:
    named = re.findall(r"`((?:conformance|docs|fixtures|proto|reference)/[\w./@-]+)`", TEXT)
    linked = [f"docs/{page}" for page in re.findall(r"\]\(([\w./-]+)\)", TEXT)]

    assert [name for name in (*named, *linked) if not (CHECKOUT / name).exists()] == []
