"""The accessibility checker axe-core, run in a page."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page

_CHECKOUT: Final = Path(__file__).parents[2]
SCRIPT: Final = _CHECKOUT / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
INSTALLED_BY: Final = "nox -s browser"
_SHOWN: Final = 5  # elements shown of one violation


class NoAxe(Exception):
    """axe-core is not installed; the message says how to install it."""


def violations(page: Page) -> list[str]:
    """Return the violations in the current state of the page, a paragraph each; raises NoAxe."""
    if not SCRIPT.is_file():
        raise NoAxe(f"no axe-core in {SCRIPT.parent}: {INSTALLED_BY} installs it")
    page.evaluate(SCRIPT.read_text("utf-8"))
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [_received(violation) for violation in found["violations"]]


def assert_none(page: Page) -> None:
    """Fail if there are violations, and list each with its elements."""
    found = violations(page)
    assert not found, _counted(found)


def _counted(found: Sequence[str]) -> str:
    return "\n\n".join((f"{len(found)} violations by axe-core:", *found))


def _received(violation: dict[str, Any]) -> str:
    return "\n".join(_lines(violation))


def _lines(violation: dict[str, Any]) -> Iterator[str]:
    yield f"{violation['impact']}  {violation['id']}: {violation['help']}"
    nodes = violation["nodes"]
    for node in nodes[:_SHOWN]:
        yield f"    {' '.join(map(str, node['target']))}    {node['html'][:160]}"
        yield from (f"      {line}" for line in str(node["failureSummary"]).splitlines())
    if len(nodes) > _SHOWN:
        yield f"    and {len(nodes) - _SHOWN} more elements"
