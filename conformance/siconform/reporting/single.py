"""Markdown page about any scheduler, from the results folders of its runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from siconform.catalogue import Requirement, catalogue
from siconform.reporting.classify import rows
from siconform.reporting.page import Section, page
from siconform.reporting.record import read_results
from siconform.reporting.stored import RecordError

_ABOUT: Final = "Tested with the SI Conformance kit."
_SENTENCES: Final = """\
## The requirements

The requirements as the kit states them; `siconform explain ID` shows more.
"""


def page_of(folders: Sequence[Path]) -> str:
    """Return a page with a section for each run; RecordError unless all test one scheduler."""
    found = [read_results(folder) for folder in folders]
    targets = {record.target: None for record, _ in found}
    if len(targets) > 1:
        raise RecordError(f"these runs test {' and '.join(targets)}: pass runs of one target")
    sections = [Section(record, rows(record, baseline)) for record, baseline in found]
    received = page(next(iter(targets)), _ABOUT, sections, _on_this_page)
    shown = {row.requirement.id for section in sections for row in section.rows}
    chosen = [one for one in catalogue().values() if one.id in shown]
    return f"{received}\n{_SENTENCES}\n" + "\n".join(map(_sentence, chosen)) + "\n"


def _on_this_page(requirement: Requirement) -> str:
    """Link within the page, so that it can be mailed alone."""
    return f"#{requirement.id.lower()}"


def _sentence(requirement: Requirement) -> str:
    text = " ".join(requirement.text.split())
    return (
        f'- <a id="{requirement.id.lower()}"></a>**{requirement.id}** {requirement.level}: {text}'
    )
