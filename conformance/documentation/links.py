"""Follows every link of a site that leads to the site: python -m documentation.links FOLDER."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

COMMAND: Final = "python -m documentation.links"
FILTERS: Final = "filters"
"""The form of a page whose fragments may say what it shows, such as #verdict=fail."""

_REFERS: Final = {"a": "href", "link": "href", "script": "src", "img": "src"}


@dataclass
class Page:
    """What a page offers to links, and where its own lead."""

    places: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the place and the link of an element."""
        given = dict(attrs)
        if place := given.get("id"):
            self.page.places.add(place)
        if link := given.get(_REFERS.get(tag, "")):
            self.page.links.add(link)


def read(path: Path) -> Page:
    """A page of HTML."""
    reader = _Reader()
    reader.feed(path.read_text("utf-8"))
    return reader.page


def broken(site: Path) -> Iterator[str]:
    """Each link that leads nowhere, or off the site without saying so, in a sentence."""
    pages = {path.resolve(): read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in sorted(page.links):
            if why := _wrong(path, link, pages):
                yield f"{path.relative_to(site.resolve())}: {link} {why}"


def _wrong(path: Path, link: str, pages: dict[Path, Page]) -> str:
    address = urlsplit(link)
    if address.scheme or address.netloc:
        return ""
    to = (path.parent / unquote(address.path)).resolve() if address.path else path
    if not to.is_file():
        return "is not there"
    found = pages.get(to)
    place = unquote(address.fragment)
    if found and "=" in place and FILTERS in found.places:
        return ""
    return f"has no place {place}" if found and place and place not in found.places else ""


def main(arguments: list[str]) -> int:
    """Print what is broken; the exit code."""
    site = Path(arguments[0])
    found = list(broken(site))
    count = sum(1 for _ in site.rglob("*.html"))
    sys.stdout.write("\n".join([*found, f"{count} pages, {len(found)} broken links"]) + "\n")
    return int(bool(found) or not count)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
