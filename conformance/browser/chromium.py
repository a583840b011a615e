"""A headless Chromium, and pages watched for errors and outside requests."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, sync_playwright

PROGRAM: Final = "CHROMIUM"
"""The environment variable with the path of the browser, if it is not in the usual place."""

_USUAL: Final = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
_FLAGS: Final = (
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})
_PATIENCE_MS: Final = 15_000.0
"""Timeout of any page operation: far more than needed on a busy machine."""

WIDTHS: Final = (360, 800, 1400)
"""A phone, half a screen, a full screen: in CSS pixels."""

SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
"""Colour schemes that a reader may prefer."""


class NoBrowser(Exception):
    """Chromium is not installed; the message says how to install it."""


@dataclass  # playwright sets attributes on its callbacks
class Watched:
    """A page, with the complaints and the requested addresses so far."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def observe(self, message: ConsoleMessage) -> None:
        """Record a console line; errors and warnings are complaints."""
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def throws(self, error: Error) -> None:
        """Record an uncaught error in a script."""
        self.complaints.append(f"uncaught: {error}")

    def asks(self, request: Request) -> None:
        """Record a request; one to another machine is a complaint."""
        self.requests.append(request.url)
        if _leaves(request.url):
            self.complaints.append(f"the page asked for {request.url}, which is not local")


def program() -> str:
    """Return the path of Chromium; raises NoBrowser."""
    named = os.environ.get(PROGRAM, "")
    found = [named] if named else [*_USUAL, shutil.which("chromium") or ""]
    for path in found:
        if path and Path(path).is_file():
            return path
    raise NoBrowser(
        f"no Chromium at {named or _USUAL[0]}: install Debian's package chromium, or set "
        f"{PROGRAM} to its path"
    )


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a browser for the duration of the block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def watched(browser: Browser) -> Iterator[Watched]:
    """Open a page without stored state, watched from its first request on."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(_PATIENCE_MS)
    context.route(_leaves, lambda route: route.abort())
    page = context.new_page()
    seen = Watched(page)
    page.on("console", seen.observe)
    page.on("pageerror", seen.throws)
    page.on("request", seen.asks)
    try:
        yield seen
    finally:
        context.close()


def overflow(page: Page) -> int:
    """Return by how many CSS pixels the page is wider than its window; 0 if it fits."""
    found: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return max(found, 0)


def _leaves(url: str) -> bool:
    address = urlsplit(url)
    return address.scheme in ("http", "https", "ws", "wss") and address.hostname not in _LOOPBACK
