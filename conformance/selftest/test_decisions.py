"""The index of docs/decisions has a line for every number: its page, or the reason for none."""

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"
_ROW = re.compile(r"^\| (?P<number>\d+) \| (?P<said>\S.*?) \|", re.MULTILINE)
_LINK = re.compile(r"\[(?P<title>.+)\]\((?P<file>\S+\.md)\)")
_PAGE = re.compile(r"(?P<number>\d{4})-.+\.md")
_TITLE = re.compile(r"# (?P<number>\d+)\. (?P<title>.+)")


def objections(folder: Path) -> list[str]:
    """Return what is missing or wrong in the index of this folder, in sentences."""
    rows = _ROW.findall((folder / "README.md").read_text("utf-8"))
    index = {int(number): sent for number, sent in rows}
    pages = {int(name["number"]): name[0] for name in map(_named, folder.iterdir()) if name}
    sent = [f"the index has decision {number} twice" for number in _repeated(rows)]
    for number in range(1, max(pages) + 1):
        page, line = pages.get(number), index.get(number)
        if line is None:
            what = page or "no page of that number: say what became of it"
            sent.append(f"the index has no line for decision {number} ({what})")
        elif page is None and _LINK.search(line):
            sent.append(f"the index links decision {number}, and there is no page")
        elif page is not None:
            wanted = f"[{_title(folder / page, number)}]({page})"
            sent += [f"the line of decision {number} should be {wanted}"] * (line != wanted)
    ahead = sorted(number for number in index if number > max(pages))
    return sent + [f"the index goes on to {number}, past the last page" for number in ahead]


def _named(path: Path) -> re.Match[str] | None:
    return _PAGE.fullmatch(path.name)


def _repeated(rows: list[tuple[str, str]]) -> list[str]:
    numbers = [number for number, _ in rows]
    return sorted({number for number in numbers if numbers.count(number) > 1})


def _title(page: Path, number: int) -> str:
    head = _TITLE.match(page.read_text("utf-8"))
    assert head, f"{page.name} does not begin with its number and title"
    assert int(head["number"]) == number, f"{page.name} calls itself {head['number']}"
    return head["title"]


def test_every_decision_is_in_the_index() -> None:
    assert objections(FOLDER) == []


def test_missing_index_line_is_reported(tmp_path: Path) -> None:
    rows = "| 1 | [One](0001-one.md) |\n| 2 | never used |\n| 4 | [Four](0004-4.md) |\n"
    rows += "| 5 | [Another](0005-five.md) |\n| 7 | never used |\n"
    (tmp_path / "README.md").write_text(rows)
    for number, name in ((1, "one"), (5, "five"), (6, "six")):
        (tmp_path / f"000{number}-{name}.md").write_text(f"# {number}. {name.title()}\n")

    assert objections(tmp_path) == [
        "the index has no line for decision 3 (no page of that number: say what became of it)",
        "the index links decision 4, and there is no page",
        "the line of decision 5 should be [Five](0005-five.md)",
        "the index has no line for decision 6 (0006-six.md)",
        "the index goes on to 7, past the last page",
    ]
