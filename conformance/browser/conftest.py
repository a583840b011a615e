"""Fixtures for tests of our pages: a watched page and the accessibility checker."""

from collections.abc import Callable, Iterator

import pytest
from browser import axe as checker
from browser.chromium import NoBrowser, Watched, chromium, watched
from playwright.sync_api import Browser, Page


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests."""
    try:
        with chromium() as started:
            yield started
    except NoBrowser as error:
        pytest.exit(f"browser: {error}.", returncode=4)


@pytest.fixture
def seen(browser: Browser) -> Iterator[Watched]:
    """Yield a page and its record; fail if it complained or asked another machine."""
    with watched(browser) as page:
        yield page
        assert not page.complaints, "\n".join(page.complaints)


@pytest.fixture
def page(seen: Watched) -> Page:
    """A new watched page of 1400 by 900 pixels."""
    return seen.page


@pytest.fixture
def axe() -> Callable[[Page], None]:
    """Return a function that fails with every violation axe-core finds in a page."""
    return checker.assert_none
