"""The page of a recorded exchange, in a real browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from browser.chromium import SCHEMES, WIDTHS, overflow
from playwright.sync_api import Page, expect
from selftest.trace_report_samples import drawn_violation, made
from siconform.reporting.html.rendering import render_trace
from siconform.reporting.html.trace_page import trace_page

Axe = Callable[[Page], None]


@pytest.fixture
def report(tmp_path: Path) -> str:
    """The address of the page of an exchange with a violation."""
    file = tmp_path / "report.html"
    file.write_text(render_trace(trace_page(made(drawn_violation()))), "utf-8")
    return file.as_uri()


def test_violation_is_drawn_and_marked(page: Page, report: str) -> None:
    page.goto(report)
    page.locator("details.exchange > summary").click()

    expect(page.locator("tr.wrong")).to_have_count(1)
    expect(page.locator("svg .arrow.wrong")).to_have_count(1)


def test_no_width_scrolls_sideways(page: Page, report: str) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(report)
        page.locator("details.exchange > summary").click()

        assert overflow(page) == 0, width


@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_keeps_the_rules_of_accessibility(
    page: Page, axe: Axe, report: str, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(report)
    page.locator("details.exchange > summary").click()
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")

    axe(page)
