"""Sphinx: an ``<a id="...">`` of a page is a place that links may lead to, as on a code host."""

import re
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

_ANCHOR: Final = re.compile(r'<a id="([^"]+)">')


class Anchors(SphinxTransform):
    """Tells the reader of Markdown of every anchor that stands as HTML in the page."""

    default_priority = 870  # before links to places of the same page are resolved (879)

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002  # the signature of docutils
        """Add the anchors to the places of this page."""
        places: dict[str, tuple[int, str, str]] = getattr(self.document, "myst_slugs", {})
        for raw in self.document.findall(nodes.raw):
            for found in _ANCHOR.finditer(raw.astext()):
                places[found[1]] = (raw.line or 0, found[1], found[1])
        self.document.__dict__["myst_slugs"] = places  # what myst-parser reads
        self.env.metadata[self.env.docname]["myst_slugs"] = places


def setup(app: Sphinx) -> dict[str, bool]:
    """Add it to a build."""
    app.add_transform(Anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
