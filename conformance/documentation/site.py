"""Sphinx extension: makes the Markdown pages of docs read as they do on a code host.

An ``<a id="...">`` is a link target, a block `mermaid` is drawn in the browser, a link out of
docs leads to a page that shows the file, and scrollable boxes can be focused by keyboard.
"""

import html
import os
import re
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
from documentation.mermaid import PROGRAM

FOLDER: Final = "source"
"""The folder of the site for files that are not pages."""
PAGES_ELSEWHERE: Final = {"CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog"}
"""Files outside docs that a page of docs includes."""
_ANCHOR: Final = re.compile(r'<a id="([^"]+)">')
_SCROLLS: Final = re.compile(r'<pre(?=>)|<div(?= class="table-wrapper)')
_CAPTION: Final = 'class="caption" role="heading"'


class Anchors(SphinxTransform):
    """Registers HTML anchors of the page with the Markdown parser."""

    default_priority = 870  # before links within a page are resolved (879)

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002  # the signature of docutils
        """Add the anchors of this page."""
        places: dict[str, tuple[int, str, str]] = getattr(self.document, "myst_slugs", {})
        for raw in self.document.findall(nodes.raw):
            for found in _ANCHOR.finditer(raw.astext()):
                places[found[1]] = (raw.line or 0, found[1], found[1])
        self.document.__dict__["myst_slugs"] = places  # read by myst-parser
        self.env.metadata[self.env.docname]["myst_slugs"] = places


class Diagrams(SphinxTransform):
    """Replaces the source of a diagram by the element the browser draws it in."""

    default_priority = 100  # before highlighting

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002  # the signature of docutils
        """Replace the diagrams of this page."""
        for block in list(self.document.findall(nodes.literal_block)):
            if block.get("language") == "mermaid":
                drawn = f'<pre class="mermaid" tabindex="0">{html.escape(block.astext())}</pre>'
                block.replace_self(nodes.raw("", drawn, format="html"))
                self.env.metadata[self.env.docname]["diagrams"] = True


class Sources(SphinxTransform):
    """Turns links to files and folders of the checkout into links to pages about them."""

    default_priority = 100  # before Sphinx collects files to download

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002  # the signature of docutils
        """Replace the links of this page; Sphinx reports broken ones."""
        links: list[nodes.Element] = [*self.document.findall(addnodes.download_reference)]
        links += self.document.findall(addnodes.pending_xref)
        folder = Path(self.env.doc2path(self.env.docname)).parent
        for node in links:
            target = str(node.get("reftarget", ""))
            path = Path(os.path.normpath(folder / target.partition("#")[0]))
            if path.suffix == ".html" and path.is_file():
                node.replace_self(_leading_to(target, node))
            elif path.is_relative_to(CHECKOUT) and not path.is_relative_to(DOCS):
                found = [p for p in (path, path.with_name(f"{path.name}.md")) if p.exists()]
                if found:
                    node.replace_self(self._reference(found[0], node))

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


def _linked(app: Sphinx) -> set[Path]:
    linked: set[Path] = app.env.__dict__.setdefault("linked_sources", set())
    return linked


def source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield a page for each linked file and folder, and for the files of the folders."""
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


def copy_html(app: Sphinx, failed: Exception | None) -> None:
    """Copy HTML pages of docs to the same place in the site."""
    for path in () if failed else DOCS.rglob("*.html"):
        to = app.outdir / path.relative_to(DOCS)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)


def amend(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Make scrollable boxes focusable, give captions a level, and load the diagram library."""
    context["body"] = _SCROLLS.sub(r'\g<0> tabindex="0"', str(context.get("body", "")))
    menu = str(context.get("furo_navigation_tree", ""))
    context["furo_navigation_tree"] = menu.replace(_CAPTION, f'{_CAPTION} aria-level="2"')
    if app.env.metadata.get(page, {}).get("diagrams"):
        app.add_js_file(PROGRAM, loading_method="defer")
        app.add_js_file("diagrams.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    for transform in (Anchors, Diagrams, Sources):
        app.add_transform(transform)
    app.connect("html-collect-pages", source_pages)
    app.connect("html-page-context", amend, priority=900)  # after the theme
    app.connect("build-finished", copy_html)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
