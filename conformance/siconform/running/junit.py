"""Additions to pytest's JUnit file: the verdict, and tests that were not reached."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from _pytest.junitxml import LogXML, bin_xml_escape, mangle_test_address, xml_key

from siconform.results import Run
from siconform.verdicts import CATALOGUED, Verdict


class Junit:
    """Completes pytest's JUnit file, so that it has every selected test once."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, Any], pytest.TestReport] = {}

    def observe(self, report: pytest.TestReport) -> None:
        """Record which tests have begun but not ended."""
        key = report.nodeid, getattr(report, "node", None)
        if report.when == "teardown":
            self._open.pop(key, None)
        else:
            self._open[key] = report

    def report(self, config: pytest.Config, run: Run, not_reached: Mapping[str, list[str]]) -> None:
        """Complete the file before pytest writes it."""
        xml = config.stash.get(xml_key, None)
        if xml is None:
            return
        _report_verdicts(xml, run)
        _report_failures(xml, {failure.test: failure.text for failure in run.failures})
        self._close_what_was_evaluated(xml, not_reached)
        nodes = {nodeid: node for nodeid, node in self._open if nodeid in not_reached}
        for test, ids in not_reached.items():
            _report_not_reached(xml, test, nodes.get(test), ids, run.status.ended_early)

    def _close_what_was_evaluated(self, xml: LogXML, not_reached: Mapping[str, list[str]]) -> None:
        """Add the missing teardown reports of tests that have a verdict."""
        for (nodeid, node), observed in self._open.items():
            if nodeid not in not_reached:
                received = observed.user_properties
                xml.pytest_runtest_logreport(_report(nodeid, node, "teardown", received))
        self._open = {
            key: observed for key, observed in self._open.items() if key[0] in not_reached
        }


def _report_failures(xml: LogXML, texts: Mapping[str, str]) -> None:
    """Replace the failure texts by those with the reference's history, now available."""
    by_name = {".".join(mangle_test_address(test)): text for test, text in texts.items()}
    for reporter in xml.node_reporters_ordered:
        case = reporter.to_xml()
        name = f"{case.get('classname')}.{case.get('name')}"
        for failure in case.findall("failure") if name in by_name else ():
            failure.text = bin_xml_escape(by_name[name])


def _report_verdicts(xml: LogXML, run: Run) -> None:
    """Add the run's verdict and the counts of verdicts as suite properties."""
    xml.add_global_property("verdict", run.evaluation.verdict.value)
    xml.add_global_property("sentence", run.evaluation.sentence)
    xml.add_global_property("partial", str(bool(run.status.partial)).lower())
    xml.add_global_property("revision", run.status.revision)
    xml.add_global_property("target", run.target.name)
    for verdict, count in run.counts().items():
        xml.add_global_property(f"requirements.{verdict.value}", str(count))
    for result in run.requirements:
        if result.verdict not in CATALOGUED | {Verdict.PASS}:
            xml.add_global_property(result.requirement.id, result.verdict.value)


def _report_not_reached(
    xml: LogXML, test: str, node: Any, ids: Sequence[str], ended_early: str
) -> None:
    verdict = Verdict.NOT_REACHED
    received: list[tuple[str, object]] = [("requirement", one) for one in ids]
    received += [("verdict", f"{one} {verdict}") for one in ids]
    why = f"{verdict.label}: {ended_early or 'no result'}"
    xml.pytest_runtest_logreport(_report(test, node, "setup", [], why))
    xml.pytest_runtest_logreport(_report(test, node, "teardown", received))


def _report(
    test: str, node: Any, when: str, received: list[tuple[str, object]], skipped: str = ""
) -> pytest.TestReport:
    """Create a report as pytest does; ``node`` is the worker that began the test."""
    file, _, name = test.partition("::")
    report = pytest.TestReport(
        nodeid=test,
        location=(file, None, name),
        keywords={},
        outcome="skipped" if skipped else "passed",
        longrepr=(file, 0, f"Skipped: {skipped}") if skipped else None,
        when=when,  # type: ignore[arg-type]  # one of its phases
        user_properties=received,
    )
    if node is not None:
        setattr(report, "node", node)  # noqa: B010  # as xdist does
    return report
