"""The JUnit file of a trace: one case for each requirement that monitors check."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from siconform.output.junit import HEAD, add_properties, escaped
from siconform.trace_outcomes import TraceOutcome

FILE: Final = "junit.xml"
_SUITE: Final = "siconform check-trace"


def write(results: Mapping[str, Any], folder: Path) -> Path:
    """Write the file from the results document."""
    path = folder / FILE
    root = ET.Element("testsuites")
    cases = [_case(one, results) for one in results["requirements"]]
    suite = ET.SubElement(
        root,
        "testsuite",
        name=_SUITE,
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors="0",
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        time=f"{results['seconds']:.3f}",
        timestamp=results["started"],
    )
    suite.extend(cases)
    counts = ((f"requirements.{name}", count) for name, count in results["counts"].items())
    add_properties(
        suite,
        [
            ("verdict", results["verdict"]),
            ("sentence", results["sentence"]),
            ("revision", results["revision"]),
            ("trace", results["trace"]["source"]),
            *counts,
        ],
    )
    path.write_text(HEAD + ET.tostring(root, encoding="unicode"), "utf-8")
    return path


def _case(one: Mapping[str, Any], results: Mapping[str, Any]) -> ET.Element:
    case = ET.Element(
        "testcase", classname=f"check-trace.{one['area']}", name=one["id"], time="0.000"
    )
    verdict = TraceOutcome(one["verdict"])
    about = ("requirement", one["id"]), ("level", one["level"]), ("verdict", verdict.value)
    add_properties(case, [*about, ("held", one["held"]), ("violated", one["violated"])])
    if verdict is TraceOutcome.VIOLATED:
        texts = [
            found["text"]
            for found in results["violations"]
            if found["requirement"] == one["id"] and found["verdict"] == verdict
        ]
        failed = ET.SubElement(case, "failure", message=escaped(one["reason"]))
        failed.text = escaped("\n\n\n".join(texts))
    elif verdict is not TraceOutcome.HELD:
        kind = "pytest.xfail" if verdict.row.tested else "pytest.skip"
        ET.SubElement(case, "skipped", type=kind, message=escaped(verdict.explained(one["reason"])))
    return case
