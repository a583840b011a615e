"""Sphinx: a link out of docs leads to a page that shows the file or folder, one to HTML to that."""

import html
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from documentation.blocks import CHECKOUT, DOCS

FOLDER: Final = "source"
"""Where in the site the files stand that are no pages."""
_MADE: Final = ".html"
PAGES_ELSEWHERE: Final = {"CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog"}
"""Files beside docs that a page of docs includes."""


class Sources(SphinxTransform):
    """Turns links to files and folders of the checkout into links to pages about them."""

    default_priority = 100  # before Sphinx collects files to download

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002  # the signature of docutils
        """Replace the links of this page."""
        links: list[nodes.Element] = [*self.document.findall(addnodes.download_reference)]
        links += self.document.findall(addnodes.pending_xref)
        for node in links:
            target = str(node.get("reftarget", ""))
            if target.partition("#")[0].endswith(_MADE):
                node.replace_self(_leading_to(target, node))
            elif (path := self._outside(target)) is not None:
                node.replace_self(self._reference(path, node))

    def _outside(self, target: str) -> Path | None:
        page = Path(self.env.doc2path(self.env.docname))
        path = Path(os.path.normpath(page.parent / target.partition("#")[0]))
        found = [p for p in (path, path.with_name(f"{path.name}.md")) if p.exists()]
        inside = path.is_relative_to(DOCS) or not path.is_relative_to(CHECKOUT)
        return None if inside or not found else found[0]

    def _reference(self, path: Path, node: nodes.Element) -> nodes.reference:
        name = str(path.relative_to(CHECKOUT))
        page = PAGES_ELSEWHERE.get(name) or f"{FOLDER}/{name}"
        if page.startswith(FOLDER):
            _linked(self.app).add(path)
        depth = self.env.docname.count("/")
        return _leading_to(f"{'../' * depth}{page}.html", node)


def _leading_to(address: str, node: nodes.Element) -> nodes.reference:
    reference = nodes.reference(refuri=address, internal=True)
    reference += [child.deepcopy() for child in node.children]
    return reference


def bring_made_pages(app: Sphinx, failed: Exception | None) -> None:
    """Pages of docs that are HTML already stand in the site where they stand in docs."""
    for path in () if failed else DOCS.rglob(f"*{_MADE}"):
        to = app.outdir / path.relative_to(DOCS)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)


def _linked(app: Sphinx) -> set[Path]:
    linked: set[Path] = app.env.__dict__.setdefault("linked_sources", set())
    return linked


def source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, str], str]]:
    """A page for each file and folder that is linked, and for the files of the folders."""
    linked = _linked(app)
    listed = {child for path in linked if path.is_dir() for child in _children(path)}
    files = {path for path in linked | listed if path.is_file()}
    for path in sorted(linked | files):
        name = str(path.relative_to(CHECKOUT))
        body = _file(path) if path.is_file() else _folder(path, linked | files)
        title = html.escape(name)
        context = {"title": title, "body": f"<section><h1>{title}</h1>{body}</section>"}
        yield f"{FOLDER}/{name}", context, "page.html"


def _children(folder: Path) -> list[Path]:
    return sorted(child for child in folder.iterdir() if child.name != "__pycache__")


def _file(path: Path) -> str:
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    shown = highlight(path.read_text("utf-8"), lexer, HtmlFormatter(nowrap=True))
    return f'<div class="highlight"><pre tabindex="0">{shown}</pre></div>'


def _folder(folder: Path, shown: set[Path]) -> str:
    def line(path: Path) -> str:
        name = html.escape(path.name)
        page = f"{html.escape(folder.name)}/{name}.html"
        return f'<a href="{page}">{name}</a>' if path in shown else f"{name}/"

    items = "".join(f"<li>{line(path)}</li>" for path in _children(folder))
    return f"<ul>{items}</ul>"


def setup(app: Sphinx) -> dict[str, bool]:
    """Add it to a build."""
    app.add_transform(Sources)
    app.connect("html-collect-pages", source_pages)
    app.connect("build-finished", bring_made_pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
