"""The pages of the revision chain are made from the current revisions and catalogue."""

from itertools import pairwise

from siconform.catalogue import catalogue
from sispec import chain
from siwire import REVISIONS


def test_each_step_has_page_with_ended_and_new_requirements() -> None:
    pages = chain.pages()
    names = list(REVISIONS)
    assert len(pages) == len(names)
    for old, new in pairwise(names):
        page = pages[f"{old}-to-{new}.md"]
        for requirement in catalogue().values():
            before, after = (name in requirement.revisions for name in (old, new))
            if before != after:
                assert f"- {requirement.id} ({requirement.level}): " in page


def test_retired_rule_shows_reason() -> None:
    page = chain.pages()["2023-12-to-2024-10.md"]
    ended = chain.only_in("2023-12", "2024-10")
    assert ended
    for requirement in ended:
        (line,) = [row for row in page.splitlines() if row.startswith(f"- {requirement.id} (")]
        assert line.endswith("*")
