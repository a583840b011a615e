"""Sphinx configuration; `nox -s docs` builds the site in build/docs."""

from pathlib import Path

from siconform.verdicts import SHOWN

CHECKOUT = Path(__file__).parents[1]

project = "SI Conformance"
author = "the maintainers of SI Conformance"
project_copyright = "the maintainers of SI Conformance, Apache License 2.0"

extensions = [
    "myst_parser",
    "sphinx_external_toc",
    "sphinx_copybutton",
    "documentation.site",
]
external_toc_path = "_toc.yml"
exclude_patterns = ["_static"]

smartquotes = False
"""Keep straight quotes, such as `""` for an empty string."""
myst_heading_anchors = 6
myst_heading_anchors_html_ids = True
"""Give headings the anchors that a code host gives them."""
myst_enable_extensions = ["substitution"]
myst_substitutions = {
    "verdicts": "\n".join(
        [
            "| verdict | in `results.json` | what it means |",
            "|---|---|---|",
            *(f"| {one.label} | `{one}` | {one.row.meaning} |" for one in SHOWN),
        ]
    )
}

html_theme = "furo"
html_title = "SI Conformance"
html_static_path = ["_static", str(CHECKOUT / "build" / "docs-programs")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"
copybutton_exclude = ".linenos, .go"
