"""The test harness detects what it is made to detect."""

from collections.abc import Callable
from pathlib import Path

import pytest
from browser.axe import violations
from browser.chromium import NoBrowser, overflow, program, watched
from playwright.sync_api import Browser, Page

FINE = """<!doctype html><html lang="en"><head><title>A page</title>
<meta name="viewport" content="width=device-width"></head>
<body><main><h1>A page</h1></main></body></html>"""
BLIND = FINE.replace("</main>", '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="></main>')
WIDE = FINE.replace("</main>", '<div style="width: 3000px">wide</div></main>')


def test_a_page_with_nothing_wrong_is_left_alone(
    page: Page, axe: Callable[[Page], None], tmp_path: Path
) -> None:
    file = tmp_path / "fine.html"
    file.write_text(FINE, "utf-8")

    page.goto(file.as_uri())

    assert page.title() == "A page"
    assert overflow(page) == 0
    axe(page)


def test_an_image_without_words_is_a_violation(page: Page) -> None:
    page.set_content(BLIND)

    (received,) = violations(page)

    assert received.startswith("critical  image-alt: ")
    assert "<img src=" in received


def test_a_page_wider_than_its_window_is_measured(page: Page) -> None:
    page.set_content(WIDE)

    assert overflow(page) > 1000


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("console.error('broken')", "console error: broken"),
        ("console.warn('odd')", "console warning: odd"),
        ("setTimeout(() => { throw new Error('lost') })", "uncaught: "),
        ("fetch('https://example.org/x').catch(() => {})", "https://example.org/x, which is not"),
    ],
)
def test_what_a_page_does_wrong_is_a_complaint(
    browser: Browser, script: str, complaint: str
) -> None:
    with watched(browser) as seen:
        seen.page.set_content(FINE.replace("</main>", f"<script>{script}</script></main>"))
        seen.page.wait_for_timeout(100)

        assert any(complaint in received for received in seen.complaints), seen.complaints


def test_a_browser_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")

    with pytest.raises(NoBrowser, match="no Chromium at /nowhere/chromium: install"):
        program()
