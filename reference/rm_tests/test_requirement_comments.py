"""Every requirement on RMs is named by a test of the RM, or left out for a reason."""

import re
from pathlib import Path
from typing import Final

import yaml

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "conformance" / "siconform" / "catalogue"

LEFT_OUT: Final = {
    "SI-WIRE-001": "siwire: the package of every revision",
    "SI-WIRE-005": "no rule of the RM: it never waits for a response",
    "SI-WIRE-007": "protobuf ignores unknown fields",
    "SI-WIRE-012": "the RM writes only priorityValue, and no placement constraint",
    "SI-WIRE-013": "no field has the option",
    "SI-WIRE-014": "protobuf writes JSON",
    "SI-WIRE-015": "siwire: the names of the enums",
    "SI-NODE-040": "permitted: the attributes of an update are those that a user gives",
    "SI-CB-013": "the RM does not use the API",
    "SI-CONST-001": "siwire: the constants",
}


def test_every_requirement_on_rms_is_tested_or_left_out() -> None:
    tested = {
        name
        for path in Path(__file__).parent.glob("test_*.py")
        for line in path.read_text("utf-8").splitlines()
        if line.startswith("# requirement:")
        for name in re.findall(r"SI-[A-Z]+-\d{3}", line)
    }

    assert tested - on_rms() == set()
    assert on_rms() - tested == set(LEFT_OUT)


def on_rms() -> set[str]:
    """Return the requirements on RMs, read as data: the RM does not import the kit."""
    areas = (
        yaml.load(path.read_text("utf-8"), yaml.CBaseLoader)  # noqa: S506  # loads strings only
        for path in CATALOGUE.glob("*.yaml")
    )
    return {one["id"] for area in areas for one in area["requirements"] if "rm" in one["sides"]}
