"""Pages as text: templates with everything escaped, styles and script in the page itself."""

from functools import cache
from importlib import resources
from typing import Any, Final

import jinja2
from markupsafe import Markup

from siconform.reporting.html.comparison import ComparisonPage
from siconform.reporting.html.views import RunPage

_TEMPLATES: Final = "templates"


def render(page: RunPage) -> str:
    """The page of a run."""
    return _environment().get_template("run.html").render(page=page)


def render_comparison(page: ComparisonPage) -> str:
    """The page of several runs side by side."""
    return _environment().get_template("columns.html").render(page=page)


@cache
def _environment() -> jinja2.Environment:
    """What a target says is text and never markup; what a template misspells is an error."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, _TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["as_written"] = _as_written
    made.filters["seconds"] = _seconds
    return made


def _as_written(name: str) -> Markup:
    """A style sheet or a script of ours."""
    file = resources.files(__package__).joinpath(_TEMPLATES, name)
    return Markup(file.read_text("utf-8"))  # noqa: S704  # our own file


def _seconds(value: Any) -> str:
    return f"{value:.0f} s" if value >= 10 else f"{value:.2g} s" if value >= 1 else _small(value)  # noqa: PLR2004


def _small(value: float) -> str:
    return f"{value * 1000:.3g} ms"
