"""The documentation site, as `nox -s docs` built it: read, searched and browsed offline."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest
from browser.axe import violations
from browser.chromium import SCHEMES, WIDTHS, Watched, overflow
from playwright.sync_api import Page, expect

SITE: Final = Path(__file__).parents[2] / "build" / "docs"
OF_THE_THEME: Final = {
    "landmark-unique": "furo has two landmarks without a name",
    "page-has-heading-one": "the search page has no heading of the first level",
}
"""Rules of axe-core that the theme breaks, and how."""
PAGES: Final = (
    *("index", "quick-start", "reading-a-failure", "state-machines", "results/README"),
    *("source/fixtures/queues/conformance.yaml", "search"),
)
GENERATED: Final = ("generated/requirements", "generated/mutation", "generated/results/reference")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of the site, served on loopback."""
    if not (SITE / "index.html").is_file():
        pytest.fail(f"there is no site in {SITE}: nox -s docs builds it")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def ours(page: Page) -> list[str]:
    """Return what axe-core finds that is not caused by the theme."""
    return [
        received
        for received in violations(page)
        if not any(f" {rule}: " in received for rule in OF_THE_THEME)
    ]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_there_for_everybody(page: Page, site: str, name: str) -> None:
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)

        page.goto(f"{site}/{name}.html")

        assert ours(page) == [], scheme


@pytest.mark.parametrize("name", [*PAGES, *GENERATED])
def test_no_page_is_wider_than_its_window(page: Page, site: str, name: str) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})

        page.goto(f"{site}/{name}.html")

        assert overflow(page) == 0, width


def test_the_front_page_leads_to_everything(page: Page, site: str) -> None:
    page.goto(f"{site}/index.html")

    expect(page.get_by_role("heading", level=1)).to_contain_text("SI Conformance")
    page.locator("article").get_by_role("link", name="Quick start").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Quick start")
    expect(page.get_by_text("CONFORMANT: all tested requirements passed").first).to_be_visible()


def test_a_requirement_has_an_address(page: Page, site: str) -> None:
    page.goto(f"{site}/generated/requirements.html#si-node-004")

    heading = page.get_by_role("heading", name="SI-NODE-004")
    expect(heading).to_be_in_viewport()


def test_a_requirement_is_found_by_its_id_without_network(seen: Watched, site: str) -> None:
    page = seen.page
    page.goto(f"{site}/index.html")

    page.get_by_placeholder("Search").first.fill("decommission")
    page.get_by_placeholder("Search").first.press("Enter")

    found = page.locator("ul.search li a")
    expect(found.first).to_be_visible()
    assert any("requirements" in str(link.get_attribute("href")) for link in found.all())


def test_diagrams_are_drawn_and_follow_the_colours(page: Page, site: str) -> None:
    page.goto(f"{site}/state-machines.html")

    blocks = page.locator("pre.mermaid")
    expect(page.locator("pre.mermaid svg")).to_have_count(blocks.count())
    expect(page.locator("pre.mermaid svg").first).to_be_visible()


def test_a_link_into_the_sources_shows_the_file(page: Page, site: str) -> None:
    page.goto(f"{site}/reading-the-reference.html")

    page.get_by_role("link", name="core/nodes.py").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("core/nodes.py")
    expect(page.get_by_text("def decommission")).to_be_visible()
