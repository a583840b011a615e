"""The file report.html: written at the end of a run, or made again from what a run left."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from siconform.reporting.html.rendering import render
from siconform.reporting.html.run_page import run_page
from siconform.reporting.stored import RecordError, read_document

FILE: Final = "report.html"


def write(results: Mapping[str, Any], folder: Path) -> Path:
    """Put the page of a run beside its results; OSError where it cannot be written."""
    path = folder / FILE
    path.write_text(render(run_page(results, folder)), "utf-8", "backslashreplace")
    return path


def page_of(folder: Path) -> str:
    """The page of the whole run that left its results there; RecordError where there is none."""
    results = read_document(folder)
    try:
        return render(run_page(results, folder if folder.is_dir() else folder.parent))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"{folder} has no results of this kit: {error!r}") from None
