"""Writes report.html at the end of a run, or again from its results folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from siconform.reporting.html.rendering import render
from siconform.reporting.html.run_page import run_page
from siconform.reporting.stored import RecordError, read_document

FILE: Final = "report.html"


def write(results: Mapping[str, Any], folder: Path) -> Path:
    """Write the page of a run into its results folder; OSError if that fails."""
    path = folder / FILE
    path.write_text(render(run_page(results, folder)), "utf-8", "backslashreplace")
    return path


def page_of(folder: Path) -> str:
    """Return the page of the complete run in this folder; RecordError if there is none."""
    results = read_document(folder)
    try:
        return render(run_page(results, folder if folder.is_dir() else folder.parent))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"{folder} has no results of siconform: {error!r}") from None
