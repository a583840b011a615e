"""Renders pages: autoescaped templates with style and script inlined."""

from functools import cache
from importlib import resources
from typing import Any, Final

import jinja2
from markupsafe import Markup

from siconform.reporting.html.comparison import ComparisonPage
from siconform.reporting.html.views import RunPage, TracePage

_TEMPLATES: Final = "templates"


def render(page: RunPage) -> str:
    """Render the page of a run."""
    return _environment().get_template("run.html").render(page=page)


def render_trace(page: TracePage) -> str:
    """Render the page of a recorded exchange."""
    return _environment().get_template("trace.html").render(page=page)


def render_comparison(page: ComparisonPage) -> str:
    """Render the page that compares several runs."""
    return _environment().get_template("columns.html").render(page=page)


@cache
def _environment() -> jinja2.Environment:
    """Create the environment: everything a target sends is escaped; unknown names are errors."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, _TEMPLATES),
        autoescape=True,
        auto_reload=False,  # else the file of each included template is looked at each time
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["as_written"] = _as_written
    made.filters["seconds"] = _seconds
    return made


def _as_written(name: str) -> Markup:
    """Return our own style sheet or script unescaped."""
    file = resources.files(__package__).joinpath(_TEMPLATES, name)
    return Markup(file.read_text("utf-8"))  # noqa: S704  # our own file


def _seconds(value: Any) -> str:
    return f"{value:.0f} s" if value >= 10 else f"{value:.2g} s" if value >= 1 else _small(value)  # noqa: PLR2004


def _small(value: float) -> str:
    return f"{value * 1000:.3g} ms"
