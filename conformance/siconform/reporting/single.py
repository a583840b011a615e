"""The page about any scheduler, from the results folders of its runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from siconform.reporting.classify import rows
from siconform.reporting.page import Section, page
from siconform.reporting.record import RecordError, read_results

_ABOUT: Final = "Judged by the SI Conformance kit."


def page_of(folders: Sequence[Path]) -> str:
    """One section for each of these runs, of one scheduler; RecordError where that is not so."""
    found = [read_results(folder) for folder in folders]
    targets = {record.target: None for record, _ in found}
    if len(targets) > 1:
        raise RecordError(f"these are runs against {' and '.join(targets)}: give those of one")
    sections = [Section(record, rows(record, baseline)) for record, baseline in found]
    return page(next(iter(targets)), _ABOUT, sections)
