"""Additions to pytest's JUnit file: the verdict, failure texts, tests that were not reached."""

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from siconform.output.events import Event, RunFinished, TestPhaseEnded
from siconform.results import Run
from siconform.verdicts import CATALOGUED, Verdict

HEAD: Final = '<?xml version="1.0" encoding="utf-8"?>'
_NOT_IN_XML: Final = re.compile("[^\t\n\r -~\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Properties = Iterable[tuple[str, object]]


class Junit:
    """Completes the file that pytest has written, so that it has every selected test once."""

    def __init__(self, config: pytest.Config) -> None:
        self._file = Path(os.path.expandvars(config.option.xmlpath)).expanduser().absolute()
        self._prefix: str | None = config.option.junitprefix  # of class names
        self._names_files = config.getini("junit_family") != "xunit2"
        self._properties: dict[str, Properties] = {}  # by test

    def on_event(self, event: Event) -> None:
        """Record the properties of tests; complete the file at the end."""
        if isinstance(event, TestPhaseEnded):
            self._properties[event.test] = event.properties
        elif isinstance(event, RunFinished) and self._file.is_file():
            try:
                root = ET.parse(self._file).getroot()  # noqa: S314  # pytest's own
            except ET.ParseError:
                return
            if root[0].find("properties") is None:  # else it is complete, or of an older run
                self._complete(root[0], event)
                self._file.write_text(HEAD + ET.tostring(root, encoding="unicode"), "utf-8")

    def _complete(self, suite: ET.Element, finished: RunFinished) -> None:
        for nameless in [case for case in suite if case.get("name") is None]:
            suite.remove(nameless)  # it began, and is added below
        cases = {(case.get("classname"), case.get("name")): case for case in suite}
        for test, properties in self._properties.items():  # pytest adds them after the teardown
            case = cases.get(self._address(test))
            if case is not None and case.find("properties") is None:
                add_properties(case, properties)
        for failure in finished.run.failures:
            case = cases.get(self._address(failure.test))
            for element in case.findall("failure") if case is not None else ():
                element.text = escaped(failure.text)
        why = f"{Verdict.NOT_REACHED.label}: {finished.run.status.ended_early or 'no result'}"
        for test, ids in finished.not_reached.items():
            suite.append(self._not_reached(test, ids, why))
        for count in ("tests", "skipped"):
            suite.set(count, str(int(suite.get(count, "0")) + len(finished.not_reached)))
        add_properties(suite, _of_run(finished.run))

    def _not_reached(self, test: str, ids: Sequence[str], why: str) -> ET.Element:
        classname, name = self._address(test)
        file = test.partition("::")[0]
        shown = {"file": file} if self._names_files else {}
        case = ET.Element("testcase", {"classname": classname, "name": name, **shown}, time="0.000")
        received = [("requirement", one) for one in ids]
        add_properties(
            case, received + [("verdict", f"{one} {Verdict.NOT_REACHED}") for one in ids]
        )
        skipped = ET.SubElement(case, "skipped", type="pytest.skip", message=escaped(why))
        skipped.text = escaped(f"{file}:0: {why}")
        return case

    def _address(self, test: str) -> tuple[str, str]:
        """Return class name and name of a test as pytest writes them."""
        path, bracket, parameters = test.partition("[")
        file, *names = path.split("::")
        *classes, name = [file.replace("/", ".").removesuffix(".py"), *names]
        prefix = [self._prefix] if self._prefix else []
        return ".".join(prefix + classes), f"{name}{bracket}{parameters}"


def _of_run(run: Run) -> Iterator[tuple[str, object]]:
    """Yield the run's verdict, the counts of verdicts, and what did not pass."""
    yield "verdict", run.evaluation.verdict.value
    yield "sentence", run.evaluation.sentence
    yield "partial", str(bool(run.status.partial)).lower()
    yield "revision", run.status.revision
    yield "side", run.status.side.value
    yield "target", run.target.name
    yield from ((f"requirements.{v.value}", count) for v, count in run.counts().items())
    for result in run.requirements:
        if result.verdict not in CATALOGUED | {Verdict.PASS}:
            yield result.requirement.id, result.verdict.value


def add_properties(element: ET.Element, received: Properties) -> None:
    """Add properties as the first child, unless there are none."""
    properties = ET.Element("properties")
    for name, value in received:
        ET.SubElement(properties, "property", name=name, value=escaped(str(value)))
    if len(properties):
        element.insert(0, properties)


def escaped(text: str) -> str:
    """Replace characters that XML does not allow, as pytest does."""
    return _NOT_IN_XML.sub(lambda found: f"#x{ord(found[0]):02X}", text)
