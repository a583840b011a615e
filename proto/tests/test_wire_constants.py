"""Constants have the names, values and revisions of their table, and no others."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from siwire import REVISIONS, Revision, constants

TABLE: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "fixtures" / "golden" / "schema" / "constants.yaml").read_text(
        encoding="utf-8"
    )
)
COUNTS = {
    "2021-02": 19,
    "2023-04": 27,
    "2023-08": 29,
    "2023-12": 28,
    "2024-10": 31,
    "2026-04": 31,
}


def ours(name: str) -> str:
    """Return the Python name of a constant: ``DomainYuniKorn`` is ``DOMAIN_YUNIKORN``."""
    plain = name.replace("YuniKorn", "Yunikorn")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).upper()


def test_names_and_values_are_those_of_the_table() -> None:
    sent = {name: value for name, value in vars(constants).items() if isinstance(value, str)}
    sent = {name: value for name, value in sent.items() if not name.startswith("_")}

    assert sent == {ours(name): row["value"] for name, row in TABLE.items()}


# requirement: SI-CONST-001
@pytest.mark.parametrize("revision", REVISIONS.values(), ids=str)
def test_revision_has_the_constants_of_its_specification(revision: Revision) -> None:
    known = {
        row["value"]
        for row in TABLE.values()
        if row["since"] <= revision.name <= row.get("until", revision.name)
    }

    assert constants.KNOWN_IN[revision.name] == known
    assert len(known) == COUNTS[revision.name]


def test_ranges_in_the_table_begin_and_end_with_a_revision() -> None:
    ends = {row[end] for row in TABLE.values() for end in ("since", "until") if end in row}

    assert ends <= set(REVISIONS)


def test_every_revision_has_its_set_of_constants() -> None:
    assert list(constants.KNOWN_IN) == list(REVISIONS)
