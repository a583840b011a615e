"""What tests of our pages get: a page that is watched, and the accessibility checker."""

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
    """A page and what it did: the test fails where it complained or asked another machine."""
    with watched(browser) as page:
        yield page
        assert not page.complaints, "\n".join(page.complaints)


@pytest.fixture
def page(seen: Watched) -> Page:
    """A fresh page of 1400 by 900 pixels, watched."""
    return seen.page


@pytest.fixture
def axe() -> Callable[[Page], None]:
    """Called with a page: fails with every violation that axe-core finds in it."""
    return checker.assert_none
