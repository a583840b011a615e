"""The pages of the chain are made from the revisions and the catalogue as they are."""

from itertools import pairwise
from pathlib import Path

import pytest
from siconform.catalogue import catalogue
from siconform.spec import chain
from siwire import REVISIONS


@pytest.mark.slow("makes all pages of changes")
def test_the_committed_pages_are_those_that_are_made() -> None:
    assert chain.main(["--check"]) == 0


def test_a_page_that_differs_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chain, "FOLDER", tmp_path)
    assert chain.main([]) == 0
    assert chain.main(["--check"]) == 0
    (tmp_path / "README.md").write_text("something else", "utf-8")
    (tmp_path / "2019-01-to-2021-02.md").write_text("left over", "utf-8")
    capsys.readouterr()
    assert chain.main(["--check"]) == 1
    told = capsys.readouterr().err.splitlines()
    names = ("2019-01-to-2021-02.md", "README.md")
    assert [line.split()[0] for line in told] == [str(tmp_path / name) for name in names]
    assert chain.main([]) == 0
    assert chain.main(["--check"]) == 0


def test_there_is_a_page_a_step_that_names_every_rule_that_ended_or_began() -> None:
    pages = chain.pages()
    names = list(REVISIONS)
    assert len(pages) == len(names)
    for old, new in pairwise(names):
        page = pages[f"{old}-to-{new}.md"]
        for requirement in catalogue().values():
            before, after = (name in requirement.revisions for name in (old, new))
            if before != after:
                assert f"- {requirement.id} ({requirement.level}): " in page


def test_a_retired_rule_says_why() -> None:
    page = chain.pages()["2023-12-to-2024-10.md"]
    ended = chain.only_in("2023-12", "2024-10")
    assert ended
    for requirement in ended:
        (line,) = [row for row in page.splitlines() if row.startswith(f"- {requirement.id} (")]
        assert line.endswith("*")
