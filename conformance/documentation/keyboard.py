"""Sphinx: what the theme leaves to be done for readers with a keyboard or a screen reader."""

from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx

LAST: Final = 900
"""After the theme has made its parts of the page."""
_SCROLLS: Final = ('<div class="table-wrapper', "<pre>")
"""What is wider than a small window, and is moved in a box of its own."""
_CAPTION: Final = 'class="caption" role="heading"'


def amend(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Let boxes that scroll have the focus, and the captions of the menu a level."""
    body = str(context.get("body", ""))
    for box in _SCROLLS:
        tag, _, rest = box.partition(" ")
        opened = f'{tag.rstrip(">")} tabindex="0"'
        body = body.replace(box, f"{opened} {rest}" if rest else f"{opened}>")
    context["body"] = body
    menu = str(context.get("furo_navigation_tree", ""))
    context["furo_navigation_tree"] = menu.replace(_CAPTION, f'{_CAPTION} aria-level="2"')


def setup(app: Sphinx) -> dict[str, bool]:
    """Add it to a build."""
    app.connect("html-page-context", amend, priority=LAST)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
