"""The page as HTML from a Jinja template, with everything escaped: RMs choose the names."""

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sireference import __version__
from sireference.shell.state_page.bars import short
from sireference.shell.state_page.view import Seen, view

_FOLDER: Final = Path(__file__).parent


class Page:
    """The page from a template; ``headers`` are sent with every answer that contains it."""

    def __init__(self) -> None:
        style, script = (_text(name) for name in ("page.css", "page.js"))
        made = Environment(
            loader=FileSystemLoader(_FOLDER),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made.filters["short"] = short
        # The only unescaped text of the page: our own, which the policy names by its hash
        made.globals.update(style=style, script=script, version=__version__)
        self._template = made.get_template("page.html")
        self.headers: tuple[tuple[str, str], ...] = (
            ("Content-Security-Policy", "; ".join(_policy(style, script))),
        )

    def html(self, seen: Seen) -> str:
        """Return the page for a view."""
        return self._template.render(view=view(seen))


@cache
def renderer() -> Page:
    """Return the renderer, whose template is compiled once."""
    return Page()


def _policy(style: str, script: str) -> Iterator[str]:
    """Return a content security policy that allows only the page itself."""
    yield "default-src 'none'"
    yield f"style-src {_source(style)}"
    yield f"script-src {_source(script)}"
    yield "img-src data:"  # the empty icon, which avoids a request
    yield "connect-src 'self'"
    yield "form-action 'self'"
    yield "base-uri 'none'"
    yield "frame-ancestors 'none'"


def _source(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _text(name: str) -> Any:
    return (_FOLDER / name).read_text(encoding="utf-8")
