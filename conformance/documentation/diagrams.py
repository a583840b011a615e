"""Sphinx: a block `mermaid` is drawn in the browser, by a program that is part of the site."""

import html
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PROGRAM: Final = "mermaid.min.js"
DRAWING: Final = "diagrams.js"


class Diagrams(SphinxTransform):
    """Replaces the source of a diagram by what the browser draws it from."""

    default_priority = 100  # before anything is highlighted

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002  # the signature of docutils
        """Replace the diagrams of this page."""
        for block in list(self.document.findall(nodes.literal_block)):
            if block.get("language") != "mermaid":
                continue
            source = html.escape(block.astext())
            drawn = f'<pre class="mermaid" tabindex="0">{source}</pre>'
            block.replace_self(nodes.raw("", drawn, format="html"))
            self.env.metadata[self.env.docname]["diagrams"] = True


def add_programs(
    app: Sphinx, page: str, _template: str, _context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """A page with diagrams loads what draws them."""
    if app.env.metadata.get(page, {}).get("diagrams"):
        app.add_js_file(PROGRAM, loading_method="defer")
        app.add_js_file(DRAWING, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Add it to a build."""
    app.add_transform(Diagrams)
    app.connect("html-page-context", add_programs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
