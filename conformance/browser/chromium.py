"""A headless Chromium and the pages it opens, watched for what no page of ours may do."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, sync_playwright

PROGRAM: Final = "CHROMIUM"
"""The variable of the environment that names the browser where it is not in its usual place."""

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
"""How long a page may take over anything: far more than it needs on a busy machine."""

WIDTHS: Final = (360, 800, 1400)
"""A phone, half of a screen, a screen: in CSS pixels."""


class NoBrowser(Exception):
    """There is no Chromium; the message is a sentence."""


@dataclass  # playwright hangs its own attributes on whom it calls
class Watched:
    """A page, with every complaint and every address it asked for so far."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def observe(self, message: ConsoleMessage) -> None:
        """A line of the console; those of errors and warnings are complaints."""
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def throws(self, error: Error) -> None:
        """A script ended with an error nobody caught."""
        self.complaints.append(f"uncaught: {error}")

    def asks(self, request: Request) -> None:
        """A request; one that leaves the machine is a complaint."""
        self.requests.append(request.url)
        if _leaves(request.url):
            self.complaints.append(f"the page asked for {request.url}, which is not its own")


def program() -> str:
    """The path of Chromium; NoBrowser where there is none."""
    named = os.environ.get(PROGRAM, "")
    found = [named] if named else [*_USUAL, shutil.which("chromium") or ""]
    for path in found:
        if path and Path(path).is_file():
            return path
    raise NoBrowser(
        f"no Chromium at {named or _USUAL[0]}: install Debian's package chromium, or say in "
        f"{PROGRAM} where it is"
    )


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser, as long as the block lasts."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def watched(browser: Browser) -> Iterator[Watched]:
    """A page with nothing stored from earlier ones, watched from its first request on."""
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
    """By how many CSS pixels the page is wider than its window; 0 where it fits."""
    found: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return max(found, 0)


def _leaves(url: str) -> bool:
    address = urlsplit(url)
    return address.scheme in ("http", "https", "ws", "wss") and address.hostname not in _LOOPBACK
